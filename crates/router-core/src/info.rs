//! What the surroundings tell the core: settings, connections, attaches, address configuration.

use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, TargetTerminus};
use amqp::{Map, Symbol};

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

/// An `address` entity to be created, as it came from a file or from management.
#[derive(Clone, Debug, Default)]
pub struct NewAddressConfig {
    /// Name; unique when given.
    pub name: Option<String>,
    /// Exactly one of prefix and pattern.
    pub prefix: Option<String>,
    /// Exactly one of prefix and pattern.
    pub pattern: Option<String>,
    /// Distribution.
    pub distribution: Treatment,
    /// Waypoint: phases 0 and 1.
    pub waypoint: bool,
    /// Phase that messages of plain senders enter with.
    pub ingress_phase: Option<i64>,
    /// Phase that plain receivers get.
    pub egress_phase: Option<i64>,
    /// Priority of messages; absent or -1: their own.
    pub priority: Option<i64>,
    /// A fallback destination is kept for these addresses.
    pub fallback: bool,
}

/// Which links a link route is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteDirection {
    /// Clients' senders.
    In = 0,
    /// Clients' receivers.
    Out = 1,
}

impl RouteDirection {
    /// Of a link on which the client sends, or not.
    pub(crate) fn of(client_sends: bool) -> Self {
        if client_sends { Self::In } else { Self::Out }
    }

    /// The name used in configuration and management.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }

    /// The class of addresses of link routes for a prefix.
    pub(crate) fn prefix_class(self) -> char {
        match self {
            Self::In => 'C',
            Self::Out => 'D',
        }
    }

    /// The class of those for a pattern.
    pub(crate) fn pattern_class(self) -> char {
        match self {
            Self::In => 'E',
            Self::Out => 'F',
        }
    }
}

/// Which connections a link route or an auto-link belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RouteVia {
    /// Those to the container with this id.
    Container(String),
    /// Those of the connector or listener with this name.
    Connection(String),
    /// Those behind which are the surroundings themselves ([`ConnectionInfo::internal`]). Link routes and auto-links of this
    /// kind are made by the surroundings, and neither shown nor counted.
    Internal,
    /// None on this router.
    #[default]
    Nothing,
}

/// A `linkRoute` entity to be created.
#[derive(Clone, Debug)]
pub struct NewLinkRoute {
    /// Name; unique when given.
    pub name: Option<String>,
    /// Exactly one of prefix and pattern.
    pub prefix: Option<String>,
    /// Exactly one of prefix and pattern.
    pub pattern: Option<String>,
    /// Which links.
    pub direction: RouteDirection,
    /// Where they go.
    pub via: RouteVia,
    /// Put before addresses on their way to the container.
    pub add_external_prefix: Option<String>,
    /// Taken off addresses on their way to the container.
    pub del_external_prefix: Option<String>,
}

/// An `autoLink` entity to be created.
#[derive(Clone, Debug)]
pub struct NewAutoLink {
    /// Name; unique when given.
    pub name: Option<String>,
    /// Address in this router.
    pub address: String,
    /// In: the container sends.
    pub direction: RouteDirection,
    /// Phase of the address, 0 to 9.
    pub phase: u8,
    /// Where the link is attached.
    pub via: RouteVia,
    /// Address at the container, if another.
    pub external_address: Option<String>,
    /// It takes what nobody else takes.
    pub fallback: bool,
    /// The identity of a link route: in the place of the deliveries of `address`, it takes those that name an address under
    /// that and find nobody there. What they name is said with each ([`Transmit::to_override`](crate::Transmit::to_override)).
    pub on_demand: Option<u64>,
}

/// Why an auto-link was refused. The texts are the old router's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AutoLinkError {
    /// Name in use.
    #[error("Name conflicts with an existing entity")]
    NameInUse,
}

/// How binding keys are written and matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchMethod {
    /// Tokens between `.`; `*` is one of them, `#` any number.
    #[default]
    Amqp,
    /// Levels between `/`; `+` is one of them, `#` at the end any number.
    Mqtt,
}

impl MatchMethod {
    /// The name used in configuration and management.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Amqp => "amqp",
            Self::Mqtt => "mqtt",
        }
    }
}

