//! The neighbours through which the consumers of an address on other routers are reached.
//!
//! Found out when first needed, and again after routes or consumers have changed.

use smallvec::SmallVec;

use crate::core::Core;
use crate::forward::{Destination, Passage};
use crate::{Host, RouterIndex};

/// A neighbour, and whom it leads to.
pub(crate) struct Hop {
    /// The connection.
    pub(crate) conn: u32,
    /// Deliveries for this address that it has not settled. Only counted for balanced addresses.
    pub(crate) outstanding: u32,
    /// Routers with consumers, the cheapest first, with their costs.
    routers: SmallVec<[(u32, RouterIndex); 2]>,
}

/// All neighbours that lead to consumers of an address.
#[derive(Default)]
pub(crate) struct Hops {
    /// The routes that this goes by; 0: it is to be made anew.
    version: u64,
    all: Vec<Hop>,
    /// For each of the cheapest routers, the place of the hop that leads to it.
    nearest: SmallVec<[u32; 4]>,
    /// Whose turn it is among these.
    turn: usize,
}

/// A hop as a candidate of balanced distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Its data link has room.
    pub(crate) eligible: bool,
    /// Deliveries outstanding, and cost.
    pub(crate) value: u32,
    /// Place among the hops.
    pub(crate) at: u32,
}

impl Hops {
    /// Routes or consumers have changed.
    pub(crate) fn outdate(&mut self) {
        self.version = 0;
    }

    /// The hop at this place.
    pub(crate) fn at(&mut self, at: u32) -> &mut Hop {
        &mut self.all[at as usize]
    }

    /// The hop over this connection.
    pub(crate) fn of_connection(&mut self, conn: u32) -> Option<&mut Hop> {
        self.all.iter_mut().find(|hop| hop.conn == conn)
    }

    /// All hops.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Hop> {
        self.all.iter()
    }

    fn clear(&mut self) {
        self.all.iter_mut().for_each(|hop| hop.routers.clear());
        self.nearest.clear();
    }

    fn add(&mut self, conn: u32, cost: u32, router: RouterIndex) {
        let at = self.all.iter().position(|hop| hop.conn == conn).unwrap_or_else(|| {
            self.all.push(Hop { conn, outstanding: 0, routers: SmallVec::new() });
            self.all.len() - 1
        });
        self.all[at].routers.push((cost, router));
    }

    fn arrange(&mut self) {
        self.all.retain(|hop| !hop.routers.is_empty() || hop.outstanding > 0);
        self.all.iter_mut().for_each(|hop| hop.routers.sort_unstable());
        let Some(least) = self.all.iter().filter_map(|hop| hop.routers.first()).map(|(cost, _)| *cost).min() else {
            return;
        };
        let mut nearest: SmallVec<[(RouterIndex, u32); 4]> = SmallVec::new();
        for (at, hop) in self.all.iter().enumerate() {
            let near = hop.routers.iter().take_while(|(cost, _)| *cost == least);
            nearest.extend(near.map(|(_, router)| (*router, at as u32)));
        }
        nearest.sort_unstable();
        self.nearest.extend(nearest.into_iter().map(|(_, at)| at));
    }

    /// A delivery that this connection had is settled, or it will never be.
    pub(crate) fn settled(&mut self, conn: u32) {
        if let Some(hop) = self.all.iter_mut().find(|hop| hop.conn == conn) {
            hop.outstanding = hop.outstanding.saturating_sub(1);
        }
    }
}

impl<H: Host> Core<H> {
    /// Makes sure that the hops of an address are those of now.
    pub(crate) fn find_hops(&mut self, addr: u32) {
        let version = self.routers.version();
        if self.addresses[addr].hops.as_ref().is_some_and(|hops| hops.version == version) {
            return;
        }
        let mut hops = self.addresses[addr].hops.take().unwrap_or_default();
        hops.clear();
        let address = &self.addresses[addr];
        for router in address.remotes.iter() {
            let Some(route) = self.routers.route(router) else { continue };
            let Some(conn) = self.connection_index(route.next_hop) else { continue };
            let there = self.neighbor(conn).is_some_and(|neighbor| match address.is_control() {
                true => neighbor.up,
                false => neighbor.takes_deliveries(),
            });
            if there {
                hops.add(conn, route.cost, router);
            }
        }
        hops.arrange();
        hops.version = version;
        self.addresses[addr].hops = Some(hops);
    }

