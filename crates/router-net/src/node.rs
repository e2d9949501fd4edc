//! The table of routers.

use crate::local_addresses::Announcement;
use crate::{Hint, LinkRef, LinkState, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A router of the network, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) id: String,
    /// When it started, if it said.
    pub(crate) instance: Option<i64>,
    /// What it said before its last restart.
    pub(crate) instance_before: Option<i64>,
    /// How often it has said that again: then there are two routers of this id.
    pub(crate) said_before: u8,
    /// When anything was heard from it.
    pub(crate) heard: Duration,
    /// `None`: it has not said yet, or too long ago.
    pub(crate) link_state: Option<LinkState>,
    pub(crate) link_state_fetch: Fetch,
    pub(crate) addresses: BTreeMap<String, Option<Hint>>,
    pub(crate) address_fetch: Fetch,
    /// The sequence number of `addresses`.
    pub(crate) mobile_seq: i64,
    /// The last change of `addresses`, if it was a small one, and its sequence number: for neighbours that lack just that.
    pub(crate) latest: Option<(i64, Announcement)>,
    /// It is of this kind: what it says is shared among neighbours.
    pub(crate) shares: bool,
    /// It is counted as one of the old kind.
    counted_old: bool,
    /// It has asked for this router's link state, for its addresses, but could not be reached yet.
    pub(crate) owed: Owed,
    pub(crate) route: Option<NodeRoute>,
    /// Since when nobody can reach it and nobody speaks of it.
    pub(crate) lost_since: Option<Duration>,
    /// Where it stands in the schedule.
    filed: Option<Duration>,
    /// It may have changed since it was filed.
    touched: bool,
}

/// How a router is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeRoute {
    pub(crate) next_hop: NodeIndex,
    pub(crate) link: LinkRef,
    pub(crate) cost: u32,
    /// The neighbour from which its messages come here.
    pub(crate) comes_by: Option<NodeIndex>,
    pub(crate) valid_origins: Vec<NodeIndex>,
}

/// Answers that wait until there is a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owed {
    pub(crate) link_state: bool,
    pub(crate) addresses: bool,
}

/// Something that has to be asked for, and the answer of which may be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// It is not there, or not what it should be.
    pub(crate) needed: bool,
    /// When it was asked for.
    pub(crate) asked: Option<Duration>,
    /// How often it was asked for in vain.
    pub(crate) tries: u32,
    /// The sequence number that the other side has spoken of.
    pub(crate) advertised: Option<i64>,
}

impl Fetch {
    /// How long the first answer is waited for. Each further one is given twice the time.
    const FIRST_WAIT: Duration = Duration::from_millis(250);
    /// So often is the time doubled: up to 2 seconds.
    const DOUBLED: u32 = 3;

    /// From now on it is needed, and asked for at once.
    pub(crate) fn start(&mut self) {
        *self = Self { needed: true, ..Self::default() };
    }

    /// When to ask.
    pub(crate) fn due(&self) -> Option<Duration> {
        let wait = Self::FIRST_WAIT * (1 << self.tries.min(Self::DOUBLED));
        self.needed.then(|| self.asked.map_or(Duration::ZERO, |asked| asked + wait))
    }

    /// It is needed, and should come by itself: it is asked for only if it has not come after a second.
    pub(crate) fn expect(&mut self, now: Duration) {
        *self = Self { needed: true, asked: Some(now), tries: 2, ..Self::default() };
    }

    /// It is asked for.
    pub(crate) fn ask(&mut self, now: Duration) {
        self.tries = if self.asked.replace(now).is_some() { self.tries.saturating_add(1) } else { 0 };
    }

    /// An answer is here. If it is older than what was spoken of, it is asked for again, but not at once.
    pub(crate) fn answered(&mut self, seq: i64) {
        self.needed = self.advertised.is_some_and(|advertised| advertised > seq);
        if !self.needed {
            self.asked = None;
        }
    }
}

impl Node {
    pub(crate) fn new(id: &str, now: Duration) -> Self {
        Self {
            id: id.to_owned(),
            instance: None,
            instance_before: None,
            said_before: 0,
            heard: now,
            link_state: None,
            link_state_fetch: Fetch { needed: true, ..Fetch::default() },
            addresses: BTreeMap::new(),
            address_fetch: Fetch::default(),
            mobile_seq: 0,
            latest: None,
            shares: false,
            counted_old: false,
            owed: Owed::default(),
            route: None,
            lost_since: None,
            filed: None,
            touched: false,
        }
    }

    /// It has spoken and is of the old kind.
    pub(crate) fn is_old(&self) -> bool {
        self.instance.is_some() && !self.shares
    }
}

