//! How messages find a queue: link routes to the store's connection for those who attach to its address, and a link of the
//! router's own for messages that name it and come on no link of its.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use router_core::{Core, NewAutoLink, NewLinkRoute, Now, RouteDirection, RouteVia};

use crate::shard::ShardHost;

/// What leads to an address.
#[derive(Debug, Default)]
struct Way {
    routes: [Option<u64>; 2],
    link: Option<u64>,
}

/// The ways to the addresses of the store. Entered with the core locked.
#[derive(Debug, Default)]
pub(super) struct Ways(Mutex<BTreeMap<Box<str>, Way>>);

/// What an address is, as far as the way to it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A queue or a topic.
    Node,
    /// The coordinator of transactions: only senders come, and only by attaching.
    Coordinator,
    /// A pattern: what is sent to an address under it, and comes on no link to that, goes to the store by a link for all of
    /// them, and makes the queue.
    Pattern,
}

impl Kind {
    pub(super) fn of(address: &str) -> Self {
        match address {
            super::wanted::COORDINATOR | super::wanted::DYNAMIC => Self::Coordinator,
            _ if address.contains(['*', '#']) => Self::Pattern,
            _ => Self::Node,
        }
    }
}

impl Ways {
    /// Makes the ways to an address, unless they are there.
    pub(super) fn lead(&self, core: &mut Core<ShardHost>, host: &mut ShardHost, now: Now, address: &str) {
        let mut ways = self.0.lock();
        if ways.contains_key(address) {
            return;
        }
        let way = ways.entry(address.into()).or_default();
        let kind = Kind::of(address);
        let both = kind != Kind::Coordinator || address == super::wanted::DYNAMIC;
        let directions = [Some(RouteDirection::In), both.then_some(RouteDirection::Out)];
        for (place, direction) in way.routes.iter_mut().zip(directions) {
            let Some(direction) = direction else { continue };
            let new = NewLinkRoute {
                name: None,
                prefix: None,
                pattern: Some(address.to_owned()),
                direction,
                via: RouteVia::Internal,
                add_external_prefix: None,
                del_external_prefix: None,
            };
            match core.create_link_route(now, host, new) {
                Ok(route) => *place = Some(route),
                Err(error) => logging::log!(ROUTER_CORE, Error, "No links lead to the queue '{address}': {error}"),
            }
        }
        if kind != Kind::Coordinator {
            let on_demand = way.routes[0].filter(|_| kind == Kind::Pattern);
            let new = NewAutoLink {
                name: None,
                address: address.to_owned(),
                direction: RouteDirection::Out,
                phase: 0,
                via: RouteVia::Internal,
                external_address: None,
                fallback: false,
                on_demand,
            };
            // Without a name there is nothing that it could clash with.
            way.link = core.create_auto_link(now, host, new).ok();
        }
    }

    /// Takes them away again. Links that came by them stay.
    pub(super) fn unlead(&self, core: &mut Core<ShardHost>, host: &mut ShardHost, now: Now, address: &str) {
        let Some(way) = self.0.lock().remove(address) else { return };
        for route in way.routes.into_iter().flatten() {
            core.delete_link_route(now, host, route);
        }
        if let Some(link) = way.link {
            core.delete_auto_link(now, host, link);
        }
    }
}
