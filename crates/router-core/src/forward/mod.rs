//! From an address to the links and subscribers that get a delivery.

pub(crate) mod balanced;
pub(crate) mod closest;
pub(crate) mod edge;
pub(crate) mod exchange;
pub(crate) mod hops;
pub(crate) mod multicast;
pub(crate) mod on_demand;
pub(crate) mod remote;

use amqp::DeliveryState;

use crate::address::Within;
use crate::arena::{NONE, index_of};
use crate::arrive::Origin;
use crate::core::Core;
use crate::delivery::{Delivery, Said};
use crate::link::Link;
use crate::{Host, InKey, Offer, Offered, SubscriberId, Treatment};

/// A delivery on its way through the core.
pub(crate) struct Passage<'a, C> {
    /// Key of its incoming link; 0: it comes from within the router.
    pub(crate) link: u64,
    /// The endpoint's id.
    pub(crate) delivery_id: u32,
    /// Settled by the sender.
    pub(crate) settled: bool,
    /// All of the message is there.
    pub(crate) complete: bool,
    /// When it came, in milliseconds modulo 2^32.
    pub(crate) born: u32,
    /// Multicast: key of its record; 0: it needs none.
    pub(crate) origin: u64,
    /// The message; `None`: the one now being offered.
    pub(crate) content: Option<&'a C>,
    /// What `x-opt-qd.to` is to say, if something else than the target of the link.
    pub(crate) to_override: Option<&'a str>,
    /// A copy will give the credit back when it leaves its queue.
    pub(crate) owed: bool,
    /// The address it is forwarded to; `NONE` before that is known.
    pub(crate) addr: u32,
    /// The offer; `None`: it comes from within the router.
    pub(crate) offer: Option<&'a Offer<'a>>,
    /// Where it came to the network.
    pub(crate) ingress: Origin,
    /// Its way begins here, wherever it came from.
    pub(crate) anew: bool,
    /// Multicast: what tells it from all others; 0: nothing does.
    pub(crate) stamp: u64,
}

// Not derived, for then a message would have to be of a kind that can be cloned.
impl<C> Clone for Passage<'_, C> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, C> Passage<'a, C> {
    /// The passage of a delivery now being offered.
    pub(crate) fn of_offer(link: u64, offer: &'a Offer<'a>, born: u32) -> Self {
        Self {
            link,
            delivery_id: offer.delivery_id,
            settled: offer.settled,
            complete: offer.complete,
            born,
            origin: 0,
            content: None,
            to_override: offer.to_override,
            owed: false,
            addr: NONE,
            offer: Some(offer),
            ingress: Origin::HERE,
            anew: false,
            stamp: offer.stamp,
        }
    }

    /// The passage of a delivery of the surroundings' own, all of which is there, and which is not settled.
    pub(crate) fn own(link: u64, delivery_id: u32, born: u32) -> Self {
        Self {
            link,
            delivery_id,
            settled: false,
            complete: true,
            born,
            origin: 0,
            content: None,
            to_override: None,
            owed: false,
            addr: NONE,
            offer: None,
            ingress: Origin::HERE,
            anew: false,
            stamp: 0,
        }
    }

    /// The passage of a message from within the router, which is settled.
    pub(crate) fn from_within(born: u32, content: &'a C) -> Self {
        Self { settled: true, content: Some(content), ..Self::own(0, 0, born) }
    }

    /// What its sender said with its transfer.
    #[inline(always)]
    pub(crate) fn said(&self) -> Said<'a> {
        self.offer.map_or(Said::default(), |offer| Said {
            tag: offer.tag,
            state: offer.state.as_ref(),
            manner: offer.manner,
        })
    }

    /// Whether a record of how it came in is needed: there is something to settle, or to wait for.
    pub(crate) fn needs_record(&self) -> bool {
        !self.settled || !self.complete
    }
}

/// Where a delivery goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// To one link.
    Link(u32),
    /// To one link between an edge router and the interior, or to a link for large messages there.
    EdgeLink(u32),
    /// To the neighbour at this place among the hops of the address.
    Hop(u32),
    /// To one subscriber.
    Subscriber(SubscriberId),
    /// The core takes it.
    Sink,
    /// The exchange at this place takes it.
    Exchange(u32),
    /// To everyone there.
    All,
    /// Nobody is there.
    Nobody,
}

impl<H: Host> Core<H> {
    /// Forwards an offered delivery to an address, or its fallback.
    pub(crate) fn forward(&mut self, host: &mut H, addr: u32, passage: &mut Passage<'_, H::Content>) -> Offered {
        passage.addr = addr;
        match self.choose(addr, passage) {
            Destination::Link(receiver) => self.forward_to_one(host, receiver, passage, 0),
            Destination::EdgeLink(link) => self.forward_over_edge(host, link, passage),
            Destination::Hop(at) => self.forward_to_hop(host, addr, at, passage),
            Destination::All => {
                self.stamp(passage);
                if passage.needs_record() {
                    self.track(passage, 1);
                }
                let _ = self.send_copies(host, addr, passage);
                self.after_copies(host, passage)
            }
            Destination::Subscriber(subscriber) => {
                let state = self.hand_over(host, addr, subscriber, passage);
                self.taken(host, passage, state)
            }
            Destination::Sink => {
                self.tell_heartbeat(host, passage);
                self.taken(host, passage, DeliveryState::Accepted)
            }
            Destination::Exchange(at) => self.forward_to_exchange(host, at, passage),
            Destination::Nobody if self.addresses[addr].fallback != NONE => {
                self.forward_to_fallback(host, addr, passage)
            }
            Destination::Nobody => self.forward_to_nobody(host, addr, passage),
        }
    }

