//! Connections to neighbours, and what greetings were heard on them.

use crate::LinkRef;
use crate::sharing::Sharing;
use std::collections::BTreeMap;
use std::time::Duration;

/// A connection with control links in both directions.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// A small number for log lines and management: the old router's "link_tag".
    pub(crate) number: u16,
    pub(crate) cost: u32,
    /// When it was first greeted on.
    pub(crate) since: Duration,
    /// When the next greeting goes out.
    pub(crate) hello_due: Duration,
    /// Who greets from the other end; `None`: nobody, or too long ago.
    pub(crate) peer: Option<Peer>,
    /// The greeting that was refused: since when, and which instance it was.
    pub(crate) refused: Option<Refused>,
    /// What is shared, if both ends offer it.
    pub(crate) sharing: Option<Box<Sharing>>,
}

/// The router at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) id: String,
    pub(crate) instance: i64,
    pub(crate) heard: Duration,
    /// It hears this router too.
    pub(crate) hears_us: bool,
}

/// A router that may not join because its id is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) instance: i64,
    pub(crate) since: Duration,
    /// The log has been told.
    pub(crate) logged: bool,
}

/// The connections to neighbours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    links: BTreeMap<LinkRef, Link>,
    /// A connection that is going to be added and shares.
    will_share: Option<LinkRef>,
    /// When something is to be done about one of them next.
    due: Option<Duration>,
    /// `due` is to be found out anew.
    touched: bool,
}

impl Links {
    pub(crate) fn get_mut(&mut self, link: LinkRef) -> Option<&mut Link> {
        self.touched = true;
        self.links.get_mut(&link)
    }

    pub(crate) fn get(&self, link: LinkRef) -> Option<&Link> {
        self.links.get(&link)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (LinkRef, &Link)> {
        self.links.iter().map(|(link, state)| (*link, state))
    }

    /// Finds out when a neighbour that is silent for `max_age` is to be given up, or one is to be greeted.
    pub(crate) fn file(&mut self, max_age: Duration) {
        if std::mem::take(&mut self.touched) {
            let due = |link: &Link| {
                let expiry = link.peer.as_ref().map(|peer| peer.heard + max_age);
                let sharing = link.sharing.as_ref().and_then(|sharing| sharing.due);
                expiry.into_iter().chain(sharing).fold(link.hello_due, Duration::min)
            };
            self.due = self.links.values().map(due).min();
        }
    }

    /// When something is to be done about a connection next.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.due
    }

    /// Notes that the next connection to be added, if it is this one, shares.
    pub(crate) fn will_share(&mut self, link: LinkRef) {
        self.will_share = Some(link);
    }

    /// What is kept of each neighbour that shares.
    pub(crate) fn sharing_mut(&mut self) -> impl Iterator<Item = &mut Sharing> {
        self.touched = true;
        self.links.values_mut().filter_map(|link| link.sharing.as_deref_mut())
    }

    /// Adds a connection; if it is there already, only its cost is taken.
    pub(crate) fn add(&mut self, link: LinkRef, cost: u32, now: Duration) {
        let taken = |number: &u16| self.links.values().any(|link| link.number == *number);
        let number = (0..u16::MAX).find(|number| !taken(number)).unwrap_or(u16::MAX);
        let sharing = self.will_share.take().filter(|sharing| *sharing == link).map(|_| Box::default());
        let new = Link { number, cost, since: now, hello_due: now, peer: None, refused: None, sharing };
        self.touched = true;
        self.links.entry(link).or_insert(new).cost = cost;
    }

    pub(crate) fn remove(&mut self, link: LinkRef) -> Option<Link> {
        self.touched = true;
        self.links.remove(&link)
    }

    /// The best connection to a neighbour: the cheapest, then the oldest.
    pub(crate) fn to(&self, id: &str) -> Option<(LinkRef, &Link)> {
        let usable =
            self.iter().filter(|(_, link)| link.peer.as_ref().is_some_and(|peer| peer.hears_us && peer.id == id));
        usable.min_by_key(|(at, link)| (link.cost, *at))
    }

    /// All neighbours, with what the best connection to each costs.
    pub(crate) fn peers(&self) -> BTreeMap<String, u32> {
        let mut peers = BTreeMap::new();
        for link in self.links.values() {
            if let Some(peer) = link.peer.as_ref().filter(|peer| peer.hears_us) {
                let cost = peers.entry(peer.id.clone()).or_insert(link.cost);
                *cost = link.cost.min(*cost);
            }
        }
        peers
    }

    /// Whether greetings of a router are heard, on whatever connection.
    pub(crate) fn hear(&self, id: &str) -> bool {
        self.links.values().any(|link| link.peer.as_ref().is_some_and(|peer| peer.id == id))
    }
}
