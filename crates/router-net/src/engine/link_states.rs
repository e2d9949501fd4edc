//! Link states: this router's own, and those of others.

use super::PathEngine;
use crate::node::{Fetch, Node, Owed};
use crate::wire::{ALL_ROUTERS_ADDRESS, Body, router_address};
use crate::{Level, LinkRef, LinkState, Module, NodeIndex};

/// So often is a neighbour asked for the addresses of a router.
const NEIGHBOR_TRIES: u32 = 3;

impl PathEngine {
    /// Looks whether this router's neighbours are others than it has said.
    pub(super) fn update_own_link_state(&mut self) {
        let peers = self.links.peers();
        if peers == self.own.peers {
            // The same neighbours may be reached by other connections.
            let moved = self.nodes.iter().any(|(index, node)| {
                let direct = node.route.as_ref().filter(|route| route.next_hop == index);
                direct.is_some_and(|route| self.links.to(&node.id).is_some_and(|(link, _)| link != route.link))
            });
            if moved {
                self.compute_now();
            }
            return;
        }
        self.own.peers = peers;
        self.own.ls_seq += 1;
        self.topology_changed();
        let state = self.own.to_string();
        self.trace(Module::RouterLs, Level::Trace, || format!("Local Link State: {state}"));
        self.compute_now();
        self.advertise_at = self.now;
    }

    /// Says this router's sequence numbers to everybody, and before that its link state, if that has changed. (The old router
    /// waits until each of the others asks for it; but it takes what it has not asked for.)
    pub(super) fn advertise(&mut self) {
        let flux = self.flux_until.is_some();
        let interval = if flux { self.config.ra_interval_flux } else { self.config.ra_interval };
        self.share(NodeIndex::SELF);
        if self.compared_at + self.config.ra_interval <= self.now {
            self.compared_at = self.now;
            self.compare();
        }
        self.advertise_at = self.now + interval.min(self.compared_at + self.config.ra_interval - self.now);
        if !self.floods() {
            return;
        }
        if std::mem::replace(&mut self.flooded, self.own.ls_seq) != self.own.ls_seq {
            let (instance, state) = (self.config.instance, self.own.clone());
            self.send(ALL_ROUTERS_ADDRESS, None, Body::LinkState { instance, state });
        }
        let (instance, ls_seq, mobile_seq) = (self.config.instance, self.own.ls_seq, self.addresses.seq);
        self.send(ALL_ROUTERS_ADDRESS, None, Body::Advertisement { instance, ls_seq, mobile_seq });
    }

    /// Advertisements are frequent for a while.
    pub(super) fn topology_changed(&mut self) {
        self.changed_at = Some(self.now);
        if self.flux_until.replace(self.now + self.config.ra_interval_flux * 2).is_none() {
            self.trace(Module::Router, Level::Trace, || "Entered Router Flux Mode".to_owned());
            self.advertise_at = self.advertise_at.min(self.now + self.config.ra_interval_flux);
        }
    }

    /// A router has said its sequence numbers.
    pub(super) fn advertised(&mut self, id: &str, instance: i64, ls_seq: i64, mobile_seq: i64) {
        let Some(index) = self.find_or_add(id) else { return };
        if !self.instance_heard(id, instance, true) {
            return;
        }
        let Some(node) = self.nodes.get_mut(index) else { return };
        // Agreement is checked each time, and disagreement of any kind is no reason to wait.
        node.link_state_fetch.advertised = Some(ls_seq);
        if node.link_state.as_ref().is_none_or(|state| state.ls_seq != ls_seq) {
            node.link_state_fetch.needed = true;
        }
        node.address_fetch.advertised = Some(mobile_seq);
        if mobile_seq == 0 {
            // It has never announced anything, and the old router does not answer who asks for nothing.
            self.all_addresses(id, 0, Vec::new());
        } else if node.mobile_seq != mobile_seq {
            node.address_fetch.needed = true;
        }
        self.share(index);
    }

