//! Local transactions: what is sent and settled within one takes effect at its discharge, all of it or nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use amqp::condition::names;
use amqp::terminus::Source;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::{AcqId, Applied, Command, Outcome, Refused};

use super::acquisition::Acquired;
use super::journal::Waiter;
use super::large::Unfinished;
use super::links::{Arrival, Role, Side, Unsettled};
use super::node::Node;
use super::receive::{Bytes, Commands, condition};
use super::transactional::{Request, TransactionalState, declared};
use crate::content::Whole;

/// Declarations and discharges that a client may have under way.
pub(super) const CREDIT: u32 = 100;
/// Bytes that all open transactions hold at most, so that nobody fills the memory with them.
pub(super) const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// What a message in a transaction counts for beside its bytes.
const OVERHEAD: u64 = 512;
/// Transactions of one link that may be open at once.
const MOST_OPEN: usize = 1000;

/// The end of a link to the coordinator.
#[derive(Debug)]
pub(super) struct Coordinator {
    /// Its transactions that are not discharged.
    pub(super) open: BTreeSet<u64>,
    /// Whether what cannot be done can be rejected: else the link is ended for it (part 4, sections 4.2 and 4.3).
    rejects: bool,
}

impl Coordinator {
    /// For a link with this source.
    pub(super) fn of(source: Option<&Source>) -> Self {
        let outcomes = source.map_or(&[][..], |source| &source.outcomes);
        let rejects = outcomes.is_empty() || outcomes.iter().any(|outcome| outcome.as_str() == "amqp:rejected:list");
        Self { open: BTreeSet::new(), rejects }
    }
}

/// All transactions.
#[derive(Default)]
pub(super) struct Transactions {
    open: HashMap<u64, Transaction>,
    last: u64,
    /// Bytes that they hold.
    bytes: u64,
    /// What receivers have spoken of first, and settled before the transaction was over: what that means if it is rolled
    /// back.
    settled: HashMap<AcqId, DeliveryState>,
    /// Nobody guesses the name of a transaction that he was not told: the number is signed with this.
    secret: RandomState,
}

/// A transaction.
#[derive(Default)]
pub(super) struct Transaction {
    /// By side.
    sends: [Vec<Command>; 2],
    bodies: [Vec<Arc<Whole>>; 2],
    /// Those that they count for.
    bytes: u64,
    /// What receivers have said.
    pub(super) retired: Vec<Retired>,
    /// Why it cannot be committed any more.
    spoilt: Option<ErrorCondition>,
    /// What has left in it.
    pub(super) acquired: BTreeMap<AcqId, Acquired>,
    /// Links whose messages leave in it.
    pub(super) receivers: BTreeSet<u32>,
    /// Its end has been asked for.
    pub(super) over: bool,
    /// What is to happen in memory alone once the rest is on disk, for only then is it certain.
    last: Option<(Vec<Command>, Vec<Arc<Whole>>)>,
    /// It ends when messages that are part of it are on disk, or filters have been asked: who has asked for it, and whether it is to fail.
    ending: Option<(Arrival, bool)>,
}

/// A delivery that a receiver has spoken of within a transaction.
pub(super) struct Retired {
    pub(super) side: Side,
    pub(super) acquisition: AcqId,
    /// What it comes to if the transaction is committed. As long as it is here, the message is held for it, whether its
    /// receiver is still there or not.
    pub(super) command: Option<Command>,
    pub(super) link: u32,
    pub(super) id: u32,
    /// It is settled already as far as the receiver goes.
    pub(super) settled: bool,
}

impl Transactions {
    /// Bytes that they hold.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn name(&self, txn: u64) -> Vec<u8> {
        [txn.to_be_bytes(), self.secret.hash_one(txn).to_be_bytes()].concat()
    }

    /// The transaction of this name, as long as something can become part of it.
    pub(super) fn number(&self, name: &[u8]) -> Option<u64> {
        let txn = u64::from_be_bytes(*name.first_chunk()?);
        (name == self.name(txn) && self.open.get(&txn).is_some_and(|open| !open.over)).then_some(txn)
    }

    pub(super) fn open_mut(&mut self, txn: u64) -> Option<&mut Transaction> {
        self.open.get_mut(&txn)
    }

    /// Takes the messages out of a transaction: they are sent now, or never.
    fn take_sends(&mut self, txn: u64) -> ([Vec<Command>; 2], [Vec<Arc<Whole>>; 2]) {
        let Some(open) = self.open.get_mut(&txn) else { return Default::default() };
        self.bytes -= std::mem::take(&mut open.bytes);
        (std::mem::take(&mut open.sends), std::mem::take(&mut open.bodies))
    }
}

