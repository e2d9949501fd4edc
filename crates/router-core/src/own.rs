//! Deliveries between peers and the surroundings themselves ([`ConnectionInfo::internal`](crate::ConnectionInfo)), on two links
//! that are one: the short way for those that are all there and that nothing is in the way of. It comes to the same as the way
//! of all other deliveries.

use amqp::DeliveryState;
use amqp::performative::Manner;

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::{Delivery, Outcome, Place};
use crate::forward::Passage;
use crate::settle::End;
use crate::{Host, InKey, LinkKey, Now, Offer, Offered, OutKey, PassedOn, Passing, Transmit, Transmitted};

/// A delivery of the surroundings' own, all of which is there, and which is not settled.
#[derive(Clone, Copy, Debug)]
pub struct OwnDelivery<'a> {
    /// Handed back in [`Host::update_incoming`].
    pub id: u32,
    /// Delivery tag.
    pub tag: &'a [u8],
}

impl<'a> OwnDelivery<'a> {
    fn offer(self) -> Offer<'a> {
        Offer {
            delivery_id: self.id,
            settled: false,
            complete: true,
            to: None,
            to_override: None,
            phase: None,
            ingress: None,
            trace: Default::default(),
            stamp: 0,
            priority: 4,
            state: None,
            tag: Some(self.tag),
            manner: Manner::default(),
        }
    }
}

impl<H: Host> Core<H> {
    /// Whether a delivery can go out on this link at once.
    #[inline]
    pub(crate) fn is_ready(&self, index: u32) -> bool {
        let link = &self.links[index];
        let idle = link.queue_head == NONE && link.busy == NONE;
        idle && link.credit > 0 && self.connections[link.conn].writable
    }

    /// Whether a delivery that came on a link that is one with this one can be handed in: see [`Core::hand_in`].
    pub(crate) fn may_hand_in(&self, receiver: u32, passage: &Passage<'_, H::Content>) -> bool {
        let link = &self.links[receiver];
        let is_own = self.connections[link.conn].info.internal && !link.send_settled;
        is_own && passage.complete && !passage.settled && self.is_ready(receiver)
    }

    /// A delivery comes in for the surroundings themselves. Mostly they accept it as they get it: only if they do not is a
    /// record made of it.
    pub(crate) fn hand_in(&mut self, host: &mut H, receiver: u32, passage: &Passage<'_, H::Content>) -> Offered {
        let (said, key, tag) = (passage.said(), self.deliveries.next_key(), self.next_tag);
        self.next_tag += 1;
        let link = &mut self.links[receiver];
        let connection = &mut self.connections[link.conn];
        link.count_transmission(connection, &mut self.addresses, &mut self.statistics, self.clock);
        let passing = Passing::default();
        let how = Transmit {
            settled: false,
            tag,
            stamp: 0,
            to_override: passage.to_override,
            phase: 0,
            annotate: false,
            anew: passage.anew,
            routed_tag: said.tag,
            state: said.state,
            manner: said.manner,
            passing: passage.content.is_none().then_some(&passing),
        };
        match host.transmit(link.host, OutKey(key), passage.content, &how) {
            Transmitted::Accepted => self.accepted_handed_in(host, receiver, passage),
            Transmitted::Passed => {
                self.accepted_handed_in(host, receiver, passage);
                if let Some(on) = passing.get() {
                    self.pass_on(host, key, on);
                }
            }
            transmitted => return self.record(host, receiver, passage, transmitted),
        }
        Offered::Done
    }

    /// A delivery was accepted as it was handed in.
    #[inline(always)] // There are two ways to it, both of them hot.
    fn accepted_handed_in(&mut self, host: &mut H, receiver: u32, passage: &Passage<'_, H::Content>) {
        let (link, router, clock) = (&mut self.links[receiver], &mut self.statistics, self.clock);
        link.count_sent(router, clock, passage.born);
        link.count_outcome(router, Outcome::Accepted);
        link.count_settled(router, clock, passage.born);
        link.counters.count_ingress(passage.ingress.number());
        let state = Some(DeliveryState::Accepted);
        let (sender, delivery_id, born) = (passage.link, passage.delivery_id, passage.born);
        self.end_unsettled(host, End { sender, delivery_id, settled: false, stuck: false, born, state });
    }