/// An `exchange` entity to be created.
#[derive(Clone, Debug, Default)]
pub struct NewExchange {
    /// Name, unique: bindings refer to it.
    pub name: String,
    /// Address whose messages it takes.
    pub address: String,
    /// Phase of that address, 0 to 9.
    pub phase: u8,
    /// Where messages go that nobody else gets.
    pub alternate_address: Option<String>,
    /// Phase of the alternate address, 0 to 9.
    pub alternate_phase: u8,
    /// How keys of its bindings are matched.
    pub match_method: MatchMethod,
}

/// A `binding` entity to be created.
#[derive(Clone, Debug, Default)]
pub struct NewBinding {
    /// Name; unique among those of its exchange when given.
    pub name: Option<String>,
    /// Name of the exchange.
    pub exchange: String,
    /// Which subjects; `None`: all.
    pub key: Option<String>,
    /// The address that messages go on to.
    pub next_hop: String,
    /// Phase of that address, 0 to 9.
    pub next_hop_phase: u8,
}

/// Why an exchange was refused. The texts are the old router's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// Name in use.
    #[error("duplicate exchange name")]
    NameInUse,
    /// Address in use by another exchange, or by the router itself.
    #[error("duplicate exchange address")]
    AddressInUse,
}

/// Why a binding was refused. The texts are the old router's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// No exchange has that name.
    #[error("Named exchange does not exist")]
    NoExchange,
    /// No token in the key, or, for MQTT, something after `#`.
    #[error("The binding key pattern is invalid")]
    InvalidKey,
    /// Name in use.
    #[error("Duplicate next hop name")]
    NameInUse,
    /// There is a binding with this key and next hop.
    #[error("Next hop for key already exists")]
    AlreadyExists,
}

/// What an auto-link does; what is better comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AutoLinkState {
    /// It has no connection.
    Inactive,
    /// It failed, and is tried again.
    Failed,
    /// Its attach is not answered.
    Attaching,
    /// It is attached.
    Active,
}

impl AutoLinkState {
    /// The name used in management.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inactive => "inactive",
            Self::Attaching => "attaching",
            Self::Failed => "failed",
            Self::Active => "active",
        }
    }
}

/// Why a link route was refused. The texts are the old router's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkRouteError {
    /// Neither prefix nor pattern.
    #[error("Either a 'prefix' or 'pattern' attribute must be provided")]
    NeitherPrefixNorPattern,
    /// Both prefix and pattern.
    #[error("Cannot specify both a 'prefix' and a 'pattern' attribute")]
    BothPrefixAndPattern,
    /// Only separators.
    #[error("Prefix invalid - no tokens")]
    PrefixWithoutTokens,
    /// Only separators.
    #[error("Pattern invalid - no tokens")]
    PatternWithoutTokens,
    /// Name in use.
    #[error("Name conflicts with an existing entity")]
    NameInUse,
    /// The connection that asked for it has ended.
    #[error("Parent connection no longer exists")]
    NoConnection,
}

/// Why an `address` entity was refused. The texts are the old router's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressConfigError {
    /// Neither prefix nor pattern.
    #[error("Either a 'prefix' or 'pattern' attribute must be provided")]
    NeitherPrefixNorPattern,
    /// Both prefix and pattern.
    #[error("Cannot specify both a 'prefix' and a 'pattern' attribute")]
    BothPrefixAndPattern,
    /// Empty prefix.
    #[error("Prefix must be a non-empty string type")]
    EmptyPrefix,
    /// Empty pattern.
    #[error("Pattern must be a non-empty string type")]
    EmptyPattern,
    /// Only separators.
    #[error("Prefix invalid - no tokens")]
    PrefixWithoutTokens,
    /// Only separators.
    #[error("Pattern invalid - no tokens")]
    PatternWithoutTokens,
    /// Fallback with phases.
    #[error("Fallback cannot be specified with waypoint or non-zero ingress and egress phases")]
    FallbackWithPhases,
    /// Phase out of range.
    #[error("Phase values must be between 0 and 9")]
    PhaseOutOfRange,
    /// Priority out of range.
    #[error("Priority value, if present, must be between 0 and QDR_MAX_PRIORITY")]
    PriorityOutOfRange,
    /// Name in use.
    #[error("Name conflicts with an existing entity")]
    NameInUse,
    /// Pattern in use.
    #[error("Already exists")]
    AlreadyExists,
}
