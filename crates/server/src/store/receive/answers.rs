//! What senders hear of their messages, once it is certain.

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::{Applied, Refused};
use router_core::OutKey;

use super::Bytes;
use crate::store::journal::Waiter;
use crate::store::links::Arrival;
use crate::store::node::Node;
use crate::store::say::Say;

/// A message that becomes one command for each side: its sender hears of it when both are known.
pub(in crate::store) struct Pair {
    pub(in crate::store) arrival: Arrival,
    /// Commands of which nothing is known yet.
    pub(in crate::store) waits: usize,
    /// Why one of them was refused.
    pub(in crate::store) refusal: Option<ErrorCondition>,
}

impl Node {
    /// Makes those who wait for what becomes of so many commands, which is told the sender when all is known.
    pub(super) fn waiters_for(&mut self, arrival: Arrival, commands: usize) -> impl FnMut() -> Waiter + use<> {
        let pair = (commands > 1).then(|| self.pairs.insert(Pair { arrival, waits: commands, refusal: None }));
        move || pair.map_or(Waiter::Arrival(arrival), |pair| Waiter::Half { pair })
    }

    /// A message is not taken, nor is what there is of it needed.
    pub(in crate::store) fn refuse_bytes(&mut self, arrival: Arrival, bytes: &Bytes, error: ErrorCondition) {
        if let Some(file) = bytes.file() {
            self.large.remove(file);
        }
        self.refuse(arrival, error);
    }

    /// A message is not taken.
    pub(in crate::store) fn refuse(&mut self, arrival: Arrival, error: ErrorCondition) {
        if arrival.settled {
            logging::log!(ROUTER_CORE, Debug, "A message sent settled is lost: {error}");
        }
        self.conclude_arrival(arrival, DeliveryState::Rejected(Some(Box::new(error))));
    }

    /// What became of a message is known: its sender hears it.
    pub(in crate::store) fn conclude_arrival(&mut self, arrival: Arrival, state: DeliveryState) {
        if !arrival.settled {
            self.say(Say::Outcome { key: arrival.key, state: Some(state), settled: true });
        }
        self.arrival_over(arrival.link);
    }

    /// One message less of a sender is under way.
    pub(super) fn arrival_over(&mut self, link: u32) {
        let epoch = self.epoch;
        if let Some(sender) = self.sender_mut(link) {
            sender.pending = sender.pending.saturating_sub(1);
            if !sender.has_enough(epoch) {
                self.give_credit(link);
            }
        }
    }

    /// What became of the command for a message.
    pub(in crate::store) fn arrival_applied(&mut self, arrival: Arrival, applied: &Applied) {
        match applied {
            // Whether a topic has subscriptions is no concern of its senders'.
            Ok(_) | Err(Refused::Duplicate) => self.conclude_arrival(arrival, DeliveryState::Accepted),
            Err(refused) => self.refuse(arrival, condition(refused)),
        }
    }

    /// What became of one of the commands for a message.
    pub(in crate::store) fn half_applied(&mut self, pair: usize, applied: &Applied) {
        let refusal = match applied {
            Ok(_) | Err(Refused::Duplicate) => None,
            Err(refused) => Some(condition(refused)),
        };
        self.half_known(pair, refusal);
    }

    /// The same: it is done, or refused.
    pub(in crate::store) fn half_known(&mut self, pair: usize, refusal: Option<ErrorCondition>) {
        let Some(found) = self.pairs.get_mut(pair) else { return };
        found.waits -= 1;
        found.refusal = found.refusal.take().or(refusal);
        if found.waits > 0 {
            return;
        }
        let Pair { arrival, refusal, .. } = self.pairs.remove(pair);
        match refusal {
            Some(error) => self.refuse(arrival, error),
            None => self.conclude_arrival(arrival, DeliveryState::Accepted),
        }
    }

    /// The sender of a delivery has settled it before it heard of it.
    pub(in crate::store) fn sender_settled(&mut self, key: OutKey) {
        self.journal.forget_arrival(key);
        self.unlogged.forget_arrival(key);
        self.large.forget_arrival(key);
        self.admissions.forget_arrival(key);
        if let Some((_, pair)) = self.pairs.iter_mut().find(|(_, pair)| pair.arrival.key == key) {
            pair.arrival.settled = true;
        }
    }
}

/// A refusal in the words of AMQP.
pub(in crate::store) fn condition(refused: &Refused) -> ErrorCondition {
    let name = match refused {
        Refused::NoQueue | Refused::NoTopic => names::RESOURCE_DELETED,
        Refused::Full { .. } | Refused::PartlyFull { .. } => names::RESOURCE_LIMIT_EXCEEDED,
        Refused::Exists(_) | Refused::NotEmpty | Refused::InUse => names::PRECONDITION_FAILED,
        Refused::BadSettings(_) => names::INVALID_FIELD,
        Refused::Gone => names::TRANSACTION_ROLLBACK,
        _ => names::NOT_ALLOWED,
    };
    ErrorCondition::new(name, refused.to_string())
}
