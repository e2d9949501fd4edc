//! `linkRoute` entities: which attaches are passed on, and to which containers.
//!
//! Link routes have addresses of their own (classes `C` to `F`), by which other routers know them: an attach goes to a
//! container that is connected here, or else on its way to a router that has one.

mod ways;

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use crate::address::pattern::{Pattern, PatternTree};
use crate::arena::index_of;
use crate::bind::Making;
use crate::core::Core;
use crate::{
    ConnKey, Host, Level, LinkRouteError, LinkRouteSnapshot, Module, NewLinkRoute, Now, Role, RouteDirection, RouteVia,
    Treatment,
};

pub(crate) use ways::Ways;

/// A valid link route.
struct LinkRoute {
    name: Option<String>,
    /// As given.
    text: String,
    given_as_prefix: bool,
    direction: RouteDirection,
    /// Key of its address.
    key: String,
    via: RouteVia,
    /// A connection made it for itself; it goes with that.
    connection: Option<ConnKey>,
    add_prefix: Option<String>,
    del_prefix: Option<String>,
    /// Connections that it leads to now.
    connections: usize,
    /// Key of the link that takes what names an address under it and finds nobody there; 0: there is none.
    on_demand: u64,
}

/// All link routes.
#[derive(Default)]
pub(crate) struct LinkRoutes {
    /// Addresses by pattern: of clients' senders, of clients' receivers.
    trees: [PatternTree<SmallVec<[u32; 2]>>; 2],
    by_id: BTreeMap<u64, LinkRoute>,
    /// Those that connections made for themselves, by the key of the connection.
    by_connection: BTreeMap<u64, BTreeSet<u64>>,
    names: BTreeSet<String>,
    /// How many are the surroundings' own.
    internal: usize,
}

impl LinkRoutes {
    /// How many are configured.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len() - self.internal - self.by_connection.values().map(BTreeSet::len).sum::<usize>()
    }

    /// The addresses whose pattern fits a terminus best.
    pub(crate) fn best(&self, direction: RouteDirection, text: &str) -> Option<&[u32]> {
        self.trees[direction as usize].best(text).map(SmallVec::as_slice)
    }

    /// From now on this link takes what names an address under a link route and finds nobody there.
    pub(crate) fn take_on_demand(&mut self, route: u64, link: u64) {
        if let Some(route) = self.by_id.get_mut(&route) {
            route.on_demand = link;
        }
    }

    /// The key of the link that does; it may be gone.
    pub(crate) fn on_demand(&self, route: u64) -> u64 {
        self.by_id.get(&route).map_or(0, |route| route.on_demand)
    }

    /// An address on its way to a container, as the link route through which it goes changes it.
    pub(crate) fn outward(&self, route: u64, address: &str) -> Option<String> {
        let LinkRoute { add_prefix, del_prefix, .. } = self.by_id.get(&route)?;
        changed(address, del_prefix.as_deref(), add_prefix.as_deref())
    }

    /// An address on its way back.
    pub(crate) fn inward(&self, route: u64, address: &str) -> Option<String> {
        let LinkRoute { add_prefix, del_prefix, .. } = self.by_id.get(&route)?;
        changed(address, add_prefix.as_deref(), del_prefix.as_deref())
    }
}

/// An address without one prefix and with another; `None`: it stays as it is.
fn changed(address: &str, remove: Option<&str>, add: Option<&str>) -> Option<String> {
    let rest = remove.and_then(|prefix| address.strip_prefix(prefix));
    match (rest, add) {
        (None, None) => None,
        (rest, add) => Some(format!("{}{}", add.unwrap_or_default(), rest.unwrap_or(address))),
    }
}

/// Key and pattern of a link route. Plain tokens that a `#` follows are a prefix, for the sake of routers that know no others.
fn key_of(direction: RouteDirection, pattern: Pattern, text: &str) -> String {
    let text = text.trim_matches(['.', '/']);
    match pattern.prefix_of(text) {
        Some(prefix) => format!("{}{prefix}", direction.prefix_class()),
        None => format!("{}{text}", direction.pattern_class()),
    }
}

/// The direction and the pattern that a key of the classes `C` to `F` stands for.
pub(crate) fn pattern_of(key: &str) -> Option<(RouteDirection, Pattern)> {
    let mut letters = key.chars();
    let class = letters.next()?;
    let text = letters.as_str();
    match class {
        'C' => Some((RouteDirection::In, Pattern::parse_prefix(text)?)),
        'D' => Some((RouteDirection::Out, Pattern::parse_prefix(text)?)),
        'E' => Some((RouteDirection::In, Pattern::parse(text)?)),
        'F' => Some((RouteDirection::Out, Pattern::parse(text)?)),
        _ => None,
    }
}

