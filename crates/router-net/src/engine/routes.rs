//! From link states to routes.

use super::PathEngine;
use crate::node::{Node, NodeRoute};
use crate::paths::{Graph, Path};
use crate::{Level, Module, NodeIndex, Output, log};
use std::collections::BTreeMap;
use std::time::Duration;

/// The ways to all routers are listed in the log for so many routers at most, which is all that the old router can have. The
/// lists grow with the square of the network.
const LISTED: usize = 128;
/// Within so many greetings routers of the old kind have found the ways of a changed network.
const FOUND: u32 = 2;

impl PathEngine {
    /// Routes are computed before the call at hand ends.
    pub(super) fn compute_now(&mut self) {
        self.compute_at = Some(self.now);
    }

    /// Routes are computed soon: news from afar come in bursts, and the work grows with the square of the network.
    pub(super) fn compute_soon(&mut self) {
        let routers = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let spacing = Duration::from_millis(20) + Duration::from_millis(1) * routers;
        let at = self.computed_at.map_or(self.now, |last| last + spacing).max(self.now);
        self.compute_at = Some(self.compute_at.map_or(at, |known| known.min(at)));
    }

    /// Computes all routes, and says what is new.
    pub(super) fn compute(&mut self) {
        self.compute_at = None;
        self.computed_at = Some(self.now);
        self.look_for_lost = true;
        let order = self.ordered();
        let own = order.iter().position(|index| *index == NodeIndex::SELF).unwrap_or_default();
        let graph = self.graph(&order);
        let mut paths = graph.paths(own);
        let before = self.trunks.update(self.now, self.config.hello_interval * FOUND, &order, &graph);
        if let Some(before) = before.filter(|_| self.nodes.old() > 0) {
            self.compute_at = Some(before.until);
            for (path, before) in paths.iter_mut().zip(before.graph.paths(own)) {
                if let (Some(path), Some(before)) = (path, before) {
                    path.keep(before);
                }
            }
        }
        let radius = paths.iter().flatten().map(|path| path.hops).max().unwrap_or_default();
        let mut changed = false;
        for (index, path) in order.iter().zip(&paths) {
            if *index != NodeIndex::SELF {
                let route = path.as_ref().and_then(|path| self.route(&order, path));
                changed |= self.set_route(*index, route);
            }
        }
        if radius != self.radius {
            self.radius = radius;
            self.outputs.push_back(Output::Radius(radius));
            changed = true;
        }
        if changed {
            self.topology_changed();
            self.log_paths();
        }
    }

    /// All routers, this one among them, in the byte order of their ids.
    fn ordered(&self) -> Vec<NodeIndex> {
        let mut order = self.nodes.indexes_by_id();
        let id = |index: &NodeIndex| self.nodes.get(*index).map(|node| node.id.as_str()).unwrap_or_default();
        let at = order.partition_point(|index| id(index) < self.config.id.as_str());
        order.insert(at, NodeIndex::SELF);
        order
    }

    /// Who says to be whose neighbour. Whether the other side says so too does not matter, as for the old router: a router
    /// names only neighbours that hear it, and the other's link state may be older.
    fn graph(&self, order: &[NodeIndex]) -> Graph {
        let mut ranks: BTreeMap<&str, usize> = BTreeMap::new();
        for (rank, index) in order.iter().enumerate() {
            ranks.insert(self.id_of(*index), rank);
        }
        let old = order.iter().map(|index| self.nodes.get(*index).is_some_and(Node::is_old)).collect();
        let edges = order.iter().map(|index| {
            let peers = match self.nodes.get(*index) {
                Some(node) => node.link_state.as_ref().map(|state| &state.peers),
                None => Some(&self.own.peers),
            };
            peers.into_iter().flatten().filter_map(|(id, cost)| Some((*ranks.get(id.as_str())?, *cost))).collect()
        });
        Graph { edges: edges.collect(), old }
    }

