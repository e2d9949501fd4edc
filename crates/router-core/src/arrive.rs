//! What comes in from another router: each message says itself where it goes and where it came to the network.
//!
//! Neighbouring messages mostly say the same, so that a link remembers what it found out last.

use crate::address::key::{parse, phase_char, write_key};
use crate::arena::index_of;
use crate::core::Core;
use crate::delivery::NO_INGRESS;
use crate::routers::id_of;
use crate::{Host, Offer, RouterIndex};

/// Where the last delivery on a link went, and where it had come from.
#[derive(Default)]
pub(crate) struct Arrivals {
    to: String,
    phase: u8,
    /// Key of the address, which may be gone.
    addr: u64,
    ingress: String,
    /// Which routers there were.
    names_version: u64,
    origin: Option<RouterIndex>,
}

/// Where a message came to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// At this router, or another that is known.
    Router(RouterIndex),
    /// At a router that is not known.
    Unknown,
}

impl Origin {
    /// Here.
    pub(crate) const HERE: Self = Self::Router(RouterIndex::SELF);

    /// The number of the router, as deliveries keep it.
    pub(crate) fn number(self) -> u16 {
        match self {
            Self::Router(RouterIndex(number)) => number,
            Self::Unknown => NO_INGRESS,
        }
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
        let last = self.links[link].arrivals.get_or_insert_default();
        last.to.clear();
        last.to.push_str(to);
        (last.phase, last.addr) = (phase, key);
        Some(addr)
    }

    /// Where a message came to the network, by its annotation.
    pub(crate) fn origin(&mut self, link: u32, ingress: Option<&str>) -> Origin {
        let Some(ingress) = ingress else { return Origin::HERE };
        let names_version = self.routers.names_version();
        if let Some(last) = &self.links[link].arrivals
            && last.names_version == names_version
            && last.ingress == ingress
        {
            return last.origin.map_or(Origin::Unknown, Origin::Router);
        }
        let origin = match id_of(ingress) == self.settings.router_id {
            true => Some(RouterIndex::SELF),
            false => self.routers.find_annotated(ingress),
        };
        let last = self.links[link].arrivals.get_or_insert_default();
        last.ingress.clear();
        last.ingress.push_str(ingress);
        (last.names_version, last.origin) = (names_version, origin);
        origin.map_or(Origin::Unknown, Origin::Router)
    }

    /// Whether a message has come around in a circle: it passed more routers than there are to the farthest one.
    pub(crate) fn is_looping(&self, offer: &Offer<'_>) -> bool {
        offer.trace.len() > self.routers.radius as usize + 1
    }
}
