//! Greetings: who is at the other end of a connection, and do we hear each other?

use super::PathEngine;
use crate::neighbor::{Link, Peer, Refused};
use crate::wire::{Body, HELLO_ADDRESS};
use crate::{Level, LinkRef, Module, Output};
use std::time::Duration;

impl PathEngine {
    /// Within so long a router like this one answers a greeting.
    const PROMPT: Duration = Duration::from_millis(50);

    /// Greets on all connections where it is time to.
    pub(super) fn greet_all(&mut self) {
        let due: Vec<LinkRef> =
            self.links.iter().filter(|(_, link)| link.hello_due <= self.now).map(|(at, _)| at).collect();
        due.into_iter().for_each(|link| self.greet(link));
    }

    /// Greets on one connection, and says whom it hears there. The old router names all whom it hears anywhere; but this
    /// says which connection works in both directions, where there are several to the same neighbour.
    pub(super) fn greet(&mut self, at: LinkRef) {
        let Some(link) = self.links.get_mut(at) else { return };
        link.hello_due = self.now + self.config.hello_interval;
        let seen = link.peer.iter().map(|peer| peer.id.clone()).collect();
        self.send(HELLO_ADDRESS, Some(at), Body::Hello { instance: self.config.instance, seen });
    }

    /// A greeting was heard.
    pub(super) fn hello(&mut self, at: LinkRef, id: &str, instance: i64, seen: &[String]) {
        if self.links.get(at).is_none() || self.is_refused(at, id, instance) {
            return;
        }
        if self.find_or_add(id).is_none() {
            return;
        }
        self.instance_heard(id, instance, false);
        let hears_us = seen.contains(&self.config.id);
        let shares = self.links.get(at).is_some_and(|link| link.sharing.is_some());
        if let Some(node) = self.nodes.find(id).and_then(|index| self.nodes.get_mut(index)) {
            node.shares = shares;
        }
        let new = Peer { id: id.to_owned(), instance, heard: self.now, hears_us };
        let Some(link) = self.links.get_mut(at) else { return };
        link.refused = None;
        let (number, since) = (link.number, link.since);
        let old = link.peer.replace(new);
        let old = old.filter(|old| old.id == id && old.instance == instance);
        if old.is_none() {
            self.look_for_lost = true;
            // The sooner it knows that it is heard, the sooner it is a neighbour.
            self.greet(at);
        }
        let is_new = old.is_none();
        let heard_us = old.is_some_and(|old| old.hears_us);
        if heard_us != hears_us {
            self.trace(Module::Router, Level::Trace, || match hears_us {
                true => format!("Node {id} link set: link_id={number} (removed next hop)"),
                false => format!("Node {id} link removed"),
            });
            if hears_us {
                self.refetch(id, at);
                self.give_time(since);
                self.begin_sharing(at);
            }
        }
        if is_new || heard_us != hears_us {
            self.update_own_link_state();
        }
    }

    /// A neighbour hears this router, which first greeted it at `since`. The old router does not answer a greeting at once,
    /// but greets each second; and so it finds its ways each second. Until it has found the one here, it releases what its
    /// clients send to addresses that it has just been told of.
    fn give_time(&mut self, since: Duration) {
        if since + Self::PROMPT < self.now {
            self.addresses.hold(self.now + self.config.hello_interval * 5 / 4);
        }
    }

    /// Whether a greeting comes from a router whose id belongs to another.
    fn is_refused(&mut self, at: LinkRef, id: &str, instance: i64) -> bool {
        if id == self.config.id {
            match instance == self.config.instance {
                true => self.leads_here(at),
                false => self.refuse(at, id, instance, self.config.instance, None),
            }
            return true;
        }
        let Some((rival, peer)) = self.rival(at, id, instance) else { return false };
        let (their_instance, heard) = (peer.instance, peer.heard);
        // A router that was killed may come back before it is missed. It has then stopped greeting on its old connection.
        if heard + self.config.hello_interval * 3 / 2 < self.now {
            if let Some(link) = self.links.get_mut(rival) {
                link.peer = None;
            }
            self.look_for_lost = true;
            return false;
        }
        let since = self.links.get(at).and_then(|link| link.refused).map_or(self.now, |refused| refused.since);
        if heard > since {
            self.refuse(at, id, instance, their_instance, Some(rival));
        } else if let Some(link) = self.links.get_mut(at) {
            link.refused = Some(Refused { instance, since, logged: false });
        }
        true
    }

