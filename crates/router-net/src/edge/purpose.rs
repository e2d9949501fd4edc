//! The links that an edge router opens on its uplink, and what each is for.

use super::wire::{DOWNLINK_CAPABILITY, HEARTBEAT_ADDRESS, LOOKUP_ADDRESS, MANAGEMENT_ADDRESS, TRACKING_ADDRESS};
use amqp::Symbol;
use amqp::terminus::{ExpiryPolicy, Source, Target};

/// A link that an edge router has opened, as [`super::Uplink`] calls it. Numbers are never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// What a link is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Takes whatever has no consumer here: bound to the local address `L_edge`.
    Anonymous,
    /// Brings what is addressed to this router, `_edge/<id>/…`.
    Downlink,
    /// Brings news of which addresses have consumers elsewhere.
    Tracking,
    /// Takes requests to the interior's management.
    ManagementRequests,
    /// Brings the answers.
    ManagementReplies,
    /// Takes look-ups.
    LookupRequests,
    /// Brings the answers.
    LookupReplies,
    /// Takes heartbeats.
    Heartbeats,
    /// Brings messages for an address that has consumers here: its key.
    ConsumerProxy(String),
    /// Takes messages for an address that has producers here: its key.
    ProducerProxy(String),
}

impl Purpose {
    /// The links of each uplink, in the order in which the old router opens them.
    pub(super) const STANDARD: [Self; 8] = [
        Self::Anonymous,
        Self::Downlink,
        Self::Tracking,
        Self::ManagementRequests,
        Self::ManagementReplies,
        Self::LookupRequests,
        Self::LookupReplies,
        Self::Heartbeats,
    ];

    /// Whether the interior sends on it.
    pub fn is_incoming(&self) -> bool {
        matches!(
            self,
            Self::Downlink | Self::Tracking | Self::ManagementReplies | Self::LookupReplies | Self::ConsumerProxy(_)
        )
    }

    /// Whether it belongs to the session of the edge protocol's own conversations, not to that of endpoints.
    pub fn is_conversation(&self) -> bool {
        !matches!(self, Self::Anonymous | Self::Downlink | Self::ConsumerProxy(_) | Self::ProducerProxy(_))
    }

    /// The credit that this router gives on it, if that is not what all its links have.
    pub fn credit(&self) -> Option<u32> {
        match self {
            Self::Tracking => Some(32),
            Self::LookupReplies => Some(250),
            Self::ManagementReplies => Some(100),
            _ => None,
        }
    }

    /// Its source, for the edge router with this id.
    pub fn source(&self, id: &str) -> Option<Source> {
        let source = |address: Option<&str>| Source {
            address: address.map(str::to_owned),
            expiry_policy: ExpiryPolicy::LinkDetach,
            ..Source::default()
        };
        Some(match self {
            Self::Downlink => Source { capabilities: vec![Symbol::from(DOWNLINK_CAPABILITY)], ..source(Some(id)) },
            Self::Tracking => source(Some(TRACKING_ADDRESS)),
            Self::ManagementReplies | Self::LookupReplies => Source { dynamic: true, ..source(None) },
            Self::ConsumerProxy(key) => {
                Source { capabilities: capabilities(key, 1).into_iter().collect(), ..source(address(key)) }
            }
            Self::Anonymous | Self::ProducerProxy(_) => source(None),
            Self::ManagementRequests | Self::LookupRequests | Self::Heartbeats => return None,
        })
    }

    /// Its target.
    pub fn target(&self) -> Option<Target> {
        let target = |address: Option<&str>| Target {
            address: address.map(str::to_owned),
            expiry_policy: ExpiryPolicy::LinkDetach,
            ..Target::default()
        };
        Some(match self {
            Self::Downlink => Target { capabilities: vec![Symbol::from(DOWNLINK_CAPABILITY)], ..target(None) },
            Self::ManagementRequests => target(Some(MANAGEMENT_ADDRESS)),
            Self::LookupRequests => target(Some(LOOKUP_ADDRESS)),
            Self::Heartbeats => target(Some(HEARTBEAT_ADDRESS)),
            Self::ProducerProxy(key) => {
                Target { capabilities: capabilities(key, 0).into_iter().collect(), ..target(address(key)) }
            }
            Self::Anonymous | Self::Tracking | Self::ConsumerProxy(_) => target(None),
            Self::ManagementReplies | Self::LookupReplies => return None,
        })
    }
}

/// The text of a mobile address: its key without class and phase.
fn address(key: &str) -> Option<&str> {
    key.get(2..)
}

/// What brings a link into the phase of its key. Receivers with `qd.waypoint.N` take phase N - 1, senders enter phase N;
/// phase 0 is where both are without.
fn capabilities(key: &str, beyond: u8) -> Option<Symbol> {
    match key.as_bytes().get(1)? {
        b'F' => Some(Symbol::from("qd.fallback")),
        phase @ b'1'..=b'9' => Some(Symbol::from(format!("qd.waypoint.{}", phase - b'0' + beyond))),
        _ => None,
    }
}
