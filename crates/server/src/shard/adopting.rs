//! Connections that begin: a shard takes one over that was accepted, or makes one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use amqp_endpoint::{Connection, Side};
use mio::{Registry, Token};
use router_core::Core;
use security::Underneath;

use super::arrival::{Arrival, Kind, initiator};
use super::conn::{Conn, Peer};
use super::event::ShardEvent;
use super::host::{ShardHost, mark_dirty};
use super::opening::connection_config;
use super::place::ConnRef;
use super::sasl::SaslHandle;
use super::settings::{ConnectionSettings, ConnectorAttempt};
use super::shared::Shared;
use super::transport::Transport;
use super::websocket::WebSocket;

/// How long one address of a connector may take to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl ShardHost {
    /// Takes a connection over.
    pub(super) fn adopt(&mut self, core: &mut Core<Self>, arrival: Arrival, registry: &Registry) {
        let Arrival { id, kind } = arrival;
        match kind {
            Kind::Accepted { stream, from, listener, place } => {
                let transport = Transport::accepted(stream, &listener);
                self.accepted(core, id, transport, Peer::Accepted { from, to: listener, place }, registry);
            }
            Kind::WebSocket { socket, from, listener, place } => {
                let socket = Transport::WebSocket(Box::new(WebSocket::new(socket)));
                self.accepted(core, id, socket, Peer::Accepted { from, to: listener, place }, registry);
            }
            Kind::ToConnect(attempt) => self.connect(core, id, attempt, registry),
        }
    }

    fn accepted(&mut self, core: &mut Core<Self>, id: u64, transport: Transport, peer: Peer, registry: &Registry) {
        let Peer::Accepted { to, .. } = &peer else { return };
        let side = if transport.is_ready() {
            to.side(&transport.underneath(), &SaslHandle::new(&self.shared, id))
        } else {
            Side::Acceptor { sasl: None, sasl_required: false }
        };
        let settings = Arc::clone(&to.settings);
        let slot = self.insert(id, transport, &settings, peer, side, None);
        self.start(core, slot, registry);
    }

    /// Begins to connect to the first of a connector's addresses.
    fn connect(&mut self, core: &mut Core<Self>, id: u64, attempt: Box<ConnectorAttempt>, registry: &Registry) {
        let first = attempt.addresses.first().copied().ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable));
        match first.and_then(|address| Transport::to_server(address, &attempt)) {
            Ok(transport) => {
                let settings = Arc::clone(&attempt.settings);
                let side = initiator(&attempt, &Underneath::default(), &SaslHandle::new(&self.shared, id));
                let hostname = attempt.hostname.clone();
                let slot =
                    self.insert(id, transport, &settings, Peer::Connected { attempt, tried: 1 }, side, Some(&hostname));
                self.await_connection(core, slot, registry);
            }
            Err(error) => {
                let message =
                    format!("[C{id}] Connection to {} failed: {}", attempt.host_port, connect_error(&attempt, &error));
                logging::log!(SERVER, Info, "{message}");
                self.shared.tell(ShardEvent::ConnectorFailed { connector: attempt.id, connection_id: id, message });
            }
        }
    }

    /// Waits until the connection is made, or cannot be.
    fn await_connection(&mut self, core: &mut Core<Self>, slot: u32, registry: &Registry) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        conn.flags.connecting = true;
        conn.deadline = Some(self.now + CONNECT_TIMEOUT);
        mark_dirty(&mut self.dirty, conn);
        if let Err(error) = conn.transport.register(registry, Token(slot as usize)) {
            self.next_address(core, slot, registry, &error);
        }
    }

    /// Something has happened to a connection that is being made.
    pub(super) fn connecting(&mut self, core: &mut Core<Self>, slot: u32, registry: &Registry) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let late = conn.deadline.is_some_and(|deadline| deadline <= self.now);
        match conn.transport.connected() {
            None if late => self.next_address(core, slot, registry, &io::Error::from_raw_os_error(libc::ETIMEDOUT)),
            None => {}
            Some(Err(error)) => self.next_address(core, slot, registry, &error),
            Some(Ok(())) => self.connected(slot),
        }
    }

    fn connected(&mut self, slot: u32) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        conn.flags.connecting = false;
        conn.deadline = None;
        conn.transport.set_nodelay();
        conn.flags.preparing = !conn.transport.is_ready();
        // Its time starts now.
        conn.began = self.now;
        conn.renew_endpoint(&self.shared);
        conn.flags.readable = true;
        mark_dirty(&mut self.dirty, conn);
        self.queue_read(slot);
    }

    /// Tries a connector's next address; after the last the attempt has failed.
    fn next_address(&mut self, core: &mut Core<Self>, slot: u32, registry: &Registry, error: &io::Error) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let Peer::Connected { attempt, tried } = &mut conn.peer else { return };
        let Some(address) = attempt.addresses.get(*tried).copied() else {
            let reason = connect_error(attempt, error);
            return self.cannot_connect(core, slot, &reason);
        };
        *tried += 1;
        match Transport::to_server(address, attempt) {
            Ok(transport) => {
                conn.transport = transport;
                self.await_connection(core, slot, registry);
            }
            Err(error) => self.next_address(core, slot, registry, &error),
        }
    }

    fn insert(
        &mut self,
        id: u64,
        transport: Transport,
        settings: &Arc<ConnectionSettings>,
        peer: Peer,
        side: Side,
        hostname: Option<&str>,
    ) -> u32 {
        let config = connection_config(&self.shared.container_id, settings, id, hostname, &transport);
        let entry = self.conns.vacant_entry();
        // Descriptors, and so connections, number far fewer than 2^32.
        let slot = entry.key() as u32;
        let at = ConnRef { shard: self.shard, slot, id: id as u32, peer: settings.role.is_router() };
        let endpoint = Connection::new(config, side, self.now);
        let mut conn = Box::new(Conn::new(at, id, transport, endpoint, Arc::clone(settings), peer, self.now));
        conn.watch(self.shared.hops.get().cloned());
        entry.insert(conn);
        self.shared.register(id, at);
        slot
    }

    /// A connection whose transport is there.
    fn start(&mut self, core: &mut Core<Self>, slot: u32, registry: &Registry) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        conn.set_traced(protocol_is_traced());
        conn.flags.preparing = !conn.transport.is_ready();
        conn.flags.readable = true;
        mark_dirty(&mut self.dirty, conn);
        if let Err(error) = conn.transport.register(registry, Token(slot as usize)) {
            let reason = format!("proton:io {}", os_text(&error));
            return self.cannot_connect(core, slot, &reason);
        }
        self.queue_read(slot);
    }
}

