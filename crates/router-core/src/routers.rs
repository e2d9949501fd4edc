//! The routers of the network, by the numbers that the routing protocol has given them.

use std::collections::{BTreeSet, HashMap};

use smallvec::SmallVec;

use crate::address::table::Keyed;
use crate::{Route, RouterIndex};

/// What stands before a router's id in the annotations of messages: the one area there is.
const AREA: &str = "0/";

/// A router other than this one.
pub(crate) struct Router {
    /// Its id.
    pub(crate) id: Box<str>,
    /// How it is reached; `None`: it is not.
    pub(crate) route: Option<Route>,
    /// The address of the router itself.
    pub(crate) node: u32,
    /// Addresses with consumers there.
    pub(crate) addresses: BTreeSet<u32>,
}

/// All routers but this one.
pub(crate) struct Routers {
    entries: Vec<Option<Box<Router>>>,
    by_id: HashMap<Box<str>, RouterIndex, Keyed>,
    count: usize,
    /// Changes with routes, and with the links to neighbours. Never 0.
    version: u64,
    /// Changes with the set of routers. Never 0.
    names_version: u64,
    /// The largest number of hops to another router.
    pub(crate) radius: u32,
}

impl Routers {
    /// No routers. `secret` is for the hash of ids.
    pub(crate) fn new(secret: u128) -> Self {
        Self {
            entries: Vec::new(),
            by_id: HashMap::with_hasher(Keyed::new(secret)),
            count: 0,
            version: 1,
            names_version: 1,
            // Until it is known.
            radius: crate::MASK_BITS as u32,
        }
    }

    /// Number of routers.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// What was chosen by routes is to be chosen anew.
    pub(crate) fn changed(&mut self) {
        self.version += 1;
    }

    /// Which routes there are: the same number, the same routes.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Which routers there are: the same number, the same routers.
    pub(crate) fn names_version(&self) -> u64 {
        self.names_version
    }

    /// Adds a router.
    pub(crate) fn insert(&mut self, index: RouterIndex, router: Router) {
        let at = usize::from(index.0);
        if self.entries.len() <= at {
            self.entries.resize_with(at + 1, || None);
        }
        self.by_id.insert(router.id.clone(), index);
        self.entries[at] = Some(Box::new(router));
        self.count += 1;
        self.names_version += 1;
        self.changed();
    }

    /// Removes a router.
    pub(crate) fn remove(&mut self, index: RouterIndex) -> Option<Box<Router>> {
        let router = self.entries.get_mut(usize::from(index.0))?.take()?;
        if self.by_id.get(&router.id) == Some(&index) {
            self.by_id.remove(&router.id);
        }
        self.count -= 1;
        self.names_version += 1;
        self.changed();
        Some(router)
    }

    /// A router.
    pub(crate) fn get(&self, index: RouterIndex) -> Option<&Router> {
        self.entries.get(usize::from(index.0))?.as_deref()
    }

    /// A router.
    pub(crate) fn get_mut(&mut self, index: RouterIndex) -> Option<&mut Router> {
        self.entries.get_mut(usize::from(index.0))?.as_deref_mut()
    }

    /// How a router is reached.
    pub(crate) fn route(&self, index: RouterIndex) -> Option<&Route> {
        self.get(index)?.route.as_ref()
    }

    /// The numbers of all routers.
    pub(crate) fn indices(&self) -> impl Iterator<Item = RouterIndex> + '_ {
        let there = self.entries.iter().enumerate().filter(|(_, router)| router.is_some());
        there.map(|(at, _)| RouterIndex(at as u16))
    }

    /// The router with this id, as annotations name it: with its area.
    pub(crate) fn find_annotated(&self, annotated: &str) -> Option<RouterIndex> {
        self.by_id.get(id_of(annotated)).copied()
    }
}

/// The id of a router as annotations name it.
pub(crate) fn id_of(annotated: &str) -> &str {
    annotated.strip_prefix(AREA).unwrap_or(annotated)
}

/// The routers that have consumers of an address, in order. Most addresses have few: these take no memory of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remotes(SmallVec<[RouterIndex; 8]>);

impl Remotes {
    /// Adds a router; false if it was there.
    pub(crate) fn insert(&mut self, router: RouterIndex) -> bool {
        let Err(at) = self.0.binary_search(&router) else { return false };
        self.0.insert(at, router);
        true
    }

    /// Removes a router; false if it was not there.
    pub(crate) fn remove(&mut self, router: RouterIndex) -> bool {
        let Ok(at) = self.0.binary_search(&router) else { return false };
        self.0.remove(at);
        if self.0.is_empty() {
            self.0.shrink_to_fit();
        }
        true
    }

    /// Whether nobody is there.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// They in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RouterIndex> + '_ {
        self.0.iter().copied()
    }
}
