//! A copy goes out: at once if its link can take it, else through the link's queue.

use std::sync::Arc;

use amqp::DeliveryState;

use crate::address::key::phase_of_key;
use crate::address::table::Addresses;
use crate::arena::{NONE, index_of};
use crate::connection::Connection;
use crate::core::{Clock, Core};
use crate::delivery::{Delivery, Listed, Outcome, Override, Place, Said, Wrapping};
use crate::forward::Passage;
use crate::link::Link;
use crate::{Host, Now, OutKey, Role, RouterStatistics, Transmit, Transmitted};

impl<H: Host> Link<H> {
    /// Counts that a delivery goes out, and spends its credit.
    #[inline(always)] // There are two ways to it, both of them hot.
    pub(crate) fn count_transmission(
        &mut self,
        connection: &mut Connection<H>,
        addresses: &mut Addresses,
        router: &mut RouterStatistics,
        clock: Clock,
    ) {
        self.spend_credit(clock);
        self.counters.deliveries += 1;
        connection.last_delivery = Some(clock.second);
        // What goes on to another router was counted when it was forwarded.
        if self.addr != NONE {
            let address = &mut addresses[self.addr];
            address.egress += 1;
            router.deliveries_egress += 1;
            if connection.route_container {
                address.rare().egress_route_container += 1;
                router.deliveries_egress_route_container += 1;
            }
        } else if self.routed.is_some() && connection.info.role == Role::InterRouter {
            router.deliveries_transit += 1;
        } else if self.routed.is_some() {
            router.deliveries_egress += 1;
            router.deliveries_egress_route_container += u64::from(connection.route_container);
        }
    }

    /// Puts a copy that was transmitted, or is being, at the end of the list of those. The one before it, whose next one it is.
    #[inline(always)] // The same.
    pub(crate) fn list_sent(&mut self, copy: u32, delivery: &mut Delivery<H::Content>) -> u32 {
        let last = std::mem::replace(&mut self.sent_tail, copy);
        self.unsettled += u32::from(!delivery.settled);
        delivery.prev = last;
        delivery.next = NONE;
        if last == NONE {
            self.sent_head = copy;
        }
        last
    }
}

impl<H: Host> Core<H> {
    /// Makes the record of a delivery that goes out, and transmits or queues it. Returns its key.
    pub(crate) fn send(
        &mut self,
        host: &mut H,
        delivery: Delivery<H::Content>,
        passage: &mut Passage<'_, H::Content>,
    ) -> u64 {
        let link = &self.links[delivery.link];
        let connection = &self.connections[link.conn];
        let idle = link.queue_head == NONE && link.busy == NONE;
        let ready = idle && link.credit > 0 && connection.writable;
        // Few messages have one: only for those is it looked up.
        let stamp = if passage.stamp != 0 && connection.info.shares { passage.stamp } else { 0 };
        let (tag, anew) = (self.next_tag, passage.anew);
        let mut wrapping = Wrapping { tag, stamp, phase: 0, anew, to_override: Override::None };
        self.next_tag += 1;
        let said = passage.said();
        if connection.annotate && said.tag.is_none() {
            if passage.addr != NONE {
                wrapping.phase = phase_of_key(&self.addresses[passage.addr].key);
            }
            wrapping.to_override = self.override_for(passage);
        } else if let Some(given) = passage.to_override.filter(|_| connection.info.internal) {
            wrapping.to_override = Override::Given(given);
        }
        let (direct, origin) = (delivery.direct, delivery.origin);
        let key = self.deliveries.insert(delivery);
        if origin != 0 {
            self.list_among_copies(index_of(key), origin);
        } else if direct && !passage.complete {
            self.links[index_of(passage.link)].arriving = key;
        }
        if ready {
            self.transmit(host, OutKey(key), passage.content, &wrapping.borrowed(), said);
        } else {
            self.enqueue(host, index_of(key), passage, wrapping);
        }
        key
    }