impl<H: Host> Core<H> {
    /// Creates a link route. Returns its identity.
    ///
    /// # Errors
    /// What is wrong with it, in the old router's words; nothing is changed then.
    pub fn create_link_route(&mut self, now: Now, host: &mut H, new: NewLinkRoute) -> Result<u64, LinkRouteError> {
        self.tick(now);
        let id = self.add_link_route(new, None)?;
        let conns: Vec<_> = self.connections.iter().map(|(key, _)| key).collect();
        for conn in conns {
            if self.leads_to(id, index_of(conn)) {
                self.activate_link_route(host, id, conn);
            }
        }
        Ok(id)
    }

    /// Creates a link route that leads to this connection, and goes with it. Returns its identity.
    ///
    /// # Errors
    /// What is wrong with it, or that the connection is gone.
    pub fn create_connection_link_route(
        &mut self,
        now: Now,
        host: &mut H,
        conn: ConnKey,
        new: NewLinkRoute,
    ) -> Result<u64, LinkRouteError> {
        self.tick(now);
        if self.connections.get(conn.0).is_none() {
            return Err(LinkRouteError::NoConnection);
        }
        let id = self.add_link_route(new, Some(conn))?;
        self.activate_link_route(host, id, conn.0);
        Ok(id)
    }

    fn add_link_route(&mut self, new: NewLinkRoute, connection: Option<ConnKey>) -> Result<u64, LinkRouteError> {
        use LinkRouteError as E;
        let (text, given_as_prefix) = match (new.prefix, new.pattern) {
            (None, None) => return Err(E::NeitherPrefixNorPattern),
            (Some(_), Some(_)) => return Err(E::BothPrefixAndPattern),
            (Some(prefix), None) => (prefix, true),
            (None, Some(pattern)) => (pattern, false),
        };
        let pattern = match given_as_prefix {
            true => Pattern::parse_prefix(&text).ok_or(E::PrefixWithoutTokens)?,
            false => Pattern::parse(&text).ok_or(E::PatternWithoutTokens)?,
        };
        let key = match given_as_prefix {
            true => format!("{}{}", new.direction.prefix_class(), text.trim_matches(['.', '/'])),
            false => key_of(new.direction, pattern, &text),
        };
        // Names of a connection's own are that connection's.
        if connection.is_none() {
            if new.name.as_ref().is_some_and(|name| self.link_routes.names.contains(name)) {
                return Err(E::NameInUse);
            }
            self.link_routes.names.extend(new.name.clone());
        }
        let id = self.next_identity();
        let addr = self.find_or_make(&key, Making::plain(Treatment::LinkBalanced));
        if let Some(ways) = &mut self.addresses[addr].ways {
            ways.configured += 1;
        }
        self.addresses[addr].permanent = true;
        let (add_prefix, del_prefix) = (new.add_external_prefix, new.del_external_prefix);
        let (name, direction, via) = (new.name, new.direction, new.via);
        let connections = 0;
        self.link_routes.internal += usize::from(via == RouteVia::Internal);
        let route = LinkRoute {
            name,
            text,
            given_as_prefix,
            direction,
            key,
            via,
            connection,
            add_prefix,
            del_prefix,
            connections,
            on_demand: 0,
        };
        self.link_routes.by_id.insert(id, route);
        if let Some(conn) = connection {
            self.link_routes.by_connection.entry(conn.0).or_default().insert(id);
        }
        Ok(id)
    }

    /// Deletes a link route; false: there is none with this identity. Links that came by it stay.
    pub fn delete_link_route(&mut self, now: Now, host: &mut H, id: u64) -> bool {
        self.tick(now);
        let Some(key) = self.link_routes.by_id.get(&id).map(|route| route.key.clone()) else { return false };
        if let Some(addr) = self.addresses.find(&key) {
            let ways = self.addresses[addr].ways.as_deref();
            let conns: Vec<_> = ways.iter().flat_map(|ways| &ways.containers).copied().collect();
            for (conn, _) in conns.into_iter().filter(|(_, route)| *route == id) {
                self.deactivate_link_route(host, id, conn);
            }
            if let Some(ways) = &mut self.addresses[addr].ways {
                ways.configured -= 1;
                self.addresses[addr].permanent = self.addresses[addr].ways.as_ref().is_some_and(|w| w.configured > 0);
            }
            self.drop_if_idle(addr);
        }
        let Some(route) = self.link_routes.by_id.remove(&id) else { return false };
        self.link_routes.internal -= usize::from(route.via == RouteVia::Internal);
        match (route.name, route.connection) {
            (_, Some(conn)) => {
                if let Some(own) = self.link_routes.by_connection.get_mut(&conn.0) {
                    own.remove(&id);
                    if own.is_empty() {
                        self.link_routes.by_connection.remove(&conn.0);
                    }
                }
            }
            (Some(name), None) => drop(self.link_routes.names.remove(&name)),
            (None, None) => {}
        }
        true
    }