    /// The message now being offered goes on, as a delivery of the surroundings' own. `key` is the key that is given next.
    fn pass_on(&mut self, host: &mut H, key: u64, on: PassedOn) {
        let PassedOn { link, id, tag } = on;
        let own = OwnDelivery { id, tag: &tag };
        let receiver = match self.plain_receiver(link) {
            Some(receiver) => {
                self.send_own(host, link, receiver, own);
                Some(receiver)
            }
            None => {
                self.deliver(self.now(), host, link, own.offer());
                None
            }
        };
        if self.deliveries.next_key() == key {
            // There was no link to go on by. The key is nobody's.
            self.deliveries.skip_key();
        }
        let has_room = receiver.is_some_and(|receiver| self.takes_more(receiver)) || self.may_send(link);
        if !has_room && let Some(link) = self.links.get(link.0) {
            host.no_room(link.host);
        }
    }

    /// As [`Core::deliver`], for a delivery of the surroundings' own on a link that is one with that of a peer.
    pub fn deliver_own(&mut self, now: Now, host: &mut H, link: LinkKey, own: OwnDelivery<'_>) -> Offered {
        self.tick(now);
        match self.plain_receiver(link) {
            Some(receiver) => self.send_own(host, link, receiver, own),
            None => self.deliver(now, host, link, own.offer()),
        }
    }

    /// The other one of two links that are one, if a delivery can go out on that at once, and not settled.
    #[inline]
    fn plain_receiver(&self, link: LinkKey) -> Option<u32> {
        let receiver = self.partner(self.links.get(link.0).filter(|link| link.incoming)?)?;
        (self.is_ready(receiver) && !self.links[receiver].send_settled).then_some(receiver)
    }

    fn send_own(&mut self, host: &mut H, link: LinkKey, receiver: u32, own: OwnDelivery<'_>) -> Offered {
        let sender = &mut self.links[index_of(link.0)];
        sender.counters.deliveries += 1;
        sender.hold_credit(self.clock);
        sender.unsettled += 1;
        let connection = &mut self.connections[sender.conn];
        connection.last_delivery = Some(self.clock.second);
        self.statistics.deliveries_ingress += 1;
        self.statistics.deliveries_ingress_route_container += u64::from(connection.route_container);
        let (key, tag) = (self.deliveries.next_key(), self.next_tag);
        self.next_tag += 1;
        let onward = &mut self.links[receiver];
        let connection = &mut self.connections[onward.conn];
        onward.count_transmission(connection, &mut self.addresses, &mut self.statistics, self.clock);
        let how = Transmit {
            settled: false,
            tag,
            stamp: 0,
            to_override: None,
            phase: 0,
            annotate: connection.annotate,
            anew: false,
            routed_tag: Some(own.tag),
            state: None,
            manner: Manner::default(),
            passing: None,
        };
        let transmitted = host.transmit(onward.host, OutKey(key), None, &how);
        let passage = Passage::own(link.0, own.id, self.clock.millis);
        self.record(host, receiver, &passage, transmitted)
    }

    /// Makes the record of a delivery that was transmitted, and not accepted at once.
    fn record(
        &mut self,
        host: &mut H,
        receiver: u32,
        passage: &Passage<'_, H::Content>,
        transmitted: Transmitted,
    ) -> Offered {
        let key = self.deliveries.insert(Delivery::direct(receiver, passage, false, 0));
        let place = match transmitted {
            Transmitted::Complete => Place::Sent,
            Transmitted::Partial => Place::Transmitting,
            Transmitted::Accepted | Transmitted::Passed => {
                self.links[receiver].count_sent(&mut self.statistics, self.clock, passage.born);
                self.accepted_at_once(host, OutKey(key));
                return Offered::Done;
            }
        };
        let (link, delivery) = (&mut self.links[receiver], &mut self.deliveries[index_of(key)]);
        delivery.place = place;
        match place {
            Place::Sent => link.count_sent(&mut self.statistics, self.clock, passage.born),
            _ => link.busy = index_of(key),
        }
        let last = link.list_sent(index_of(key), delivery);
        let weighed = link.weighed;
        if last != NONE {
            self.deliveries[last].next = index_of(key);
        }
        if weighed {
            self.load_changed(receiver);
        }
        Offered::Tracked(InKey(key))
    }
}
