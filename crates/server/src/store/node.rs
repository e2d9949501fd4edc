//! The store's state: all that the parts of the store work on.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use amqp::Map;
use queue_core::{AcceptedAtOnce, AcqId, BodyRef, Broker, Command, ConsumerId, Millis, Output, QueueSettings};
use router_core::Now;
use slab::Slab;

use super::admission::{Admissions, MOST_ASKED};
use super::bodies::Bodies;
use super::clock::Clock;
use super::collectors::Collectors;
use super::crossing::Crossings;
use super::fullness::Fullness;
use super::journal::{Journal, Waiter};
use super::large::Large;
use super::links::{Admission, Link, Place, Receiver, Role, Sender, Side, Unsettled};
use super::reading::Reading;
use super::receive::Pair;
use super::relocation::Relocation;
use super::say::{Answers, Plain, Say, Speech};
use super::seldom::Seldom;
use super::shadows::Shadows;
use super::signals::Signals;
use super::templates::Templates;
use super::transactions::Transactions;
use super::unlogged::Unlogged;
use crate::content::Whole;

/// Of the memory that there is, the share of messages that live in it alone; and how much where the system does not say how
/// much memory there is.
const TRANSIENT_SHARE: u64 = 4;
const MOST_TRANSIENT: u64 = 1 << 30;

/// The same of what is on its way to the disk.
const WAITING_SHARE: u64 = 8;
const MOST_WAITING: u64 = 512 << 20;

/// The same of what receivers write to messages.
const WRITTEN_SHARE: u64 = 16;
const MOST_WRITTEN: u64 = 256 << 20;

/// All that the store is while it runs.
pub(super) struct Node {
    /// By side.
    pub(super) brokers: [Broker; 2],
    pub(super) links: Slab<Link>,
    pub(super) consumers: Consumers,
    pub(super) bodies: Bodies,
    pub(super) journal: Journal,
    pub(super) large: Large,
    pub(super) reading: Reading,
    pub(super) transactions: Transactions,
    pub(super) templates: Templates,
    pub(super) says: Vec<Say>,
    /// The plain deliveries among that, in order.
    pub(super) plain: Vec<Plain>,
    /// Some deliveries were said of which it is not known yet what came of that: others must not overtake them.
    pub(super) has_said_deliveries: bool,
    /// Where what was said, and what came of it, is put: kept for its memory.
    pub(super) spare: (Speech, Answers),
    /// What receivers have accepted of queues that live in memory alone, and what has not left these yet.
    pub(super) accepted: Vec<AcqId>,
    /// What came of it: kept for its memory.
    pub(super) accepted_spare: AcceptedAtOnce,
    /// Receivers for which something may be done.
    pub(super) ready: VecDeque<u32>,
    /// Receivers that drain.
    pub(super) draining: Vec<u32>,
    /// Senders that wait for room in a queue.
    pub(super) starved: HashMap<Place, VecDeque<u32>>,
    /// Senders that wait for the log.
    pub(super) held_back: VecDeque<u32>,
    /// What the senders of queues with limits have been promised.
    pub(super) promised: HashMap<Place, u64>,
    /// What queues let in.
    pub(super) filters: HashMap<Place, Admission>,
    /// Changes whenever a queue does.
    pub(super) epoch: u64,
    /// Messages that filters are to be shown and that are not in memory, and whose.
    pub(super) waiting_filters: HashMap<BodyRef, Vec<(Side, ConsumerId)>>,
    /// Links whose next message is being read back.
    pub(super) waiting_links: HashMap<BodyRef, Vec<u32>>,
    /// Messages that wait for the filters of subscriptions, and how many of these are asked in one turn.
    pub(super) admissions: Admissions,
    pub(super) most_asked: u32,
    /// Since when filters have been looking at messages in this turn.
    pub(super) looking: Option<Instant>,
    /// What receivers have said with flows before what they receive from was there.
    pub(super) early_flows: HashMap<u32, Map>,
    /// Senders that wait for memory.
    pub(super) crowded: VecDeque<u32>,
    /// Bytes of messages in memory alone from which on their senders wait.
    pub(super) most_transient: u64,
    /// Bytes that all open transactions hold at most.
    pub(super) most_in_transactions: u64,
    /// Queues beyond which clients have none made.
    pub(super) most_queues: usize,
    /// Bytes of messages on their way to the disk, and of those that senders have credit for, beyond which there is no more.
    pub(super) most_waiting: u64,
    /// Bytes kept free for what senders have credit for.
    pub(super) reserved: u64,
    /// Bytes that receivers may write to messages: annotations, and why they reject them.
    pub(super) most_written: u64,
    /// What was said of queues that are full.
    pub(super) fullness: Fullness,
    /// That what they write was left out is said seldom.
    pub(super) left_out: Seldom,
    /// What has taken effect although the log had no room for it.
    pub(super) unlogged: Unlogged,
    /// Old messages that are appended to the log once more.
    pub(super) relocation: Relocation,
    /// Messages on their way to the other side.
    pub(super) crossings: Crossings,
    /// Queues with dead letters for the other side.
    pub(super) shadows: Shadows,
    /// Queues with dead letters for topics.
    pub(super) collectors: Collectors,
    /// Bytes appended to the log after which a checkpoint is due.
    pub(super) checkpoint_every: u64,
    /// Nothing is delivered any more, and nobody gets credit.
    pub(super) is_stopping: bool,
    /// The log has failed, and those who waited for it were told.
    pub(super) is_ended: bool,
    pub(super) clock: Clock,
    pub(super) signals: Arc<Signals>,
    /// What the addresses of dynamic nodes begin with.
    pub(super) prefix: String,
    /// Messages for topics with queues on both sides.
    pub(super) pairs: Slab<Pair>,
    pub(super) output: Output,
    /// Bytes of an entry of the log that are dead, and of which the log was not told: neighbours go together.
    pub(super) dead: (u64, u64),
}

