//! Messages that receivers acquire in a transaction (part 4, section 4.4.3): a flow names it, and what leaves on that link from then
//! on is taken out of its queue for good only if the transaction is committed. If it is rolled back, the message is free again,
//! whatever its receiver has said of it.

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition, Map, Value};
use queue_core::AcqId;

use super::links::{Role, Side};
use super::node::Node;
use super::say::Say;
use super::transactional::TransactionalState;
use super::transactions::{Retired, Transactions, unknown};

/// A delivery that has left in a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acquired {
    pub(super) side: Side,
    pub(super) link: u32,
    /// Of the receiver's unsettled deliveries; `None`: it has left settled.
    pub(super) id: Option<u32>,
}

impl Transactions {
    /// A delivery leaves in a transaction. The state that its transfer has; `None`: the transaction is over.
    pub(super) fn acquire(&mut self, txn: u64, acquisition: AcqId, acquired: Acquired) -> Option<DeliveryState> {
        let name = self.name(txn);
        self.open_mut(txn)?.acquired.insert(acquisition, acquired);
        Some(TransactionalState { txn: name, outcome: None }.state())
    }
}

impl Node {
    /// A receiver has said more with a flow than how much it wants.
    pub(super) fn receiver_says_with_flow(&mut self, link: u32, properties: &Map) {
        let name = match properties.get("txn-id") {
            Some(Value::Binary(name)) => Some(name),
            // What it was given for before is over.
            None | Some(Value::Null) => None,
            Some(_) => {
                let text = "The txn-id of a flow must be binary, as the coordinator has declared it";
                return self.end_link(link, ErrorCondition::new(names::INVALID_FIELD, text));
            }
        };
        match self.links.get_mut(link as usize).map(|link| &mut link.role) {
            // What it is to receive from is being made.
            Some(Role::Attaching(_)) => return drop(self.early_flows.insert(link, properties.clone())),
            Some(Role::Receiver(_)) => {}
            _ => return,
        }
        let txn = match name.map(|name| self.transactions.number(name)) {
            None => None,
            Some(None) => return self.end_link(link, unknown()),
            Some(Some(txn)) => Some(txn),
        };
        if let Some(receiver) = self.receiver_mut(link) {
            receiver.txn = txn;
        }
        if let Some(open) = txn.and_then(|txn| self.transactions.open_mut(txn)) {
            open.receivers.insert(link);
        }
    }

    /// What a receiver has said before it was attached.
    pub(super) fn take_early_flow(&mut self, link: u32) {
        if let Some(properties) = self.early_flows.remove(&link) {
            self.receiver_says_with_flow(link, &properties);
        }
    }

    /// A message has left settled in a transaction: it is done with when that is committed.
    pub(super) fn retire_settled(&mut self, txn: u64, side: Side, acquisition: AcqId, link: u32) {
        let command = self.broker(side).settlement(acquisition, queue_core::Outcome::Accepted);
        if let Some(open) = self.transactions.open_mut(txn) {
            open.retired.push(Retired { side, acquisition, command, link, id: u32::MAX, settled: true });
        }
    }

    /// From now on nothing more belongs to a transaction: its end has been asked for.
    pub(super) fn close_transaction(&mut self, txn: u64) {
        let Some(open) = self.transactions.open_mut(txn) else { return };
        open.over = true;
        let receivers = std::mem::take(&mut open.receivers);
        let acquired: Vec<Acquired> = open.acquired.values().copied().collect();
        for link in receivers {
            if let Some(receiver) = self.receiver_mut(link).filter(|receiver| receiver.txn == Some(txn)) {
                receiver.txn = None;
            }
        }
        for Acquired { link, id, .. } in acquired {
            let delivery = id.and_then(|id| self.delivery_mut(link, id));
            if let Some(delivery) = delivery.filter(|delivery| delivery.acquired_in == Some(txn)) {
                delivery.acquired_in = None;
            }
        }
    }

    /// A transaction was rolled back: what was acquired in it is free again, and its receiver hears so.
    pub(super) fn give_back_acquired(&mut self, acquisition: AcqId, acquired: Acquired) {
        let Acquired { side, link, id } = acquired;
        let time = self.clock();
        let id = id.filter(|id| self.holds(link, *id, acquisition));
        if let Some(receiver) = id.and_then(|_| self.receiver_mut(link))
            && id.is_some_and(|id| receiver.streaming.contains_key(&id))
        {
            // Not all of it has left: it is given back when it has.
            if let Some(delivery) = id.and_then(|id| self.delivery_mut(link, id)) {
                delivery.taken_back = true;
            }
            return;
        }
        self.apply_outcome(side, acquisition, &DeliveryState::Released, None, time);
        let Some(id) = id else { return };
        if let Some(key) = self.delivery_mut(link, id).and_then(|delivery| delivery.key) {
            self.say(Say::TakenBack { key });
        }
        self.forget_delivery(link, id);
    }
}
