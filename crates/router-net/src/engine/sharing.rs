//! Neighbours of this kind share what they know of all routers of this kind: each is told what it lacks, and nothing twice.
//!
//! The old protocol has each router ask each other one for its link state and its addresses, over all hops between them, and
//! flood its numbers from time to time. Where both ends of a connection share, news of a router pass from neighbour to
//! neighbour instead, several in one message; addresses are asked for from the neighbour that is next on the way to their
//! router, which has them already or will soon; and while nothing happens, two neighbours compare one number for all that they
//! know. What routers of the old kind are to hear is flooded as before, as long as there are any.

use super::PathEngine;
use crate::local_addresses::Announcement;
use crate::neighbor::Link;
use crate::node::{Fetch, Node};
use crate::sharing::Sharing;
use crate::wire::{Addresses, Body, News, SYNC_ADDRESS, Seqs, Sync};
use crate::{Hint, LinkRef, LinkState, NodeIndex};
use std::collections::BTreeMap;
use std::time::Duration;

/// A message is sent when it is about so long, in bytes, and what is left goes into another.
const FULL: usize = 32 * 1024;
/// Neighbours that disagree tell each other all no more often than this.
const LISTS: Duration = Duration::from_secs(2);

impl Node {
    /// How far a router of this kind is known; `None`: it is of the old kind, or has not said what others may be told.
    pub(crate) fn seqs(&self) -> Option<Seqs> {
        let (Some(instance), Some(state), true) = (self.instance, &self.link_state, self.shares) else { return None };
        let mobile_seq = self.address_fetch.advertised.map_or(self.mobile_seq, |seq| seq.max(self.mobile_seq));
        Some(Seqs { instance, ls_seq: state.ls_seq, mobile_seq })
    }
}

impl PathEngine {
    /// The neighbour at the other end of a connection offers to share what it knows, and so does this router. To be called before
    /// [`PathEngine::neighbor_up`].
    pub fn neighbor_shares(&mut self, link: LinkRef) {
        self.links.will_share(link);
    }

    /// Whether there may be routers of the old kind, or this router is in doubt: then everybody is told everything by the old
    /// protocol.
    pub(super) fn floods(&self) -> bool {
        self.nodes.old() > 0 || self.namesake.is_some() || !self.links.iter().any(|(_, link)| link.sharing.is_some())
    }

    /// The neighbour hears this router.
    pub(super) fn begin_sharing(&mut self, at: LinkRef) {
        let now = self.now;
        if let Some(sharing) = self.links.get_mut(at).and_then(|link| link.sharing.as_deref_mut()) {
            sharing.list = true;
            sharing.news.insert(NodeIndex::SELF);
            sharing.soon(now);
        }
    }

    /// There may be news of a router: neighbours that lack them, or wait for them, are told.
    pub(super) fn share(&mut self, index: NodeIndex) {
        let Some(current) = self.seqs(index) else { return };
        let now = self.now;
        for sharing in self.links.sharing_mut() {
            if sharing.told.get(&index) != Some(&current) || sharing.wanted.contains_key(&index) {
                sharing.news.insert(index);
                sharing.soon(now);
            }
        }
    }

    /// Neighbours are asked to compare what they know with what is known here.
    pub(super) fn compare(&mut self) {
        let now = self.now;
        for sharing in self.links.sharing_mut() {
            sharing.digest = true;
            sharing.soon(now);
        }
    }

    /// Asks the neighbour that is next on the way for the addresses of a router. False: it cannot be asked.
    pub(super) fn ask_neighbor(&mut self, index: NodeIndex) -> bool {
        let now = self.now;
        let Some(node) = self.nodes.get(index).filter(|node| node.shares) else { return false };
        let Some(route) = &node.route else { return false };
        let Some(sharing) = self.links.get_mut(route.link).and_then(|link| link.sharing.as_deref_mut()) else {
            return false;
        };
        sharing.ask.insert(index);
        sharing.soon(now);
        true
    }

    /// Sends what is due.
    pub(super) fn share_due(&mut self) {
        let due =
            |link: &Link| link.sharing.as_ref().and_then(|sharing| sharing.due).is_some_and(|due| due <= self.now);
        let due: Vec<LinkRef> = self.links.iter().filter(|(_, link)| due(link)).map(|(at, _)| at).collect();
        for at in due {
            let Some(link) = self.links.get_mut(at) else { continue };
            let Some(mut sharing) = link.sharing.take() else { continue };
            sharing.sent(self.now);
            // Who is not heard is told everything when it is heard again.
            if link.peer.is_some() {
                self.tell(at, &mut sharing);
            }
            if let Some(link) = self.links.get_mut(at) {
                link.sharing = Some(sharing);
            }
        }
    }