pub(super) fn unknown() -> ErrorCondition {
    let text = "There is no such transaction: it is over, or another coordinator's";
    ErrorCondition::new(names::TRANSACTION_UNKNOWN_ID, text)
}

impl Node {
    /// A message to the coordinator.
    pub(super) fn coordinate(&mut self, arrival: Arrival, message: &[u8]) {
        let state = match Request::of(message) {
            Some(Request::Declare) => self.declare(arrival.link),
            Some(Request::Discharge { txn, fail }) => match self.discharge(arrival, &txn, fail) {
                Some(state) => state,
                // It is told when all is on disk.
                None => return,
            },
            None => rejected(ErrorCondition::new(
                names::DECODE_ERROR,
                "The coordinator knows nothing but declare and discharge, in an amqp-value section",
            )),
        };
        self.answer_coordinator(arrival, state);
    }

    fn answer_coordinator(&mut self, arrival: Arrival, state: DeliveryState) {
        let rejects = self.coordinator_mut(arrival.link).is_none_or(|coordinator| coordinator.rejects);
        if let DeliveryState::Rejected(Some(error)) = state.clone()
            && !rejects
        {
            return self.end_link(arrival.link, *error);
        }
        self.conclude_arrival(arrival, state);
        if let Some(record) = self.links.get(arrival.link as usize) {
            let key = record.key;
            self.say(super::say::Say::Credit { key, credit: CREDIT });
        }
    }

    fn coordinator_mut(&mut self, link: u32) -> Option<&mut Coordinator> {
        match &mut self.links.get_mut(link as usize)?.role {
            Role::Coordinator(coordinator) => Some(coordinator),
            _ => None,
        }
    }

