//! The core as a whole: what it consists of, and its sense of time.

use std::collections::BTreeSet;

use crate::address::config::AddressConfigs;
use crate::address::table::Addresses;
use crate::arena::Arena;
use crate::auto_links::AutoLinks;
use crate::connection::Connection;
use crate::copies::Copies;
use crate::delivery::Delivery;
use crate::exchanges::Exchanges;
use crate::floods::Floods;
use crate::link::Link;
use crate::link_routes::LinkRoutes;
use crate::routers::Routers;
use crate::{Host, Now, RouterSettings, RouterStatistics, SubscriberId};

/// The time of the call now being made, in the units that records keep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    now: Now,
    /// Milliseconds modulo 2^32: enough to tell how long a delivery took, unless it took 49 days.
    pub(crate) millis: u32,
    /// Whole seconds.
    pub(crate) second: u32,
}

/// The routing core. Calls never block; those per delivery neither allocate nor look anything up by name, except that
/// a delivery on an anonymous link looks its address up once.
pub struct Core<H: Host> {
    pub(crate) settings: RouterSettings,
    pub(crate) clock: Clock,
    pub(crate) connections: Arena<Connection<H>>,
    pub(crate) links: Arena<Link<H>>,
    pub(crate) deliveries: Arena<Delivery<H::Content>>,
    pub(crate) addresses: Addresses,
    pub(crate) configs: AddressConfigs,
    pub(crate) link_routes: LinkRoutes,
    pub(crate) auto_links: AutoLinks,
    pub(crate) exchanges: Exchanges,
    /// Addresses of subscribers, by id; `None`: unsubscribed.
    pub(crate) subscribers: Vec<Option<u32>>,
    /// Routers of the network.
    pub(crate) routers: Routers,
    /// The addresses of the routing protocol that concern all routers.
    pub(crate) control_addresses: Vec<u32>,
    /// Messages of the routing protocol that flood the network now.
    pub(crate) floods: Floods,
    pub(crate) copies: Copies,
    /// When a route changed last.
    pub(crate) routes_changed: Now,
    /// Connections to other routers, by their number; `NONE`: the number is free.
    pub(crate) neighbors: Vec<u32>,
    pub(crate) statistics: RouterStatistics,
    /// Connections that are the surroundings' own, and are not counted.
    pub(crate) internal_connections: u64,
    /// Links of those.
    pub(crate) internal_links: u64,
    /// Connection identity last given.
    pub(crate) next_connection: u64,
    /// Identity last given to a link or a configured entity: one counter for all, as in the old router.
    pub(crate) next_identity: u64,
    /// Serial number last given to an address.
    pub(crate) next_address: u64,
    /// Tag of the next outgoing delivery.
    pub(crate) next_tag: u64,
    /// What tells the next multicast message that comes to the network here from all others.
    pub(crate) next_stamp: u64,
    /// When to look for stuck deliveries and blocked links next; `None`: there are no links.
    pub(crate) next_scan: Option<Now>,
    /// Links from other routers that had no credit left because all of it was held up; may name links gone since.
    pub(crate) starved: Vec<u64>,
    /// When to give these their credit back.
    pub(crate) next_relief: Option<Now>,
    /// Messages take more memory than they may.
    pub(crate) memory_short: bool,
    /// Links that are held up for it.
    pub(crate) held_up: BTreeSet<u64>,
    /// A buffer for keys, kept so that look-ups do not allocate.
    pub(crate) scratch: String,
}

impl<H: Host> Core<H> {
    /// A core without connections.
    pub fn new(mut settings: RouterSettings) -> Self {
        let secret = (settings.random)();
        // The lower half of a number at random is one itself.
        let next_stamp = ((settings.random)() as u64).max(1);
        let mut core = Self {
            settings,
            clock: Clock::default(),
            connections: Arena::default(),
            links: Arena::default(),
            deliveries: Arena::default(),
            addresses: Addresses::new(secret),
            configs: AddressConfigs::default(),
            link_routes: LinkRoutes::default(),
            auto_links: AutoLinks::default(),
            exchanges: Exchanges::default(),
            subscribers: Vec::new(),
            routers: Routers::new(secret),
            control_addresses: Vec::new(),
            floods: Floods::default(),
            copies: Copies::default(),
            routes_changed: Now::ZERO,
            neighbors: Vec::new(),
            statistics: RouterStatistics::default(),
            internal_connections: 0,
            internal_links: 0,
            next_connection: 0,
            next_identity: 0,
            next_address: 0,
            next_tag: 0,
            next_stamp,
            next_scan: None,
            starved: Vec::new(),
            next_relief: None,
            memory_short: false,
            held_up: BTreeSet::new(),
            scratch: String::new(),
        };
        core.add_heartbeat_address();
        core.add_tracking_address();
        core
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &RouterSettings {
        &self.settings
    }

    /// Notes the time of a call.
    pub(crate) fn tick(&mut self, now: Now) {
        if now != self.clock.now {
            // Truncation is what is wanted: see the fields.
            let second = now.as_secs() as u32;
            self.clock = Clock { now, second, millis: second.wrapping_mul(1_000).wrapping_add(now.subsec_millis()) };
        }
    }

    /// The time of the current call.
    pub(crate) fn now(&self) -> Now {
        self.clock.now
    }
}

/// Sizes of the core's records, in bytes (each without what it points to).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectSizes {
    /// A connection.
    pub connection: u64,
    /// A link.
    pub link: u64,
    /// An address.
    pub address: u64,
    /// A delivery; a multicast has one for what came in and one for each copy.
    pub delivery: u64,
}

/// Numbers of the core's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectCounts {
    /// Connections.
    pub connections: u64,
    /// Links.
    pub links: u64,
    /// Addresses.
    pub addresses: u64,
    /// Deliveries that are queued, in transmission, or unsettled.
    pub deliveries: u64,
}

impl<H: Host> Core<H> {
    /// Sizes of the records, for management's account of memory.
    pub fn object_sizes() -> ObjectSizes {
        ObjectSizes {
            connection: size_of::<Connection<H>>() as u64,
            link: size_of::<Link<H>>() as u64,
            address: size_of::<crate::address::Address>() as u64,
            delivery: size_of::<Delivery<H::Content>>() as u64,
        }
    }

    /// Numbers of the records, for management's account of memory and for tests.
    pub fn object_counts(&self) -> ObjectCounts {
        ObjectCounts {
            connections: self.connections.len() as u64,
            links: self.links.len() as u64,
            addresses: self.addresses.len() as u64,
            deliveries: self.deliveries.len() as u64,
        }
    }

    /// Where a subscriber is.
    pub(crate) fn subscriber_address(&self, subscriber: SubscriberId) -> Option<u32> {
        self.subscribers.get(subscriber.0 as usize).copied().flatten()
    }
}
