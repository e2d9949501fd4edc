//! The control plane's hold on the shards.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use amqp::ErrorCondition;
use amqp_endpoint::Now;
use mio::net::TcpListener;
use router_core::{Core, RouterSettings, SubscriberId};
use security::policy::{Policy, Settings};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::mpsc::UnboundedSender;

use super::accepting::Listening;
use super::arrival::{Arrival, Kind, Listener, Unencrypted};
use super::event::ShardEvent;
use super::host::ShardHost;
use super::mailbox::{Mail, Order, Post};
use super::parked::Verdict;
use super::place::{LinkRef, NO_SHARD};
use super::policing::PolicyState;
use super::settings::{ConnectorAttempt, ListenerId, ListenerSpec};
use super::shared::Shared;
use super::thread;
use crate::content::{self, Content, Depth, Layout, Look};
use crate::store::Store;
use crate::telemetry::Hops;

/// Connections that may wait to be accepted; the system may allow fewer.
const BACKLOG: i32 = 1024;

/// The running shards. Cheap to clone. They run until [`Shards::shutdown`].
#[derive(Clone)]
pub(crate) struct Shards(Arc<Shared>);

/// What a listener lays down for the connections that come in by it.
pub(crate) struct Accepting(Arc<Listener>);

/// Wakes a shard: the one with this number, or the one that has this link.
pub(crate) type Wake<T> = Box<dyn Fn(T) + Send + Sync>;

/// What the shards have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardCounts {
    /// Sockets accepted since the start.
    pub(crate) accepted: u64,
    /// Those that are connected now.
    pub(crate) connected: u64,
    /// Those that were dropped because there were too many.
    pub(crate) denied: u64,
    /// Messages kept now: those that wait, and those that leave while they come. One with several receivers counts once.
    pub(crate) messages: u64,
    /// Bytes of those.
    pub(crate) message_bytes: u64,
    /// Bytes that the record of a kept message needs beside its own.
    pub(crate) message_size: u64,
}

/// A shard that has no thread of its own.
#[cfg(feature = "measure")]
pub(crate) struct Stepping {
    shard: super::turn::Shard,
    events: mio::Events,
}

#[cfg(feature = "measure")]
impl Stepping {
    /// Takes one turn; waits up to this long for something to do. False if there was nothing.
    ///
    /// # Errors
    /// The system cannot wait.
    pub(crate) fn step(&mut self, patience: Duration) -> io::Result<bool> {
        self.shard.step(&mut self.events, patience)
    }
}

impl Shards {
    /// The router's id.
    pub(crate) fn router_id(&self) -> &str {
        &self.0.container_id
    }

    /// Has messages that somebody traces noted, on connections that are made from now on.
    pub(crate) fn note_hops(&self, hops: Arc<Hops>) {
        // The first one stays.
        let _ = self.0.hops.set(hops);
    }

