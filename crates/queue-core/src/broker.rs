//! All queues of one store.

use crate::acquire::Acquisitions;
use crate::apply::bodies::Kept;
use crate::apply::sweep::Doomed;
use crate::body::BodyRef;
use crate::consumer::Consumer;
use crate::ids::{ConsumerId, Millis, QueueId, TopicId};
use crate::output::Event;
use crate::queue::Queue;
use crate::settings::{Overflow, QueueSettings};
use crate::stats::Statistics;
use crate::{Target, Wanted};
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

/// All queues of one store: a state machine in two halves.
///
/// The replicated half changes only by [`apply`](Self::apply): what messages are in which queue. The local half is who
/// takes them: consumers, their credit, what they hold. A host that has queues whose commands it does not log keeps them
/// in a broker of their own, so that the logged one is the same after a restart.
#[derive(Debug, Default)]
pub struct Broker {
    // === replicated
    pub(crate) queues: BTreeMap<QueueId, Box<Queue>>,
    pub(crate) topics: BTreeMap<TopicId, Topic>,
    /// By pattern.
    pub(crate) templates: BTreeMap<Arc<str>, Arc<QueueSettings>>,
    /// Queues that were deleted and whose messages are still to go.
    pub(crate) doomed: BTreeMap<QueueId, Doomed>,
    /// The last id that was given to a queue or topic.
    pub(crate) last_id: u64,
    /// How many messages there are of those bytes that more than one queue has.
    pub(crate) shared: BTreeMap<BodyRef, u32>,
    /// The latest time of an entry.
    pub(crate) time: Millis,
    // === follows from it
    pub(crate) by_address: BTreeMap<Arc<str>, Node>,
    /// Bytes of what consumers have written to messages that are in queues.
    pub(crate) written: u64,
    /// Queues that have an owner, by owner.
    pub(crate) owned: BTreeSet<(u64, QueueId)>,
    // === local
    pub(crate) consumers: Slab<Consumer>,
    pub(crate) generation: u32,
    pub(crate) acquisitions: Acquisitions,
    /// Queues that may have something for somebody, in turn.
    pub(crate) ready: VecDeque<QueueId>,
    /// When queues are to be looked after.
    pub(crate) timers: BTreeSet<(Millis, QueueId)>,
    /// Consumers whose credit is to be taken back, and how much.
    pub(crate) drained: VecDeque<(ConsumerId, u32)>,
    /// Bytes that consumers may still read, though their messages are gone or have others.
    pub(crate) kept: BTreeMap<BodyRef, Kept>,
    /// What happened while no command was applied.
    pub(crate) late: Vec<Event>,
}

/// What an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A queue.
    Queue(QueueId),
    /// A topic.
    Topic(TopicId),
}

/// An address whose messages go to all queues that are bound to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topic {
    /// What the queues of its subscriptions are like; the address is the topic's.
    pub(crate) settings: Arc<QueueSettings>,
    pub(crate) queues: BTreeSet<QueueId>,
    /// Where messages wait that left a queue for it, if there is such a queue ([`QueueSettings::collector`]).
    pub(crate) collector: Option<QueueId>,
}

/// How much more a queue takes before it is full. `u64::MAX` where there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Messages.
    pub messages: u64,
    /// Bytes of messages.
    pub bytes: u64,
}

impl Room {
    /// No limit.
    pub const ANY: Self = Self { messages: u64::MAX, bytes: u64::MAX };
}

impl Broker {
    /// One without queues.
    pub fn new() -> Self {
        Self::default()
    }

    /// The latest time that an entry carried which was applied: that of those to come must not be earlier.
    pub fn time(&self) -> Millis {
        self.time
    }

    /// What an address names, if anything.
    pub fn node(&self, address: &str) -> Option<Node> {
        self.by_address.get(address).copied()
    }

    /// Bytes of what consumers have written to messages that are in queues: annotations with `modified`, reasons with
    /// `rejected`. They are in memory, however many messages there are.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// How many queues there are.
    pub fn queue_count(&self) -> usize {
        self.queues.len()
    }

    /// All queues, by id.
    pub fn queues(&self) -> impl Iterator<Item = (QueueId, &QueueSettings)> {
        self.queues.iter().map(|(id, queue)| (*id, &*queue.settings))
    }

    /// The settings of a queue.
    pub fn settings(&self, queue: QueueId) -> Option<&Arc<QueueSettings>> {
        self.queues.get(&queue).map(|queue| &queue.settings)
    }

    /// All topics, by id: their addresses, and what the queues of their subscriptions are like.
    pub fn topics(&self) -> impl Iterator<Item = (TopicId, &Arc<QueueSettings>)> {
        self.topics.iter().map(|(id, topic)| (*id, &topic.settings))
    }

    /// What the queues of a topic's subscriptions are like; the address is the topic's.
    pub fn topic(&self, topic: TopicId) -> Option<&Arc<QueueSettings>> {
        self.topics.get(&topic).map(|topic| &topic.settings)
    }

    /// What queues are like that are made when they are needed, by pattern, which stands in the place of the address.
    pub fn templates(&self) -> impl Iterator<Item = &Arc<QueueSettings>> {
        self.templates.values()
    }