    /// `counted`: key of the address that counts it as outstanding with a neighbour.
    #[inline(always)] // Else the one place that counts calls it, for the sake of those that do not.
    pub(crate) fn forward_to_one(
        &mut self,
        host: &mut H,
        receiver: u32,
        passage: &mut Passage<'_, H::Content>,
        counted: u64,
    ) -> Offered {
        let settled = passage.settled || self.links[receiver].send_settled;
        if !passage.needs_record() {
            self.send(host, Delivery::outgoing(receiver, passage, settled), passage);
            return self.after_copies(host, passage);
        }
        let key = self.send(host, Delivery::direct(receiver, passage, settled, counted), passage);
        // It may be over already.
        match self.deliveries.get(key).is_none() {
            true => Offered::Done,
            false => Offered::Tracked(InKey(key)),
        }
    }

    /// Stamps a message that comes to the network here. What comes from another router and has no stamp has passed one that gives
    /// none, perhaps by several ways: nobody but the first could.
    fn stamp(&mut self, passage: &mut Passage<'_, H::Content>) {
        let between_routers = |link: &Link<H>| self.connections[link.conn].neighbor.is_some();
        let comes_here = passage.anew || !self.links.get(passage.link).is_some_and(between_routers);
        if passage.stamp == 0 && comes_here {
            passage.stamp = self.next_stamp;
            // A start that no other router has, and never 0.
            self.next_stamp = self.next_stamp.wrapping_add(1).max(1);
        }
    }

    /// The copies are on their way: a settled delivery's credit goes back, another's record is kept.
    fn after_copies(&mut self, host: &mut H, passage: &Passage<'_, H::Content>) -> Offered {
        if passage.origin != 0 && self.deliveries.get(passage.origin).is_some() {
            return Offered::Tracked(InKey(passage.origin));
        }
        if passage.origin == 0 && !passage.owed {
            self.links[index_of(passage.link)].give_back(host, &mut self.statistics);
        }
        Offered::Done
    }

    /// Makes the record of a delivery that is going to have `copies` copies in records of their own.
    pub(crate) fn track(&mut self, passage: &mut Passage<'_, H::Content>, copies: u32) {
        let delivery = Delivery { unsettled: copies, undecided: copies, ..Delivery::incoming(passage) };
        passage.origin = self.deliveries.insert(delivery);
        if !passage.complete {
            self.links[index_of(passage.link)].arriving = passage.origin;
        }
    }

    /// A delivery was taken within the router, which settles it.
    pub(crate) fn taken(
        &mut self,
        host: &mut H,
        passage: &mut Passage<'_, H::Content>,
        state: DeliveryState,
    ) -> Offered {
        if passage.needs_record() {
            self.track(passage, 1);
            self.copy_resolved(host, passage.origin, Some(state), true);
        }
        self.after_copies(host, passage)
    }

    /// Nobody is at the address, but perhaps at its fallback. Further routers are told to look there too.
    fn forward_to_fallback(&mut self, host: &mut H, addr: u32, passage: &mut Passage<'_, H::Content>) -> Offered {
        let fallback = self.addresses[addr].fallback;
        if !self.addresses[fallback].has_destination() {
            return self.unroutable(host, passage, DeliveryState::Released);
        }
        self.addresses[addr].rare().redirected_to_fallback += 1;
        self.statistics.deliveries_redirected_to_fallback += 1;
        let key = std::sync::Arc::clone(&self.addresses[addr].key);
        let mut onward = Passage { to_override: key.get(2..), ..passage.clone() };
        let offered = self.forward(host, fallback, &mut onward);
        passage.owed = onward.owed;
        offered
    }

    /// Chooses by the treatment of the address.
    pub(crate) fn choose(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> Destination {
        match self.addresses[addr].within {
            Within::Nothing => self.choose_consumer(addr, passage),
            Within::Sink => Destination::Sink,
            Within::Exchange(at) => Destination::Exchange(at),
        }
    }

    /// Chooses among links, subscribers and other routers.
    #[inline(always)] // It is that for all addresses but few.
    pub(crate) fn choose_consumer(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> Destination {
        let address = &self.addresses[addr];
        match address.treatment {
            Treatment::Closest | Treatment::Balanced if !address.subscribers.is_empty() => self.next_subscriber(addr),
            Treatment::Closest | Treatment::Balanced if address.beyond => self.choose_beyond(addr, passage),
            Treatment::Closest => self.next_receiver(addr),
            Treatment::Balanced => self.least_loaded(addr),
            // What belongs to the routing protocol comes in on control links, and not this way.
            Treatment::Multicast | Treatment::Flood if address.has_destination() && address.reach.is_none() => {
                Destination::All
            }
            Treatment::Multicast | Treatment::Flood | Treatment::LinkBalanced | Treatment::Unavailable => {
                Destination::Nobody
            }
        }
    }
}
