//! How do bytes get in and out? The shards: threads that own sockets, drive the AMQP endpoints over them, and carry
//! messages through the one routing core that all of them share.
//!
//! They deliberately do not know what is configured, where it came from, or when a connector tries again: the control
//! plane tells them through [`Shards`], and hears of it through [`ShardEvent`].
//!
//! A shard's life is a row of turns ([`turn`]): read, without the core ([`reading`]); lock the core once and let it act
//! on all that came ([`driving`], [`incoming`], [`receiving`]), which it does by calling its host back ([`host`],
//! [`transmit`]); write, without the core ([`flushing`]).

mod accepting;
mod adopting;
mod arrival;
mod backlog;
mod buffers;
mod census;
mod conn;
mod driving;
mod due;
mod ending;
mod event;
mod feeding;
mod first_bytes;
mod flushing;
mod handle;
mod host;
mod incoming;
mod load;
mod mailbox;
mod memory;
mod message_log;
mod opening;
mod outgoing;
mod overdue;
mod own_links;
mod own_sessions;
mod parked;
mod place;
mod policed;
mod policing;
mod reading;
mod receiving;
mod repetition;
mod sasl;
mod sasl_layer;
mod settings;
mod shared;
mod stored;
#[cfg(test)]
pub(crate) mod tests;
mod thread;
mod timers;
mod tls_layer;
mod tracing;
mod transmit;
mod transport;
mod turn;
mod websocket;

use std::time::Duration;

pub(crate) use accepting::is_the_peers;
pub(crate) use arrival::Unencrypted;
pub(crate) use event::{EdgeUpdate, LookUp, NetworkUpdate, ShardEvent, SubscriberMessage};
#[cfg(feature = "measure")]
pub(crate) use handle::Stepping;
pub(crate) use handle::{Accepting, Shards, Wake, bind_all};
pub(crate) use host::ShardHost;
pub(crate) use parked::Verdict;
pub(crate) use place::{ConnRef, LinkRef};
pub(crate) use repetition::Repetition;
pub(crate) use sasl::SaslHandle;
pub(crate) use settings::{
    ConnectionSettings, ConnectorAttempt, ConnectorId, FailoverServer, ListenerId, ListenerSpec, ListenerTls, Role,
    SaslClientFactory, SaslServerFactory, StripAnnotations,
};
pub(crate) use stored::Stored;

/// How long a half-open connection may stay when nothing is configured. The old router waits for ever, which lets
/// anybody fill its table of connections.
pub(crate) const DEFAULT_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
