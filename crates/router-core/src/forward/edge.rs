//! Forwarding between an edge router and the interior: nothing goes back to where it came from.

use crate::arena::NONE;
use crate::core::Core;
use crate::forward::{Destination, Passage};
use crate::{Host, Mode, Offered, Role, Treatment};

/// Key of the address that an edge router's uplink is bound to: it takes whatever is not here.
pub(crate) const UPLINK_KEY: &str = "L_edge";

impl<H: Host> Core<H> {
    /// Chooses for an address whose consumers are not all the same to each delivery.
    #[inline(never)]
    pub(crate) fn choose_beyond(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> Destination {
        let chosen = match (self.choose_anywhere(addr, passage), self.came_over_edge(passage)) {
            (Destination::Link(link), Some(from)) if self.links[link].conn == from => {
                self.choose_elsewhere(addr, from, passage)
            }
            (chosen, _) => chosen,
        };
        match chosen {
            Destination::Link(link) if self.is_at_edge(link) => Destination::EdgeLink(link),
            chosen => chosen,
        }
    }

    /// Forwards a delivery to a link between an edge router and the interior.
    #[inline(never)]
    pub(crate) fn forward_over_edge(
        &mut self,
        host: &mut H,
        link: u32,
        passage: &mut Passage<'_, H::Content>,
    ) -> Offered {
        let link = self.or_stream(host, link, passage);
        let offered = self.forward_to_one(host, link, passage, 0);
        if !passage.complete {
            self.return_stream(link);
        }
        offered
    }

    /// The link itself, or, for a message that is still coming, and for what its sender sends after that, one for large
    /// messages to the same router.
    pub(crate) fn or_stream(&mut self, host: &mut H, link: u32, passage: &Passage<'_, H::Content>) -> u32 {
        let conn = self.links[link].conn;
        if self.connections[conn].info.role != Role::Edge {
            return link;
        }
        match self.kept_stream(passage.link, conn) {
            Some(kept) => kept,
            None if passage.complete || !self.connections[conn].info.streaming_links => link,
            None => self.stream_link_for(host, conn, passage.link),
        }
    }

    fn choose_anywhere(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> Destination {
        let address = &self.addresses[addr];
        match (address.treatment, address.remote) {
            (Treatment::Balanced, true) => self.least_loaded_anywhere(addr, passage),
            (Treatment::Balanced, false) => self.least_loaded(addr),
            _ if address.receivers.len > 0 => self.next_receiver(addr),
            _ => self.nearest_hop(addr),
        }
    }

    /// The connection of role edge that a delivery came in on. It must not go out there again.
    pub(crate) fn came_over_edge(&self, passage: &Passage<'_, H::Content>) -> Option<u32> {
        if passage.anew {
            return None;
        }
        let conn = self.links.get(passage.link)?.conn;
        (self.connections[conn].info.role == Role::Edge).then_some(conn)
    }

    /// Chooses again, when the choice has fallen on the connection that the delivery came in on.
    fn choose_elsewhere(&mut self, addr: u32, from: u32, passage: &Passage<'_, H::Content>) -> Destination {
        let (balanced, remote) = (self.addresses[addr].treatment == Treatment::Balanced, self.addresses[addr].remote);
        let here = self.lightest_elsewhere(addr, from, balanced);
        let hop = if balanced && remote { self.least_loaded_hop(addr, passage) } else { None };
        match (here, hop) {
            (Some((_, load)), Some(hop)) if load > 0 && hop.is_better_than(true, load) => Destination::Hop(hop.at),
            (None, Some(hop)) => Destination::Hop(hop.at),
            (None, None) if remote && !balanced => self.nearest_hop(addr),
            (None, None) => Destination::Nobody,
            (Some((link, _)), _) => {
                // Once around leaves the others in order, and the chosen one behind them.
                for _ in 0..self.addresses[addr].receivers.len {
                    if self.rotate_receivers(addr) == Some(link) {
                        break;
                    }
                }
                Destination::Link(link)
            }
        }
    }

    /// The first receiver that is not on a connection, or the least loaded such one, and its load.
    fn lightest_elsewhere(&self, addr: u32, from: u32, balanced: bool) -> Option<(u32, u32)> {
        let mut best: Option<(u32, u32)> = None;
        let mut next = self.addresses[addr].receivers.head;
        while next != NONE {
            let link = &self.links[next];
            let load = if balanced { link.load() } else { 0 };
            if link.conn != from && best.is_none_or(|(_, least)| load < least) {
                best = Some((next, load));
                if load == 0 {
                    break;
                }
            }
            next = link.addr_next;
        }
        best
    }

    /// On an edge router: where a message goes that is not addressed by its link and has nobody here.
    pub(crate) fn up(&self, passage: &Passage<'_, H::Content>) -> Option<u32> {
        self.uplink_address().filter(|_| self.came_over_edge(passage).is_none())
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
        let anonymous = passage.anew || self.links.get(passage.link).is_some_and(|link| link.addr == NONE);
        if self.settings.mode != Mode::Edge || !anonymous || self.addresses[addr].at_edge[0] > 0 {
            return None;
        }
        self.up(passage).map(|up| self.addresses[up].receivers.head)
    }
}