    fn id_of(&self, index: NodeIndex) -> &str {
        self.nodes.get(index).map_or(self.config.id.as_str(), |node| node.id.as_str())
    }

    fn route(&self, order: &[NodeIndex], path: &Path) -> Option<NodeRoute> {
        let next_hop = *order.get(path.next_hop)?;
        let (link, _) = self.links.to(self.id_of(next_hop))?;
        let mut valid_origins: Vec<NodeIndex> = path.valid_origins.iter().map(|rank| order[*rank]).collect();
        valid_origins.sort_unstable();
        let comes_by = path.comes_by.and_then(|rank| order.get(rank).copied());
        Some(NodeRoute { next_hop, link, cost: path.cost, comes_by, valid_origins })
    }

    /// Takes a route, and says so if it is another than before.
    fn set_route(&mut self, index: NodeIndex, route: Option<NodeRoute>) -> bool {
        let Some(node) = self.nodes.get_mut(index) else { return false };
        if node.route == route {
            return false;
        }
        let id = node.id.clone();
        let old = std::mem::replace(&mut node.route, route.clone());
        self.trace_route(index, &id, old.as_ref(), route.as_ref());
        match route {
            Some(route) => {
                if old.is_none() {
                    self.refetch(&id, route.link);
                }
                let mut valid_origins = route.valid_origins;
                valid_origins.insert(0, NodeIndex::SELF);
                let (next_hop, cost, comes_by) = (route.link, route.cost, route.comes_by);
                self.outputs.push_back(Output::Route { index, next_hop, cost, comes_by, valid_origins });
            }
            None => self.outputs.push_back(Output::Unreachable { index }),
        }
        true
    }

    fn trace_route(&mut self, index: NodeIndex, id: &str, old: Option<&NodeRoute>, new: Option<&NodeRoute>) {
        if !self.traces {
            return;
        }
        let hop = |route: Option<&NodeRoute>| route.map(|route| route.next_hop).filter(|hop| *hop != index);
        let mut lines = Vec::new();
        match (hop(old), hop(new)) {
            (before, Some(hop)) if before != Some(hop) => {
                lines.push(format!("Node {id} next hop set: {}", self.id_of(hop)));
            }
            (Some(_), None) => lines.push(format!("Node {id} next hop removed")),
            _ => {}
        }
        if let Some(new) = new {
            if old.is_none_or(|old| old.valid_origins != new.valid_origins) {
                let origins = log::list(new.valid_origins.iter().map(|origin| self.id_of(*origin)));
                lines.push(format!("Node {id} valid origins: {origins}"));
            }
            if old.is_none_or(|old| old.cost != new.cost) {
                lines.push(format!("Node {id} cost: {}", new.cost));
            }
        }
        lines.into_iter().for_each(|line| self.log(Module::Router, Level::Trace, line));
    }

    fn log_paths(&mut self) {
        let (routers, radius) = (self.nodes.len() + 1, self.radius);
        if routers > LISTED {
            let text = format!("Computed the ways to {} other routers. Computed radius: {radius}", routers - 1);
            return self.log(Module::RouterLs, Level::Info, text);
        }
        let reached = || {
            let nodes = self.nodes.indexes_by_id().into_iter().filter_map(|index| self.nodes.get(index));
            nodes.filter_map(|node| Some((node.id.as_str(), node.route.as_ref()?)))
        };
        let hops = log::map(reached().map(|(id, route)| (id, log::quoted(self.id_of(route.next_hop)))));
        let costs = log::map(reached().map(|(id, route)| (id, route.cost)));
        let origins = log::map(
            reached().map(|(id, route)| (id, log::list(route.valid_origins.iter().map(|origin| self.id_of(*origin))))),
        );
        let lines = [
            format!("Computed next hops: {hops}"),
            format!("Computed costs: {costs}"),
            format!("Computed valid origins: {origins}"),
            format!("Computed radius: {}", self.radius),
        ];
        lines.into_iter().for_each(|line| self.log(Module::RouterLs, Level::Info, line));
    }
}
