//! What the shards tell the control plane.

use std::sync::Arc;

use amqp::Map;
use amqp::performative::Open;
use router_core::{
    ConnKey, Destinations, EdgeEvent, LinkKey, NetworkEvent, OutKey, SubscriberDelivery, SubscriberId, Treatment,
};

use super::place::LinkRef;
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
    /// The peer closes the connection, whose end is told next, and names another server to go to.
    ConnectorRedirected {
        /// Whose connection it is.
        connector: ConnectorId,
        /// The connection's number.
        connection_id: u64,
        /// What the peer says of the server: `network-host`, `port`, `hostname`.
        info: Map,
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
    /// Something that the routing protocol has to know.
    Network(NetworkUpdate),
    /// Something that the edge protocol has to know.
    Edge(EdgeUpdate),
    /// A client's attach waits for what the interior knows of the address; see [`super::Shards::looked_up`].
    LookUp(LookUp),
    /// A message for an in-process subscriber.
    Message(SubscriberMessage),
}

/// An attach that waits.
#[derive(Clone, Debug)]
pub(crate) struct LookUp {
    /// What the attach is known by.
    pub(crate) token: u64,
    /// Its link.
    pub(crate) link: LinkRef,
    /// The address in question.
    pub(crate) address: String,
    /// The client is to send.
    pub(crate) client_sends: bool,
}

/// A [`NetworkEvent`] on its way to the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NetworkUpdate {
    /// See [`NetworkEvent::NeighborUp`].
    NeighborUp { conn: ConnKey, cost: u32, shares: bool },
    /// See [`NetworkEvent::NeighborLost`].
    NeighborLost { conn: ConnKey },
    /// See [`NetworkEvent::LocalAddress`].
    LocalAddress { key: Box<str>, treatment: Treatment, present: bool },
}

impl From<NetworkEvent<'_>> for NetworkUpdate {
    fn from(event: NetworkEvent<'_>) -> Self {
        match event {
            NetworkEvent::NeighborUp { conn, cost, shares } => Self::NeighborUp { conn, cost, shares },
            NetworkEvent::NeighborLost { conn } => Self::NeighborLost { conn },
            NetworkEvent::LocalAddress { key, treatment, present } => {
                Self::LocalAddress { key: key.into(), treatment, present }
            }
        }
    }
}

impl<'a> From<&'a NetworkUpdate> for NetworkEvent<'a> {
    fn from(update: &'a NetworkUpdate) -> Self {
        match *update {
            NetworkUpdate::NeighborUp { conn, cost, shares } => Self::NeighborUp { conn, cost, shares },
            NetworkUpdate::NeighborLost { conn } => Self::NeighborLost { conn },
            NetworkUpdate::LocalAddress { ref key, treatment, present } => {
                Self::LocalAddress { key, treatment, present }
            }
        }
    }
}

/// An [`EdgeEvent`] on its way to the control plane; see there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EdgeUpdate {
    UplinkOpened { conn: ConnKey, id: u64 },
    ConnectionLost { conn: ConnKey },
    LinkAnswered { link: LinkKey, address: Option<Box<str>> },
    Outcome { delivery: OutKey, accepted: bool },
    LinkLost { link: LinkKey },
    Producers { key: Box<str>, present: bool },
    Producer { conn: ConnKey, key: Box<str>, present: bool, destinations: Destinations },
    Destinations { key: Box<str>, destinations: Destinations },
    Tracking { conn: ConnKey, link: LinkKey, present: bool },
    HeartbeatLink { conn: ConnKey, container: Box<str>, present: bool },
    Heartbeat { conn: ConnKey },
}

impl From<EdgeEvent<'_>> for EdgeUpdate {
    fn from(event: EdgeEvent<'_>) -> Self {
        match event {
            EdgeEvent::UplinkOpened { conn, id } => Self::UplinkOpened { conn, id },
            EdgeEvent::ConnectionLost { conn } => Self::ConnectionLost { conn },
            EdgeEvent::LinkAnswered { link, address } => Self::LinkAnswered { link, address: address.map(Into::into) },
            EdgeEvent::Outcome { delivery, accepted } => Self::Outcome { delivery, accepted },
            EdgeEvent::LinkLost { link } => Self::LinkLost { link },
            EdgeEvent::Producers { key, present } => Self::Producers { key: key.into(), present },
            EdgeEvent::EdgeProducer { conn, key, present, destinations } => {
                Self::Producer { conn, key: key.into(), present, destinations }
            }
            EdgeEvent::Destinations { key, destinations } => Self::Destinations { key: key.into(), destinations },
            EdgeEvent::Tracking { conn, link, present } => Self::Tracking { conn, link, present },
            EdgeEvent::HeartbeatLink { conn, container, present } => {
                Self::HeartbeatLink { conn, container: container.into(), present }
            }
            EdgeEvent::Heartbeat { conn } => Self::Heartbeat { conn },
        }
    }
}

/// A message that the core handed to an in-process subscriber.
#[derive(Debug)]
pub(crate) struct SubscriberMessage {
    /// Whom it is for.
    pub(crate) subscriber: SubscriberId,
    /// All sections, as they came.
    pub(crate) message: Vec<u8>,
    /// Where it came from.
    pub(crate) from: SubscriberDelivery,
    /// Counts the message as waiting until it is dropped.
    pub(super) _ticket: super::backlog::Ticket,
}