    /// All link routes of the configuration, in order of identity.
    pub fn link_routes(&self) -> Vec<LinkRouteSnapshot<'_>> {
        let shown = |route: &LinkRouteSnapshot<'_>| route.connection.is_none() && *route.via != RouteVia::Internal;
        self.link_route_snapshots().filter(shown).collect()
    }

    /// All link routes that connections made for themselves, in order of identity.
    pub fn connection_link_routes(&self) -> Vec<LinkRouteSnapshot<'_>> {
        self.link_route_snapshots().filter(|route| route.connection.is_some()).collect()
    }

    fn link_route_snapshots(&self) -> impl Iterator<Item = LinkRouteSnapshot<'_>> {
        self.link_routes.by_id.iter().map(|(id, route)| LinkRouteSnapshot {
            id: *id,
            name: route.name.as_deref(),
            prefix: route.given_as_prefix.then_some(&route.text),
            pattern: (!route.given_as_prefix).then_some(&route.text),
            direction: route.direction,
            via: &route.via,
            connection: route.connection,
            container: route.connection.and_then(|conn| Some(&*self.connections.get(conn.0)?.info.container)),
            active: route.connections > 0,
            add_external_prefix: route.add_prefix.as_deref(),
            del_external_prefix: route.del_prefix.as_deref(),
        })
    }

    /// A connection was opened: link routes that name it lead there.
    pub(crate) fn link_routes_opened(&mut self, host: &mut H, conn: u32) {
        if self.connections[conn].info.role != Role::RouteContainer {
            return;
        }
        let key = self.connections.key_at(conn);
        let leading: Vec<_> = self.link_routes.by_id.keys().copied().filter(|id| self.leads_to(*id, conn)).collect();
        for id in leading {
            self.activate_link_route(host, id, key);
        }
    }

    /// A connection has ended: no link route leads there any more.
    pub(crate) fn link_routes_closed(&mut self, now: Now, host: &mut H, conn: u64) {
        for id in self.link_routes.by_connection.get(&conn).cloned().unwrap_or_default() {
            self.delete_link_route(now, host, id);
        }
        let at = index_of(conn);
        if self.connections[at].info.role == Role::RouteContainer {
            let leading: Vec<_> = self.link_routes.by_id.keys().copied().filter(|id| self.leads_to(*id, at)).collect();
            for id in leading {
                self.deactivate_link_route(host, id, conn);
            }
        }
    }

    /// Whether a configured link route names this connection.
    fn leads_to(&self, id: u64, conn: u32) -> bool {
        let (Some(route), info) = (self.link_routes.by_id.get(&id), &self.connections[conn].info) else {
            return false;
        };
        route.connection.is_none() && info.is_named(&route.via)
    }

    fn activate_link_route(&mut self, host: &mut H, id: u64, conn: u64) {
        let Some(route) = self.link_routes.by_id.get_mut(&id) else { return };
        route.connections += 1;
        let Some(addr) = self.addresses.find(&route.key) else { return };
        let Some(ways) = &mut self.addresses[addr].ways else { return };
        ways.containers.push_back((conn, id));
        let first = ways.containers.len() == 1;
        self.log_link_route(host, id, conn, "Activated");
        if first {
            self.announce(host, addr, true);
        }
    }

    fn deactivate_link_route(&mut self, host: &mut H, id: u64, conn: u64) {
        let Some(route) = self.link_routes.by_id.get_mut(&id) else { return };
        let Some(addr) = self.addresses.find(&route.key) else { return };
        let Some(ways) = &mut self.addresses[addr].ways else { return };
        let before = ways.containers.len();
        ways.containers.retain(|way| *way != (conn, id));
        let last = before > 0 && ways.containers.is_empty();
        route.connections -= before - ways.containers.len();
        self.log_link_route(host, id, conn, "Deactivated");
        if last {
            self.announce(host, addr, false);
        }
    }

    fn log_link_route(&self, host: &mut H, id: u64, conn: u64, what: &str) {
        let (Some(route), Some(connection)) = (self.link_routes.by_id.get(&id), self.connections.get(conn)) else {
            return;
        };
        let name = route.name.as_deref().unwrap_or(&route.text);
        let (kind, at) = match &route.via {
            RouteVia::Connection(name) => ("connection", name.as_str()),
            _ => ("container", connection.info.container.as_str()),
        };
        host.log(Module::RouterCore, Level::Info, format_args!("Link Route {what} '{name}' on {kind} {at}"));
    }
}
