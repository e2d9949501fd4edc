//! Messages that come in: each becomes a command, and its sender hears what became of it when that is certain.

use std::sync::Arc;

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::{
    Body, Came, Command, Enqueue, EntryIndex, Facts, Malformed, Millis, QueueId, Refused, Target, Wanted,
};
use router_core::{Now, OutKey, Passing, Transmit, Transmitted};
use smallvec::{SmallVec, smallvec};

use super::admission::{Answers, Asking};
use super::journal::Waiter;
use super::links::{Arrival, Destination, Look, Place, Role, Side};
use super::node::{Node, Pair};
use super::opaque;
use super::say::Say;
use super::transactional::TransactionalState;
use crate::content::{Content, Whole};
use crate::shard::LinkRef;

/// A message as it comes; of one that comes in pieces, what is to stand in the place of its message annotations, if they
/// are not to stay as they are.
pub(crate) type Arriving = (Content<LinkRef>, Option<Box<[u8]>>);

/// The bytes of a message that has come.
#[derive(Debug)]
pub(super) enum Bytes {
    /// In memory.
    Whole(Arc<Whole>),
    /// In a file of its own: so many, and its beginning.
    File { file: u64, size: u64, beginning: Arc<[u8]> },
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

    /// The file, if it has one.
    pub(super) fn file(&self) -> Option<u64> {
        match self {
            Self::Whole(_) => None,
            Self::File { file, .. } => Some(*file),
        }
    }

    pub(super) fn beginning(&self) -> &[u8] {
        match self {
            Self::Whole(whole) => whole.bytes(),
            Self::File { beginning, .. } => beginning,
        }
    }

    /// What it takes in memory while it waits for the disk.
    pub(super) fn in_memory(&self) -> u64 {
        self.beginning().len() as u64
    }

    /// What a queue must know of it.
    fn facts(&self, time: Millis, wanted: &Wanted) -> Result<Facts, ErrorCondition> {
        match self {
            Self::Whole(whole) => facts_of(whole.bytes(), |bytes| Facts::of_whole(bytes, time, wanted)),
            Self::File { size, beginning, .. } => {
                let facts = facts_of(beginning, |bytes| Facts::of(bytes, time, wanted))?;
                Ok(Facts { size: *size, ..facts })
            }
        }
    }
}

/// What a queue must know of a message that is kept like this: of one of AMQP what its sections say.
fn facts_of(kept: &[u8], read: impl FnOnce(&[u8]) -> Result<Facts, Malformed>) -> Result<Facts, ErrorCondition> {
    let malformed = |text: String| ErrorCondition::new(names::DECODE_ERROR, text);
    if opaque::is_opaque(kept) {
        return match opaque::format_of(kept) {
            (0, _) => Err(malformed("the message does not begin with a section".to_owned())),
            _ => Ok(Facts::plain(kept.len() as u64)),
        };
    }
    read(kept).map_err(|error| malformed(error.to_string()))
}

/// What is said of a message beside its bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// The transaction that it is part of.
    pub(super) txn: Option<Vec<u8>>,
    /// The address that it names, if its link does not.
    pub(super) to: Option<Box<str>>,
}

