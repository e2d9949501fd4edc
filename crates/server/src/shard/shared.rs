//! What all shards and the control plane share.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;

use amqp_endpoint::Now;
use parking_lot::Mutex;
use router_core::{Core, Mode, RouterSettings, SubscriberId};
use tokio::sync::mpsc::UnboundedSender;

use super::backlog::Backlogs;
use super::census::{Census, Full, Place};
use super::event::ShardEvent;
use super::host::ShardHost;
use super::mailbox::Post;
use super::memory::MessageMemory;
use super::place::ConnRef;
use super::policing::Policing;
use crate::store::Store;
use crate::telemetry::Hops;

/// Shared state.
pub(super) struct Shared {
    pub(super) core: Mutex<Core<ShardHost>>,
    /// The router's id.
    pub(super) container_id: String,
    /// This router as it stands in annotations; `None` on edge routers.
    pub(super) this_router: Option<String>,
    pub(super) backlogs: Backlogs,
    /// On edge routers: there is an interior to ask before a client's link is attached.
    pub(super) asks_interior: AtomicBool,
    /// Attaches that have waited for an answer of the interior's.
    pub(super) look_ups: AtomicU64,
    /// On interior routers: who answers look-ups of edge routers.
    pub(super) lookups: OnceLock<SubscriberId>,
    /// Who is connected.
    pub(super) census: Arc<Census>,
    /// Who may do what.
    pub(super) policing: Policing,
    /// Where messages that somebody traces are noted, if that is wanted.
    pub(super) hops: OnceLock<Arc<Hops>>,
    /// Where queues are kept, if there is a place for them.
    pub(super) store: OnceLock<Arc<Store>>,
    /// How much memory messages on their way may take.
    pub(super) memory: MessageMemory,
    /// Sockets accepted since the start.
    pub(super) accepted: AtomicU64,
    /// The shards' threads.
    pub(super) threads: Mutex<Vec<JoinHandle<()>>>,
    posts: Vec<OnceLock<Post>>,
    /// Connections by number, from the moment that they have an owner.
    registry: Mutex<HashMap<u64, ConnRef>>,
    events: UnboundedSender<ShardEvent>,
    start: Instant,
    stopping: AtomicBool,
}

impl Shared {
    pub(super) fn new(settings: RouterSettings, workers: usize, events: UnboundedSender<ShardEvent>) -> Self {
        let container_id = settings.router_id.clone();
        Self {
            this_router: (settings.mode != Mode::Edge).then(|| format!("0/{container_id}")),
            container_id,
            core: Mutex::new(Core::new(settings)),
            backlogs: Backlogs::default(),
            asks_interior: AtomicBool::new(false),
            look_ups: AtomicU64::new(0),
            lookups: OnceLock::new(),
            census: Arc::new(Census::new()),
            policing: Policing::default(),
            hops: OnceLock::new(),
            store: OnceLock::new(),
            memory: MessageMemory::new(),
            accepted: AtomicU64::new(0),
            threads: Mutex::default(),
            posts: std::iter::repeat_with(OnceLock::new).take(workers.clamp(1, usize::from(u16::MAX - 1))).collect(),
            registry: Mutex::default(),
            events,
            start: Instant::now(),
            stopping: AtomicBool::new(false),
        }
    }

    /// How many shards there may be.
    pub(super) fn workers(&self) -> usize {
        self.posts.len()
    }

    /// A running shard's mailbox.
    pub(super) fn post(&self, shard: usize) -> Option<&Post> {
        self.posts.get(shard)?.get()
    }

    /// Makes a shard's mailbox known. The first one stays.
    pub(super) fn set_post(&self, shard: usize, post: Post) {
        self.posts.get(shard).map(|place| place.get_or_init(|| post));
    }

    /// The mailboxes of all shards that run.
    pub(super) fn running(&self) -> impl Iterator<Item = &Post> {
        self.posts.iter().map_while(OnceLock::get)
    }

    /// Time since the start.
    pub(super) fn now(&self) -> Now {
        self.start.elapsed()
    }

    /// Tells the control plane.
    pub(super) fn tell(&self, event: ShardEvent) {
        // It has stopped listening only when the process ends.
        let _ = self.events.send(event);
    }

    /// A place for a connection from there; `None`: the connection is to be dropped.
    pub(super) fn place_for(&self, from: SocketAddr) -> Option<Place> {
        let host = from.ip().to_canonical();
        let text = "based on global connection count. nConnections=";
        match self.census.enter(host) {
            Ok(place) => {
                logging::log!(POLICY, Trace, "ALLOW Connection '{host}' {text} {}", self.census.counts().0);
                return Some(place);
            }
            Err(Full::Connections(count)) => logging::log!(POLICY, Info, "DENY Connection '{host}' {text} {count}"),
            Err(Full::HalfOpen(count)) => {
                let text = "connections from there have not been opened yet";
                logging::log!(POLICY, Info, "DENY Connection '{host}': {count} {text}");
            }
        }
        None
    }

    /// A connection has found its owner.
    pub(super) fn register(&self, id: u64, at: ConnRef) {
        self.registry.lock().insert(id, at);
    }

    /// A connection is gone.
    pub(super) fn forget(&self, id: u64) {
        self.registry.lock().remove(&id);
    }

    /// Where the connection with this number is.
    pub(super) fn find(&self, id: u64) -> Option<ConnRef> {
        self.registry.lock().get(&id).copied()
    }

    /// How many connections have an owner.
    pub(super) fn connections(&self) -> usize {
        self.registry.lock().len()
    }

    /// All shards are to end.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.running().for_each(Post::wake_always);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
