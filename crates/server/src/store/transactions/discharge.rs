//! The end of a transaction: all of it takes effect, or nothing.

use std::sync::Arc;

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::{Applied, Command, Outcome, Refused};
use router_core::LinkKey;

use super::{OVERHEAD, Retired, Transactions, rejected, unknown};
use crate::content::Whole;
use crate::store::journal::Waiter;
use crate::store::large::Unfinished;
use crate::store::links::{Arrival, Side};
use crate::store::node::Node;
use crate::store::receive::condition;

impl Node {
    /// Ends a transaction. `None`: what is said of it is known later. `alone`: no message of it waits on its link behind another.
    pub(super) fn discharge(
        &mut self,
        arrival: Arrival,
        name: &[u8],
        fail: bool,
        alone: bool,
    ) -> Option<DeliveryState> {
        let txn = self.transactions.number(name);
        let own = txn.filter(|txn| self.coordinator_mut(arrival.link).is_some_and(|own| own.open.contains(txn)));
        let Some(txn) = own else { return Some(rejected(unknown())) };
        match self.unfinished_in(name, alone) {
            Unfinished::No => {}
            // It is gone on with when they are there.
            Unfinished::Here => {
                if let Some(open) = self.transactions.open_mut(txn) {
                    open.ending = Some((arrival, fail));
                    self.transactions.ending.push(name.to_vec());
                    self.signals.set_busy();
                }
                return None;
            }
            Unfinished::Coming => {
                let text = "It was discharged before all of a message that is part of it had come";
                self.end_coordinator(txn, ErrorCondition::new(names::TRANSACTION_ROLLBACK, text));
                return None;
            }
        }
        if let Some(coordinator) = self.coordinator_mut(arrival.link) {
            coordinator.open.remove(&txn);
        }
        self.close_transaction(txn);
        let spoilt = self.transactions.open.get_mut(&txn).and_then(|txn| txn.spoilt.take());
        if fail || spoilt.is_some() {
            self.roll_back(txn);
            return Some(spoilt.filter(|_| !fail).map_or(DeliveryState::Accepted, rejected));
        }
        self.commit(arrival, txn)
    }

    /// Has all of a transaction take effect. `None`: what is said of it is known later.
    fn commit(&mut self, arrival: Arrival, txn: u64) -> Option<DeliveryState> {
        let (commands, bodies) = self.transactions.take_all(txn);
        // What is in memory alone takes effect when the rest is on disk: it must not be refused then.
        let now = self.clock();
        if let Err(refused) = self.broker(Side::Memory).check_transaction(&commands[Side::Memory as usize], now) {
            commands.iter().flatten().for_each(|command| self.forget_files(command));
            self.withdraw(&commands);
            self.roll_back(txn);
            return Some(rolled_back(&refused));
        }
        let waiter = Waiter::Discharge { arrival: Some(arrival), txn };
        if commands.iter().all(|commands| !commands.is_empty()) {
            let [logged, memory] = commands;
            let [logged_bodies, memory_bodies] = bodies;
            self.keep_for_last(txn, memory, memory_bodies);
            self.submit_all(Side::Logged, Command::Transaction(logged), logged_bodies, waiter);
            return None;
        }
        let mut sides = Side::BOTH.into_iter().zip(commands.into_iter().zip(bodies));
        let Some((side, (commands, bodies))) = sides.find(|(_, (commands, _))| !commands.is_empty()) else {
            self.finish(txn);
            return Some(DeliveryState::Accepted);
        };
        self.submit_all(side, Command::Transaction(commands), bodies, waiter);
        None
    }

    /// Ends those transactions whose end has been asked for and waits for nothing more. `has_waiting`: whether a message that is part of a
    /// transaction waits on a link behind another, as one that is large and goes into its file. All that was to be said has been.
    pub(in crate::store) fn end_what_waits(&mut self, has_waiting: impl Fn(LinkKey, &[u8]) -> bool) {
        let links = self.links_with_large();
        for name in std::mem::take(&mut self.transactions.ending) {
            match links.iter().any(|link| has_waiting(*link, &name)) {
                true => self.transactions.ending.push(name),
                false => self.go_on_ending(&name, true),
            }
        }
    }

    /// A message that is part of a transaction is there, or will not be: if the end of that has been asked for, it may come now.
    pub(in crate::store) fn go_on_ending(&mut self, name: &[u8], alone: bool) {
        let Some(txn) = self.transactions.number(name) else { return };
        let Some((arrival, fail)) = self.transactions.open_mut(txn).and_then(|open| open.ending.take()) else { return };
        self.transactions.ending.retain(|ending| ending != name);
        if let Some(state) = self.discharge(arrival, name, fail, alone) {
            self.answer_coordinator(arrival, state);
        }
    }

