//! What the control plane lays down for listeners, connectors and their connections, already resolved and validated.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use amqp::Map;
use amqp_endpoint::{SaslClient, SaslServer};
use config::MessageComponents;
use security::Underneath;
use security::tls::{ClientTls, ServerTls};

use super::repetition::Repetition;
use super::sasl::SaslHandle;

/// Makes the SASL layer of one accepted connection, from the listener's mechanisms and what lies under it.
pub(crate) type SaslServerFactory = Arc<dyn Fn(&Underneath, &SaslHandle) -> Box<dyn SaslServer> + Send + Sync>;

/// Makes the SASL layer of one connection that we begin, from the connector's credentials and what lies under it.
pub(crate) type SaslClientFactory = Arc<dyn Fn(&Underneath, &SaslHandle) -> Box<dyn SaslClient> + Send + Sync>;

/// What a listener does about TLS.
pub(crate) struct ListenerTls {
    /// Peers that do not speak TLS are refused (`requireSsl`).
    pub(crate) required: bool,
    /// What the profile says now: asked for each connection, and so never slow.
    pub(crate) current: Arc<dyn Fn() -> Result<ServerTls, String> + Send + Sync>,
}

impl std::fmt::Debug for ListenerTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ListenerTls").field("required", &self.required).finish_non_exhaustive()
    }
}

/// What a connection is for; the old router's `role` attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Role {
    /// Clients and brokers.
    #[default]
    Normal,
    /// Brokers that link routes and auto-links bind to.
    RouteContainer,
    /// Another interior router.
    InterRouter,
    /// An edge router, or its uplink.
    Edge,
}

impl Role {
    /// Whether a router of the network is expected at the other end.
    pub(crate) fn is_router(self) -> bool {
        matches!(self, Self::InterRouter | Self::Edge)
    }
}

/// In which directions router annotations are taken out; the old router's `stripAnnotations`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum StripAnnotations {
    /// Router annotations received are discarded, none are sent.
    #[default]
    Both,
    /// Received ones are discarded.
    In,
    /// None are sent.
    Out,
    /// Received ones are used, own ones are sent.
    No,
}

impl StripAnnotations {
    /// Router annotations of received messages are discarded.
    pub(crate) fn strips_incoming(self) -> bool {
        matches!(self, Self::Both | Self::In)
    }
}

/// The settings that a listener or a connector has for each of its connections.
#[derive(Clone)]
pub(crate) struct ConnectionSettings {
    /// Configured `name` of the listener or connector; `None` when it is a generated one (`listener/…`), which
    /// `connection:` of link routes and auto-links never matches.
    pub(crate) name: Option<String>,
    /// What the connection is for.
    pub(crate) role: Role,
    /// Bytes; values below 512 are raised to 512.
    pub(crate) max_frame_size: u32,
    /// How many sessions a connection may have; 0 or more than 32768 count as 32768.
    pub(crate) max_sessions: u32,
    /// Frames: the incoming window of a session. `None`: 2^31 - 1.
    pub(crate) max_session_frames: Option<u32>,
    /// We drop the connection after hearing nothing for this long; half of it is announced. Zero: never.
    pub(crate) idle_timeout: Duration,
    /// How long a peer may take to send its Open. Zero: the safe default of [`super::DEFAULT_HANDSHAKE_TIMEOUT`].
    pub(crate) initial_handshake_timeout: Duration,
    /// A peer must encrypt, by TLS or by SASL (`requireEncryption`).
    pub(crate) require_encryption: bool,
    /// Which router annotations are taken out.
    pub(crate) strip_annotations: StripAnnotations,
    /// Credit for a link on which we receive.
    pub(crate) link_capacity: u32,
    /// Addresses are prefixed with the peer's virtual host.
    pub(crate) multi_tenant: bool,
    /// Cost of the connection; sent as `qd.inter-router-cost` when above 1.
    pub(crate) cost: u32,
    /// The configured `openProperties`, keys as symbols, in the order configured.
    pub(crate) open_properties: Map,
    /// What the listener's `failoverUrls` says: sent as `failover-server-list` when not empty.
    pub(crate) failover: Vec<FailoverServer>,
    /// The vhost whose policy holds, whatever the peer's Open says.
    pub(crate) policy_vhost: Option<String>,
    /// Which parts of messages the MESSAGE module shows.
    pub(crate) message_components: MessageComponents,
}

impl Default for ConnectionSettings {
    /// The old router's defaults.
    fn default() -> Self {
        Self {
            name: None,
            role: Role::Normal,
            max_frame_size: 16384,
            max_sessions: 32768,
            max_session_frames: None,
            idle_timeout: Duration::from_secs(16),
            initial_handshake_timeout: Duration::ZERO,
            require_encryption: false,
            strip_annotations: StripAnnotations::Both,
            link_capacity: 250,
            multi_tenant: false,
            cost: 1,
            open_properties: Map::default(),
            failover: Vec::new(),
            policy_vhost: None,
            message_components: MessageComponents::NONE,
        }
    }
}

/// One server of a `failover-server-list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailoverServer {
    /// `amqp` or `amqps`; `None` when not given.
    pub(crate) scheme: Option<String>,
    /// Host name or address.
    pub(crate) host: String,
    /// Port, as the text given.
    pub(crate) port: String,
}

/// A listener to be opened.
#[derive(Clone)]
pub(crate) struct ListenerSpec {
    /// Chosen by the caller; names the listener in [`super::Shards::stop_listening`] and in events.
    pub(crate) id: ListenerId,
    /// `host:port` as configured, for log lines.
    pub(crate) host_port: String,
    /// What `host` and `port` resolved to; all are listened on. Port 0 lets the system choose.
    pub(crate) addresses: Vec<SocketAddr>,
    /// For each accepted connection.
    pub(crate) settings: Arc<ConnectionSettings>,
    /// TLS, if it has a profile for it.
    pub(crate) tls: Option<Arc<ListenerTls>>,
    /// The SASL layer offered.
    pub(crate) sasl: SaslServerFactory,
    /// A peer that skips SASL is refused (`authenticatePeer`).
    pub(crate) sasl_required: bool,
    /// Counts the connections accepted.
    pub(crate) accepted: Arc<AtomicU64>,
}

/// One attempt of a connector.
#[derive(Clone)]
pub(crate) struct ConnectorAttempt {
    /// Chosen by the caller; names the connector in events.
    pub(crate) id: ConnectorId,
    /// `host:port` as configured, for log lines and management.
    pub(crate) host_port: String,
    /// The Open's `hostname`.
    pub(crate) hostname: String,
    /// Where to connect, tried in this order.
    pub(crate) addresses: Vec<SocketAddr>,
    /// For the connection.
    pub(crate) settings: Arc<ConnectionSettings>,
    /// TLS, if the connector has a profile for it.
    pub(crate) tls: Option<ClientTls>,
    /// `None`: AMQP without a SASL layer.
    pub(crate) sasl: Option<SaslClientFactory>,
    /// What was logged of the attempts before: the same failure again is logged at level debug.
    pub(crate) failures: Arc<Repetition>,
}

/// The caller's name for a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ListenerId(pub u64);

/// The caller's name for a connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ConnectorId(pub u64);
