//! Exchanges: a message goes on to each address that a binding names whose key fits its subject.
//!
//! Copies go out settled, and their sender is told that its message was accepted if there was at least one. On their way
//! further they are as messages that come to the network here: what is bound may lie where the message came from.

use std::sync::Arc;

use amqp::DeliveryState;

use crate::arena::{NONE, index_of};
use crate::arrive::Origin;
use crate::core::Core;
use crate::delivery::{Delivery, Outcome};
use crate::forward::{Destination, Passage};
use crate::{Host, InKey, Offered};

/// How many exchanges a message may pass in this router, one behind the other.
const MOST_IN_A_ROW: usize = 16;

impl<H: Host> Core<H> {
    /// A delivery came for an exchange.
    #[inline(never)] // Off the way of all other deliveries.
    pub(crate) fn forward_to_exchange(
        &mut self,
        host: &mut H,
        at: u32,
        passage: &mut Passage<'_, H::Content>,
    ) -> Offered {
        if !passage.complete {
            self.track(passage, 1);
        }
        let mut copy = Passage { settled: true, ..passage.clone() };
        let sent = self.exchange(host, at, &mut copy, MOST_IN_A_ROW);
        passage.owed = copy.owed;
        if !passage.complete {
            return self.exchanged_in_part(host, sent, passage);
        }
        if !sent {
            return self.unroutable(host, passage, DeliveryState::Released);
        }
        let link = &mut self.links[index_of(passage.link)];
        if !passage.settled {
            link.unsettled -= 1;
            link.count_outcome(&mut self.statistics, Outcome::Accepted);
            link.count_settled_with_sender(&mut self.statistics, self.clock, passage.born);
            host.update_incoming(link.host, passage.delivery_id, Some(DeliveryState::Accepted), true);
        }
        // Else a copy that has to wait gives it back.
        if !passage.owed {
            link.give_back(host, &mut self.statistics);
        }
        Offered::Done
    }

    /// The rest of the message is still coming: until then its sender is not told.
    fn exchanged_in_part(&mut self, host: &mut H, sent: bool, passage: &mut Passage<'_, H::Content>) -> Offered {
        if sent {
            let delivery = &mut self.deliveries[index_of(passage.origin)];
            delivery.state = Some(DeliveryState::Accepted);
            delivery.taken = true;
            return Offered::Tracked(InKey(passage.origin));
        }
        // There are no copies, and so it is as if it had not been tracked.
        self.deliveries.discard(index_of(std::mem::take(&mut passage.origin)));
        self.links[index_of(passage.link)].arriving = 0;
        self.unroutable(host, passage, DeliveryState::Released)
    }

    /// Has an exchange send a settled message on; whether anybody got it. `left`: how many exchanges it may pass.
    fn exchange(&mut self, host: &mut H, at: u32, passage: &mut Passage<'_, H::Content>, left: usize) -> bool {
        let Some(exchange) = self.exchanges.at_mut(at) else { return false };
        let addr = exchange.addr();
        let came_around = std::mem::replace(&mut exchange.at_work, true);
        let hops = exchange.take(host.subject(passage.content));
        if came_around || left == 0 {
            exchange.counters.dropped += 1;
            exchange.at_work = came_around;
            return false;
        }
        // Whoever consumes from the address of the exchange gets what comes for it.
        passage.addr = addr;
        let consumer = self.choose_consumer(addr, passage);
        let mut sent = self.send_settled(host, addr, consumer, passage);
        for hop in hops {
            sent |= self.send_to_next(host, at, Some(hop), passage, left);
        }
        let mut diverted = false;
        if !sent {
            diverted = self.send_to_next(host, at, None, passage, left);
            sent = diverted;
        }
        if let Some(exchange) = self.exchanges.at_mut(at) {
            exchange.at_work = false;
            exchange.counters.dropped += u64::from(!sent);
            exchange.counters.forwarded += u64::from(sent);
            exchange.counters.diverted += u64::from(diverted);
        }
        sent
    }

    /// Sends a settled message to the next hop at a place, or to the alternate address; whether anybody got it.
    fn send_to_next(
        &mut self,
        host: &mut H,
        at: u32,
        hop: Option<u32>,
        passage: &mut Passage<'_, H::Content>,
        left: usize,
    ) -> bool {
        let Some(exchange) = self.exchanges.at(at) else { return false };
        let next = match hop {
            Some(hop) => exchange.hop(hop),
            None => exchange.alternate(),
        };
        let Some(next) = next else { return false };
        let (named, to) = (next.addr, Arc::clone(&next.to));
        let mut onward =
            Passage { anew: true, ingress: Origin::HERE, stamp: 0, to_override: Some(&to), ..passage.clone() };
        let addr = self.where_somebody_is(named, &onward);
        // Routers further on look for what was named, but in the interior, where they do, that has its fallback, too.
        onward.addr = if addr == self.addresses[named].fallback { addr } else { named };
        let sent = match self.choose(addr, &onward) {
            Destination::Exchange(next) => self.exchange(host, next, &mut onward, left - 1),
            chosen => self.send_settled(host, addr, chosen, &mut onward),
        };
        passage.owed = onward.owed;
        sent
    }

    /// The address itself if somebody is there; else, on an edge router, the uplink's; else its fallback.
    fn where_somebody_is(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> u32 {
        if self.addresses[addr].has_destination() {
            return addr;
        }
        if let Some(up) = self.up(passage) {
            return up;
        }
        let fallback = self.addresses[addr].fallback;
        if fallback == NONE || !self.addresses[fallback].has_destination() {
            return addr;
        }
        self.addresses[addr].rare().redirected_to_fallback += 1;
        self.statistics.deliveries_redirected_to_fallback += 1;
        fallback
    }

    /// A message from within the router comes to an exchange; whether anybody got it.
    pub(crate) fn exchange_local(&mut self, host: &mut H, at: u32, passage: &mut Passage<'_, H::Content>) -> bool {
        self.exchange(host, at, passage, MOST_IN_A_ROW)
    }

    /// Sends a settled message to whom [`Core::choose`] chose of an address; whether anybody got it.
    pub(crate) fn send_settled(
        &mut self,
        host: &mut H,
        addr: u32,
        chosen: Destination,
        passage: &mut Passage<'_, H::Content>,
    ) -> bool {
        match chosen {
            Destination::Hop(at) => return self.send_settled_to_hop(host, addr, at, passage),
            Destination::Link(link) => {
                self.send(host, Delivery::outgoing(link, passage, true), passage);
            }
            Destination::EdgeLink(link) => {
                let link = self.or_stream(host, link, passage);
                self.send(host, Delivery::outgoing(link, passage, true), passage);
                if !passage.complete {
                    self.return_stream(link);
                }
            }
            Destination::All => {
                self.expect_copy(passage.origin);
                return self.send_copies(host, addr, passage) > 0;
            }
            Destination::Subscriber(subscriber) => drop(self.hand_over(host, addr, subscriber, passage)),
            Destination::Sink => {}
            Destination::Exchange(_) | Destination::Nobody => return false,
        }
        true
    }
}