/// Which link a consumer has, by side and the consumer's index.
#[derive(Default)]
pub(super) struct Consumers([Vec<Option<(ConsumerId, u32)>>; 2]);

impl Consumers {
    #[inline]
    pub(super) fn link_of(&self, side: Side, consumer: ConsumerId) -> Option<u32> {
        let found = self.0[side as usize].get(consumer.index()).copied().flatten();
        found.filter(|(id, _)| *id == consumer).map(|(_, link)| link)
    }

    pub(super) fn add(&mut self, side: Side, consumer: ConsumerId, link: u32) {
        let of = &mut self.0[side as usize];
        if of.len() <= consumer.index() {
            of.resize(consumer.index() + 1, None);
        }
        of[consumer.index()] = Some((consumer, link));
    }

    pub(super) fn remove(&mut self, side: Side, consumer: ConsumerId) {
        if let Some(place) = self.0[side as usize].get_mut(consumer.index())
            && place.is_some_and(|(id, _)| id == consumer)
        {
            *place = None;
        }
    }
}

impl Node {
    pub(super) fn new(
        broker: Broker,
        journal: Journal,
        (cache, threshold): (u64, u64),
        signals: Arc<Signals>,
        clock: Clock,
    ) -> Self {
        let reading = Reading::start(journal.log.clone(), &signals);
        let memory = crate::process::memory::available();
        Self {
            brokers: [broker, Broker::new()],
            links: Slab::new(),
            consumers: Consumers::default(),
            bodies: Bodies::new(cache),
            large: Large::new(journal.log.clone(), threshold, &signals),
            journal,
            reading,
            transactions: Transactions::default(),
            templates: Templates::default(),
            says: Vec::new(),
            plain: Vec::new(),
            accepted: Vec::new(),
            accepted_spare: AcceptedAtOnce::default(),
            has_said_deliveries: false,
            spare: Default::default(),
            ready: VecDeque::new(),
            draining: Vec::new(),
            starved: HashMap::new(),
            held_back: VecDeque::new(),
            promised: HashMap::new(),
            filters: HashMap::new(),
            epoch: 1,
            waiting_filters: HashMap::new(),
            waiting_links: HashMap::new(),
            admissions: Admissions::default(),
            most_asked: MOST_ASKED,
            looking: None,
            early_flows: HashMap::new(),
            crowded: VecDeque::new(),
            most_transient: memory.map_or(MOST_TRANSIENT, |all| all / TRANSIENT_SHARE),
            most_waiting: memory.map_or(MOST_WAITING, |all| all / WAITING_SHARE),
            reserved: 0,
            most_in_transactions: super::transactions::MOST_BYTES,
            most_queues: super::attach::MOST_QUEUES,
            most_written: memory.map_or(MOST_WRITTEN, |all| all / WRITTEN_SHARE),
            fullness: Fullness::default(),
            left_out: Seldom::default(),
            unlogged: Unlogged::default(),
            relocation: Relocation::default(),
            crossings: Crossings::default(),
            shadows: Shadows::default(),
            collectors: Collectors::default(),
            checkpoint_every: super::checkpoints::EVERY,
            is_stopping: false,
            is_ended: false,
            clock,
            signals,
            prefix: String::new(),
            pairs: Slab::new(),
            output: Output::default(),
            dead: (0, 0),
        }
    }