    /// Keeps what is to happen in memory. It counts as part of the open transactions until then.
    fn keep_for_last(&mut self, txn: u64, commands: Vec<Command>, bodies: Vec<Arc<Whole>>) {
        let bytes: u64 = bodies.iter().map(|body| OVERHEAD + body.bytes().len() as u64).sum();
        let Transactions { open, bytes: all, .. } = &mut self.transactions;
        if let Some(open) = open.get_mut(&txn) {
            open.last = Some((commands, bodies));
            (open.bytes, *all) = (open.bytes + bytes, *all + bytes);
        }
    }

    /// What a transaction does in memory happens: nothing refuses it any more.
    fn do_last(&mut self, txn: u64) {
        self.transactions.take_sends(txn);
        let last = self.transactions.open.get_mut(&txn).and_then(|open| open.last.take());
        if let Some((commands, bodies)) = last {
            self.apply_promised(&commands, bodies);
        }
    }

    /// What became of a transaction is known.
    pub(in crate::store) fn discharged(&mut self, arrival: Option<Arrival>, txn: u64, applied: &Applied) {
        let state = match applied {
            Ok(_) => {
                self.do_last(txn);
                self.finish(txn);
                DeliveryState::Accepted
            }
            Err(refused) => {
                self.roll_back(txn);
                rolled_back(refused)
            }
        };
        if let Some(arrival) = arrival {
            self.answer_coordinator(arrival, state);
        }
    }

    /// The log has not taken a transaction.
    pub(in crate::store) fn not_discharged(&mut self, arrival: Option<Arrival>, txn: u64, why: &ErrorCondition) {
        self.roll_back(txn);
        if let Some(arrival) = arrival {
            self.answer_coordinator(arrival, nothing_was_done(why));
        }
    }

    /// Commands of a transaction will not be.
    fn withdraw(&mut self, commands: &[Vec<Command>; 2]) {
        let now = self.clock();
        for (side, commands) in Side::BOTH.into_iter().zip(commands) {
            commands.iter().for_each(|command| self.broker(side).withdraw(command, now));
        }
    }

    /// All of a transaction is done: its receivers hear that their deliveries are settled.
    fn finish(&mut self, txn: u64) {
        let Some(txn) = self.transactions.open.remove(&txn) else { return };
        for Retired { link, id, acquisition, .. } in txn.retired {
            self.transactions.settled.remove(&acquisition);
            self.settlement_applied(&Waiter::Settlement { link, id, of: Some(acquisition) });
        }
    }

    /// Nothing of a transaction is done: its receivers have their deliveries as before, or, where they have settled them, the
    /// queue has them back.
    pub(in crate::store) fn roll_back(&mut self, txn: u64) {
        self.drop_sends(txn);
        self.close_transaction(txn);
        let Some(mut txn) = self.transactions.open.remove(&txn) else { return };
        if let Some((commands, _)) = txn.last.take() {
            commands.iter().for_each(|command| self.forget_files(command));
            self.withdraw(&[Vec::new(), commands]);
        }
        let time = self.clock();
        for Retired { side, acquisition, mut command, link, id, settled } in txn.retired {
            if let Some(acquired) = txn.acquired.remove(&acquisition) {
                self.transactions.settled.remove(&acquisition);
                command.iter().for_each(|command| self.broker(side).withdraw(command, time));
                self.give_back_acquired(acquisition, acquired);
                continue;
            }
            let later = self.transactions.settled.remove(&acquisition);
            let settled = later.or(settled.then_some(DeliveryState::Released));
            let held = self.holds(link, id, acquisition);
            if let (None, false, Some(Command::Settle(settle))) = (&settled, held, &mut command) {
                // Its receiver is gone, and had not settled it.
                (settle.outcome, settle.by) = (Outcome::lost(), None);
                self.submit(side, Command::Settle(settle.clone()), None, Waiter::Nobody);
                continue;
            }
            command.iter().for_each(|command| self.broker(side).withdraw(command, time));
            if let Some(state) = settled {
                self.apply_outcome(side, acquisition, &state, None, time);
            } else if let Some(delivery) = self.delivery_mut(link, id) {
                (delivery.in_txn, delivery.answered) = (false, false);
            }
        }
        for (acquisition, acquired) in txn.acquired {
            self.give_back_acquired(acquisition, acquired);
        }
    }
}

fn rolled_back(refused: &Refused) -> DeliveryState {
    nothing_was_done(&condition(refused))
}

fn nothing_was_done(why: &ErrorCondition) -> DeliveryState {
    let why = why.description.as_deref().unwrap_or_default();
    rejected(ErrorCondition::new(names::TRANSACTION_ROLLBACK, format!("Nothing of it was done: {why}")))
}
