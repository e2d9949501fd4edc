//! Messages that come in: each becomes a command, and its sender hears what became of it when that is certain.

mod answers;
mod at_once;
mod message;

use std::sync::Arc;

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::{Applied, Body, Command, Enqueue, Facts, Millis, Refused, Target};
use router_core::{Now, OutKey, Transmit, Transmitted};
use smallvec::{SmallVec, smallvec};

use super::admission::{Answers, Asking};
use super::journal::Waiter;
use super::links::{Arrival, Destination, Look, Place, Role, Side};
use super::node::Node;
use super::opaque;
use super::say::Say;
use super::transactional::TransactionalState;
use crate::content::{Content, Whole};
use crate::shard::LinkRef;
use message::facts_of;

pub(super) use answers::{Pair, condition};
pub(super) use message::{Bytes, Early, Said};

/// A message as it comes; of one that comes in pieces, what is to stand in the place of its message annotations, if they
/// are not to stay as they are.
pub(crate) type Arriving = (Content<LinkRef>, Option<Box<[u8]>>);

/// What a message becomes: a command for each side that takes it.
pub(super) type Commands = SmallVec<[(Side, Command); 1]>;

impl Node {
    /// A delivery for a link of the store's, all of which is there.
    pub(super) fn receive_whole(
        &mut self,
        now: Now,
        link: u32,
        key: OutKey,
        whole: Arc<Whole>,
        how: &Transmit<'_>,
    ) -> Transmitted {
        match self.plain_destination(link) {
            Some(queue) if how.state.is_none() => {
                let arrival = Arrival { link, key, settled: how.settled };
                self.take_plain(self.time(now), arrival, queue, opaque::kept(whole), how.passing)
            }
            _ => self.receive(now, link, key, (Content::Whole(whole), None), how),
        }
    }

    /// Any delivery for a link of the store's.
    pub(super) fn receive(
        &mut self,
        now: Now,
        link: u32,
        key: OutKey,
        (content, edit): Arriving,
        how: &Transmit<'_>,
    ) -> Transmitted {
        let arrival = Arrival { link, key, settled: how.settled };
        let txn = how.state.and_then(TransactionalState::of).map(|state| state.txn);
        let to = self.note_arrival(link).then(|| how.to_override.unwrap_or_default().into());
        let said = Said { txn, to };
        match content {
            Content::Whole(whole) => self.arrived(self.time(now), arrival, Bytes::Whole(opaque::kept(whole)), said),
            Content::Stream(reader) => {
                self.begin_large(arrival, reader, edit, said);
                Transmitted::Partial
            }
        }
    }

    /// One credit of a link is used. Whether its messages say where they go.
    fn note_arrival(&mut self, link: u32) -> bool {
        let Some(sender) = self.sender_mut(link) else { return false };
        sender.note_arrival();
        sender.to == Destination::Named
    }

    /// All of a message is there that had not come at once.
    pub(super) fn arrived_late(&mut self, time: Millis, arrival: Arrival, bytes: Bytes, said: Said) {
        if self.arrived(time, arrival, bytes, said) == Transmitted::Accepted {
            self.say(Say::Outcome { key: arrival.key, state: Some(DeliveryState::Accepted), settled: true });
        }
    }

    /// All of a message is there: it goes where its link says, or it says itself.
    fn arrived(&mut self, time: Millis, arrival: Arrival, bytes: Bytes, said: Said) -> Transmitted {
        self.refresh_look(arrival.link);
        if let Some(sender) = self.sender_mut(arrival.link) {
            sender.note_size(bytes.in_memory());
        }
        let sender = match (self.links.get(arrival.link as usize).map(|link| &link.role), &bytes) {
            (Some(Role::Sender(sender)), _) => sender,
            (Some(Role::Coordinator(_)), Bytes::Whole(whole)) => {
                self.coordinate(arrival, whole.bytes());
                return Transmitted::Complete;
            }
            _ => {
                let error = ErrorCondition::new(names::NOT_ALLOWED, "Nothing can be sent on this link");
                self.refuse_bytes(arrival, &bytes, error);
                return Transmitted::Complete;
            }
        };
        match (sender.to, bytes) {
            (Destination::Named, bytes) => self.take_named(time, Early { arrival, bytes, said }),
            (to, bytes)
                if sender.look.filtered && matches!(to, Destination::Topic(_)) || self.admissions.has(arrival.link) =>
            {
                let (look, container, answers) = (sender.look.clone(), sender.container.clone(), Answers::default());
                self.ask(Asking { time, arrival, bytes, said, to, look, container, answers });
            }
            (Destination::Queue(to), Bytes::Whole(whole)) if !sender.look.filtered && said.txn.is_none() => {
                // What most messages are.
                match facts_of(whole.bytes(), |bytes| Facts::of_whole(bytes, time, &sender.look.wanted)) {
                    Ok(facts) => return self.put(time, to, arrival, whole, facts),
                    Err(error) => self.refuse(arrival, error),
                }
            }
            (to, bytes) => {
                let commands = self.commands_for(time, to, &sender.look, &sender.container, &bytes, Answers::default());
                self.enqueue(arrival, commands, &bytes, said.txn.as_deref());
            }
        }
        Transmitted::Complete
    }

