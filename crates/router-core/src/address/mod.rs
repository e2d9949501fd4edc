//! Addresses: their keys, the patterns that configure them, and the table that holds them.

pub(crate) mod config;
pub(crate) mod key;
pub(crate) mod pattern;
pub(crate) mod table;

use std::sync::Arc;

use crate::arena::NONE;
use crate::control::Reach;
use crate::forward::balanced::Loads;
use crate::forward::hops::Hops;
use crate::link_routes::Ways;
use crate::routers::Remotes;
use crate::{SubscriberId, Treatment};

/// Links of one direction that are bound to an address, as a list through the links (`addr_prev`, `addr_next`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkList {
    /// First link.
    pub(crate) head: u32,
    /// Last link.
    pub(crate) tail: u32,
    /// Number of links.
    pub(crate) len: u32,
}

impl Default for LinkList {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, len: 0 }
    }
}

/// What within the core takes the deliveries of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// Nothing.
    Nothing,
    /// The core accepts them, and that is all.
    Sink,
    /// The exchange at this place.
    Exchange(u32),
}

/// Counters of an address that most addresses never need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RareAddressCounters {
    pub(crate) to_container: u64,
    pub(crate) from_container: u64,
    pub(crate) egress_route_container: u64,
    pub(crate) ingress_route_container: u64,
    pub(crate) redirected_to_fallback: u64,
}

/// An address.
pub(crate) struct Address {
    /// The receivers: outgoing links.
    pub(crate) receivers: LinkList,
    /// The senders: incoming links.
    pub(crate) senders: LinkList,
    /// How many of the receivers, and of the senders, are on connections between an edge router and the interior.
    pub(crate) at_edge: [u32; 2],
    /// How many of the receivers are the surroundings' own.
    pub(crate) internal: u32,
    /// How deliveries are distributed; fixed when the entry is made.
    pub(crate) treatment: Treatment,
    /// Never removed.
    pub(crate) permanent: bool,
    /// What within the core takes the deliveries.
    pub(crate) within: Within,
    /// From configuration; -1: none.
    pub(crate) priority: i8,
    /// Entry that takes deliveries when nobody is here.
    pub(crate) fallback: u32,
    /// Entry whose fallback this is.
    pub(crate) fallback_of: u32,
    /// Loads of the receivers, while there are several and the treatment is balanced.
    pub(crate) loads: Option<Box<Loads>>,
    /// A router that can be reached has consumers.
    pub(crate) remote: bool,
    /// Not all its consumers are the same to each delivery: some are on other routers, or at the other end of a connection
    /// between an edge router and the interior, from where the delivery may come.
    pub(crate) beyond: bool,
    /// For the routing protocol: how far its messages go.
    pub(crate) reach: Option<Reach>,
    /// In-process subscribers, next one first.
    pub(crate) subscribers: Vec<SubscriberId>,
    /// For link routes: where links go.
    pub(crate) ways: Option<Box<Ways>>,
    /// Routers with consumers.
    pub(crate) remotes: Remotes,
    /// The way to these, once it was needed.
    pub(crate) hops: Option<Box<Hops>>,
    /// Deliveries in.
    pub(crate) ingress: u64,
    /// Deliveries out.
    pub(crate) egress: u64,
    /// Deliveries to other routers.
    pub(crate) transit: u64,
    /// The other counters.
    pub(crate) rare: Option<Box<RareAddressCounters>>,
    /// Key.
    pub(crate) key: Arc<str>,
    /// Number in order of creation.
    pub(crate) serial: u64,
    /// How many exchanges, bindings and auto-links name it.
    pub(crate) named: u32,
}

impl Address {
    /// Whether a delivery can go somewhere, the fallback not counted.
    pub(crate) fn has_destination(&self) -> bool {
        self.receivers.len > 0 || !self.subscribers.is_empty() || self.within != Within::Nothing || self.remote
    }

    /// Its consumers have changed: notes whether they are all the same to each delivery.
    pub(crate) fn look_beyond(&mut self) {
        self.beyond = self.remote || self.at_edge[0] > 0;
    }

    /// Whether nothing keeps this entry.
    pub(crate) fn is_idle(&self) -> bool {
        !self.permanent
            && self.receivers.len == 0
            && self.senders.len == 0
            && self.subscribers.is_empty()
            && self.remotes.is_empty()
            && self.fallback_of == NONE
            && self.named == 0
    }

    /// Whether control messages go there: it is the routing protocol's, or another router.
    pub(crate) fn is_control(&self) -> bool {
        self.reach.is_some() || self.key.starts_with('R')
    }

    /// The rare counters, made at need.
    pub(crate) fn rare(&mut self) -> &mut RareAddressCounters {
        self.rare.get_or_insert_default()
    }

    /// The text of a mobile address, tenant prefix included; `None` for other classes.
    pub(crate) fn mobile_text(&self) -> Option<&str> {
        self.key.strip_prefix('M').and_then(|rest| rest.get(1..))
    }
}
