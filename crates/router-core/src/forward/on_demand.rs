//! Deliveries for an address where nobody is yet, but that is made as soon as somebody names it: a link route leads to
//! whoever makes it, and a link of the router's own takes what comes by no link to it.

use amqp::DeliveryState;
use smallvec::SmallVec;

use crate::address::key::{Class, parse};
use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::forward::{Destination, Passage};
use crate::{Host, Offer, Offered, RouteDirection};

impl<H: Host> Core<H> {
    /// Forwards a delivery to whoever makes the address: here, at an edge router, or on another router, which does the same.
    /// `None`: nobody does.
    #[cold]
    pub(crate) fn forward_on_demand(
        &mut self,
        host: &mut H,
        text: &str,
        passage: &mut Passage<'_, H::Content>,
    ) -> Option<Offered> {
        let found: SmallVec<[u32; 2]> = self.link_routes.best(RouteDirection::In, text)?.into();
        if let Some((addr, link)) = found.iter().find_map(|addr| Some((*addr, self.maker(*addr)?))) {
            let mut onward = Passage { addr, to_override: Some(text), ..passage.clone() };
            let offered = self.forward_to_one(host, link, &mut onward, 0);
            passage.owed = onward.owed;
            return Some(offered);
        }
        if let Some((addr, link)) = found.iter().find_map(|addr| Some((*addr, self.edge_of_maker(*addr, passage)?))) {
            passage.addr = addr;
            return Some(self.forward_over_edge(host, link, passage));
        }
        let elsewhere = |addr: &u32| {
            let address = &self.addresses[*addr];
            address.remote && address.ways.as_ref().is_none_or(|ways| ways.containers() == 0)
        };
        let addr = found.iter().copied().find(elsewhere)?;
        self.find_hops(addr);
        match self.detour(addr, passage) {
            Destination::Hop(at) => {
                passage.addr = addr;
                Some(self.forward_to_hop(host, addr, at, passage))
            }
            _ => None,
        }
    }

    /// The link here that takes what names an address under a link route.
    fn maker(&self, addr: u32) -> Option<u32> {
        let mut ways = self.addresses[addr].ways.as_ref()?.all();
        ways.find_map(|(_, route)| {
            let key = self.link_routes.on_demand(route);
            self.links.get(key).map(|_| index_of(key))
        })
    }

    /// The link to an edge router that a link route leads to, unless the delivery came from there.
    fn edge_of_maker(&self, addr: u32, passage: &Passage<'_, H::Content>) -> Option<u32> {
        let from = self.came_over_edge(passage);
        let mut ways = self.addresses[addr].ways.as_ref()?.all();
        ways.find_map(|(conn, _)| {
            let conn = index_of(conn);
            if !self.serves_edge(conn) || Some(conn) == from {
                return None;
            }
            let downlink = self.addresses.find(&format!("H{}", self.connections[conn].info.container))?;
            Some(self.addresses[downlink].receivers.head).filter(|link| *link != NONE)
        })
    }

    /// Nobody is at an address that a delivery is for.
    #[cold]
    pub(crate) fn forward_to_nobody(
        &mut self,
        host: &mut H,
        addr: u32,
        passage: &mut Passage<'_, H::Content>,
    ) -> Offered {
        let key = std::sync::Arc::clone(&self.addresses[addr].key);
        let text = key.strip_prefix('M').and_then(|rest| rest.get(1..));
        // Whoever sends on a link to it has asked for just that.
        let is_named = self.links.get(passage.link).is_some_and(|link| link.addr == NONE);
        let offered = text.filter(|_| is_named).and_then(|text| self.forward_on_demand(host, text, passage));
        offered.unwrap_or_else(|| self.unroutable(host, passage, DeliveryState::Released))
    }

    /// What has come from another router is for an address that is not known here.
    #[cold]
    pub(crate) fn forward_arrival_on_demand(
        &mut self,
        host: &mut H,
        passage: &mut Passage<'_, H::Content>,
        offer: &Offer<'_>,
    ) -> Offered {
        let to = offer.to_override.or(offer.to).filter(|_| !self.is_looping(offer));
        let parsed = to.map(|to| parse(to, &self.settings.router_id, self.settings.mode));
        let text = parsed.filter(|parsed| parsed.class == Class::Mobile).map(|parsed| parsed.rest);
        let offered = text.and_then(|text| self.forward_on_demand(host, text, passage));
        offered.unwrap_or_else(|| self.unroutable(host, passage, DeliveryState::Released))
    }
}