    fn tell(&mut self, at: LinkRef, sharing: &mut Sharing) {
        let mut sync = Sync::default();
        if std::mem::take(&mut sharing.digest) {
            sync.digest = Some(self.digest());
        }
        if std::mem::take(&mut sharing.list) {
            sharing.listed = Some(self.now);
            sync.have = Some(self.known().map(|(_, id, seqs)| (id.to_owned(), seqs)).collect());
        }
        let seq = |index: NodeIndex| {
            let node = self.nodes.get(index)?;
            Some((node.id.clone(), node.address_fetch.advertised.unwrap_or(node.mobile_seq)))
        };
        sync.ask = std::mem::take(&mut sharing.ask).into_iter().filter_map(seq).collect();
        let mut size = 0;
        for index in std::mem::take(&mut sharing.news) {
            let Some(news) = self.news(index, sharing) else { continue };
            size += news.size();
            sync.news.push(news);
            if size >= FULL {
                size = 0;
                self.send(SYNC_ADDRESS, Some(at), Body::Sync(std::mem::take(&mut sync)));
            }
        }
        if !sync.is_empty() {
            self.send(SYNC_ADDRESS, Some(at), Body::Sync(sync));
        }
    }

    /// What a neighbour lacks of a router. It is taken to have it then.
    fn news(&self, index: NodeIndex, sharing: &mut Sharing) -> Option<News> {
        let seqs = self.seqs(index)?;
        let told = sharing.told.get(&index).copied().filter(|told| told.instance == seqs.instance);
        let answer = sharing.wanted.get(&index).is_some_and(|seq| self.has_addresses(index, *seq));
        if told == Some(seqs) && !answer {
            return None;
        }
        let state = self.state_of(index)?;
        let addresses = match (answer, told) {
            (true, _) => Addresses::All(self.addresses_of(index)),
            (false, Some(told)) => self.changed_addresses(index, told.mobile_seq, seqs.mobile_seq),
            (false, None) => Addresses::Untold,
        };
        if answer {
            sharing.wanted.remove(&index);
        }
        sharing.told.insert(index, seqs);
        let peers = told.is_none_or(|told| told.ls_seq != seqs.ls_seq).then(|| state.peers.clone());
        Some(News { id: state.id.clone(), seqs, peers, addresses })
    }

    fn seqs(&self, index: NodeIndex) -> Option<Seqs> {
        let own = Seqs { instance: self.config.instance, ls_seq: self.own.ls_seq, mobile_seq: self.addresses.seq };
        if index == NodeIndex::SELF { Some(own) } else { self.nodes.get(index)?.seqs() }
    }

    fn state_of(&self, index: NodeIndex) -> Option<&LinkState> {
        if index == NodeIndex::SELF { Some(&self.own) } else { self.nodes.get(index)?.link_state.as_ref() }
    }

    fn has_addresses(&self, index: NodeIndex, seq: i64) -> bool {
        let has = |node: &Node| node.shares && !node.address_fetch.needed && node.mobile_seq >= seq;
        index == NodeIndex::SELF || self.nodes.get(index).is_some_and(has)
    }

    fn addresses_of(&self, index: NodeIndex) -> Vec<(String, Option<Hint>)> {
        match self.nodes.get(index) {
            Some(node) => node.addresses.iter().map(|(key, hint)| (key.clone(), *hint)).collect(),
            None => self.addresses.announced(),
        }
    }

    /// What leads from one sequence number to another, if it is the latest change, and a small one.
    fn changed_addresses(&self, index: NodeIndex, from: i64, to: i64) -> Addresses {
        let latest = match self.nodes.get(index) {
            Some(node) => node.latest.as_ref(),
            None => self.addresses.latest.as_ref(),
        };
        match latest.filter(|(seq, _)| *seq == to && from.checked_add(1) == Some(to)) {
            Some((_, Announcement { add, del })) => Addresses::Changed { add: add.clone(), del: del.clone() },
            None => Addresses::Untold,
        }
    }

    /// All routers that others may be told of, this one first.
    fn known(&self) -> impl Iterator<Item = (NodeIndex, &str, Seqs)> {
        let all = std::iter::once(NodeIndex::SELF).chain(self.nodes.iter().map(|(index, _)| index));
        all.filter_map(|index| Some((index, self.state_of(index)?.id.as_str(), self.seqs(index)?)))
    }

    /// A number for all that is known of routers in reach, in whatever order it is looked at.
    fn digest(&self) -> i64 {
        let reached = |index: NodeIndex| self.nodes.get(index).is_none_or(|node| node.route.is_some());
        let known = self.known().filter(|(index, ..)| reached(*index));
        known.fold(0, |sum: i64, (_, id, seqs)| {
            let numbers = [seqs.instance, seqs.ls_seq, seqs.mobile_seq].map(i64::to_le_bytes);
            // FNV-1a: neighbours trust each other.
            let bytes = id.bytes().chain([0]).chain(numbers.into_iter().flatten());
            let hash = bytes
                .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            sum.wrapping_add(hash.cast_signed())
        })
    }