    /// The queues that are bound to a topic, by id.
    pub fn bound(&self, topic: TopicId) -> impl Iterator<Item = QueueId> + '_ {
        self.bound_behind(topic, None)
    }

    /// The queue in which messages wait that left another one for a topic, if they do not go to all that are bound to it
    /// ([`QueueSettings::collector`]). It is not one of these.
    pub fn collector(&self, topic: TopicId) -> Option<QueueId> {
        self.topics.get(&topic)?.collector
    }

    /// Those of them behind one.
    pub fn bound_behind(&self, topic: TopicId, last: Option<QueueId>) -> impl Iterator<Item = QueueId> + '_ {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.topics.get(&topic).into_iter().flat_map(move |topic| topic.queues.range((from, Bound::Unbounded)).copied())
    }

    /// What must be known of a message that goes there, to be read from its bytes by [`Facts::of`](crate::Facts::of).
    pub fn wanted<'t>(&self, to: impl IntoIterator<Item = &'t Target>) -> Wanted {
        let mut wanted = Wanted::default();
        for target in to {
            let topic = match target {
                Target::Queue(queue) => {
                    self.want(*queue, &mut wanted);
                    continue;
                }
                Target::Topic { topic, .. } => *topic,
            };
            self.bound(topic).for_each(|queue| self.want(queue, &mut wanted));
        }
        wanted
    }

    fn want(&self, queue: QueueId, wanted: &mut Wanted) {
        let Some(queue) = self.queues.get(&queue) else { return };
        wanted.duplicates |= queue.settings.duplicate_count > 0;
        if let Some(key) = &queue.settings.last_value_key
            && !wanted.keys.contains(key)
        {
            wanted.keys.push(key.clone());
        }
    }

    /// How much more a queue takes, if its senders are to be held back when it is full; without limit otherwise. What is
    /// on its way to it is not counted.
    pub fn room(&self, queue: QueueId) -> Room {
        let Some(queue) = self.queues.get(&queue) else { return Room { messages: 0, bytes: 0 } };
        if queue.settings.overflow != Overflow::Hold {
            return Room::ANY;
        }
        let rest = |most: Option<u64>, have: u64| most.map_or(u64::MAX, |most| most.saturating_sub(have));
        Room {
            messages: rest(queue.settings.max_messages, queue.count),
            bytes: rest(queue.settings.max_bytes, queue.bytes),
        }
    }

    /// Whether a queue has room for so many messages and bytes of them, or takes them nevertheless. False where
    /// [`Overflow::Reject`](crate::Overflow::Reject) would refuse the last of them now.
    pub fn takes(&self, queue: QueueId, messages: u64, bytes: u64) -> bool {
        self.queues.get(&queue).is_some_and(|queue| !queue.is_full(messages, bytes))
    }

    /// How a queue is, and what has happened in it.
    pub fn statistics(&mut self, queue: QueueId) -> Option<Statistics> {
        let queue = self.queues.get_mut(&queue)?;
        let oldest = queue.oldest();
        let local = &queue.local;
        Some(Statistics {
            depth: queue.count,
            bytes: queue.bytes,
            acquired: local.holders.len() as u64,
            delayed: local.delayed.len() as u64,
            consumers: local.consumers.len() as u64,
            totals: queue.totals,
            full: local.full,
            delivered: local.delivered,
            redelivered: local.redelivered,
            oldest: oldest.and_then(|seq| queue.lanes.get(seq)).map(|entry| entry.arrived),
        })
    }

    /// Queues that are full: for who was not told, because it was so from the start.
    pub fn find_full(&mut self) -> Vec<QueueId> {
        let full = |queue: &mut Queue| {
            // It is known from here on.
            drop(queue.fullness());
            queue.local.full
        };
        self.queues.iter_mut().filter_map(|(id, queue)| full(queue).then_some(*id)).collect()
    }

    /// How many messages consumers hold, in all queues.
    pub fn acquired(&self) -> usize {
        self.acquisitions.len()
    }

    pub(crate) fn consumer(&mut self, id: ConsumerId) -> Option<&mut Consumer> {
        self.consumers.get_mut(id.index()).filter(|consumer| consumer.id == id)
    }

    /// Puts a queue on the list of those that may have something for somebody.
    pub(crate) fn list(&mut self, id: QueueId) {
        if let Some(queue) = self.queues.get_mut(&id)
            && !queue.local.listed
        {
            queue.local.listed = true;
            self.ready.push_back(id);
        }
    }

    /// After something was done with a queue: when to look after it, whether it has something for somebody.
    pub(crate) fn touched(&mut self, id: QueueId) {
        let Self { queues, ready, timers, .. } = self;
        let Some(queue) = queues.get_mut(&id) else { return };
        queue.retime(timers);
        if !queue.local.listed {
            queue.local.listed = true;
            ready.push_back(id);
        }
    }

    pub(crate) fn retime(&mut self, id: QueueId) {
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.retime(&mut self.timers);
        }
    }
}

impl Queue {
    /// Corrects when it is to be looked after.
    fn retime(&mut self, timers: &mut BTreeSet<(Millis, QueueId)>) {
        let next = self.next_time();
        if next != self.local.timer {
            if let Some(before) = self.local.timer {
                timers.remove(&(before, self.id));
            }
            if let Some(next) = next {
                timers.insert((next, self.id));
            }
            self.local.timer = next;
        }
    }
}