    /// Whether messages that came to the network at `origin` pass here on their way to a router.
    fn passes_here(&self, router: RouterIndex, origin: RouterIndex) -> bool {
        self.routers.route(router).is_some_and(|route| route.valid_origins.contains(origin))
    }

    /// The hop to the nearest router whose turn it is.
    #[inline(never)]
    pub(crate) fn nearest_hop(&mut self, addr: u32) -> Destination {
        self.find_hops(addr);
        let Some(hops) = &mut self.addresses[addr].hops else { return Destination::Nobody };
        if hops.turn >= hops.nearest.len() {
            hops.turn = 0;
        }
        let turn = hops.turn;
        hops.turn += 1;
        hops.nearest.get(turn).map_or(Destination::Nobody, |at| Destination::Hop(*at))
    }

    /// The best hop for balanced distribution: one with room before one without, then the one with the least value.
    pub(crate) fn least_loaded_hop(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> Option<Candidate> {
        self.find_hops(addr);
        let priority = self.priority(addr, passage);
        let mut best: Option<Candidate> = None;
        for (at, hop) in self.addresses[addr].hops.as_ref()?.iter().enumerate() {
            let mut leading = hop.routers.iter().filter(|(_, router)| match passage.ingress.router() {
                Some(origin) => self.passes_here(*router, origin),
                None => true,
            });
            let Some((cost, _)) = leading.next() else { continue };
            let Some(link) = self.neighbor(hop.conn).and_then(|neighbor| neighbor.data_link(priority)) else {
                continue;
            };
            let link = &self.links[link];
            let eligible = link.capacity > link.undelivered;
            let candidate = Candidate { eligible, value: hop.outstanding.saturating_add(*cost), at: at as u32 };
            if best.is_none_or(|best| candidate.is_better_than(best.eligible, best.value)) {
                best = Some(candidate);
            }
        }
        best
    }

    /// The hop for a message that should not have come this way: routes have just changed, and not all routers have heard.
    /// It goes on to the nearest router with consumers, but to no neighbour where it has been.
    #[cold]
    pub(crate) fn detour(&self, addr: u32, passage: &Passage<'_, H::Content>) -> Destination {
        let from = self.links.get(passage.link).filter(|_| !passage.anew).map(|link| link.conn);
        let Some(hops) = &self.addresses[addr].hops else { return Destination::Nobody };
        let mut nearest: Option<(u32, u32)> = None;
        for (at, hop) in hops.iter().enumerate() {
            let Some((cost, _)) = hop.routers.first() else { continue };
            if Some(hop.conn) != from
                && !self.has_passed(hop.conn, passage)
                && nearest.is_none_or(|(least, _)| *cost < least)
            {
                nearest = Some((*cost, at as u32));
            }
        }
        nearest.map_or(Destination::Nobody, |(_, at)| Destination::Hop(at))
    }

    /// The connections that get a copy of a multicast: those that lead to a router whose messages from there pass here,
    /// but not back to where it came from, nor to a router that it has passed.
    pub(crate) fn multicast_hops(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> SmallVec<[u32; 16]> {
        self.find_hops(addr);
        let Some(origin) = passage.ingress.router() else { return SmallVec::new() };
        let from = self.links.get(passage.link).filter(|_| !passage.anew).map(|link| link.conn);
        let Some(hops) = &self.addresses[addr].hops else { return SmallVec::new() };
        let wanted = hops.iter().filter(|hop| {
            Some(hop.conn) != from
                && hop.routers.iter().any(|(_, router)| self.passes_here(*router, origin))
                && !self.has_passed(hop.conn, passage)
        });
        wanted.map(|hop| hop.conn).collect()
    }

    /// Whether a message has passed the router at the other end of a connection.
    pub(crate) fn has_passed(&self, conn: u32, passage: &Passage<'_, H::Content>) -> bool {
        let id = self.connections[conn].info.container.as_str();
        !passage.anew
            && passage.offer.is_some_and(|offer| offer.trace.iter().any(|router| crate::routers::id_of(router) == id))
    }
}

impl Candidate {
    /// Whether it is to be taken instead of one before it.
    pub(crate) fn is_better_than(&self, eligible: bool, value: u32) -> bool {
        (!self.eligible, self.value) < (!eligible, value)
    }
}
