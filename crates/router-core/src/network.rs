//! The network of routers, as the core and its surroundings speak of it.
//!
//! The routing protocol (crate `router-net`) finds out who is where and what it costs. The core tells it what happens on
//! this router ([`NetworkEvent`]), and is told in turn which routers there are, how each is reached ([`Route`]), and which
//! addresses have consumers there.

use amqp::terminus::{Source, TargetTerminus};
use smallvec::SmallVec;

use crate::{ConnKey, LinkTerms, Treatment};

/// A router of the network, by the number that the routing protocol has given it here: the old router's "mask bit".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouterIndex(pub u16);

impl RouterIndex {
    /// This router.
    pub const SELF: Self = Self(0);
}

/// A set of routers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterSet(SmallVec<[u64; 2]>);

impl RouterSet {
    /// Adds a router.
    pub fn insert(&mut self, router: RouterIndex) {
        let (word, bit) = place(router);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// Removes a router.
    pub fn remove(&mut self, router: RouterIndex) {
        let (word, bit) = place(router);
        if let Some(bits) = self.0.get_mut(word) {
            *bits &= !bit;
        }
        // Sets with the same members are equal.
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// Whether a router is in the set.
    #[inline]
    pub fn contains(&self, router: RouterIndex) -> bool {
        let (word, bit) = place(router);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Whether nobody is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = RouterIndex> + '_ {
        self.0.iter().enumerate().flat_map(|(word, &bits)| {
            (0..64u16).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| RouterIndex(word as u16 * 64 + bit))
        })
    }
}

impl FromIterator<RouterIndex> for RouterSet {
    fn from_iter<I: IntoIterator<Item = RouterIndex>>(routers: I) -> Self {
        let mut set = Self::default();
        routers.into_iter().for_each(|router| set.insert(router));
        set
    }
}

fn place(router: RouterIndex) -> (usize, u64) {
    (usize::from(router.0 / 64), 1 << (router.0 % 64))
}

/// How another router is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The connection to the neighbour that is next on the way.
    pub next_hop: ConnKey,
    /// Sum of the costs of all connections on the way.
    pub cost: u32,
    /// The neighbour from which that router's messages come here, if that is known: the last one on its own shortest path.
    pub comes_by: Option<RouterIndex>,
    /// The routers whose messages for that router pass here: their own shortest path leads through this router. This
    /// router is among them.
    pub valid_origins: RouterSet,
}

/// What the routing protocol has to know of this router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkEvent<'a> {
    /// Both control links of a connection between routers are attached: control messages may pass.
    NeighborUp {
        /// The connection.
        conn: ConnKey,
        /// What it costs.
        cost: u32,
        /// Both routers share what they know of the network.
        shares: bool,
    },
    /// They are not any more.
    NeighborLost {
        /// The connection.
        conn: ConnKey,
    },
    /// An address that other routers are to know (classes `M`, `C`, `D`, `E`, `F`, `H`) got its first consumer on this
    /// router, or lost its last.
    LocalAddress {
        /// Key.
        key: &'a str,
        /// How it is distributed here: a hint for routers that have no configuration for it.
        treatment: Treatment,
        /// There is a consumer.
        present: bool,
    },
}

/// The kinds of links of the router's own. Those of one kind and connection share a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkClass {
    /// Control links between routers.
    Control,
    /// Data links between routers, by priority (0 to 9).
    Data(u8),
    /// Links for one large message at a time.
    Streaming,
    /// Routed links.
    LinkRoute,
    /// What the router itself or an edge router uses: auto-links, address proxies.
    Endpoint,
    /// The edge protocol's own conversations.
    CoreEndpoint,
}

/// A link that the router itself attaches.
#[derive(Clone, Debug)]
pub struct OpenLink {
    /// Name.
    pub name: String,
    /// The peer is to send.
    pub incoming: bool,
    /// Kind.
    pub class: LinkClass,
    /// Source.
    pub source: Option<Source>,
    /// Target.
    pub target: Option<TargetTerminus>,
    /// The rest of its attach.
    pub terms: LinkTerms,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_routers_that_were_put_in_and_not_taken_out() {
        let mut set: RouterSet = [RouterIndex(3), RouterIndex(127), RouterIndex(500)].into_iter().collect();
        set.remove(RouterIndex(127));
        assert_eq!(set.iter().collect::<Vec<_>>(), [RouterIndex(3), RouterIndex(500)]);
        assert!(set.contains(RouterIndex(3)) && !set.contains(RouterIndex(127)) && !set.contains(RouterIndex(9_999)));
    }

    #[test]
    fn sets_with_the_same_members_are_equal_however_they_came_about() {
        let mut set: RouterSet = [RouterIndex(1), RouterIndex(900)].into_iter().collect();
        set.remove(RouterIndex(900));
        assert_eq!(set, [RouterIndex(1)].into_iter().collect());
        set.remove(RouterIndex(1));
        assert!(set.is_empty());
    }
}
