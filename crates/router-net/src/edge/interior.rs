//! What an interior router does for the edge routers below it: it notices when one has gone silent, and tells each which
//! of the addresses that it sends to have consumers.

use super::wire::Tracking;
use crate::{Level, LinkRef, Module};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// Where an address has consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Destinations {
    /// Nowhere.
    #[default]
    None,
    /// On the edge router at the other end of this connection, and nowhere else.
    Only(LinkRef),
    /// On this router, on another one, or on several edge routers.
    Elsewhere,
}

impl Destinations {
    /// Whether there are consumers other than those of one edge router.
    fn beside(self, edge: LinkRef) -> bool {
        match self {
            Self::None => false,
            Self::Only(other) => other != edge,
            Self::Elsewhere => true,
        }
    }
}

/// What is to be done for edge routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InteriorOutput {
    /// A message is to be sent, settled, on the link on which this edge router hears of addresses.
    Track {
        /// The connection to the edge router.
        on: LinkRef,
        /// The encoded message.
        content: Vec<u8>,
    },
    /// The connection to an edge router that has gone silent is to be dropped.
    Drop {
        /// The connection.
        on: LinkRef,
    },
    /// A line for the log.
    Log {
        /// Where it belongs.
        module: Module,
        /// How grave it is.
        level: Level,
        /// The line.
        text: String,
    },
}

/// The interior router's side of the edge protocol. There may be thousands of edge routers: no call looks at all of them.
#[derive(Clone, Debug, Default)]
pub struct Interior {
    edges: BTreeMap<LinkRef, Edge>,
    /// The addresses that edge routers send to.
    addresses: BTreeMap<String, Address>,
    /// When each edge router was last heard, the one that has been silent for longest first.
    heard: BTreeSet<(Duration, LinkRef)>,
    outputs: VecDeque<InteriorOutput>,
}

#[derive(Clone, Debug, Default)]
struct Address {
    destinations: Destinations,
    /// Who sends to it.
    edges: BTreeSet<LinkRef>,
}

#[derive(Clone, Debug, Default)]
struct Edge {
    /// Who it is, and when it was heard: since it attached a link for heartbeats.
    heartbeat: Option<(String, Duration)>,
    /// It listens to what it is told.
    tracks: bool,
    /// The addresses that it sends to: on how many links, and what it was told.
    producers: BTreeMap<String, (usize, bool)>,
}

impl Interior {
    /// A silence longer than this is the end.
    const SILENCE: Duration = Duration::from_secs(8);
    /// How often that is looked at.
    const SCAN: Duration = Duration::from_secs(1);

    /// No edge routers.
    pub fn new() -> Self {
        Self::default()
    }

    /// An edge router has attached a link for heartbeats (`present`), or detached it.
    pub fn heartbeat_link(&mut self, now: Duration, on: LinkRef, container: &str, present: bool) {
        self.hear(on, present.then_some((now, container)));
        self.sweep(on);
    }

    /// A heartbeat has arrived. What it says does not matter.
    pub fn heartbeat(&mut self, now: Duration, on: LinkRef) {
        if let Some((_, heard)) = self.edges.get_mut(&on).and_then(|edge| edge.heartbeat.as_mut()) {
            self.heard.remove(&(*heard, on));
            *heard = now;
            self.heard.insert((now, on));
        }
    }

    /// Notes when an edge router was heard, and who it is; `None`: it is not listened to any more.
    fn hear(&mut self, on: LinkRef, heard: Option<(Duration, &str)>) {
        let edge = self.edges.entry(on).or_default();
        let heartbeat = heard.map(|(now, container)| (container.to_owned(), now));
        if let Some((_, before)) = std::mem::replace(&mut edge.heartbeat, heartbeat) {
            self.heard.remove(&(before, on));
        }
        self.heard.extend(heard.map(|(now, _)| (now, on)));
    }

    /// An edge router has attached the link on which it hears of addresses (`present`), or detached it.
    pub fn tracking_link(&mut self, on: LinkRef, present: bool) {
        let edge = self.edges.entry(on).or_default();
        edge.tracks = present;
        edge.producers.values_mut().for_each(|(_, told)| *told = false);
        let keys: Vec<String> = edge.producers.keys().cloned().collect();
        keys.iter().for_each(|key| self.tell(on, key));
        self.sweep(on);
    }

