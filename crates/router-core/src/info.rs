//! What the surroundings tell the core: settings, connections, attaches.

use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, TargetTerminus};
use amqp::{Map, Symbol};

use crate::RouteVia;

/// Mode of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Alone.
    #[default]
    Standalone,
    /// Member of the network of interior routers.
    Interior,
    /// Leaf, with an uplink to an interior router.
    Edge,
}

/// Role of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Role {
    /// Clients and brokers.
    #[default]
    Normal,
    /// Brokers, for link routes and auto-links.
    RouteContainer,
    /// Between interior routers.
    InterRouter,
    /// Between an edge router and an interior router.
    Edge,
}

impl Role {
    /// The name used in configuration and management.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::RouteContainer => "route-container",
            Self::InterRouter => "inter-router",
            Self::Edge => "edge",
        }
    }
}

/// How messages for an address are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Treatment {
    /// A copy to everyone, also back to control links; internal.
    Flood,
    /// A copy to each consumer.
    Multicast,
    /// One copy to the nearest consumer, round robin among the equally near.
    Closest,
    /// One copy to the consumer with the fewest deliveries outstanding.
    #[default]
    Balanced,
    /// Whole links are distributed; internal (link routes).
    LinkBalanced,
    /// Nobody may attach.
    Unavailable,
}

impl Treatment {
    /// The name used in configuration and management.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flood => "flood",
            Self::Multicast => "multicast",
            Self::Closest => "closest",
            Self::Balanced => "balanced",
            Self::LinkBalanced => "linkBalanced",
            Self::Unavailable => "unavailable",
        }
    }
}

/// What a connection strips of router annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StripAnnotations {
    /// Neither direction.
    No,
    /// From what comes in.
    In,
    /// From what goes out.
    Out,
    /// Both directions.
    #[default]
    Both,
}

/// Settings of the whole router.
pub struct RouterSettings {
    /// Router id.
    pub router_id: String,
    /// Mode.
    pub mode: Mode,
    /// Treatment of addresses that no `address` entity matches (`defaultDistribution`).
    pub default_treatment: Treatment,
    /// `-T`: stuck deliveries are looked for every 5 s at an age of 3 s instead of every 30 s at an age of 10 s.
    pub test_hooks: bool,
    /// `allowResumableLinkRoute`: links may be passed on whose terminus is to outlive them.
    pub allow_resumable_link_route: bool,
    /// Source of unpredictable numbers: names of temporary addresses, key of the address hash.
    pub random: Box<dyn FnMut() -> u128 + Send>,
}

/// A connection whose opens were exchanged.
#[derive(Clone, Debug, Default)]
pub struct ConnectionInfo {
    /// Identity, from [`Core::next_connection_id`](crate::Core::next_connection_id).
    pub id: u64,
    /// Name of the connector or listener if it was given one by configuration (for `connection:` of auto-links and link routes).
    pub configured_name: Option<String>,
    /// Role of the listener or connector.
    pub role: Role,
    /// The peer connected to us.
    pub incoming: bool,
    /// Peer `ip:port` of an incoming connection, configured `host:port` of an outgoing one.
    pub host: String,
    /// Container id in the peer's open.
    pub container: String,
    /// Host name in the peer's open.
    pub vhost: Option<String>,
    /// SASL mechanism used; `None`: none.
    pub sasl_mechanism: Option<String>,
    /// The user was authenticated (a mechanism other than ANONYMOUS).
    pub authenticated: bool,
    /// Name of the authenticated user.
    pub user: Option<String>,
    /// The transport has TLS.
    pub ssl: bool,
    /// The transport is encrypted (TLS, or a SASL security layer).
    pub encrypted: bool,
    /// TLS version, e.g. `TLSv1.3`.
    pub ssl_proto: Option<String>,
    /// TLS cipher suite.
    pub ssl_cipher: Option<String>,
    /// Security strength factor, in bits.
    pub ssl_ssf: u32,
    /// Prefix of this tenant's addresses: vhost and `/` on a multi-tenant listener.
    pub tenant: Option<String>,
    /// Connection properties of the peer's open.
    pub properties: Option<Map>,
    /// Protocol trace switched on for this connection alone.
    pub protocol_trace: bool,
    /// Between routers: what this connection costs, the larger of what both ends say; at least 1.
    pub cost: u32,
    /// The peer takes large messages on links of their own (it offers `qd.streaming-links`).
    pub streaming_links: bool,
    /// Between routers: the peer shares what it knows of the network (it offers `waystation.sync`), and so does this router.
    pub shares: bool,
    /// Which router annotations are stripped.
    pub strip_annotations: StripAnnotations,
    /// `linkCapacity`: initial credit for senders, and bound of queued presettled deliveries (deliveries).
    pub link_capacity: u32,
    /// Nothing is at its other end but the surroundings themselves, which keep queues there: it is nobody's, and neither
    /// shown nor counted. [`RouteVia::Internal`] leads there.
    pub internal: bool,
}

impl ConnectionInfo {
    /// Whether link routes and auto-links that name this connection or container so belong to it.
    pub(crate) fn is_named(&self, via: &RouteVia) -> bool {
        self.role == Role::RouteContainer
            && match via {
                RouteVia::Container(id) => *id == self.container,
                RouteVia::Connection(name) => self.configured_name.as_ref() == Some(name),
                RouteVia::Internal => self.internal,
                RouteVia::Nothing => false,
            }
    }
}

/// What an attach says beside name, direction and termini.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkTerms {
    /// When the sender settles.
    pub snd_settle_mode: SenderSettleMode,
    /// When the receiver settles.
    pub rcv_settle_mode: ReceiverSettleMode,
    /// Bytes; `None`: no limit.
    pub max_message_size: Option<u64>,
    /// Extensions that the end supports.
    pub offered_capabilities: Vec<Symbol>,
    /// Extensions that it would use.
    pub desired_capabilities: Vec<Symbol>,
    /// Properties of the link.
    pub properties: Option<Map>,
}

/// An attach by a peer.
#[derive(Clone, Debug)]
pub struct AttachInfo {
    /// Link name.
    pub name: String,
    /// The peer is the sender: deliveries come in.
    pub incoming: bool,
    /// Source as the peer sent it.
    pub source: Option<Source>,
    /// Target as the peer sent it.
    pub target: Option<TargetTerminus>,
    /// The link's snd-settle-mode is `settled`: whatever we send on it goes out settled.
    pub send_settled: bool,
    /// The rest, for links that are passed on.
    pub terms: LinkTerms,
}
