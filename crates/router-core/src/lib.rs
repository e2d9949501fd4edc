//! Which links does this delivery go to, and who may send? Addresses, links, deliveries, credit, settlement, forwarding.
//!
//! The core is one deterministic state machine: same calls, same results. It deliberately sees no bytes of messages, no
//! sockets and no clock: contents are opaque handles of its [`Host`], and time is a [`Now`] passed in.
//!
//! # Where things are
//! - `arena`: the records of connections, links, addresses and deliveries, found by index, with keys that age;
//! - `address`: keys, patterns and configuration of addresses, and their table; `bind`: which links belong to which;
//! - `connection`, `attach`, `detach`, `link`: how these come and go;
//! - `deliver`, then `forward`, then `transmit` and `queue`: the way of a delivery from its sender to its receivers;
//! - `settle` and `sender`: what receivers and senders say of it afterwards; `credit`: who may send how much; `memory`:
//!   who must wait when there is too little of it;
//! - `network`, `routers`, `routes`, `remote`: other routers, and what the routing protocol says of them; `neighbor`: the
//!   links to those next door, `control` and `arrive`: what comes in on these; `streams`: links for large messages;
//! - `link_routes`: which attaches are passed on; `routed`: the two links that such an attach makes one; `relay`: what
//!   passes between them;
//! - `auto_links`: links that the router attaches by itself;
//! - `exchanges`: addresses whose messages go on to others, by subject;
//! - `edge`: what the edge protocol needs of the core;
//! - `local`: subscribers and senders within the router; `stats`, `timers`, `manage`: counting, and showing it.
//!
//! # What always holds
//! - A delivery that came in unsettled is settled towards its sender exactly once, after all of its message is there.
//! - A sender's unused credit, and the deliveries whose credit it has not got back, never exceed its link's capacity;
//!   it gets credit only while its deliveries have somewhere to go.
//! - Nothing is transmitted without credit, into the middle of another delivery, or to a connection that takes nothing.
//! - Whatever is queued waits for one of these, and goes out, in order, as soon as it may.
//! - An index kept in a record names something that is there: what goes is first taken out of all lists.
#![forbid(unsafe_code)]

mod address;
mod arena;
mod arrive;
mod attach;
mod attach_log;
mod auto_links;
mod bind;
mod configured;
mod connection;
mod control;
mod copies;
mod core;
mod credit;
mod delays;
mod deliver;
mod delivery;
mod detach;
mod edge;
mod exchanges;
mod floods;
mod forward;
mod host;
mod info;
mod keys;
mod link;
mod link_routes;
mod local;
mod manage;
mod memory;
mod neighbor;
mod network;
mod own;
mod own_links;
mod promises;
mod queue;
mod relay;
mod remote;
mod routed;
mod routers;
mod routes;
mod sender;
mod settle;
mod snapshot;
mod stats;
mod stopping;
mod streams;
mod timers;
mod transmit;

pub use crate::address::key::strip as plain_address;
pub use crate::address::pattern::{Pattern, PatternTree};
pub use crate::core::{Core, ObjectCounts, ObjectSizes};
pub use configured::{
    AddressConfigError, AutoLinkError, AutoLinkState, BindingError, ExchangeError, LinkRouteError, MatchMethod,
    NewAddressConfig, NewAutoLink, NewBinding, NewExchange, NewLinkRoute, RouteDirection, RouteVia,
};
pub use delays::Delays;
pub use edge::{Bound, Destinations, EdgeEvent};
pub use host::{
    Host, Level, Module, Offer, Offered, OwnTag, PassedOn, Passing, SubscriberDelivery, Transmit, Transmitted, stamp_of,
};
pub use info::{AttachInfo, ConnectionInfo, LinkTerms, Mode, Role, RouterSettings, StripAnnotations, Treatment};
pub use keys::{ConnKey, InKey, LinkKey, OutKey, SubscriberId};
pub use network::{LinkClass, NetworkEvent, OpenLink, Route, RouterIndex, RouterSet};
pub use own::OwnDelivery;
pub use snapshot::{
    AddressConfigSnapshot, AddressSnapshot, AutoLinkSnapshot, BindingSnapshot, ConnectionSnapshot, ExchangeSnapshot,
    IngressHistogram, LinkRouteSnapshot, LinkSnapshot, LinkType, MASK_BITS, RouterStatistics, TransitOutstanding,
};

/// Monotonic time since an arbitrary start.
pub type Now = std::time::Duration;
