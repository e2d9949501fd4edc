//! What an interior router does for the edge routers below it: it notices when one has gone silent, and tells each which
//! of the addresses that it sends to have consumers.

use super::wire::Tracking;
use crate::{Level, LinkRef, Module};
use std::collections::{BTreeMap, VecDeque};
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

/// The interior router's side of the edge protocol.
#[derive(Clone, Debug, Default)]
pub struct Interior {
    edges: BTreeMap<LinkRef, Edge>,
    /// Of the addresses that edge routers send to.
    destinations: BTreeMap<String, Destinations>,
    outputs: VecDeque<InteriorOutput>,
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
        let edge = self.edges.entry(on).or_default();
        edge.heartbeat = present.then(|| (container.to_owned(), now));
        self.sweep(on);
    }

    /// A heartbeat has arrived. What it says does not matter.
    pub fn heartbeat(&mut self, now: Duration, on: LinkRef) {
        if let Some((_, heard)) = self.edges.get_mut(&on).and_then(|edge| edge.heartbeat.as_mut()) {
            *heard = now;
        }
    }

    /// An edge router has attached the link on which it hears of addresses (`present`), or detached it.
    pub fn tracking_link(&mut self, on: LinkRef, present: bool) {
        let edge = self.edges.entry(on).or_default();
        edge.tracks = present;
        edge.producers.values_mut().for_each(|(_, told)| *told = false);
        self.tell(on, None);
        self.sweep(on);
    }

    /// An edge router has attached a sender to an address, which has these consumers; until it is detached, each change
    /// has to be said with [`Interior::destinations`].
    pub fn producer_attached(&mut self, on: LinkRef, key: &str, destinations: Destinations) {
        self.destinations.insert(key.to_owned(), destinations);
        self.edges.entry(on).or_default().producers.entry(key.to_owned()).or_default().0 += 1;
        self.tell(on, Some(key));
    }

    /// An edge router has detached a sender.
    pub fn producer_detached(&mut self, on: LinkRef, key: &str) {
        let Some(edge) = self.edges.get_mut(&on) else { return };
        if let Some((links, _)) = edge.producers.get_mut(key) {
            *links = links.saturating_sub(1);
            if *links == 0 {
                edge.producers.remove(key);
                self.forget(key);
            }
        }
        self.sweep(on);
    }

    /// Whether changes of an address have to be said.
    pub fn is_tracked(&self, key: &str) -> bool {
        self.destinations.contains_key(key)
    }

    /// An address has other consumers than before. Nothing happens if no edge router sends to it.
    pub fn destinations(&mut self, key: &str, destinations: Destinations) {
        let Some(known) = self.destinations.get_mut(key) else { return };
        *known = destinations;
        let edges: Vec<LinkRef> = self.edges.keys().copied().collect();
        for on in edges {
            self.tell(on, Some(key));
        }
    }

    /// A connection is gone.
    pub fn connection_lost(&mut self, on: LinkRef) {
        let Some(edge) = self.edges.remove(&on) else { return };
        edge.producers.keys().for_each(|key| self.forget(key));
    }

    /// When [`Interior::handle_timeout`] is to be called.
    pub fn next_timeout(&self) -> Option<Duration> {
        let heard = self.edges.values().filter_map(|edge| edge.heartbeat.as_ref());
        // The old router looks once a second, and so a silence may be up to a second longer.
        heard.map(|(_, heard)| *heard + Self::SILENCE + Self::SCAN).min()
    }

    /// Gives up edge routers that have gone silent. Calling it early does no harm.
    pub fn handle_timeout(&mut self, now: Duration) {
        let silent = |edge: &Edge| match &edge.heartbeat {
            Some((container, heard)) if *heard + Self::SILENCE + Self::SCAN <= now => Some(container.clone()),
            _ => None,
        };
        let silent: Vec<(LinkRef, String)> =
            self.edges.iter().filter_map(|(on, edge)| Some((*on, silent(edge)?))).collect();
        for (on, container) in silent {
            if let Some(edge) = self.edges.get_mut(&on) {
                edge.heartbeat = None;
            }
            let text = format!("Lost heartbeat from container {container}, closing connection");
            self.outputs.push_back(InteriorOutput::Log { module: Module::RouterCore, level: Level::Info, text });
            self.outputs.push_back(InteriorOutput::Drop { on });
        }
    }

    /// What is to be done next.
    pub fn poll_output(&mut self) -> Option<InteriorOutput> {
        self.outputs.pop_front()
    }

    /// Tells an edge router what it does not know yet: of one address, or of all.
    fn tell(&mut self, on: LinkRef, key: Option<&str>) {
        let Some(edge) = self.edges.get_mut(&on).filter(|edge| edge.tracks) else { return };
        for (known, (_, told)) in &mut edge.producers {
            if key.is_some_and(|key| key != known) {
                continue;
            }
            let has_destinations = self.destinations.get(known).copied().unwrap_or_default().beside(on);
            if std::mem::replace(told, has_destinations) != has_destinations {
                let content = Tracking { key: known.clone(), has_destinations }.encode();
                self.outputs.push_back(InteriorOutput::Track { on, content });
            }
        }
    }

    /// Forgets an address that no edge router sends to.
    fn forget(&mut self, key: &str) {
        if !self.edges.values().any(|edge| edge.producers.contains_key(key)) {
            self.destinations.remove(key);
        }
    }

    fn sweep(&mut self, on: LinkRef) {
        let idle = |edge: &Edge| edge.heartbeat.is_none() && !edge.tracks && edge.producers.is_empty();
        if self.edges.get(&on).is_some_and(idle) {
            self.edges.remove(&on);
        }
    }
}
