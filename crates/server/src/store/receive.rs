//! Messages that come in: each becomes a command, and its sender hears what became of it when that is certain.

use std::sync::Arc;

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::{Body, Command, Enqueue, Facts, Refused, Target};
use router_core::{Now, OutKey, Transmit, Transmitted};
use smallvec::SmallVec;

use super::journal::Waiter;
use super::links::{Arrival, Destination, Place, Role, Side};
use super::node::Node;
use super::say::Say;
use super::transactional::TransactionalState;
use crate::content::{Content, Whole};
use crate::shard::LinkRef;

/// The bytes of a message that has come.
#[derive(Clone)]
pub(super) enum Bytes {
    /// In memory.
    Whole(Arc<Whole>),
    /// In a file of its own; and its beginning.
    File { file: u64, beginning: Arc<[u8]> },
}

impl Bytes {
    fn body(&self) -> Body {
        match self {
            Self::Whole(_) => Body::Here,
            Self::File { file, .. } => Body::Large { file: *file },
        }
    }

    pub(super) fn whole(&self) -> Option<Arc<Whole>> {
        match self {
            Self::Whole(whole) => Some(Arc::clone(whole)),
            Self::File { .. } => None,
        }
    }

    fn beginning(&self) -> &[u8] {
        match self {
            Self::Whole(whole) => whole.bytes(),
            Self::File { beginning, .. } => beginning,
        }
    }
}

impl Node {
    /// A delivery for a link of the store's.
    pub(super) fn receive(
        &mut self,
        now: Now,
        link: u32,
        key: OutKey,
        content: Content<LinkRef>,
        how: &Transmit<'_>,
    ) -> Transmitted {
        let arrival = Arrival { link, key, settled: how.settled };
        let txn = how.state.and_then(TransactionalState::of).map(|state| state.txn);
        self.note_arrival(link);
        match content {
            Content::Whole(whole) => {
                self.arrived(now, arrival, whole, txn);
                Transmitted::Complete
            }
            Content::Stream(reader) => {
                self.begin_large(arrival, reader, txn);
                Transmitted::Partial
            }
        }
    }

    /// One credit of a link is used.
    fn note_arrival(&mut self, link: u32) {
        if let Some(sender) = self.sender_mut(link) {
            sender.credit = sender.credit.saturating_sub(1);
            sender.pending += 1;
        }
    }

    pub(super) fn arrived(&mut self, now: Now, arrival: Arrival, whole: Arc<Whole>, txn: Option<Vec<u8>>) {
        if let Some(Role::Coordinator(_)) = self.links.get(arrival.link as usize).map(|link| &link.role) {
            return self.coordinate(arrival, whole.bytes());
        }
        match self.facts_of_whole(now, arrival, &whole) {
            Err(error) => self.refuse(arrival, error),
            Ok(facts) => self.enqueue(arrival, facts, Bytes::Whole(whole), txn.as_deref()),
        }
    }

    /// Has a message put into its queues, at once or at the end of its transaction.
    pub(super) fn enqueue(&mut self, arrival: Arrival, facts: Facts, bytes: Bytes, txn: Option<&[u8]>) {
        let commands = self.commands_for(arrival.link, facts, &bytes);
        match txn {
            Some(txn) => self.post(arrival, txn, commands, &bytes),
            None if commands.is_empty() => self.conclude_arrival(arrival, DeliveryState::Accepted),
            None => {
                let mut waiter = Waiter::Arrival(arrival);
                // If there are two, the one in the log comes first, and decides.
                for (side, command) in commands {
                    self.submit(side, command, bytes.whole(), std::mem::replace(&mut waiter, Waiter::Nobody));
                }
            }
        }
    }

    /// The commands that put a message into its queues, by side.
    fn commands_for(&mut self, link: u32, facts: Facts, bytes: &Bytes) -> SmallVec<[(Side, Command); 1]> {
        let Some(Role::Sender(sender)) = self.links.get(link as usize).map(|link| &link.role) else {
            return SmallVec::new();
        };
        let enqueue = |target, facts| {
            Command::Enqueue(Box::new(Enqueue { to: smallvec::smallvec![target], facts, body: bytes.body() }))
        };
        match sender.to {
            Destination::Queue(Place { side, queue }) => {
                smallvec::smallvec![(side, enqueue(Target::Queue(queue), facts))]
            }
            Destination::Topic(topics) => {
                let (sides, filtered) = (sender.look.sides, sender.look.filtered);
                let message = bytes.beginning();
                let there = Side::BOTH.into_iter().filter(|side| sides[*side as usize]);
                let command = |side: Side| {
                    let topic = topics[side as usize];
                    let bound = self.brokers[side as usize].bound(topic).filter(|_| filtered);
                    let except = bound.filter(|queue| self.keeps_out(Place { side, queue: *queue }, message)).collect();
                    (side, enqueue(Target::Topic { topic, except }, facts.clone()))
                };
                there.map(command).collect()
            }
        }
    }