/// Other routers by number and by id, and by when something is to be done about them. Number 0 is this router, which is not
/// in the table.
///
/// Whoever changes a router need not think of the schedule: [`NodeTable::file`] looks again at all that were given out.
#[derive(Clone, Debug)]
pub(crate) struct NodeTable {
    slots: Vec<Option<Node>>,
    by_id: BTreeMap<String, NodeIndex>,
    max: usize,
    schedule: BTreeSet<(Duration, NodeIndex)>,
    /// Routers that may have changed since they were filed.
    touched: Vec<NodeIndex>,
    /// How many have spoken and are of the old kind.
    old: usize,
    /// How many routers were looked at, for tests: each message must cost the same, however many there are.
    #[cfg(test)]
    pub(crate) looked_at: std::cell::Cell<usize>,
}

impl NodeTable {
    /// A table for so many routers, this one included.
    pub(crate) fn new(max: u16) -> Self {
        Self {
            slots: vec![None],
            by_id: BTreeMap::new(),
            max: usize::from(max),
            schedule: BTreeSet::new(),
            touched: Vec::new(),
            old: 0,
            #[cfg(test)]
            looked_at: std::cell::Cell::default(),
        }
    }

    pub(crate) fn find(&self, id: &str) -> Option<NodeIndex> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn get(&self, index: NodeIndex) -> Option<&Node> {
        self.slots.get(usize::from(index.0))?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, index: NodeIndex) -> Option<&mut Node> {
        let node = self.slots.get_mut(usize::from(index.0))?.as_mut()?;
        if !std::mem::replace(&mut node.touched, true) {
            self.touched.push(index);
        }
        Some(node)
    }

    /// Files all routers that may have changed under the time that `due` has for them.
    pub(crate) fn file(&mut self, due: impl Fn(&Node) -> Option<Duration>) {
        for index in std::mem::take(&mut self.touched) {
            self.count(1);
            let Some(node) = self.slots.get_mut(usize::from(index.0)).and_then(Option::as_mut) else { continue };
            node.touched = false;
            let old = node.is_old();
            self.old = self.old - usize::from(std::mem::replace(&mut node.counted_old, old)) + usize::from(old);
            let due = due(node);
            let before = std::mem::replace(&mut node.filed, due);
            if before == due {
                continue;
            }
            if let Some(before) = before {
                self.schedule.remove(&(before, index));
            }
            if let Some(due) = due {
                self.schedule.insert((due, index));
            }
        }
    }

    /// When something is to be done about a router next.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.schedule.first().map(|(due, _)| *due)
    }

    /// The routers about which something is to be done by now.
    pub(crate) fn due(&self, now: Duration) -> Vec<NodeIndex> {
        self.schedule.iter().take_while(|(due, _)| *due <= now).map(|(_, index)| *index).collect()
    }

    fn count(&self, _looks: usize) {
        #[cfg(test)]
        self.looked_at.set(self.looked_at.get() + _looks);
    }

    /// Adds a router under the lowest free number. `None`: the table is full.
    pub(crate) fn add(&mut self, id: &str, now: Duration) -> Option<NodeIndex> {
        let free = (1..self.slots.len()).find(|at| self.slots[*at].is_none()).unwrap_or(self.slots.len());
        if free >= self.max {
            return None;
        }
        if free == self.slots.len() {
            self.slots.push(None);
        }
        let index = NodeIndex(u16::try_from(free).ok()?);
        self.slots[free] = Some(Node { touched: true, ..Node::new(id, now) });
        self.touched.push(index);
        self.by_id.insert(id.to_owned(), index);
        Some(index)
    }

    pub(crate) fn remove(&mut self, index: NodeIndex) -> Option<Node> {
        let node = self.slots.get_mut(usize::from(index.0))?.take()?;
        self.by_id.remove(&node.id);
        self.old -= usize::from(node.counted_old);
        if let Some(filed) = node.filed {
            self.schedule.remove(&(filed, index));
        }
        while self.slots.len() > 1 && self.slots.last().is_some_and(Option::is_none) {
            self.slots.pop();
        }
        Some(node)
    }

    /// All, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeIndex, &Node)> {
        self.count(self.slots.len());
        let index = |at: usize| NodeIndex(u16::try_from(at).unwrap_or(u16::MAX));
        self.slots.iter().enumerate().filter_map(move |(at, node)| Some((index(at), node.as_ref()?)))
    }

    /// How many routers of the old kind there are, as of the last time that changes were filed.
    pub(crate) fn old(&self) -> usize {
        self.old
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// The numbers of all, in the order of their ids.
    pub(crate) fn indexes_by_id(&self) -> Vec<NodeIndex> {
        self.count(self.slots.len());
        self.by_id.values().copied().collect()
    }
}