    /// What `x-opt-qd.to` is to say: what the message said, or else the target of the link it came in on.
    fn override_for<'p>(&mut self, passage: &Passage<'p, H::Content>) -> Override<'p> {
        if let Some(given) = passage.to_override {
            return Override::Given(given);
        }
        let Some(link) = self.links.get_mut(passage.link).filter(|link| link.addr != NONE) else {
            return Override::None;
        };
        if link.to_override.is_none() {
            link.to_override = self.addresses[link.addr].mobile_text().map(Arc::from);
        }
        link.to_override.clone().map_or(Override::None, Override::Shared)
    }

    /// Puts a copy at the front of the list of copies of its delivery.
    fn list_among_copies(&mut self, copy: u32, origin: u64) {
        if let Some(delivery) = self.deliveries.get_mut(origin) {
            let first = std::mem::replace(&mut delivery.next_copy, copy);
            if first != NONE {
                self.deliveries[copy].next_copy = first;
                self.deliveries[first].prev_copy = copy;
            }
        }
    }

    /// Takes a copy that is being forgotten out of the list of copies of its delivery.
    fn unlist_from_copies(&mut self, copy: &Delivery<H::Content>) {
        if copy.prev_copy != NONE {
            self.deliveries[copy.prev_copy].next_copy = copy.next_copy;
        } else if let Some(delivery) = self.deliveries.get_mut(copy.origin) {
            delivery.next_copy = copy.next_copy;
        }
        if copy.next_copy != NONE {
            self.deliveries[copy.next_copy].prev_copy = copy.prev_copy;
        }
    }

    /// Transmits a copy that is in no list of its link. The link has credit and is not busy.
    pub(crate) fn transmit(
        &mut self,
        host: &mut H,
        key: OutKey,
        content: Option<&H::Content>,
        wrapping: &Wrapping<Option<&str>>,
        said: Said<'_>,
    ) {
        let copy = index_of(key.0);
        let delivery = &mut self.deliveries[copy];
        let index = delivery.link;
        let link = &mut self.links[index];
        let connection = &mut self.connections[link.conn];
        link.count_transmission(connection, &mut self.addresses, &mut self.statistics, self.clock);
        let how = Transmit {
            settled: delivery.settled,
            tag: wrapping.tag,
            stamp: wrapping.stamp,
            to_override: wrapping.to_override,
            phase: wrapping.phase,
            annotate: connection.annotate,
            anew: wrapping.anew,
            routed_tag: said.tag,
            state: said.state,
            manner: said.manner,
            passing: None,
        };
        let transmitted = host.transmit(link.host, key, content, &how);
        if transmitted != Transmitted::Partial {
            link.count_sent(&mut self.statistics, self.clock, delivery.born);
        }
        match transmitted {
            Transmitted::Complete if delivery.settled => return self.settled_sent(host, key),
            Transmitted::Complete => delivery.place = Place::Sent,
            // It was not to be passed on.
            Transmitted::Accepted | Transmitted::Passed => return self.accepted_at_once(host, key),
            Transmitted::Partial => {
                delivery.place = Place::Transmitting;
                link.busy = copy;
            }
        }
        let last = link.list_sent(copy, delivery);
        let weighed = link.weighed;
        if last != NONE {
            self.deliveries[last].next = copy;
        }
        if weighed {
            self.load_changed(index);
        }
    }

    /// A settled copy, in no list of its link any more, has been transmitted: that is its end.
    fn settled_sent(&mut self, host: &mut H, key: OutKey) {
        let Some(copy) = self.deliveries.get(key.0) else { return };
        let link = &mut self.links[copy.link];
        if copy.presettled {
            link.count_presettled(&mut self.statistics);
        } else {
            link.count_outcome(&mut self.statistics, Outcome::Accepted);
        }
        link.count_settled(&mut self.statistics, self.clock, copy.born);
        link.counters.count_ingress(copy.ingress);
        let (presettled, origin) = (copy.presettled, if copy.direct { key.0 } else { copy.origin });
        self.forget_copy(host, key.0);
        if !presettled {
            // The receiver wanted it settled; for the sender that is as good as accepted.
            self.copy_resolved(host, origin, Some(DeliveryState::Accepted), true);
        }
    }

    /// Forgets a copy that is in no list of its link any more. The credit it owes is paid.
    pub(crate) fn forget_copy(&mut self, host: &mut H, key: u64) {
        let Some(copy) = self.deliveries.get_mut(key) else { return };
        let (link, stuck, counted) = (copy.link, copy.stuck, copy.counted);
        let waiting = copy.waiting.take();
        if copy.direct {
            copy.link = NONE;
            copy.stuck = false;
            copy.counted = 0;
        } else if let Some(copy) = self.deliveries.remove(key)
            && copy.origin != 0
        {
            self.unlist_from_copies(&copy);
        }
        if stuck || counted != 0 {
            self.uncount(link, stuck, counted);
        }
        if let Some(waiting) = waiting {
            self.left_queue(host, &waiting);
        }
    }

    /// A copy on this link is over that was seen stuck, or counted as outstanding with a neighbour.
    #[inline(never)]
    pub(crate) fn uncount(&mut self, link: u32, stuck: bool, counted: u64) {
        if stuck {
            self.unstick(Some(link));
        }
        if counted != 0 {
            self.no_longer_outstanding(counted, link);
        }
    }

    /// Takes a copy out of its link's list of transmitted ones.
    pub(crate) fn unlist_sent(&mut self, copy: Listed) {
        let link = &mut self.links[copy.link];
        if copy.place == Place::Transmitting {
            link.busy = NONE;
        }
        match copy.prev {
            NONE => link.sent_head = copy.next,
            prev => self.deliveries[prev].next = copy.next,
        }
        match copy.next {
            NONE => link.sent_tail = copy.prev,
            next => self.deliveries[next].prev = copy.prev,
        }
    }

    /// A delivery that [`Host::transmit`] took in part only is out completely.
    pub fn transmitted(&mut self, now: Now, host: &mut H, delivery: OutKey) {
        self.tick(now);
        let Some(copy) = self.deliveries.get_mut(delivery.0).filter(|copy| copy.is_transmitting()) else { return };
        let (listed, resolved) = (copy.listed(), copy.resolved);
        self.links[listed.link].count_sent(&mut self.statistics, self.clock, copy.born);
        if copy.settled {
            self.unlist_sent(listed);
            if resolved {
                self.forget_copy(host, delivery.0);
            } else {
                self.settled_sent(host, delivery);
            }
        } else {
            copy.place = Place::Sent;
            self.links[listed.link].busy = NONE;
        }
        self.push_queue(host, listed.link);
    }
}
