//! What the shards tell the control plane.

use std::sync::Arc;

use amqp::performative::Open;
use router_core::SubscriberDelivery;

use super::settings::{ConnectorId, ListenerId};

/// News from the shards, in the order in which they happened on each connection.
#[derive(Debug)]
pub(crate) enum ShardEvent {
    /// The connector's attempt led to an exchange of Opens. `message` is the text of the log line
    /// (`[C1] Connection Opened: …`) without the properties, which management shows as `connectionMsg`.
    ConnectorOpened {
        /// Whose attempt it was.
        connector: ConnectorId,
        /// The connection's number.
        connection_id: u64,
        /// What the peer said (its `failover-server-list` among the properties).
        open: Arc<Open>,
        /// For `connectionMsg`.
        message: String,
    },
    /// The attempt failed before the Opens were exchanged. `message`: `[C1] Connection to host:port failed: …`.
    ConnectorFailed {
        /// Whose attempt it was.
        connector: ConnectorId,
        /// The connection's number.
        connection_id: u64,
        /// For `connectionMsg`.
        message: String,
    },
    /// An opened connection of the connector is gone.
    ConnectorLost {
        /// Whose connection it was.
        connector: ConnectorId,
        /// The connection's number.
        connection_id: u64,
        /// For `connectionMsg`.
        message: String,
    },
    /// A listener's socket fails for good (not: a refused or aborted connection); it is closed.
    ListenerFailed {
        /// Whose socket.
        listener: ListenerId,
        /// The system's words.
        message: String,
    },
    /// A message for an in-process subscriber.
    Message(SubscriberMessage),
}

/// A message that the core handed to an in-process subscriber.
#[derive(Debug)]
pub(crate) struct SubscriberMessage {
    /// All sections, as they came.
    pub(crate) message: Vec<u8>,
    /// Where it came from.
    pub(crate) from: SubscriberDelivery,
    /// Counts the message as waiting until it is dropped.
    pub(super) _ticket: super::backlog::Ticket,
}