    /// Starts the first shard; others follow as load asks for them, up to `workers`. Events come on `events`.
    ///
    /// # Errors
    /// The system has no descriptor or thread left.
    pub(crate) fn start(
        settings: RouterSettings,
        workers: usize,
        events: UnboundedSender<ShardEvent>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(settings, workers, events));
        thread::start(&shared, 0)?;
        Ok(Self(shared))
    }

    /// One shard whose turns the caller takes.
    ///
    /// # Errors
    /// The system has no descriptor left.
    #[cfg(feature = "measure")]
    pub(crate) fn start_still(
        settings: RouterSettings,
        events: UnboundedSender<ShardEvent>,
    ) -> io::Result<(Self, Stepping)> {
        let shared = Arc::new(Shared::new(settings, 1, events));
        let shard = thread::start_still(&shared)?;
        Ok((Self(shared), Stepping { shard, events: mio::Events::with_capacity(256) }))
    }

    /// Opens a listener: all its addresses or none. Returned are the addresses with the ports that they got: where port
    /// 0 was asked for, the first address's choice is used for the others.
    ///
    /// # Errors
    /// An address cannot be listened on.
    pub(crate) fn listen(&self, spec: ListenerSpec) -> io::Result<Vec<SocketAddr>> {
        let (sockets, addresses) = bind_all(&spec.addresses)?;
        let sockets = sockets.into_iter().map(TcpListener::from_std).collect();
        let Accepting(listener) = Self::accepting(spec);
        self.order(0, Order::Listen(Box::new(Listening { listener, sockets })));
        Ok(addresses)
    }

    /// What such a listener lays down, for connections that come in by other ways than its own sockets.
    pub(crate) fn accepting(spec: ListenerSpec) -> Accepting {
        Accepting(Arc::new(Listener {
            id: spec.id,
            host_port: spec.host_port.into(),
            settings: spec.settings,
            tls: spec.tls,
            sasl: spec.sasl,
            sasl_required: spec.sasl_required,
            accepted: spec.accepted,
        }))
    }

    /// Takes over a WebSocket after its handshake.
    pub(crate) fn adopt_websocket(&self, accepting: &Accepting, socket: Unencrypted, from: SocketAddr) {
        let listener = Arc::clone(&accepting.0);
        self.0.accepted.fetch_add(1, Ordering::Relaxed);
        listener.accepted.fetch_add(1, Ordering::Relaxed);
        let Some(place) = self.0.place_for(from) else { return };
        let id = self.0.core.lock().next_connection_id();
        logging::log!(SERVER, Info, "[C{id}] Accepted connection to {} from {from}", listener.host_port);
        let kind = Kind::WebSocket { socket, from, listener, place };
        self.order(thread::choose(&self.0), Order::Adopt(Box::new(Arrival { id, kind })));
    }

    /// Whether the core can be entered within this time: if not, something holds it that never should.
    pub(crate) fn answers_within(&self, patience: Duration) -> bool {
        self.0.core.try_lock_for(patience).is_some()
    }

    /// Puts rules in force for connections that open from now on; `None`: there are none.
    pub(crate) fn set_policy(&self, policy: Option<Policy>) {
        self.0.policing.set(policy);
    }

    /// How many connections there may be.
    pub(crate) fn set_max_connections(&self, most: u32) {
        self.0.census.set_most(most.into());
    }

    /// Looks at who is in, or changes it.
    pub(crate) fn with_policy<R>(&self, call: impl FnOnce(&mut PolicyState) -> R) -> R {
        self.0.policing.with(call)
    }

    /// Whether policy lets the connection with this number do something; where none holds for it, it may.
    pub(crate) fn allows(&self, connection_id: Option<u64>, may: impl FnOnce(&Settings) -> bool) -> bool {
        let of = |id| self.with_policy(|state| state.admissions.settings(id).cloned());
        connection_id.and_then(of).is_none_or(|settings| may(&settings))
    }

    /// Closes the listener's sockets; its connections stay.
    pub(crate) fn stop_listening(&self, listener: ListenerId) {
        self.order(0, Order::StopListening(listener));
    }

    /// Begins to connect, and returns the connection's number; what comes of it is an event.
    pub(crate) fn connect(&self, attempt: ConnectorAttempt) -> u64 {
        let id = self.0.core.lock().next_connection_id();
        let arrival = Arrival { id, kind: Kind::ToConnect(Box::new(attempt)) };
        self.order(thread::choose(&self.0), Order::Adopt(Box::new(arrival)));
        id
    }

    /// Drops the connection's socket without an AMQP close. False: there is no such connection.
    pub(crate) fn drop_connection(&self, connection_id: u64) -> bool {
        let found = self.0.find(connection_id);
        found.is_some_and(|at| self.send(at.shard, Mail::Drop(at)))
    }

    /// Shows the connection's frames in the log, or no longer. False: there is no such connection.
    pub(crate) fn trace_connection(&self, connection_id: u64, on: bool) -> bool {
        let found = self.0.find(connection_id);
        self.with_core(|core, _, _| {
            if let Some((key, _)) = core.find_connection(connection_id) {
                core.set_protocol_trace(key, on);
            }
        });
        found.is_some_and(|at| self.send(at.shard, Mail::Trace { conn: Some(at), on }))
    }

    /// Shows the frames of all connections in the log, or no longer.
    pub(crate) fn trace_all(&self, on: bool) {
        let mut core = self.0.core.lock();
        let keys: Vec<_> = core.connections(self.now()).iter().map(|connection| connection.key).collect();
        keys.into_iter().for_each(|key| core.set_protocol_trace(key, on));
        drop(core);
        self.0.running().for_each(|post| post.send(Mail::Trace { conn: None, on }));
    }

    /// Whether clients' attaches wait for what the interior knows of their addresses.
    pub(crate) fn ask_interior(&self, ask: bool) {
        self.0.asks_interior.store(ask, Ordering::Relaxed);
    }

    /// Ends the wait of an attach.
    pub(crate) fn looked_up(&self, link: LinkRef, token: u64, verdict: Verdict) {
        self.send(link.conn.shard, Mail::LookedUp { link, token, verdict });
    }

    /// Whatever comes for this subscriber and is no look-up of an edge router is rejected from now on.
    pub(crate) fn take_only_lookups(&self, subscriber: SubscriberId) {
        // There is one such subscriber in the life of a router.
        let _ = self.0.lookups.set(subscriber);
    }

    /// These subscribers belong to the routing protocol, the first of them to its greetings: what comes for them has room of
    /// its own.
    pub(crate) fn take_apart(&self, protocol: &[SubscriberId]) {
        self.0.backlogs.take_apart(protocol);
    }

    /// Calls the core. What it says to connections is carried out by their shards right afterwards. Not to be called
    /// from within itself.
    pub(crate) fn with_core<R>(&self, call: impl FnOnce(&mut Core<ShardHost>, &mut ShardHost, Now) -> R) -> R {
        let mut host = ShardHost::new(Arc::clone(&self.0), NO_SHARD);
        let mut woken = Vec::new();
        let mut core = self.0.core.lock();
        let now = self.now();
        host.now = now;
        let result = call(&mut core, &mut host, now);
        host.pump_store(&mut core);
        host.deliver_mail(&mut woken);
        drop(core);
        host.wake_others(&mut woken);
        result
    }

    /// A message as the core takes it in [`Core::send_local`].
    pub(crate) fn content(message: &[u8]) -> Content<LinkRef> {
        let look = Look { message_format: 0, complete: true, depth: Depth::Annotations, keep: false };
        let layout = content::examine(message, &look).map_or(Layout::plain(0), |examined| examined.layout);
        Content::whole(message, layout)
    }

    /// The shards' time: since their start.
    pub(crate) fn now(&self) -> Now {
        self.0.now()
    }

    /// The store, if there is one.
    pub(crate) fn store(&self) -> Option<Arc<Store>> {
        self.0.store.get().cloned()
    }

    /// Puts the store where the core finds it. False: there is one.
    pub(crate) fn set_store(&self, store: &Arc<Store>) -> bool {
        self.0.store.set(Arc::clone(store)).is_ok()
    }

    /// What wakes a shard for the store, and what tells a link's shard that what it sends has grown.
    pub(crate) fn wakers(&self) -> (Wake<u16>, Wake<LinkRef>) {
        // The store is part of what is shared, and must not keep it alive.
        let weak = || Arc::downgrade(&self.0);
        let send = |shared: &std::sync::Weak<Shared>, shard: u16, mail| {
            if let Some(post) = shared.upgrade().as_ref().and_then(|shared| shared.post(shard.into())) {
                post.send(mail);
            }
        };
        let (for_store, for_links) = (weak(), weak());
        (
            Box::new(move |shard| send(&for_store, shard, Mail::Store)),
            Box::new(move |link: LinkRef| send(&for_links, link.conn.shard, Mail::Grown { link })),
        )
    }

    /// How many bytes of memory messages on their way may take; without a call, a share of what there is.
    pub(crate) fn limit_transit(&self, bytes: u64) {
        self.0.memory.set_most(bytes);
    }

    /// How many bytes of memory messages on their way may take.
    pub(crate) fn transit_limit(&self) -> u64 {
        self.0.memory.most()
    }

    /// How many shards run.
    #[cfg(test)]
    pub(crate) fn running(&self) -> usize {
        self.0.running().count()
    }

    /// What the shards have counted.
    pub(crate) fn counts(&self) -> ShardCounts {
        let kept = content::kept();
        let (connected, denied) = self.0.census.counts();
        ShardCounts {
            accepted: self.0.accepted.load(Ordering::Relaxed),
            connected,
            denied,
            messages: kept.messages,
            message_bytes: kept.bytes,
            message_size: content::RECORD_SIZE,
        }
    }

    /// Closes all connections, for this reason; [`Shards::connections`] tells when that is done.
    pub(crate) fn close_all(&self, reason: &ErrorCondition) {
        self.0.running().for_each(|post| post.send(Mail::CloseAll(reason.clone())));
    }

    /// How many connections there are, those among them that are not open yet, or whose end is not over.
    pub(crate) fn connections(&self) -> usize {
        self.0.connections()
    }

    /// Drops all sockets, and waits until all shards have ended.
    pub(crate) fn shutdown(&self) {
        self.0.stop();
        let threads = std::mem::take(&mut *self.0.threads.lock());
        for thread in threads {
            // One that panicked has ended, too.
            let _ = thread.join();
        }
    }

    /// Has the next connection go to a new shard, as if those that run were busy.
    #[cfg(test)]
    pub(crate) fn spread(&self) {
        self.0.running().for_each(|post| post.set_load(1000));
    }

    fn order(&self, shard: u16, order: Order) {
        self.send(shard, Mail::Order(order));
    }

    fn send(&self, shard: u16, mail: Mail) -> bool {
        let post: Option<&Post> = self.0.post(shard.into());
        post.map(|post| post.send(mail)).is_some()
    }
}

/// Sockets that listen on these addresses, all of them or none, and the addresses with the ports that they got: where
/// port 0 is asked for, the first address's choice is used for the others.
///
/// # Errors
/// An address cannot be listened on.
pub(crate) fn bind_all(wanted: &[SocketAddr]) -> io::Result<(Vec<std::net::TcpListener>, Vec<SocketAddr>)> {
    let mut sockets = Vec::new();
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for mut address in wanted.iter().copied() {
        if let (0, Some(first)) = (address.port(), addresses.first()) {
            address.set_port(first.port());
        }
        let socket = bind(address)?;
        addresses.push(socket.local_addr()?);
        sockets.push(socket);
    }
    Ok((sockets, addresses))
}

/// A socket that listens.
fn bind(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        // The IPv4 addresses of the same port have sockets of their own.
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