    /// Has a message put into one queue: at once if that lives in memory alone.
    fn put(&mut self, time: Millis, to: Place, arrival: Arrival, whole: Arc<Whole>, facts: Facts) -> Transmitted {
        if self.is_direct(to.side) {
            return self.take_at_once(time, arrival, to.queue, whole, facts, None);
        }
        if self.finds_no_memory(whole.bytes().len() as u64) {
            self.refuse(arrival, self.no_memory());
            return Transmitted::Complete;
        }
        let enqueue = Enqueue { to: smallvec![Target::Queue(to.queue)], facts, body: Body::Here };
        self.submit(to.side, Command::Enqueue(Box::new(enqueue)), Some(whole), Waiter::Arrival(arrival));
        Transmitted::Complete
    }

    /// A message that names its queue, which is made if it is not there.
    fn take_named(&mut self, time: Millis, early: Early) {
        let Early { arrival, bytes, said } = &early;
        let address = said.to.as_deref().unwrap_or_default();
        if let Some(to) = self.find(address) {
            let Early { arrival, bytes, said } = early;
            let (look, container, answers) = (self.look_of(to), "".into(), Answers::default());
            return self.ask(Asking { time, arrival, bytes, said, to, look, container, answers });
        }
        match self.settings_of_template(address) {
            Ok(settings) => {
                if let Some(txn) = &said.txn {
                    self.transactions.await_early(txn);
                }
                self.make_queue(settings, Waiter::Early(Box::new(early)));
            }
            Err(error) => self.refuse_bytes(*arrival, bytes, error),
        }
    }

    /// What became of the queue that a message waits for.
    pub(super) fn early_queue_made(&mut self, early: Early, applied: &Applied) {
        match applied {
            // Somebody else may have made it.
            Ok(_) | Err(Refused::Exists(_)) => {
                let txn = early.said.txn.clone();
                self.take_named(self.clock(), early);
                self.early_over(txn);
            }
            Err(refused) => self.refuse_early(&early, condition(refused)),
        }
    }

    /// A message does not wait any more for its queue to be made.
    fn early_over(&mut self, txn: Option<Vec<u8>>) {
        if let Some(txn) = txn {
            self.transactions.early_over(&txn);
            self.go_on_ending(&txn, false);
        }
    }

    /// The queue that a message waits for cannot be made.
    pub(super) fn refuse_early(&mut self, early: &Early, error: ErrorCondition) {
        self.refuse_bytes(early.arrival, &early.bytes, error);
        self.early_over(early.said.txn.clone());
    }

    /// Has a message put into its queues, at once or at the end of its transaction.
    pub(super) fn enqueue(
        &mut self,
        arrival: Arrival,
        commands: Result<Commands, ErrorCondition>,
        bytes: &Bytes,
        txn: Option<&[u8]>,
    ) {
        let commands = match commands {
            Ok(commands) => commands,
            Err(error) => return self.refuse_bytes(arrival, bytes, error),
        };
        let is_logged = commands.iter().any(|(side, _)| *side == Side::Logged);
        if txn.is_none() && is_logged && self.finds_no_memory(bytes.in_memory()) {
            return self.refuse_bytes(arrival, bytes, self.no_memory());
        }
        if let Bytes::File { file, beginning, .. } = bytes {
            self.bodies.keep_beginning(*file, beginning);
            self.large.used(*file, commands.len());
        }
        match txn {
            Some(txn) => self.post(arrival, txn, commands, bytes),
            None if commands.is_empty() => self.conclude_arrival(arrival, DeliveryState::Accepted),
            None => {
                let mut waiters = self.waiters_for(arrival, commands.len());
                for (side, command) in commands {
                    self.submit(side, command, bytes.whole(), waiters());
                }
            }
        }
    }

    fn no_memory(&self) -> ErrorCondition {
        let waiting = self.journal.waiting_bytes();
        let text = format!("The disk does not keep up: {waiting} bytes wait for it. Send the message again later");
        ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, text)
    }

    /// The commands that put a message into its queues, by side.
    pub(super) fn commands_for(
        &self,
        time: Millis,
        to: Destination,
        look: &Look,
        container: &str,
        bytes: &Bytes,
        answers: Answers,
    ) -> Result<Commands, ErrorCondition> {
        let facts = bytes.facts(time, &look.wanted)?;
        let message = opaque::sections(bytes.beginning());
        let enqueue =
            |target, facts| Command::Enqueue(Box::new(Enqueue { to: smallvec![target], facts, body: bytes.body() }));
        Ok(match to {
            Destination::Queue(place) if look.filtered && self.keeps_out(place, message, container) => {
                let text = "The filter of the queue does not let it in";
                return Err(ErrorCondition::new(names::PRECONDITION_FAILED, text));
            }
            Destination::Queue(Place { side, queue }) => {
                smallvec![(side, enqueue(Target::Queue(queue), facts))]
            }
            Destination::Topic(topics) => {
                let there = Side::BOTH.into_iter().filter(|side| look.sides[*side as usize]);
                let Answers { mut except, .. } = answers;
                let command = |side: Side| {
                    let (topic, except) = (topics[side as usize], std::mem::take(&mut except[side as usize]));
                    (side, enqueue(Target::Topic { topic, except }, facts.clone()))
                };
                there.map(command).collect()
            }
            Destination::Named => Commands::new(),
        })
    }

    /// Whether a queue does not let a message in.
    fn keeps_out(&self, place: Place, message: &[u8], container: &str) -> bool {
        self.filters.get(&place).is_some_and(|filter| !filter.admits(message, container))
    }
}