    fn declare(&mut self, link: u32) -> DeliveryState {
        let txn = self.transactions.last + 1;
        let Some(coordinator) = self.coordinator_mut(link) else { return rejected(unknown()) };
        if coordinator.open.len() >= MOST_OPEN {
            let text = "Too many transactions are open on this link: discharge some";
            return rejected(ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, text));
        }
        coordinator.open.insert(txn);
        self.transactions.last = txn;
        self.transactions.open.insert(txn, Transaction::default());
        declared(&self.transactions.name(txn))
    }

    /// A message that belongs to a transaction.
    pub(super) fn post(&mut self, arrival: Arrival, name: &[u8], commands: Commands, bytes: &Bytes) {
        let txn = self.transactions.number(name);
        let Transactions { open, bytes: all, .. } = &mut self.transactions;
        let Some((txn, open)) = txn.and_then(|txn| Some((txn, open.get_mut(&txn)?))) else {
            commands.iter().for_each(|(_, command)| self.forget_files(command));
            if arrival.settled && self.sender_mut(arrival.link).is_some_and(|sender| !sender.relays) {
                // There is no other way to tell its sender.
                self.end_link(arrival.link, unknown());
            }
            return self.refuse(arrival, unknown());
        };
        let whole = bytes.whole();
        let cost = OVERHEAD + whole.as_ref().map_or(0, |whole| whole.bytes().len() as u64);
        for (side, command) in commands {
            (open.bytes, *all) = (open.bytes + cost, *all + cost);
            open.sends[side as usize].push(command);
            open.bodies[side as usize].extend(whole.clone());
        }
        self.spoil_if_too_large(txn);
        let state = TransactionalState { txn: name.to_vec(), outcome: Some(DeliveryState::Accepted) };
        self.conclude_arrival(arrival, state.state());
    }

    /// One that has grown cannot be committed if all together hold too much; nor does one that cannot be grow.
    fn spoil_if_too_large(&mut self, txn: u64) {
        let most = self.most_in_transactions;
        if self.transactions.bytes > most {
            let text = format!(
                "Open transactions hold at most {most} bytes of messages together: make this one smaller, or wait \
                 for others to end"
            );
            self.spoil(txn, ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, text));
        } else if self.transactions.open.get(&txn).is_some_and(|open| open.spoilt.is_some()) {
            self.drop_sends(txn);
        }
    }

    /// A transaction cannot be committed any more; it is told at its discharge.
    pub(super) fn spoil(&mut self, txn: u64, error: ErrorCondition) {
        if let Some(open) = self.transactions.open.get_mut(&txn) {
            open.spoilt.get_or_insert(error);
        }
        self.drop_sends(txn);
    }

    /// The messages of a transaction will never be sent.
    fn drop_sends(&mut self, txn: u64) {
        let (sends, _) = self.transactions.take_sends(txn);
        sends.iter().flatten().for_each(|command| self.forget_files(command));
    }

    /// A receiver says, as part of a transaction that it names, what becomes of a delivery. If there is none of that name, it is as if
    /// nothing had been said, and the link is ended for it: an outcome has no answer that could tell.
    pub(super) fn retire_named(&mut self, link: u32, id: u32, of: TransactionalState, settled: bool) {
        let is_known = self.transactions.number(&of.txn).is_some();
        self.retire(link, id, of, settled);
        if !is_known {
            self.end_link(link, unknown());
        }
    }

    /// A receiver says, as part of a transaction, what becomes of a delivery.
    pub(super) fn retire(&mut self, link: u32, id: u32, of: TransactionalState, settled: bool) {
        let TransactionalState { txn: name, outcome: said } = of;
        let Some(receiver) = self.receiver_mut(link) else { return };
        let side = receiver.place.side;
        let state = said.unwrap_or_else(|| receiver.default_outcome.clone());
        let Some(delivery) = receiver.unsettled.get(id as usize).filter(|delivery| !delivery.in_txn) else { return };
        let acquired_in = delivery.acquired_in;
        let Some(acquisition) = delivery.acquisition else {
            // Whoever browses has nothing to say.
            return self.settlement_applied(&Waiter::Settlement { link, id, of: None });
        };
        let Some(txn) = self.transactions.number(&name) else {
            // It is as if nothing had been said.
            if settled {
                self.forget_delivery(link, id);
                let time = self.clock();
                self.apply_outcome(side, acquisition, &DeliveryState::Released, None, time);
            }
            return;
        };
        if acquired_in.is_some_and(|other| other != txn) {
            let text = "A delivery was settled in another transaction than the one that it was acquired in";
            return self.end_coordinator(txn, ErrorCondition::new(names::TRANSACTION_ROLLBACK, text));
        }
        let time = self.clock();
        let mut outcome = self.outcome(&state, time);
        if self.transactions.open.get(&txn).is_some_and(|open| open.spoilt.is_some()) {
            // It will not be committed.
            outcome = outcome.without_writing();
        }
        let bytes = outcome.writes() as u64;
        let command = self.broker(side).settlement(acquisition, outcome);
        if command.is_none() {
            let text = "Nothing of it was done: a message that it settles is not in its queue any more";
            self.spoil(txn, ErrorCondition::new(names::TRANSACTION_ROLLBACK, text));
        }
        if let Some(open) = self.transactions.open.get_mut(&txn) {
            open.retired.push(Retired { side, acquisition, command, link, id, settled });
            open.bytes += bytes;
            self.transactions.bytes += bytes;
            self.spoil_if_too_large(txn);
        }
        if settled {
            self.forget_delivery(link, id);
        } else if let Some(delivery) = self.delivery_mut(link, id) {
            (delivery.in_txn, delivery.answered) = (true, true);
        }
    }

    pub(super) fn delivery_mut(&mut self, link: u32, id: u32) -> Option<&mut Unsettled> {
        self.receiver_mut(link)?.unsettled.get_mut(id as usize)
    }

    /// Ends a transaction. `None`: what is said of it is known later.
    fn discharge(&mut self, arrival: Arrival, name: &[u8], fail: bool) -> Option<DeliveryState> {
        let txn = self.transactions.number(name);
        let own = txn.filter(|txn| self.coordinator_mut(arrival.link).is_some_and(|own| own.open.contains(txn)));
        let Some(txn) = own else { return Some(rejected(unknown())) };
        match self.unfinished_in(name) {
            Unfinished::No => {}
            // It is gone on with when they are on disk.
            Unfinished::Here => {
                if let Some(open) = self.transactions.open_mut(txn) {
                    open.ending = Some((arrival, fail));
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
        let (mut commands, bodies) = self.transactions.take_sends(txn);
        for retired in self.transactions.open.get_mut(&txn).into_iter().flat_map(|open| &mut open.retired) {
            let commands = &mut commands[retired.side as usize];
            let Some(command) = retired.command.take() else { continue };
            if !commands.last_mut().is_some_and(|last| last.absorb(&command)) {
                commands.push(command);
            }
        }
        // What is in memory alone takes effect when the rest is on disk: it must not be refused then.
        let now = self.clock();
        if let Err(refused) = self.broker(Side::Memory).check_transaction(&commands[Side::Memory as usize], now) {
            commands.iter().flatten().for_each(|command| self.forget_files(command));
            self.withdraw(&commands);
            self.roll_back(txn);
            return Some(rolled_back(&refused));
        }
        if commands.iter().all(|commands| !commands.is_empty()) {
            let [logged, memory] = commands;
            let [logged_bodies, memory_bodies] = bodies;
            self.keep_for_last(txn, memory, memory_bodies);
            let waiter = Waiter::Discharge { arrival: Some(arrival), txn };
            self.submit_all(Side::Logged, Command::Transaction(logged), logged_bodies, waiter);
            return None;
        }
        let mut waiter = Waiter::Discharge { arrival: Some(arrival), txn };
        let mut any = false;
        for (side, (commands, bodies)) in Side::BOTH.into_iter().zip(commands.into_iter().zip(bodies)) {
            if !commands.is_empty() {
                any = true;
                let waiter = std::mem::replace(&mut waiter, Waiter::Nobody);
                self.submit_all(side, Command::Transaction(commands), bodies, waiter);
            }
        }
        if any {
            return None;
        }
        self.finish(txn);
        Some(DeliveryState::Accepted)
    }

    /// A message that is part of a transaction is on disk, or will not be: if the end of that has been asked for, it may come now.
    pub(super) fn go_on_ending(&mut self, name: &[u8]) {
        let Some(txn) = self.transactions.number(name) else { return };
        let Some((arrival, fail)) = self.transactions.open_mut(txn).and_then(|open| open.ending.take()) else { return };
        if let Some(state) = self.discharge(arrival, name, fail) {
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
    pub(super) fn discharged(&mut self, arrival: Option<Arrival>, txn: u64, applied: &Applied) {
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
    pub(super) fn not_discharged(&mut self, arrival: Option<Arrival>, txn: u64, why: &ErrorCondition) {
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
    pub(super) fn roll_back(&mut self, txn: u64) {
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

    /// A receiver has settled a delivery that it had spoken of within a transaction which is not over.
    pub(super) fn settled_in_transaction(&mut self, link: u32, id: u32, state: Option<DeliveryState>) {
        if let Some(acquisition) = self.delivery_mut(link, id).and_then(|delivery| delivery.acquisition) {
            let state = state.filter(DeliveryState::is_terminal).unwrap_or(DeliveryState::Released);
            self.transactions.settled.insert(acquisition, state);
        }
        self.forget_delivery(link, id);
    }

    /// Whether a link still has a delivery, and not another one in its place.
    pub(super) fn holds(&mut self, link: u32, id: u32, acquisition: AcqId) -> bool {
        let delivery = self.receiver_mut(link).and_then(|receiver| receiver.unsettled.get(id as usize));
        delivery.is_some_and(|delivery| delivery.acquisition == Some(acquisition))
    }

    /// Whoever declared transactions is gone: those that are open are rolled back.
    pub(super) fn coordinator_gone(&mut self, coordinator: Coordinator) {
        coordinator.open.into_iter().for_each(|txn| self.roll_back(txn));
    }
}

fn rolled_back(refused: &Refused) -> DeliveryState {
    nothing_was_done(&condition(refused))
}

fn nothing_was_done(why: &ErrorCondition) -> DeliveryState {
    let why = why.description.as_deref().unwrap_or_default();
    rejected(ErrorCondition::new(names::TRANSACTION_ROLLBACK, format!("Nothing of it was done: {why}")))
}

fn rejected(error: ErrorCondition) -> DeliveryState {
    DeliveryState::Rejected(Some(Box::new(error)))
}
