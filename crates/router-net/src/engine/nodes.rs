//! Routers come, restart and go.

use super::PathEngine;
use crate::node::{Node, Owed};
use crate::throttle::Topic;
use crate::{Config, Level, LinkRef, LinkState, Module, NodeIndex, NodeView, Output};
use std::collections::BTreeSet;
use std::time::Duration;

/// A router that has restarted is not heard so often with what it said before: not all of that was under way for so long.
const NAMESAKE: u8 = 3;
/// A router that nobody in reach speaks of any more is forgotten after so many greetings.
const LOST: u32 = 2;

impl Node {
    /// When something is to be done about it.
    pub(super) fn timeout(&self, config: &Config) -> Option<Duration> {
        let reached = self.route.is_some();
        let fetches = [&self.link_state_fetch, &self.address_fetch];
        let fetches = fetches.into_iter().filter_map(|fetch| fetch.due().filter(|_| reached));
        let owed = Some(Duration::ZERO).filter(|_| reached && self.owed != Owed::default());
        let aged = self.link_state.as_ref().filter(|_| self.ages()).map(|_| self.heard + config.remote_ls_max_age);
        let lost = self.lost_since.map(|since| since + config.hello_interval * LOST);
        fetches.chain(owed).chain(aged).chain(lost).min()
    }

    /// Its link state is forgotten if it is silent for long. One of this kind need not speak: its neighbours do if it is gone.
    pub(super) fn ages(&self) -> bool {
        !self.shares || self.route.is_none()
    }
}

impl PathEngine {
    /// The number of a router, which is added if it is new. `None`: the network is full.
    pub(super) fn find_or_add(&mut self, id: &str) -> Option<NodeIndex> {
        if let Some(index) = self.nodes.find(id) {
            return Some(index);
        }
        let Some(index) = self.nodes.add(id, self.now) else {
            let max = self.config.max_routers;
            if self.throttle.says(self.now, Topic::Full, "") {
                let text = format!("Router {id} and those after it are ignored: the network has {max} routers already");
                self.log(Module::Router, Level::Error, text);
            }
            return None;
        };
        // Somebody may have named it long ago; and whether anybody does is looked at then.
        self.compute_soon();
        self.trace(Module::Router, Level::Trace, || format!("Node {id} created: maskbit={}", index.0));
        self.outputs.push_back(Output::RouterAdded { index, id: id.to_owned() });
        Some(index)
    }

    /// A router has said when it started. Whether what it says counts: what comes from afar under an instance that has
    /// been replaced was under way for long, or is of another router with the same id.
    pub(super) fn instance_heard(&mut self, id: &str, instance: i64, from_afar: bool) -> bool {
        let (now, max_age) = (self.now, self.config.remote_ls_max_age);
        let Some((index, node)) = self.nodes.find(id).and_then(|index| Some((index, self.nodes.get_mut(index)?)))
        else {
            return false;
        };
        let restarted = node.instance.is_some_and(|known| known != instance);
        if restarted && from_afar && node.instance_before == Some(instance) && node.heard + max_age > now {
            node.said_before = node.said_before.saturating_add(1);
            if node.said_before == NAMESAKE
                && let Some(known) = node.instance
            {
                self.namesakes_elsewhere(id, known, instance);
            }
            return false;
        }
        node.heard = now;
        if restarted {
            node.instance_before = node.instance;
            node.said_before = 0;
            node.link_state = None;
            node.mobile_seq = 0;
            node.latest = None;
            node.shares = false;
            node.link_state_fetch.start();
            node.address_fetch.start();
            node.addresses.clear();
        }
        node.instance = Some(instance);
        if restarted {
            self.outputs.push_back(Output::Flush { index });
            self.trace(Module::Router, Level::Debug, || format!("Remote destinations flushed from router {id}"));
            self.log(Module::Router, Level::Info, format!("Detected Restart of Router Node {id}"));
            self.compute_now();
        }
        true
    }

    /// A router was out of reach, or out of touch: whatever is known of it may be out of date. `by`: the way to it.
    pub(super) fn refetch(&mut self, id: &str, by: LinkRef) {
        let shares = self.links.get(by).is_some_and(|link| link.sharing.is_some());
        let (now, expects) = (self.now, shares && !self.floods());
        let Some(node) = self.nodes.find(id).and_then(|index| self.nodes.get_mut(index)) else { return };
        if shares && let Some(known) = node.seqs() {
            // Neighbours compare how far they know it; what is lacking comes with that.
            node.address_fetch.needed |= known.mobile_seq != node.mobile_seq;
        } else if expects {
            node.link_state_fetch.expect(now);
            node.address_fetch.expect(now);
        } else {
            node.link_state_fetch.start();
            node.address_fetch.start();
        }
    }

