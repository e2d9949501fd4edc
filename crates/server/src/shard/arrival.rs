//! A connection on its way to the shard that will own it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use amqp_endpoint::Side;
use mio::net::TcpStream;
use security::Underneath;
use security::tls::Session;

use super::census::Place;
use super::sasl::SaslHandle;
use super::settings::{ConnectionSettings, ConnectorAttempt, ListenerId, ListenerTls, SaslServerFactory};

/// What a listener lays down for the connections it accepts.
pub(super) struct Listener {
    pub(super) id: ListenerId,
    /// As configured.
    pub(super) host_port: Arc<str>,
    pub(super) settings: Arc<ConnectionSettings>,
    pub(super) tls: Option<Arc<ListenerTls>>,
    pub(super) sasl: SaslServerFactory,
    pub(super) sasl_required: bool,
    pub(super) accepted: Arc<AtomicU64>,
}

/// A socket on which HTTP was spoken.
pub(crate) struct Unencrypted {
    /// The socket, which does not block.
    pub(crate) stream: std::net::TcpStream,
    /// The TLS session over it, if any, with encrypted bytes that are to be sent first.
    pub(crate) tls: Option<(Session, Vec<u8>)>,
    /// Plain bytes that have been read, and nobody has used.
    pub(crate) early: Vec<u8>,
}

/// A connection that has a number and no owner yet.
pub(super) struct Arrival {
    pub(super) id: u64,
    pub(super) kind: Kind,
}

/// How it came about.
pub(super) enum Kind {
    /// Accepted.
    Accepted { stream: TcpStream, from: SocketAddr, listener: Arc<Listener>, place: Place },
    /// Accepted as HTTP, and now a WebSocket.
    WebSocket { socket: Unencrypted, from: SocketAddr, listener: Arc<Listener>, place: Place },
    /// To be made.
    ToConnect(Box<ConnectorAttempt>),
}

impl Listener {
    /// Our side of an accepted connection.
    pub(super) fn side(&self, underneath: &Underneath, handle: &SaslHandle) -> Side {
        Side::Acceptor { sasl: Some((self.sasl)(underneath, handle)), sasl_required: self.sasl_required }
    }
}

/// Our side of a connection that we make.
pub(super) fn initiator(attempt: &ConnectorAttempt, underneath: &Underneath, handle: &SaslHandle) -> Side {
    Side::Initiator { sasl: attempt.sasl.as_ref().map(|make| make(underneath, handle)) }
}