    /// Bytes of messages in memory.
    pub(super) fn bytes_in_memory(&self) -> u64 {
        self.bodies.bytes() + self.transactions.bytes()
    }

    /// The queues' time now, for who was not told.
    pub(super) fn clock(&self) -> Millis {
        self.clock.now()
    }

    /// The queues' time.
    pub(super) fn time(&self, now: Now) -> Millis {
        self.clock.at(now)
    }

    pub(super) fn say(&mut self, say: Say) {
        self.says.push(say);
    }

    pub(super) fn sender_mut(&mut self, link: u32) -> Option<&mut Sender> {
        match &mut self.links.get_mut(link as usize)?.role {
            Role::Sender(sender) => Some(sender),
            _ => None,
        }
    }

    pub(super) fn receiver_mut(&mut self, link: u32) -> Option<&mut Receiver> {
        match &mut self.links.get_mut(link as usize)?.role {
            Role::Receiver(receiver) => Some(receiver),
            _ => None,
        }
    }

    pub(super) fn delivery_mut(&mut self, link: u32, id: u32) -> Option<&mut Unsettled> {
        self.receiver_mut(link)?.unsettled.get_mut(id as usize)
    }

    /// Whether a link still has a delivery, and not another one in its place.
    pub(super) fn holds(&mut self, link: u32, id: u32, acquisition: AcqId) -> bool {
        let delivery = self.receiver_mut(link).and_then(|receiver| receiver.unsettled.get(id as usize));
        delivery.is_some_and(|delivery| delivery.acquisition == Some(acquisition))
    }

    pub(super) fn broker(&mut self, side: Side) -> &mut Broker {
        &mut self.brokers[side as usize]
    }

    pub(super) fn settings(&self, place: Place) -> Option<&Arc<QueueSettings>> {
        self.brokers[place.side as usize].settings(place.queue)
    }

    /// Has a command take effect: when it is on disk, or at the end of the turn.
    pub(super) fn submit(&mut self, side: Side, command: Command, body: Option<Arc<Whole>>, waiter: Waiter) {
        self.submit_all(side, command, body, waiter);
    }

    /// As [`Node::submit`], with any number of messages.
    pub(super) fn submit_all(
        &mut self,
        side: Side,
        command: Command,
        bodies: impl IntoIterator<Item = Arc<Whole>>,
        waiter: Waiter,
    ) {
        self.journal.gathering[side as usize].push(command, bodies, waiter);
        self.signals.set_busy();
    }
}