    /// A neighbour shares what it knows.
    pub(super) fn shared(&mut self, at: LinkRef, sync: Sync) {
        if self.links.get(at).is_none_or(|link| link.sharing.is_none()) {
            return;
        }
        for news in sync.news {
            self.hear(at, news);
        }
        if let Some(have) = sync.have {
            self.compare_list(at, have);
        }
        if sync.digest.is_some_and(|digest| digest != self.digest()) {
            self.list(at);
        }
        for (id, seq) in sync.ask {
            let index = if id == self.config.id { Some(NodeIndex::SELF) } else { self.nodes.find(&id) };
            if let Some(index) = index {
                self.with_sharing(at, |sharing| {
                    sharing.wanted.insert(index, seq);
                    sharing.news.insert(index);
                });
            }
        }
    }

    /// Does something to what is kept of a neighbour, which is told soon what comes of it.
    fn with_sharing(&mut self, at: LinkRef, change: impl FnOnce(&mut Sharing)) {
        let now = self.now;
        if let Some(sharing) = self.links.get_mut(at).and_then(|link| link.sharing.as_deref_mut()) {
            change(sharing);
            sharing.soon(now);
        }
    }

    /// A neighbour is told all that is known here by name and number; not often, for what it lacks may be under way.
    fn list(&mut self, at: LinkRef) {
        let now = self.now;
        self.with_sharing(at, |sharing| {
            sharing.list |= sharing.listed.is_none_or(|listed| listed + LISTS <= now);
        });
    }

    /// A neighbour has told what it has.
    fn compare_list(&mut self, at: LinkRef, have: Vec<(String, Seqs)>) {
        let have: BTreeMap<String, Seqs> = have.into_iter().collect();
        let known: Vec<(NodeIndex, Option<Seqs>, Seqs)> =
            self.known().map(|(index, id, mine)| (index, have.get(id).copied(), mine)).collect();
        let strange = have.len() > known.iter().filter(|(_, theirs, _)| theirs.is_some()).count();
        let ahead = |theirs: &Seqs, mine: &Seqs| {
            theirs.instance == mine.instance && (theirs.ls_seq > mine.ls_seq || theirs.mobile_seq > mine.mobile_seq)
        };
        let behind = strange || known.iter().any(|(_, theirs, mine)| theirs.is_some_and(|theirs| ahead(&theirs, mine)));
        self.with_sharing(at, |sharing| {
            for (index, theirs, mine) in known {
                match theirs {
                    Some(theirs) => sharing.told.insert(index, theirs),
                    None => sharing.told.remove(&index),
                };
                if theirs.is_none_or(|theirs| theirs != mine && !ahead(&theirs, &mine)) {
                    sharing.news.insert(index);
                }
            }
        });
        if behind {
            self.list(at);
        }
    }

    /// A neighbour has news of a router.
    fn hear(&mut self, at: LinkRef, news: News) {
        let News { id, seqs, peers, addresses } = news;
        if id == self.config.id {
            return self.hear_of_self(seqs);
        }
        let Some(index) = self.find_or_add(&id) else { return };
        self.with_sharing(at, |sharing| _ = sharing.told.insert(index, seqs));
        if !self.instance_heard(&id, seqs.instance, true) {
            return;
        }
        let Some(node) = self.nodes.get_mut(index) else { return };
        node.shares = true;
        let known = node.seqs();
        if known.is_none_or(|known| known.mobile_seq < seqs.mobile_seq) {
            // What was asked for before is not this.
            node.address_fetch = Fetch { needed: node.address_fetch.needed, ..Fetch::default() };
        }
        // What was overtaken on its way is answered by what is known here.
        if known.is_none_or(|known| known.ls_seq <= seqs.ls_seq && known.mobile_seq <= seqs.mobile_seq) {
            if let Some(peers) = peers {
                node.link_state_fetch.advertised = Some(seqs.ls_seq);
                self.link_state(seqs.instance, LinkState { id: id.clone(), ls_seq: seqs.ls_seq, peers });
            }
            match addresses {
                Addresses::All(all) => self.all_addresses(&id, seqs.mobile_seq, all),
                Addresses::Changed { add, del } => self.address_change(&id, seqs.mobile_seq, add, &del),
                Addresses::Untold => {}
            }
            self.advertised(&id, seqs.instance, seqs.ls_seq, seqs.mobile_seq);
        }
        self.share(index);
    }

    /// What others know of this router. It may be of an earlier start that looks like this one, or of a namesake.
    fn hear_of_self(&mut self, seqs: Seqs) {
        if seqs.instance != self.config.instance {
            return self.namesake_advertised(seqs.instance);
        }
        if seqs.ls_seq > self.own.ls_seq || seqs.mobile_seq > self.addresses.seq {
            self.own.ls_seq = self.own.ls_seq.max(seqs.ls_seq).saturating_add(1);
            self.addresses.seq = self.addresses.seq.max(seqs.mobile_seq).saturating_add(1);
            self.advertise_at = self.now;
        }
    }
}
