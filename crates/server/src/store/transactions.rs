//! Local transactions: what is sent and settled within one takes effect at its discharge, all of it or nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::{AcqId, Applied, Command};
use smallvec::SmallVec;

use super::journal::Waiter;
use super::links::{Arrival, Role, Side};
use super::node::Node;
use super::outcomes::outcome;
use super::receive::{Bytes, condition};
use super::transactional::{Request, TransactionalState, declared};
use crate::content::Whole;

/// Declarations and discharges that a client may have under way.
pub(super) const CREDIT: u32 = 100;
/// Bytes of messages in one transaction.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// Transactions of one link that may be open at once.
const MOST_OPEN: usize = 1000;

/// The end of a link to the coordinator.
#[derive(Debug, Default)]
pub(super) struct Coordinator {
    /// Its transactions that are not discharged.
    pub(super) open: BTreeSet<u64>,
}

/// All transactions.
#[derive(Default)]
pub(super) struct Transactions {
    open: HashMap<u64, Transaction>,
    last: u64,
    /// What tells the ids of this process from those of others.
    secret: u64,
}

/// A transaction.
#[derive(Default)]
struct Transaction {
    /// By side.
    sends: [Vec<Command>; 2],
    bodies: [Vec<Arc<Whole>>; 2],
    bytes: u64,
    /// What receivers have said.
    retired: Vec<Retired>,
    /// Why it cannot be committed any more.
    spoilt: Option<ErrorCondition>,
}

/// A delivery that a receiver has spoken of within a transaction.
struct Retired {
    side: Side,
    acquisition: AcqId,
    state: DeliveryState,
    link: u32,
    id: u32,
    /// It is settled already as far as the receiver goes.
    settled: bool,
}

impl Transactions {
    fn name(&self, txn: u64) -> Vec<u8> {
        [self.secret.to_be_bytes(), txn.to_be_bytes()].concat()
    }

    fn number(&self, name: &[u8]) -> Option<u64> {
        let (secret, txn) = name.split_at_checked(8)?;
        let txn = u64::from_be_bytes(txn.try_into().ok()?);
        (secret == self.secret.to_be_bytes() && self.open.contains_key(&txn)).then_some(txn)
    }

    fn get_mut(&mut self, name: &[u8]) -> Option<&mut Transaction> {
        let txn = self.number(name)?;
        self.open.get_mut(&txn)
    }

    /// Ids are told apart from those of other processes by this.
    pub(super) fn set_secret(&mut self, secret: u64) {
        self.secret = secret;
    }
}

