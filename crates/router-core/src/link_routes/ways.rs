//! Where the links go that match the address of a link route: to containers here in turns, or to routers that have some.

use std::collections::VecDeque;

use super::pattern_of;
use crate::arena::index_of;
use crate::core::Core;
use crate::{Host, RouterIndex};

/// Where the links that match the address of a link route go.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// How many entities there are for this address.
    pub(super) configured: usize,
    /// Connections of containers, the next one first, each with the link route that leads to it.
    pub(super) containers: VecDeque<(u64, u64)>,
    /// The router that was chosen last.
    last_router: Option<RouterIndex>,
}

impl Ways {
    /// Connections of containers.
    pub(crate) fn containers(&self) -> usize {
        self.containers.len()
    }

    /// The same, each with the link route that leads to it, the next one first.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.containers.iter().copied()
    }
}

impl<H: Host> Core<H> {
    /// The address of a link route is new: whatever its pattern fits is its.
    pub(crate) fn enter_ways(&mut self, addr: u32) {
        let Some((direction, pattern)) = pattern_of(&self.addresses[addr].key) else { return };
        self.addresses[addr].ways = Some(Box::default());
        self.link_routes.trees[direction as usize].value_mut(&pattern).push(addr);
    }

    /// The address of a link route goes.
    pub(crate) fn leave_ways(&mut self, addr: u32) {
        if self.addresses[addr].ways.is_none() {
            return;
        }
        let Some((direction, pattern)) = pattern_of(&self.addresses[addr].key) else { return };
        let tree = &mut self.link_routes.trees[direction as usize];
        let addresses = tree.value_mut(&pattern);
        addresses.retain(|other| *other != addr);
        if addresses.is_empty() {
            tree.remove(&pattern);
        }
    }

    /// Where the next link for this address goes that came by the connection `from`: the connection, and the link route if
    /// the container is at its other end. Containers here take turns; without one, the routers that have some.
    pub(crate) fn next_way(&mut self, addr: u32, from: u32) -> Option<(u32, Option<u64>)> {
        let ways = self.addresses[addr].ways.as_mut()?;
        if let Some((conn, route)) = ways.containers.front().copied() {
            ways.containers.rotate_left(1);
            return Some((index_of(conn), Some(route)));
        }
        let last = ways.last_router;
        let address = &self.addresses[addr];
        let way = |router: RouterIndex| {
            let conn = self.connection_index(self.routers.route(router)?.next_hop)?;
            // What has come from there does not go back.
            (conn != from && self.neighbor(conn).is_some_and(|neighbor| neighbor.up)).then_some((router, conn))
        };
        let after = address.remotes.iter().filter(|router| Some(*router) > last);
        let (router, conn) = after.chain(address.remotes.iter()).find_map(way)?;
        self.addresses[addr].ways.as_mut()?.last_router = Some(router);
        Some((conn, None))
    }

    /// Whether [`Core::next_way`] would find one.
    pub(crate) fn has_way(&self, addr: u32) -> bool {
        let address = &self.addresses[addr];
        address.remote || address.ways.as_ref().is_some_and(|ways| !ways.containers.is_empty())
    }
}
