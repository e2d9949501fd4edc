//! Which links does this delivery go to, and who may send? Addresses, links, deliveries, credit, settlement, forwarding.
//!
//! The core is one deterministic state machine: same calls, same results. It deliberately sees no bytes of messages, no
//! sockets and no clock: contents are opaque handles of its [`Host`], and time is a [`Now`] passed in.
#![forbid(unsafe_code)]

mod core;
mod host;
mod info;
mod keys;
mod snapshot;

pub use crate::core::Core;
pub use host::{Host, Level, Module, Offer, Offered, SubscriberDelivery, Transmit, Transmitted};
pub use info::{
    AddressConfigError, AttachInfo, ConnectionInfo, Mode, NewAddressConfig, Role, RouterSettings, StripAnnotations,
    Treatment,
};
pub use keys::{ConnKey, InKey, LinkKey, OutKey, SubscriberId};
pub use snapshot::{AddressConfigSnapshot, AddressSnapshot, ConnectionSnapshot, LinkSnapshot, LinkType, RouterStatistics};

/// Monotonic time since an arbitrary start.
pub type Now = std::time::Duration;
