//! What the routing protocol tells the core: routers, and how they are reached.

use std::collections::BTreeSet;

use crate::bind::Making;
use crate::core::Core;
use crate::routers::Router;
use crate::{Host, Now, Route, RouterIndex, Treatment};

impl<H: Host> Core<H> {
    /// A router was heard of. This router itself need not be told of.
    pub fn add_router(&mut self, now: Now, host: &mut H, router: RouterIndex, id: &str) {
        self.tick(now);
        if router == RouterIndex::SELF {
            return;
        }
        self.forget_router(host, router);
        let node = self.find_or_make(&format!("R{id}"), Making::plain(Treatment::Closest));
        self.addresses[node].permanent = true;
        self.routers.insert(router, Router { id: id.into(), route: None, node, addresses: BTreeSet::new() });
        self.add_remote(host, router, node);
        for at in 0..self.control_addresses.len() {
            self.add_remote(host, router, self.control_addresses[at]);
        }
    }

    /// A router is gone: its addresses are withdrawn. Deliveries on their way there are the next router's to resolve.
    pub fn remove_router(&mut self, now: Now, host: &mut H, router: RouterIndex) {
        self.tick(now);
        self.forget_router(host, router);
    }

    fn forget_router(&mut self, host: &mut H, router: RouterIndex) {
        self.flush(host, router);
        let Some(Router { node, .. }) = self.routers.remove(router).map(|router| *router) else { return };
        for at in 0..self.control_addresses.len() {
            self.remove_remote(host, router, self.control_addresses[at]);
        }
        self.remove_remote(host, router, node);
        // Another router may go by the same id.
        if self.addresses[node].remotes.is_empty() {
            self.addresses[node].permanent = false;
            self.drop_if_idle(node);
        }
    }

    /// How a router is reached from now on; `None`: it is not.
    pub fn set_route(&mut self, now: Now, host: &mut H, router: RouterIndex, route: Option<Route>) {
        self.tick(now);
        let Some(record) = self.routers.get_mut(router) else { return };
        self.routes_changed = now;
        let reachable = route.is_some();
        let was_reachable = std::mem::replace(&mut record.route, route).is_some();
        self.routers.changed();
        if reachable != was_reachable {
            self.reachability_changed(host, router);
        }
    }

    /// All addresses with consumers on a router have become reachable, or unreachable, there.
    fn reachability_changed(&mut self, host: &mut H, router: RouterIndex) {
        let Some(record) = self.routers.get(router) else { return };
        let concerned: Vec<_> = record.addresses.iter().copied().chain([record.node]).collect();
        for addr in concerned.into_iter().chain(self.control_addresses.clone()) {
            self.remotes_changed(host, addr);
        }
    }

    /// The largest number of hops between this router and another. Messages that passed more routers are in a loop.
    pub fn set_radius(&mut self, radius: u32) {
        self.routers.radius = radius;
    }
}
