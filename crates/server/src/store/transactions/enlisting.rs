//! What becomes part of a transaction: messages that come in it, and what receivers say in it of what they hold.

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};

use super::{OVERHEAD, Retired, Transactions, unknown};
use crate::store::journal::Waiter;
use crate::store::links::Arrival;
use crate::store::node::Node;
use crate::store::receive::{Bytes, Commands};
use crate::store::transactional::TransactionalState;

impl Node {
    /// A message that belongs to a transaction.
    pub(in crate::store) fn post(&mut self, arrival: Arrival, name: &[u8], commands: Commands, bytes: &Bytes) {
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
    pub(in crate::store) fn spoil(&mut self, txn: u64, error: ErrorCondition) {
        if let Some(open) = self.transactions.open.get_mut(&txn) {
            open.spoilt.get_or_insert(error);
        }
        self.drop_sends(txn);
    }

    /// The messages of a transaction will never be sent.
    pub(super) fn drop_sends(&mut self, txn: u64) {
        let (sends, _) = self.transactions.take_sends(txn);
        sends.iter().flatten().for_each(|command| self.forget_files(command));
    }

    /// A receiver says, as part of a transaction that it names, what becomes of a delivery. If there is none of that name, it is as if
    /// nothing had been said, and the link is ended for it: an outcome has no answer that could tell.
    pub(in crate::store) fn retire_named(&mut self, link: u32, id: u32, of: TransactionalState, settled: bool) {
        let is_known = self.transactions.number(&of.txn).is_some();
        self.retire(link, id, of, settled);
        if !is_known {
            self.end_link(link, unknown());
        }
    }

    /// A receiver says, as part of a transaction, what becomes of a delivery.
    pub(in crate::store) fn retire(&mut self, link: u32, id: u32, of: TransactionalState, settled: bool) {
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

    /// A receiver has settled a delivery that it had spoken of within a transaction which is not over.
    pub(in crate::store) fn settled_in_transaction(&mut self, link: u32, id: u32, state: Option<DeliveryState>) {
        if let Some(acquisition) = self.delivery_mut(link, id).and_then(|delivery| delivery.acquisition) {
            let state = state.filter(DeliveryState::is_terminal).unwrap_or(DeliveryState::Released);
            self.transactions.settled.insert(acquisition, state);
        }
        self.forget_delivery(link, id);
    }
}