impl Conn {
    /// The layers under AMQP are ready, and what they have shown of the peer is known.
    pub(super) fn prepared(&mut self, shared: &Arc<Shared>) {
        self.flags.preparing = false;
        if let Some(tls) = self.transport.tls()
            && let Some(user) = &tls.user
        {
            if let Some(letter) = tls.unknown_letter {
                logging::log!(SERVER, Critical, "[C{}] Unrecognized component '{letter}' in uidFormat ", self.id);
            }
            logging::log!(SERVER, Debug, "User id is '{user}' ");
        }
        self.renew_endpoint(shared);
    }

    /// A new endpoint over the layers as they are now; the time for the peer's open goes on.
    fn renew_endpoint(&mut self, shared: &Arc<Shared>) {
        let underneath = self.transport.underneath();
        let (side, hostname) = match &self.peer {
            Peer::Accepted { to, .. } => (to.side(&underneath, &SaslHandle::new(shared, self.id)), None),
            Peer::Connected { attempt, .. } => {
                let handle = SaslHandle::to(shared, self.id, &attempt.hostname);
                (initiator(attempt, &underneath, &handle), Some(attempt.hostname.as_str()))
            }
        };
        let config = connection_config(&shared.container_id, &self.settings, self.id, hostname, &self.transport);
        self.endpoint = Connection::new(config, side, self.began);
        let traced = self.flags.traced || protocol_is_traced();
        self.set_traced(traced);
    }
}

fn protocol_is_traced() -> bool {
    logging::enabled(logging::Module::Protocol, logging::Level::Trace)
}

/// Why a connector could not connect, in the old router's words.
fn connect_error(attempt: &ConnectorAttempt, error: &io::Error) -> String {
    format!("proton:io {} - disconnected {}", os_text(error), attempt.host_port)
}

/// The system's words, without the number that Rust adds.
fn os_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
