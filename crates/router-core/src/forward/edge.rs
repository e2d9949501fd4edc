//! Forwarding between an edge router and the interior: what came down does not go up again.

use crate::arena::NONE;
use crate::core::Core;
use crate::forward::{Destination, Passage};
use crate::{Host, Mode, Role, Treatment};

/// Key of the address that an edge router's uplink is bound to: it takes whatever is not here.
pub(crate) const UPLINK_KEY: &str = "L_edge";

impl<H: Host> Core<H> {
    /// Chooses for an address whose consumers are not all the same to each delivery.
    #[inline(never)]
    pub(crate) fn choose_beyond(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> Destination {
        let address = &self.addresses[addr];
        if !address.remote {
            return match self.came_down(passage) {
                Some(from) => self.choose_elsewhere(addr, from),
                None if address.treatment == Treatment::Balanced => self.least_loaded(addr),
                None => self.next_receiver(addr),
            };
        }
        match address.treatment {
            Treatment::Balanced => self.least_loaded_anywhere(addr, passage),
            _ if address.receivers.len > 0 => self.next_receiver(addr),
            _ => self.nearest_hop(addr),
        }
    }

    /// The connection of role edge that a delivery came in on.
    pub(crate) fn came_down(&self, passage: &Passage<'_, H::Content>) -> Option<u32> {
        let conn = self.links.get(passage.link)?.conn;
        (self.connections[conn].info.role == Role::Edge).then_some(conn)
    }

    /// The least loaded receiver that is not on this connection; it goes to the end of the list. On edge routers only,
    /// where lists are short.
    fn choose_elsewhere(&mut self, addr: u32, from: u32) -> Destination {
        let mut best: Option<(u32, u32)> = None;
        let mut next = self.addresses[addr].receivers.head;
        while next != NONE {
            let link = &self.links[next];
            let load = if self.addresses[addr].treatment == Treatment::Balanced { link.load() } else { 0 };
            if link.conn != from && best.is_none_or(|(least, _)| load < least) {
                best = Some((load, next));
            }
            next = link.addr_next;
        }
        // Once around leaves the others in order, and the chosen one behind them.
        let Some((_, chosen)) = best else { return Destination::Nobody };
        for _ in 0..self.addresses[addr].receivers.len {
            if self.rotate_receivers(addr) == Some(chosen) {
                break;
            }
        }
        Destination::Link(chosen)
    }

    /// On an edge router: where a message goes that is not addressed by its link and has nobody here.
    pub(crate) fn up(&self, passage: &Passage<'_, H::Content>) -> Option<u32> {
        self.uplink_address().filter(|_| self.came_down(passage).is_none())
    }

    /// On an edge router with an uplink: the address of what is not here.
    pub(crate) fn uplink_address(&self) -> Option<u32> {
        if self.settings.mode != Mode::Edge {
            return None;
        }
        self.addresses.find(UPLINK_KEY).filter(|addr| self.addresses[*addr].receivers.len > 0)
    }

    /// On an edge router: the link on which a copy of a multicast goes up whose sender's link does not name the address.
    /// One that the address has for itself gets a copy anyway.
    pub(crate) fn uplink_for_copy(&self, addr: u32, passage: &Passage<'_, H::Content>) -> Option<u32> {
        let anonymous = self.links.get(passage.link).is_some_and(|link| link.addr == NONE);
        if self.settings.mode != Mode::Edge || !anonymous || self.addresses[addr].at_edge[0] > 0 {
            return None;
        }
        self.up(passage).map(|up| self.addresses[up].receivers.head)
    }
}