/// A message whose queue is being made.
#[derive(Debug)]
pub(super) struct Early {
    pub(super) arrival: Arrival,
    bytes: Bytes,
    said: Said,
}

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

    /// The queue that all messages of a link go to, if that lives in memory alone and lets everything in, if nothing is before
    /// them, and nothing about the link has changed.
    fn plain_destination(&self, link: u32) -> Option<QueueId> {
        let Role::Sender(sender) = &self.links.get(link as usize)?.role else { return None };
        let Destination::Queue(Place { side, queue }) = sender.to else { return None };
        let is_known = sender.look.epoch == self.epoch && !sender.look.filtered;
        (is_known && self.admissions.is_empty() && self.is_direct(side)).then_some(queue)
    }

    /// Takes a message for such a queue.
    fn take_plain(
        &mut self,
        time: Millis,
        arrival: Arrival,
        queue: QueueId,
        whole: Arc<Whole>,
        passing: Option<&Passing>,
    ) -> Transmitted {
        let Some(sender) = self.sender_mut(arrival.link) else { return Transmitted::Complete };
        sender.note_arrival();
        sender.note_size(whole.bytes().len() as u64);
        // What is no message of AMQP cannot be read like one.
        if let Ok(facts) = Facts::of_whole(whole.bytes(), time, &sender.look.wanted) {
            return self.take_at_once(time, arrival, queue, whole, facts, passing);
        }
        match facts_of(whole.bytes(), |bytes| Facts::of_whole(bytes, time, &sender.look.wanted)) {
            Ok(facts) => self.take_at_once(time, arrival, queue, whole, facts, passing),
            Err(error) => {
                self.refuse(arrival, error);
                Transmitted::Complete
            }
        }
    }

    /// Puts a message into a queue that lives in memory alone. `passing`: it may go on at once. `Complete`: what there was to be said of
    /// it is said.
    fn take_at_once(
        &mut self,
        time: Millis,
        arrival: Arrival,
        queue: QueueId,
        whole: Arc<Whole>,
        facts: Facts,
        passing: Option<&Passing>,
    ) -> Transmitted {
        let at = EntryIndex(self.bodies.keep_one(whole));
        match self.at_once(|broker, events| broker.enqueue_at_once(at, time, queue, facts, events)) {
            Ok(came) => {
                self.arrival_over(arrival.link);
                if let Came::Given { consumer, acquisition } = came {
                    if let Some(passing) = passing
                        && let Some(on) = self.pass_on(arrival.key, consumer, acquisition)
                    {
                        passing.set(Some(on));
                        return Transmitted::Passed;
                    }
                    let assignment = self.broker(Side::Memory).assignment(acquisition);
                    assignment.into_iter().for_each(|assignment| self.assigned(Side::Memory, assignment));
                }
                if arrival.settled { Transmitted::Complete } else { Transmitted::Accepted }
            }
            Err(refused) => {
                self.arrival_applied(arrival, &Err(refused));
                Transmitted::Complete
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
            Ok(settings) => self.make_queue(settings, Waiter::Early(Box::new(early))),
            Err(error) => self.refuse_bytes(*arrival, bytes, error),
        }
    }

    /// What became of the queue that a message waits for.
    pub(super) fn early_queue_made(&mut self, early: Early, applied: &queue_core::Applied) {
        match applied {
            // Somebody else may have made it.
            Ok(_) | Err(Refused::Exists(_)) => self.take_named(self.clock(), early),
            Err(refused) => self.refuse_bytes(early.arrival, &early.bytes, condition(refused)),
        }
    }

    /// The queue that a message waits for cannot be made.
    pub(super) fn refuse_early(&mut self, early: &Early, error: ErrorCondition) {
        self.refuse_bytes(early.arrival, &early.bytes, error);
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

    /// Makes those who wait for what becomes of so many commands, which is told the sender when all is known.
    fn waiters_for(&mut self, arrival: Arrival, commands: usize) -> impl FnMut() -> Waiter + use<> {
        let pair = (commands > 1).then(|| self.pairs.insert(Pair { arrival, waits: commands, refusal: None }));
        move || pair.map_or(Waiter::Arrival(arrival), |pair| Waiter::Half { pair })
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

    /// A message is not taken, nor is what there is of it needed.
    pub(super) fn refuse_bytes(&mut self, arrival: Arrival, bytes: &Bytes, error: ErrorCondition) {
        if let Some(file) = bytes.file() {
            self.large.remove(file);
        }
        self.refuse(arrival, error);
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
        self.arrival_over(arrival.link);
    }

    /// One message less of a sender is under way.
    fn arrival_over(&mut self, link: u32) {
        let epoch = self.epoch;
        if let Some(sender) = self.sender_mut(link) {
            sender.pending = sender.pending.saturating_sub(1);
            if !sender.has_enough(epoch) {
                self.give_credit(link);
            }
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

    /// What became of one of the commands for a message.
    pub(super) fn half_applied(&mut self, pair: usize, applied: &queue_core::Applied) {
        let refusal = match applied {
            Ok(_) | Err(Refused::Duplicate) => None,
            Err(refused) => Some(condition(refused)),
        };
        self.half_known(pair, refusal);
    }

    /// The same: it is done, or refused.
    pub(super) fn half_known(&mut self, pair: usize, refusal: Option<ErrorCondition>) {
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
    pub(super) fn sender_settled(&mut self, key: OutKey) {
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
pub(super) fn condition(refused: &Refused) -> ErrorCondition {
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