fn unknown() -> ErrorCondition {
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
    pub(super) fn post(
        &mut self,
        arrival: Arrival,
        name: &[u8],
        commands: SmallVec<[(Side, Command); 1]>,
        bytes: &Bytes,
    ) {
        let Some(txn) = self.transactions.get_mut(name) else { return self.refuse(arrival, unknown()) };
        for (side, command) in commands {
            txn.sends[side as usize].push(command);
            if let Some(whole) = bytes.whole() {
                txn.bytes += whole.bytes().len() as u64;
                txn.bodies[side as usize].push(whole);
            }
        }
        if txn.bytes > MOST_BYTES {
            let text = format!("A transaction holds at most {MOST_BYTES} bytes of messages: make it smaller");
            txn.spoilt = Some(ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, text));
            (txn.sends, txn.bodies) = Default::default();
        }
        let state = TransactionalState { txn: name.to_vec(), outcome: Some(DeliveryState::Accepted) };
        self.conclude_arrival(arrival, state.state());
    }

    /// A receiver says, as part of a transaction, what becomes of a delivery.
    pub(super) fn retire(&mut self, link: u32, id: u32, of: TransactionalState, settled: bool) {
        let TransactionalState { txn, outcome } = of;
        let Some(receiver) = self.receiver_mut(link) else { return };
        let side = receiver.place.side;
        let default = receiver.default_outcome.clone();
        let Some(delivery) = receiver.unsettled.get_mut(id as usize).filter(|delivery| !delivery.in_txn) else {
            return;
        };
        let Some(acquisition) = delivery.acquisition else { return };
        let state = outcome.unwrap_or(default);
        let Some(open) = self.transactions.get_mut(&txn) else {
            // It is as if nothing had been said.
            logging::log!(ROUTER_CORE, Warning, "A delivery was settled in a transaction that there is not");
            if settled {
                self.forget_delivery(link, id);
                self.apply_outcome(side, acquisition, &DeliveryState::Released, None);
            }
            return;
        };
        open.retired.push(Retired { side, acquisition, state, link, id, settled });
        if let Some(delivery) = self.receiver_mut(link).and_then(|receiver| receiver.unsettled.get_mut(id as usize)) {
            (delivery.in_txn, delivery.answered) = (true, true);
        }
        if settled {
            self.forget_delivery(link, id);
        }
    }

    /// Ends a transaction. `None`: what is said of it is known later.
    fn discharge(&mut self, arrival: Arrival, name: &[u8], fail: bool) -> Option<DeliveryState> {
        let txn = self.transactions.number(name);
        let own = txn.filter(|txn| self.coordinator_mut(arrival.link).is_some_and(|own| own.open.remove(txn)));
        let Some(txn) = own else { return Some(rejected(unknown())) };
        let spoilt = self.transactions.open.get_mut(&txn).and_then(|txn| txn.spoilt.take());
        if fail || spoilt.is_some() {
            self.roll_back(txn);
            return Some(spoilt.map_or(DeliveryState::Accepted, rejected));
        }
        let Some(open) = self.transactions.open.get_mut(&txn) else { return Some(rejected(unknown())) };
        let mut commands = std::mem::take(&mut open.sends);
        let bodies = std::mem::take(&mut open.bodies);
        let retired: Vec<_> =
            open.retired.iter().map(|retired| (retired.side, retired.acquisition, outcome(&retired.state))).collect();
        for (side, acquisition, outcome) in retired {
            let command = self.broker(side).settlement(acquisition, outcome);
            let commands = &mut commands[side as usize];
            let Some(command) = command else { continue };
            if !commands.last_mut().is_some_and(|last| last.absorb(&command)) {
                commands.push(command);
            }
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

    /// What became of a transaction is known.
    pub(super) fn discharged(&mut self, arrival: Option<Arrival>, txn: u64, applied: &Applied) {
        let state = match applied {
            Ok(_) => {
                self.finish(txn);
                DeliveryState::Accepted
            }
            Err(refused) => {
                self.roll_back(txn);
                let why = condition(refused).description.unwrap_or_default();
                rejected(ErrorCondition::new(names::TRANSACTION_ROLLBACK, format!("Nothing of it was done: {why}")))
            }
        };
        if let Some(arrival) = arrival {
            self.answer_coordinator(arrival, state);
        }
    }

    /// All of a transaction is done: its receivers hear that their deliveries are settled.
    fn finish(&mut self, txn: u64) {
        let Some(txn) = self.transactions.open.remove(&txn) else { return };
        for Retired { link, id, settled, acquisition, .. } in txn.retired {
            if !settled && self.holds(link, id, acquisition) {
                self.settlement_applied(&Waiter::Settlement { link, id });
            }
        }
    }

    /// Nothing of a transaction is done: its receivers have their deliveries as before, or, where they have settled them, the
    /// queue has them back.
    fn roll_back(&mut self, txn: u64) {
        let Some(txn) = self.transactions.open.remove(&txn) else { return };
        for Retired { side, acquisition, link, id, settled, .. } in txn.retired {
            if !settled && self.holds(link, id, acquisition) {
                if let Some(delivery) = self.receiver_mut(link).and_then(|found| found.unsettled.get_mut(id as usize)) {
                    (delivery.in_txn, delivery.answered) = (false, false);
                }
            } else {
                self.apply_outcome(side, acquisition, &DeliveryState::Released, None);
            }
        }
    }

    /// Whether a link still has a delivery, and not another one in its place.
    fn holds(&mut self, link: u32, id: u32, acquisition: AcqId) -> bool {
        let delivery = self.receiver_mut(link).and_then(|receiver| receiver.unsettled.get(id as usize));
        delivery.is_some_and(|delivery| delivery.acquisition == Some(acquisition))
    }

    /// Whoever declared transactions is gone: those that are open are rolled back.
    pub(super) fn coordinator_gone(&mut self, coordinator: Coordinator) {
        coordinator.open.into_iter().for_each(|txn| self.roll_back(txn));
    }
}

fn rejected(error: ErrorCondition) -> DeliveryState {
    DeliveryState::Rejected(Some(Box::new(error)))
}
