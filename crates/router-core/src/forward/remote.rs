//! Deliveries that go on to a neighbouring router.

use amqp::DeliveryState;

use crate::core::Core;
use crate::delivery::Delivery;
use crate::forward::{Destination, Passage};
use crate::{Host, Offered, Treatment};

/// Priority of messages from within the router.
const DEFAULT_PRIORITY: u8 = 4;

impl<H: Host> Core<H> {
    /// The priority of a delivery: that of its address, if configured, else its own.
    pub(crate) fn priority(&self, addr: u32, passage: &Passage<'_, H::Content>) -> u8 {
        let own = passage.offer.map_or(DEFAULT_PRIORITY, |offer| offer.priority);
        u8::try_from(self.addresses[addr].priority).unwrap_or(own)
    }

    /// Balanced distribution among receivers here and routers elsewhere. A receiver without load is taken at once; else
    /// whoever has the least, the ones here first among equals.
    #[inline(never)]
    pub(crate) fn least_loaded_anywhere(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> Destination {
        let here = self.lightest_receiver(addr);
        if here.is_some_and(|here| here.load == 0 && here.eligible) {
            return self.least_loaded(addr);
        }
        match (here, self.least_loaded_hop(addr, passage)) {
            (Some(here), Some(hop)) if hop.is_better_than(here.eligible, here.load) => Destination::Hop(hop.at),
            (None, Some(hop)) => Destination::Hop(hop.at),
            (Some(_), _) => self.least_loaded(addr),
            (None, None) => self.detour(addr, passage),
        }
    }

    /// Forwards a delivery to a neighbour of the address.
    #[inline(never)]
    pub(crate) fn forward_to_hop(
        &mut self,
        host: &mut H,
        addr: u32,
        at: u32,
        passage: &mut Passage<'_, H::Content>,
    ) -> Offered {
        let Some(conn) = self.addresses[addr].hops.as_mut().map(|hops| hops.at(at).conn) else {
            return self.unroutable(host, passage, DeliveryState::Released);
        };
        let Some(link) = self.link_to(host, conn, addr, passage) else {
            return self.unroutable(host, passage, DeliveryState::Released);
        };
        let counted = self.depart(addr, conn, passage);
        let offered = self.forward_to_one(host, link, passage, counted);
        if !passage.complete {
            self.return_stream(link);
        }
        offered
    }

    /// The same for a message that is settled; false: it cannot be.
    pub(crate) fn send_settled_to_hop(
        &mut self,
        host: &mut H,
        addr: u32,
        at: u32,
        passage: &mut Passage<'_, H::Content>,
    ) -> bool {
        let Some(conn) = self.addresses[addr].hops.as_mut().map(|hops| hops.at(at).conn) else { return false };
        let Some(link) = self.link_to(host, conn, addr, passage) else { return false };
        self.depart(addr, conn, passage);
        self.send(host, Delivery::outgoing(link, passage, true), passage);
        if !passage.complete {
            self.return_stream(link);
        }
        true
    }

    /// The link on which a delivery goes out to a neighbour.
    pub(crate) fn link_to(
        &mut self,
        host: &mut H,
        conn: u32,
        addr: u32,
        passage: &Passage<'_, H::Content>,
    ) -> Option<u32> {
        let priority = self.priority(addr, passage);
        let link = self.neighbor(conn).filter(|neighbor| neighbor.up)?.data_link(priority)?;
        if let Some(kept) = self.kept_stream(passage.link, conn) {
            return Some(kept);
        }
        match !passage.complete && self.connections[conn].info.streaming_links {
            true => Some(self.stream_link_for(host, conn, passage.link)),
            false => Some(link),
        }
    }

    /// Counts a delivery that goes out to a neighbour. Returns the address's key, if it counts what is outstanding there.
    pub(crate) fn depart(&mut self, addr: u32, conn: u32, passage: &Passage<'_, H::Content>) -> u64 {
        // What comes from within the router is nobody's delivery.
        self.statistics.deliveries_transit += u64::from(passage.link != 0);
        let address = &mut self.addresses[addr];
        address.transit += 1;
        if passage.settled || address.treatment != Treatment::Balanced {
            return 0;
        }
        let Some(hop) = address.hops.as_mut().and_then(|hops| hops.of_connection(conn)) else { return 0 };
        hop.outstanding += 1;
        self.addresses.key_at(addr)
    }

    /// A delivery that was counted as outstanding, under this key of its address, is over.
    #[inline(never)]
    pub(crate) fn no_longer_outstanding(&mut self, counted: u64, link: u32) {
        let conn = self.links[link].conn;
        if let Some(hops) = self.addresses.get_mut(counted).and_then(|address| address.hops.as_mut()) {
            hops.settled(conn);
        }
    }
}