    /// A greeting of this router's own came back. Its owner is told once.
    fn leads_here(&mut self, at: LinkRef) {
        let (instance, since) = (self.config.instance, self.now);
        let Some(link) = self.links.get_mut(at).filter(|link| link.refused.is_none()) else { return };
        link.refused = Some(Refused { instance, since, logged: true });
        self.outputs.push_back(Output::LeadsHere { link: at });
    }

    /// Another connection on which a router of the same id but another instance is heard.
    fn rival(&self, at: LinkRef, id: &str, instance: i64) -> Option<(LinkRef, &Peer)> {
        let others = self.links.iter().filter(|(other, _)| *other != at);
        let mut peers = others.filter_map(|(other, link)| Some((other, link.peer.as_ref()?)));
        peers.find(|(_, peer)| peer.id == id && peer.instance != instance)
    }

    /// Tells the log, once for each newcomer.
    fn refuse(&mut self, at: LinkRef, id: &str, instance: i64, stays: i64, rival: Option<LinkRef>) {
        let Some(link) = self.links.get_mut(at) else { return };
        let known = link.refused.filter(|refused| refused.instance == instance);
        let since = known.map_or(self.now, |refused| refused.since);
        link.refused = Some(Refused { instance, since, logged: true });
        if known.is_some_and(|refused| refused.logged) {
            return;
        }
        let number = link.number;
        let stays = match rival.and_then(|rival| self.links.get(rival)) {
            Some(link) => format!("instance={stays} on link_tag={} stays", link.number),
            None => format!("instance={stays} is this router"),
        };
        let text = format!(
            "Detected Neighbor Router with a Duplicate ID - {id} ({stays}, the newcomer instance={instance} on \
             link_tag={number} is refused)"
        );
        self.log(Module::RouterHello, Level::Critical, text);
    }

    /// Gives up neighbours that have been silent for too long.
    pub(super) fn expire_neighbors(&mut self) {
        let age: Duration = self.config.hello_max_age;
        let silent = |link: &Link| link.peer.as_ref().is_some_and(|peer| peer.heard + age <= self.now);
        let expired: Vec<LinkRef> = self.links.iter().filter(|(_, link)| silent(link)).map(|(at, _)| at).collect();
        for at in expired {
            let Some(peer) = self.links.get_mut(at).and_then(|link| link.peer.take()) else { continue };
            self.look_for_lost = true;
            self.trace(Module::RouterHello, Level::Trace, || format!("HELLO peer expired: {}", peer.id));
            self.trace(Module::Router, Level::Trace, || format!("Node {} link removed", peer.id));
            self.update_own_link_state();
        }
    }

    /// A connection is gone.
    pub(super) fn link_lost(&mut self, lost: &Link) {
        if let Some(peer) = lost.peer.as_ref().filter(|peer| peer.hears_us) {
            let text = format!("Link to Neighbor Router Lost - link_tag={}", lost.number);
            self.log(Module::RouterLs, Level::Info, text);
            self.trace(Module::Router, Level::Trace, || format!("Node {} link removed", peer.id));
        }
    }

    /// Somebody far away advertises under this router's id. What this router said before its own restart may still be
    /// on its way, so once is not enough.
    pub(super) fn namesake_advertised(&mut self, instance: i64) {
        if instance == self.config.instance {
            return;
        }
        let times =
            self.namesake.filter(|(known, _)| *known == instance).map_or(1, |(_, times)| times.saturating_add(1));
        self.namesake = Some((instance, times));
        // From now on everybody is told which instance this is, from time to time.
        self.topology_changed();
        if times == 2 {
            let text = format!(
                "Detected Router with a Duplicate ID - {} (instance={} is this router, instance={instance} is \
                 elsewhere in the network)",
                self.config.id, self.config.instance
            );
            self.log(Module::RouterHello, Level::Critical, text);
        }
    }

    /// Two routers of one id are heard, of which at least one is no neighbour of this router.
    pub(super) fn namesakes_elsewhere(&mut self, id: &str, known: i64, other: i64) {
        let text = format!(
            "Detected Router with a Duplicate ID - {id} (instance={known} is taken for it, instance={other} is elsewhere \
             in the network)"
        );
        self.log(Module::RouterHello, Level::Critical, text);
    }
}