    /// An edge router has attached a sender to an address, which has these consumers; until it is detached, each change
    /// has to be said with [`Interior::destinations`].
    pub fn producer_attached(&mut self, on: LinkRef, key: &str, destinations: Destinations) {
        let address = self.addresses.entry(key.to_owned()).or_default();
        address.destinations = destinations;
        address.edges.insert(on);
        self.edges.entry(on).or_default().producers.entry(key.to_owned()).or_default().0 += 1;
        self.tell(on, key);
    }

    /// An edge router has detached a sender.
    pub fn producer_detached(&mut self, on: LinkRef, key: &str) {
        let Some(edge) = self.edges.get_mut(&on) else { return };
        if let Some((links, _)) = edge.producers.get_mut(key) {
            *links = links.saturating_sub(1);
            if *links == 0 {
                edge.producers.remove(key);
                self.forget(key, on);
            }
        }
        self.sweep(on);
    }

    /// Whether changes of an address have to be said.
    pub fn is_tracked(&self, key: &str) -> bool {
        self.addresses.contains_key(key)
    }

    /// An address has other consumers than before. Nothing happens if no edge router sends to it.
    pub fn destinations(&mut self, key: &str, destinations: Destinations) {
        let Some(known) = self.addresses.get_mut(key) else { return };
        known.destinations = destinations;
        let edges: Vec<LinkRef> = known.edges.iter().copied().collect();
        edges.into_iter().for_each(|on| self.tell(on, key));
    }

    /// A connection is gone.
    pub fn connection_lost(&mut self, on: LinkRef) {
        let Some(edge) = self.edges.remove(&on) else { return };
        if let Some((_, heard)) = edge.heartbeat {
            self.heard.remove(&(heard, on));
        }
        edge.producers.keys().for_each(|key| self.forget(key, on));
    }

    /// When [`Interior::handle_timeout`] is to be called.
    pub fn next_timeout(&self) -> Option<Duration> {
        // The old router looks once a second, and so a silence may be up to a second longer.
        self.heard.first().map(|(heard, _)| *heard + Self::SILENCE + Self::SCAN)
    }

    /// Gives up edge routers that have gone silent. Calling it early does no harm.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(&(heard, on)) = self.heard.first()
            && heard + Self::SILENCE + Self::SCAN <= now
        {
            self.heard.pop_first();
            let silent = self.edges.get_mut(&on).and_then(|edge| edge.heartbeat.take());
            let Some((container, _)) = silent else { continue };
            let text = format!("Lost heartbeat from container {container}, closing connection");
            self.outputs.push_back(InteriorOutput::Log { module: Module::RouterCore, level: Level::Info, text });
            self.outputs.push_back(InteriorOutput::Drop { on });
        }
    }

    /// What is to be done next.
    pub fn poll_output(&mut self) -> Option<InteriorOutput> {
        self.outputs.pop_front()
    }

    /// Tells an edge router of an address, if that is news.
    fn tell(&mut self, on: LinkRef, key: &str) {
        let edge = self.edges.get_mut(&on).filter(|edge| edge.tracks);
        let (Some(edge), Some(address)) = (edge, self.addresses.get(key)) else { return };
        let Some((_, told)) = edge.producers.get_mut(key) else { return };
        let has_destinations = address.destinations.beside(on);
        if std::mem::replace(told, has_destinations) != has_destinations {
            let content = Tracking { key: key.to_owned(), has_destinations }.encode();
            self.outputs.push_back(InteriorOutput::Track { on, content });
        }
    }

    /// An edge router sends to an address no more; one that nobody sends to is forgotten.
    fn forget(&mut self, key: &str, on: LinkRef) {
        if let Some(address) = self.addresses.get_mut(key) {
            address.edges.remove(&on);
            if address.edges.is_empty() {
                self.addresses.remove(key);
            }
        }
    }

    fn sweep(&mut self, on: LinkRef) {
        let idle = |edge: &Edge| edge.heartbeat.is_none() && !edge.tracks && edge.producers.is_empty();
        if self.edges.get(&on).is_some_and(idle) {
            self.edges.remove(&on);
        }
    }
}
