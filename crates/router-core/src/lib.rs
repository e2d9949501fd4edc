//! Which links does this delivery go to, and who may send? Addresses, links, deliveries, credit, settlement, forwarding.
//!
//! The core is one deterministic state machine: same calls, same results. It deliberately sees no bytes of messages, no
//! sockets and no clock: contents are opaque handles of its [`Host`], and time is a [`Now`] passed in.
#![forbid(unsafe_code)]

mod address;
mod arena;
mod attach;
mod attach_log;
mod bind;
mod connection;
mod core;
mod credit;
mod deliver;
mod delivery;
mod detach;
mod forward;
mod host;
mod info;
mod keys;
mod link;
mod local;
mod manage;
mod queue;
mod sender;
mod settle;
mod snapshot;
mod stats;
mod timers;
mod transmit;

pub use crate::core::{Core, ObjectCounts, ObjectSizes};
pub use host::{Host, Level, Module, Offer, Offered, SubscriberDelivery, Transmit, Transmitted};
pub use info::{
    AddressConfigError, AttachInfo, ConnectionInfo, Mode, NewAddressConfig, Role, RouterSettings, StripAnnotations,
    Treatment,
};
pub use keys::{ConnKey, InKey, LinkKey, OutKey, SubscriberId};
pub use snapshot::{
    AddressConfigSnapshot, AddressSnapshot, ConnectionSnapshot, IngressHistogram, LinkSnapshot, LinkType, MASK_BITS,
    RouterStatistics,
};

/// Monotonic time since an arbitrary start.
pub type Now = std::time::Duration;
