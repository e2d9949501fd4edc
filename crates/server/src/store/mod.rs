//! Where do messages stay until a consumer takes them? The store: queues behind a connection of the routing core that has
//! no other end.
//!
//! What it deliberately does not know: what is on the wire of anybody's connection, and who is where in the network. Links
//! are routed to it as to any broker; what passes is what passes on such links. Which message is next in a queue is the
//! business of `queue_core`, what is on disk that of `queue_log`; this module brings them together.
//!
//! The core calls it from within calls of its own, whatever shard runs: so it only notes what it hears, and what it has to
//! say ([`say`]) is said when the shard pumps it, before it gives the core up. Its mutex is entered with the core locked
//! and is never contended.

mod acquisition;
mod addresses;
mod admission;
mod attach;
mod backup;
mod bodies;
mod changes;
mod checkpoints;
mod clock;
mod collectors;
mod credit;
mod crossing;
mod declared;
mod deliver;
mod detach;
mod effects;
mod entry;
mod failure;
mod fullness;
mod graves;
mod handle;
mod handling;
mod inventory;
mod journal;
mod large;
mod leaving;
mod links;
mod look;
mod node;
mod opaque;
mod outcomes;
mod reading;
mod receive;
mod recovery;
mod refusals;
mod regard;
mod relocation;
mod report;
mod say;
mod seldom;
mod shadows;
mod signals;
mod spec;
mod telling;
mod templates;
#[cfg(test)]
pub(crate) mod tests;
mod transactional;
mod transactions;
mod turn;
mod unlogged;
mod views;
mod wanted;
mod ways;

pub(crate) use handle::StoreHandle;
pub use inventory::StoreContents;
pub(crate) use receive::Arriving;
pub(crate) use report::{Report, report};
pub(crate) use say::Leaving;
pub(crate) use spec::{
    MessageView, Part, QueueView, StoreError, StoreSettings, StoreView, TemplateSpec, TopicSpec, Which,
};

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use amqp::{DeliveryState, Map};
use parking_lot::Mutex;
use queue_core::Broker;
use queue_log::{Disk, OpenError};
use router_core::{LinkKey, Now, OpenLink, OutKey, Transmit, Transmitted};

use crate::content::Whole;
use crate::shard::{LinkRef, ShardHost, Shards};
use clock::Clock;
use journal::Journal;
use node::Node;
use signals::Signals;
use wanted::{COORDINATOR, DYNAMIC};
use ways::Ways;

/// The store.
pub(crate) struct Store {
    node: Mutex<Node>,
    ways: Ways,
    signals: Arc<Signals>,
    timer: Mutex<Option<JoinHandle<()>>>,
    /// Bytes of messages in memory, as they were when it was pumped last.
    bytes: AtomicU64,
}

impl Store {
    /// Opens a store, or makes one.
    ///
    /// # Errors
    /// If the directory cannot be used.
    fn open(shards: &Shards, settings: &StoreSettings, disk: Arc<dyn Disk>) -> Result<Self, OpenError> {
        let signals = Arc::new(Signals::new(shards.wakers()));
        let recovered = recovery::open(settings, disk, &signals)?;
        let mut journal = Journal::new(Some(recovered.log));
        journal.applied = recovered.applied;
        journal.since_checkpoint = recovered.since_checkpoint;
        let sizes = (settings.cache_bytes, settings.large_message_bytes);
        let store = Self::with_parts(shards, recovered.broker, journal, sizes, signals);
        store.node.lock().large.shared = recovered.shared;
        if let Some(most) = settings.max_bytes {
            store.node.lock().checkpoint_every = checkpoints::EVERY.min(most / checkpoints::SHARE);
        }
        Ok(store)
    }

    #[cfg(test)]
    fn in_memory(shards: &Shards) -> Self {
        let signals = Arc::new(Signals::new(shards.wakers()));
        Self::with_parts(shards, Broker::new(), Journal::default(), (1024 * 1024, u64::MAX), signals)
    }

    fn with_parts(shards: &Shards, broker: Broker, journal: Journal, sizes: (u64, u64), signals: Arc<Signals>) -> Self {
        let clock = Clock::new(shards.now(), broker.time());
        let mut node = Node::new(broker, journal, sizes, Arc::clone(&signals), clock);
        node.prefix = format!("{}/", shards.router_id());
        let timed = Arc::clone(&signals);
        let timer = std::thread::Builder::new().name("store-timer".to_owned()).spawn(move || timed.keep_time());
        if let Err(error) = &timer {
            logging::log!(ROUTER_CORE, Error, "Messages expire late, for no thread can be started: {error}");
        }
        Self {
            node: Mutex::new(node),
            ways: Ways::default(),
            signals,
            timer: Mutex::new(timer.ok()),
            bytes: AtomicU64::new(0),
        }
    }