    /// Routers of the old kind have come: they are told what was only shared among neighbours.
    pub(super) fn look_for_old(&mut self) {
        let floods = self.floods();
        if floods && !std::mem::replace(&mut self.flooding, floods) {
            self.flooded = self.own.ls_seq.wrapping_sub(1);
            self.advertise_at = self.now;
        }
        self.flooding = floods;
    }

    /// Does what is due about a router: asks it for what is lacking, answers it, or forgets it.
    pub(super) fn attend(&mut self, index: NodeIndex) {
        let Some(node) = self.nodes.get(index) else { return };
        // It has been out of reach for two greetings, and no router in reach speaks of it.
        if node.lost_since.is_some_and(|since| since + self.config.hello_interval * LOST <= self.now) {
            return self.forget(index);
        }
        if node.route.is_some() {
            self.fetch(index);
            self.answer_owed(index);
        }
    }

    /// Looks which routers are out of reach while no router in reach speaks of them.
    pub(super) fn mark_lost(&mut self) {
        let lost: Vec<(NodeIndex, bool)> = {
            let reached = self.nodes.iter().filter(|(_, node)| node.route.is_some());
            let states = reached.filter_map(|(_, node)| node.link_state.as_ref());
            let named: BTreeSet<&str> = states.flat_map(|state| state.peers.keys().map(String::as_str)).collect();
            let lost =
                |node: &Node| node.route.is_none() && !named.contains(node.id.as_str()) && !self.links.hear(&node.id);
            self.nodes.iter().map(|(index, node)| (index, lost(node))).collect()
        };
        let now = self.now;
        for (index, lost) in lost {
            if let Some(node) = self.nodes.get_mut(index) {
                node.lost_since = lost.then(|| node.lost_since.unwrap_or(now));
            }
        }
    }

    fn forget(&mut self, index: NodeIndex) {
        let Some(node) = self.nodes.remove(index) else { return };
        self.links.sharing_mut().for_each(|sharing| sharing.forget(index));
        self.outputs.push_back(Output::RouterRemoved { index });
        self.trace(Module::Router, Level::Trace, || format!("Node {} deleted", node.id));
    }

    pub(super) fn own_view(&self) -> NodeView<'_> {
        NodeView {
            index: NodeIndex::SELF,
            id: &self.config.id,
            protocol_version: crate::wire::PROTOCOL_VERSION,
            instance: self.config.instance,
            link_state: peers(&self.own),
            next_hop: None,
            valid_origins: Vec::new(),
            cost: None,
            last_topo_change: Some(self.changed_at.map_or(0, |at| self.epoch_seconds(at))),
            link: None,
            router_link: None,
        }
    }

    pub(super) fn view<'a>(&'a self, index: NodeIndex, node: &'a Node) -> NodeView<'a> {
        let route = node.route.as_ref();
        let direct = route.filter(|route| route.next_hop == index);
        let hop = route.filter(|route| route.next_hop != index).map(|route| route.next_hop);
        let origins = route.map(|route| route.valid_origins.as_slice()).unwrap_or_default();
        NodeView {
            index,
            id: &node.id,
            protocol_version: crate::wire::PROTOCOL_VERSION,
            instance: node.instance.unwrap_or_default(),
            link_state: node.link_state.as_ref().map(peers).unwrap_or_default(),
            next_hop: hop.and_then(|hop| Some(self.nodes.get(hop)?.id.as_str())),
            valid_origins: origins.iter().filter_map(|at| Some(self.nodes.get(*at)?.id.as_str())).collect(),
            cost: route.map(|route| route.cost),
            last_topo_change: None,
            link: direct.map(|route| route.link),
            router_link: direct.and_then(|route| Some(self.links.get(route.link)?.number)),
        }
    }

    /// A time as seconds since the Unix epoch.
    fn epoch_seconds(&self, at: Duration) -> i64 {
        let since_start = at.saturating_sub(self.started).as_secs();
        self.config.instance.saturating_add(i64::try_from(since_start).unwrap_or(i64::MAX))
    }
}

fn peers(state: &LinkState) -> Vec<(&str, u32)> {
    state.peers.iter().map(|(id, cost)| (id.as_str(), *cost)).collect()
}
