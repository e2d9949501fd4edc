//! What comes in from another router: each message says itself where it goes and where it came to the network.
//!
//! Neighbouring messages mostly say the same, so that a link remembers what it found out last.

use crate::address::key::{parse, phase_char, write_key};
use crate::arena::index_of;
use crate::copies;
use crate::core::Core;
use crate::delivery::NO_INGRESS;
use crate::forward::Passage;
use crate::routers::id_of;
use crate::{Host, Now, Offer, RouterIndex, Treatment};

/// How long after a change of routes other routers may still go by the ones before.
const CHANGING: Now = Now::from_secs(5);
/// How long after that copies may still come of what was taken before.
const SETTLED: Now = Now::from_secs(6);

/// Where the last delivery on a link went, and where it had come from.
pub(crate) struct Arrivals {
    to: String,
    phase: u8,
    /// Key of the address, which may be gone.
    addr: u64,
    ingress: String,
    /// Which routers there were.
    names_version: u64,
    origin: Origin,
}

impl Arrivals {
    fn none() -> Box<Self> {
        let (to, ingress) = (String::new(), String::new());
        Box::new(Self { to, phase: 0, addr: 0, ingress, names_version: 0, origin: Origin::UNKNOWN })
    }
}

/// Where a message came to the network: the number of a router, or [`Origin::UNKNOWN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin(u16);

impl Origin {
    /// This router.
    pub(crate) const HERE: Self = Self(RouterIndex::SELF.0);
    /// A router that is not known.
    pub(crate) const UNKNOWN: Self = Self(NO_INGRESS);

    fn of(router: Option<RouterIndex>) -> Self {
        router.map_or(Self::UNKNOWN, |router| Self(router.0))
    }

    /// The router, if it is known.
    pub(crate) fn router(self) -> Option<RouterIndex> {
        (self != Self::UNKNOWN).then_some(RouterIndex(self.0))
    }

    /// The number of the router, as deliveries keep it.
    pub(crate) fn number(self) -> u16 {
        self.0
    }
}

impl<H: Host> Core<H> {
    /// The address that a message from another router is for; `None`: there is nobody.
    pub(crate) fn resolve_arrival(&mut self, link: u32, offer: &Offer<'_>) -> Option<u32> {
        let to = offer.to_override.or(offer.to)?;
        // Routers leave a phase of 0 out.
        let phase = offer.phase.unwrap_or(0);
        if let Some(last) = &self.links[link].arrivals
            && last.phase == phase
            && last.to == to
            && self.addresses.get(last.addr).is_some()
        {
            return Some(index_of(last.addr));
        }
        let parsed = parse(to, &self.settings.router_id, self.settings.mode);
        write_key(&mut self.scratch, &parsed, phase_char(phase), "");
        let addr = self.addresses.find(&self.scratch)?;
        let key = self.addresses.key_at(addr);
        let last = self.links[link].arrivals.get_or_insert_with(Arrivals::none);
        last.to.clear();
        last.to.push_str(to);
        (last.phase, last.addr) = (phase, key);
        Some(addr)
    }

    /// Where a message came to the network, by its annotation.
    #[inline(never)]
    pub(crate) fn origin(&mut self, link: u32, ingress: Option<&str>) -> Origin {
        let Some(ingress) = ingress else { return Origin::HERE };
        let names_version = self.routers.names_version();
        if let Some(last) = &self.links[link].arrivals
            && last.names_version == names_version
            && last.ingress == ingress
        {
            return last.origin;
        }
        let origin = match id_of(ingress) == self.settings.router_id {
            true => Origin::HERE,
            false => Origin::of(self.routers.find_annotated(ingress)),
        };
        let last = self.links[link].arrivals.get_or_insert_with(Arrivals::none);
        last.ingress.clear();
        last.ingress.push_str(ingress);
        (last.names_version, last.origin) = (names_version, origin);
        origin
    }

    /// Whether a message from another router is a copy of a multicast that is too much. (The old router sends a copy to each
    /// neighbour that leads to consumers, though others have sent it one already.)
    #[inline]
    pub(crate) fn is_too_much(&mut self, host: &H, link: u32, addr: u32, passage: &Passage<'_, H::Content>) -> bool {
        self.addresses[addr].treatment == Treatment::Multicast
            && (self.is_astray(link, passage) || self.is_double(host, addr, passage))
    }

    /// Whether the same has come by another way. Once the network is at rest nobody need look.
    #[inline(never)]
    fn is_double(&mut self, host: &H, addr: u32, passage: &Passage<'_, H::Content>) -> bool {
        let now = self.now();
        let Some(offer) = passage.offer.filter(|_| now < self.routes_changed + SETTLED) else { return false };
        if offer.stamp != 0 && self.copies.is_stamped_double(now, (offer.stamp, addr)) {
            return true;
        }
        let Some(digest) = host.digest() else { return false };
        let way = if offer.stamp == 0 { copies::way(offer.trace.iter()) } else { copies::STAMPED };
        self.copies.is_double(now, (digest, addr, passage.ingress.number()), way)
    }

    /// Whether a copy came from a neighbour that should not have sent it: there is another on the way here from where the
    /// message entered the network, and what that one sends is enough. While routes change, routers may see that way
    /// differently, and nothing is refused.
    fn is_astray(&self, link: u32, passage: &Passage<'_, H::Content>) -> bool {
        if self.now() < self.routes_changed + CHANGING {
            return false;
        }
        let origin = passage.ingress.router().and_then(|origin| self.routers.get(origin));
        let Some(comes_by) = origin.and_then(|origin| origin.route.as_ref()?.comes_by) else { return false };
        let Some(neighbor) = self.routers.get(comes_by) else { return false };
        self.connections[self.links[link].conn].info.container != *neighbor.id
    }

    /// Whether a message has come around in a circle: it passed more routers than there are to the farthest one.
    pub(crate) fn is_looping(&self, offer: &Offer<'_>) -> bool {
        offer.trace.len() > self.routers.radius as usize + 1
    }
}