    /// Whether there may be something to say.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.signals.is_busy()
    }

    fn with<R>(&self, call: impl FnOnce(&mut Node) -> R) -> R {
        self.signals.set_busy();
        let mut node = self.node.lock();
        // Whatever happens comes after what receivers have said.
        node.apply_accepted();
        call(&mut node)
    }

    fn ways(&self) -> &Ways {
        &self.ways
    }

    /// The core wants a link.
    pub(crate) fn open_link(&self, key: LinkKey, link: OpenLink) -> LinkRef {
        LinkRef::of_store(self.with(|node| node.open_link(key, link)))
    }

    /// The core detaches a link, or answers a detach.
    pub(crate) fn detach(&self, link: LinkRef, closed: bool) {
        self.with(|node| node.detached(link.link, closed));
    }

    /// A receiver wants more.
    pub(crate) fn add_credit(&self, link: LinkRef, credit: u32) {
        self.with(|node| node.receiver_credit(link.link, credit));
    }

    /// A receiver wants back what it cannot be given, or not any more.
    pub(crate) fn drain(&self, link: LinkRef, drain: bool) {
        self.with(|node| node.receiver_drains(link.link, drain));
    }

    /// A receiver has said this with a flow.
    pub(crate) fn says_with_flow(&self, link: LinkRef, properties: &Map) {
        self.with(|node| node.receiver_says_with_flow(link.link, properties));
    }

    /// What was held up between a link and its receiver is gone.
    pub(crate) fn room(&self, link: LinkRef) {
        self.with(|node| node.receiver_has_room(link.link));
    }

    /// The next delivery on a link would not leave at once.
    pub(crate) fn no_room(&self, link: LinkRef) {
        self.with(|node| node.receiver_has_no_room(link.link));
    }

    /// A delivery, all of which is there.
    #[inline]
    pub(crate) fn receive_whole(
        &self,
        now: Now,
        link: LinkRef,
        key: OutKey,
        whole: Arc<Whole>,
        how: &Transmit<'_>,
    ) -> Transmitted {
        self.with(|node| node.receive_whole(now, link.link, key, whole, how))
    }

    /// Any delivery.
    pub(crate) fn receive(
        &self,
        now: Now,
        link: LinkRef,
        key: OutKey,
        arriving: Arriving,
        how: &Transmit<'_>,
    ) -> Transmitted {
        self.with(|node| node.receive(now, link.link, key, arriving, how))
    }

    /// The sender of a delivery that is still coming has given it up.
    pub(crate) fn abort(&self, link: LinkRef, key: OutKey) {
        self.with(|node| node.aborted(link.link, key));
    }

    /// More of a message that is still coming is there.
    pub(crate) fn grown(&self, link: LinkRef) {
        self.with(|node| node.large.grown(link.link));
    }

    /// A receiver says something of a delivery.
    pub(crate) fn receiver_says(&self, now: Now, link: LinkRef, id: u32, state: Option<DeliveryState>, settled: bool) {
        self.signals.set_busy();
        self.node.lock().receiver_says(now, link.link, id, state, settled);
    }

    /// A sender says something of a delivery.
    pub(crate) fn sender_says(&self, key: OutKey, settled: bool) {
        if settled {
            self.with(|node| node.sender_settled(key));
        }
    }

    /// From now on the shard that runs is woken.
    fn rest(&self, now: Now, host: &ShardHost) {
        if let Some(shard) = host.number() {
            self.signals.set_shard(shard);
        }
        let mut node = self.node.lock();
        node.rest(now);
        self.bytes.store(node.bytes_in_memory(), Ordering::Relaxed);
    }

    /// Bytes of messages that it has in memory; they have bounds of their own.
    pub(crate) fn bytes_in_memory(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Writes what is left, and ends the threads. Nobody may call the store any more.
    fn close(&self) {
        self.signals.end();
        if let Some(timer) = self.timer.lock().take() {
            // One that panicked has ended, too.
            let _ = timer.join();
        }
        self.with(Node::close);
    }
}
