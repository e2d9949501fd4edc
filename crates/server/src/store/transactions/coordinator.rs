//! Links to the coordinator: transactions are declared on them, and their ends asked for.

use std::collections::BTreeSet;

use amqp::condition::names;
use amqp::terminus::Source;
use amqp::{DeliveryState, ErrorCondition};

use super::{Transaction, rejected, unknown};
use crate::store::links::{Arrival, Role};
use crate::store::node::Node;
use crate::store::say::Say;
use crate::store::transactional::{Request, declared};

/// Declarations and discharges that a client may have under way.
pub(in crate::store) const CREDIT: u32 = 100;
/// Transactions of one link that may be open at once.
const MOST_OPEN: usize = 1000;

/// The end of a link to the coordinator.
#[derive(Debug)]
pub(in crate::store) struct Coordinator {
    /// Its transactions that are not discharged.
    pub(in crate::store) open: BTreeSet<u64>,
    /// Whether what cannot be done can be rejected: else the link is ended for it (part 4, sections 4.2 and 4.3).
    rejects: bool,
}

impl Coordinator {
    /// For a link with this source.
    pub(in crate::store) fn of(source: Option<&Source>) -> Self {
        let outcomes = source.map_or(&[][..], |source| &source.outcomes);
        let rejects = outcomes.is_empty() || outcomes.iter().any(|outcome| outcome.as_str() == "amqp:rejected:list");
        Self { open: BTreeSet::new(), rejects }
    }
}

impl Node {
    /// A message to the coordinator.
    pub(in crate::store) fn coordinate(&mut self, arrival: Arrival, message: &[u8]) {
        let state = match Request::of(message) {
            Some(Request::Declare) => self.declare(arrival.link),
            Some(Request::Discharge { txn, fail }) => match self.discharge(arrival, &txn, fail, false) {
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

    pub(super) fn answer_coordinator(&mut self, arrival: Arrival, state: DeliveryState) {
        let rejects = self.coordinator_mut(arrival.link).is_none_or(|coordinator| coordinator.rejects);
        if let DeliveryState::Rejected(Some(error)) = state.clone()
            && !rejects
        {
            return self.end_link(arrival.link, *error);
        }
        self.conclude_arrival(arrival, state);
        if let Some(record) = self.links.get(arrival.link as usize) {
            let key = record.key;
            self.say(Say::Credit { key, credit: CREDIT });
        }
    }

    pub(super) fn coordinator_mut(&mut self, link: u32) -> Option<&mut Coordinator> {
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

    /// Whoever declared transactions is gone: those that are open are rolled back.
    pub(in crate::store) fn coordinator_gone(&mut self, coordinator: Coordinator) {
        coordinator.open.into_iter().for_each(|txn| self.roll_back(txn));
    }

    /// A client has broken the rules of transactions: the link to the coordinator of this one is ended, and all that are open on it
    /// are rolled back (section 4.4.2).
    pub(in crate::store) fn end_coordinator(&mut self, txn: u64, error: ErrorCondition) {
        let owns = |role: &Role| matches!(role, Role::Coordinator(coordinator) if coordinator.open.contains(&txn));
        let Some((link, _)) = self.links.iter().find(|(_, record)| owns(&record.role)) else { return };
        if let Some(record) = self.links.get_mut(link)
            && let Role::Coordinator(coordinator) = std::mem::replace(&mut record.role, Role::Nothing)
        {
            self.end_link(link as u32, error);
            self.coordinator_gone(coordinator);
        }
    }
}