    /// Whether the filter of a queue does not fit a message.
    fn keeps_out(&self, place: Place, message: &[u8]) -> bool {
        self.filters.get(&place).is_some_and(|filter| !filter.matches(message))
    }

    fn facts_of_whole(&mut self, now: Now, arrival: Arrival, whole: &Whole) -> Result<Facts, ErrorCondition> {
        if whole.layout().message_format != 0 {
            let text = "Queues take messages of format 0 only: send those of other formats past them";
            return Err(ErrorCondition::new(names::NOT_IMPLEMENTED, text));
        }
        self.facts_of(now, arrival.link, whole.bytes(), whole.bytes().len() as u64)
    }

    /// What queues must know of a message whose beginning this is.
    pub(super) fn facts_of(
        &mut self,
        now: Now,
        link: u32,
        beginning: &[u8],
        size: u64,
    ) -> Result<Facts, ErrorCondition> {
        let time = self.time(now);
        self.refresh_look(link);
        let Some(Role::Sender(sender)) = self.links.get(link as usize).map(|link| &link.role) else {
            return Err(ErrorCondition::new(names::NOT_ALLOWED, "Nothing can be sent on this link"));
        };
        let mut facts = Facts::of(beginning, time, &sender.look.wanted)
            .map_err(|malformed| ErrorCondition::new(names::DECODE_ERROR, malformed.to_string()))?;
        facts.size = size;
        if let (true, Destination::Queue(place)) = (sender.look.filtered, sender.to)
            && self.keeps_out(place, beginning)
        {
            return Err(ErrorCondition::new(names::PRECONDITION_FAILED, "The filter of the queue does not let it in"));
        }
        Ok(facts)
    }

    /// A message is not taken.
    pub(super) fn refuse(&mut self, arrival: Arrival, error: ErrorCondition) {
        if arrival.settled {
            logging::log!(ROUTER_CORE, Debug, "A message sent settled is lost: {error}");
        }
        self.conclude_arrival(arrival, DeliveryState::Rejected(Some(Box::new(error))));
    }

    /// What became of a message is known: its sender hears it.
    pub(super) fn conclude_arrival(&mut self, arrival: Arrival, state: DeliveryState) {
        if !arrival.settled {
            self.say(Say::Outcome { key: arrival.key, state: Some(state), settled: true });
        }
        if let Some(sender) = self.sender_mut(arrival.link) {
            sender.pending = sender.pending.saturating_sub(1);
            self.give_credit(arrival.link);
        }
    }

    /// What became of the command for a message.
    pub(super) fn arrival_applied(&mut self, arrival: Arrival, applied: &queue_core::Applied) {
        match applied {
            // Whether a topic has subscriptions is no concern of its senders'.
            Ok(_) | Err(Refused::Duplicate) => self.conclude_arrival(arrival, DeliveryState::Accepted),
            Err(refused) => self.refuse(arrival, condition(refused)),
        }
    }

    /// The sender of a delivery has settled it before it heard of it.
    pub(super) fn sender_settled(&mut self, key: OutKey) {
        self.journal.forget_arrival(key);
        self.large.forget_arrival(key);
    }
}

/// A refusal in the words of AMQP.
pub(super) fn condition(refused: &Refused) -> ErrorCondition {
    let name = match refused {
        Refused::NoQueue | Refused::NoTopic => names::RESOURCE_DELETED,
        Refused::Full { .. } => names::RESOURCE_LIMIT_EXCEEDED,
        Refused::Exists(_) | Refused::NotEmpty | Refused::InUse => names::PRECONDITION_FAILED,
        Refused::BadSettings(_) => names::INVALID_FIELD,
        Refused::Gone => names::TRANSACTION_ROLLBACK,
        _ => names::NOT_ALLOWED,
    };
    ErrorCondition::new(name, refused.to_string())
}
