//! What may be configured while the core runs, as its surroundings say it: addresses, link routes, auto-links, exchanges; and
//! why it cannot be.

use crate::Treatment;

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