    /// A router has said its link state.
    pub(super) fn link_state(&mut self, instance: i64, state: LinkState) {
        let Some(index) = self.find_or_add(&state.id) else { return };
        if !self.instance_heard(&state.id, instance, true) || state.peers.len() > usize::from(self.config.max_routers) {
            return;
        }
        let Some(node) = self.nodes.get_mut(index) else { return };
        let advertised = node.link_state_fetch.advertised == Some(state.ls_seq);
        if node.link_state.as_ref().is_some_and(|known| state.ls_seq < known.ls_seq) && !advertised {
            // It was overtaken by a later one.
            return;
        }
        let asked = node.link_state_fetch.asked.is_some();
        let newer = node.link_state.as_ref().is_none_or(|known| known.ls_seq < state.ls_seq);
        node.link_state_fetch.answered(state.ls_seq);
        let changed = node.link_state.as_ref().is_none_or(|known| known.peers != state.peers);
        let peers: Vec<String> = state.peers.keys().filter(|peer| **peer != self.config.id).cloned().collect();
        if asked && newer && changed {
            self.pass_on(instance, &state);
        }
        if let Some(node) = self.nodes.get_mut(index) {
            node.link_state = Some(state);
        }
        for peer in peers {
            if self.find_or_add(&peer).is_none() {
                break;
            }
        }
        if changed {
            self.topology_changed();
            self.compute_soon();
        }
        self.share(index);
    }

    /// Tells the neighbours of a link state that had to be asked for: then not everybody was told of it. An old router asks once
    /// when it hears of a change, perhaps by a way that the change has broken, and then not for seconds; until then it lets no
    /// message pass that comes by the new way.
    fn pass_on(&mut self, instance: i64, state: &LinkState) {
        let neighbors: Vec<(String, LinkRef)> = (self.links.peers().into_keys())
            .filter(|id| *id != state.id)
            .filter_map(|id| self.links.to(&id).map(|(link, _)| link).map(|link| (id, link)))
            .filter(|(_, link)| self.links.get(*link).is_some_and(|link| link.sharing.is_none()))
            .collect();
        for (id, link) in neighbors {
            let body = Body::LinkState { instance, state: state.clone() };
            self.send_for(&state.id, &router_address(&id), Some(link), body);
        }
    }

    /// A router asks for this router's link state.
    pub(super) fn link_state_requested(&mut self, id: &str) {
        if let Some(node) = self.find_or_add(id).and_then(|index| self.nodes.get_mut(index)) {
            node.owed.link_state = true;
        }
    }

    /// Answers what a router that can be reached has asked. Who asks may know the way before this router does.
    pub(super) fn answer_owed(&mut self, index: NodeIndex) {
        if self.nodes.get(index).is_none_or(|node| node.owed == Owed::default()) {
            return;
        }
        let Some(node) = self.nodes.get_mut(index) else { return };
        let (id, owed) = (node.id.clone(), std::mem::take(&mut node.owed));
        if owed.link_state {
            self.answer_link_state_request(&id);
        }
        if owed.addresses {
            self.answer_address_request(&id);
        }
    }

    fn answer_link_state_request(&mut self, id: &str) {
        let (instance, state) = (self.config.instance, self.own.clone());
        self.send(&router_address(id), None, Body::LinkState { instance, state });
    }

    /// Forgets the link states of routers that have been silent for too long.
    pub(super) fn age_link_states(&mut self) {
        let (now, age) = (self.now, self.config.remote_ls_max_age);
        let mut old = self.nodes.due(now);
        old.retain(|index| {
            let old = |node: &Node| node.link_state.is_some() && node.ages() && node.heard + age <= now;
            self.nodes.get(*index).is_some_and(old)
        });
        for index in &old {
            if let Some(node) = self.nodes.get_mut(*index) {
                node.link_state = None;
                node.link_state_fetch.start();
            }
        }
        if !old.is_empty() {
            self.topology_changed();
            self.compute_soon();
        }
    }

    /// Asks a router in reach for whatever is lacking.
    pub(super) fn fetch(&mut self, index: NodeIndex) {
        let now = self.now;
        let due = |fetch: &Fetch| fetch.due().is_some_and(|due| due <= now);
        let Some(node) = self.nodes.get(index) else { return };
        let (link_state, addresses) = (due(&node.link_state_fetch), due(&node.address_fetch));
        if !link_state && !addresses {
            return;
        }
        let Some(node) = self.nodes.get_mut(index) else { return };
        let id = node.id.clone();
        if link_state {
            node.link_state_fetch.ask(now);
        }
        if addresses {
            node.address_fetch.ask(now);
        }
        let tries = node.address_fetch.tries;
        if link_state {
            self.send(&router_address(&id), None, Body::LinkStateRequest);
        }
        // The neighbour on the way is asked first, if it has or will have them; the router itself if that does not help.
        if addresses && !(tries < NEIGHBOR_TRIES && self.ask_neighbor(index)) {
            self.request_addresses(&id);
        }
    }
}
