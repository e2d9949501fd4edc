//! A copy goes out: at once if its link can take it, else through the link's queue.

use std::sync::Arc;

use crate::address::key::phase_of_key;
use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::{Out, Outcome, Place};
use crate::forward::Passage;
use crate::{Host, Now, OutKey, Transmit, Transmitted};

impl<H: Host> Core<H> {
    /// Makes a copy for a link, and transmits or queues it.
    pub(crate) fn send_copy(&mut self, host: &mut H, link: u32, passage: &mut Passage<'_, H::Content>) {
        let (annotate, ready) = {
            let record = &self.links[link];
            let connection = &self.connections[record.conn];
            let idle = record.queue_head == NONE && record.busy == NONE;
            (connection.annotate, idle && record.credit > 0 && connection.writable)
        };
        let tag = self.next_tag;
        self.next_tag += 1;
        let mut out = Out::new(link, passage.origin, tag, passage.born);
        out.presettled = passage.settled;
        out.settled = passage.settled || self.links[link].send_settled;
        out.from_link = passage.link != NONE;
        if annotate {
            out.to_override = self.to_override(passage);
            out.phase = phase_of_key(&self.addresses[self.links[link].addr].key);
        }
        let key = self.outgoing.insert(out);
        let copy = index_of(key);
        self.list_among_copies(copy, passage.origin);
        if ready {
            self.transmit(host, copy, passage.content);
        } else {
            self.enqueue(host, copy, passage);
        }
    }

    /// What `x-opt-qd.to` is to say: what the message said, or else the target of the link it came in on.
    fn to_override(&mut self, passage: &Passage<'_, H::Content>) -> Option<Arc<str>> {
        if let Some(given) = passage.to_override {
            return Some(Arc::from(given));
        }
        if passage.link == NONE || self.links[passage.link].addr == NONE {
            return None;
        }
        let link = &mut self.links[passage.link];
        if link.to_override.is_none() {
            link.to_override = self.addresses[link.addr].mobile_text().map(Arc::from);
        }
        link.to_override.clone()
    }

    /// Puts a copy at the front of the list of copies of its delivery.
    fn list_among_copies(&mut self, copy: u32, origin: u64) {
        if let Some(delivery) = self.incoming.get_mut(origin) {
            let first = std::mem::replace(&mut delivery.copies, copy);
            if first != NONE {
                self.outgoing[copy].copy_next = first;
                self.outgoing[first].copy_prev = copy;
            }
        }
    }

    /// Transmits a copy that is in no list of its link. The link has credit and is not busy.
    fn transmit(&mut self, host: &mut H, copy: u32, content: Option<&H::Content>) {
        let key = OutKey(self.outgoing.key_at(copy));
        let index = self.outgoing[copy].link;
        self.spend_credit(index);
        let out = &self.outgoing[copy];
        let link = &mut self.links[index];
        link.counters.deliveries += 1;
        let connection = &mut self.connections[link.conn];
        connection.last_delivery = Some(self.clock.second);
        let address = &mut self.addresses[link.addr];
        address.egress += 1;
        self.statistics.deliveries_egress += 1;
        if connection.route_container {
            address.rare().egress_route_container += 1;
            self.statistics.deliveries_egress_route_container += 1;
        }
        let how = Transmit {
            settled: out.settled,
            tag: out.tag,
            to_override: out.to_override.as_deref(),
            phase: out.phase,
            annotate: connection.annotate,
        };
        let settled = out.settled;
        match (host.transmit(link.host, key, content, &how), settled) {
            (Transmitted::Complete, true) => self.settled_sent(host, copy),
            (Transmitted::Complete, false) => self.list_sent(copy, Place::Sent),
            (Transmitted::Partial, _) => {
                link.busy = copy;
                self.list_sent(copy, Place::Transmitting);
            }
        }
    }

    /// Puts a copy at the end of its link's list of transmitted ones.
    fn list_sent(&mut self, copy: u32, place: Place) {
        let out = &mut self.outgoing[copy];
        out.place = place;
        let (index, settled) = (out.link, out.settled);
        let link = &mut self.links[index];
        let last = std::mem::replace(&mut link.sent_tail, copy);
        link.unsettled += u32::from(!settled);
        out.prev = last;
        out.next = NONE;
        match last {
            NONE => link.sent_head = copy,
            last => self.outgoing[last].next = copy,
        }
        self.load_changed(index);
    }

    /// Queues a copy whose link cannot take it now.
    fn enqueue(&mut self, host: &mut H, copy: u32, passage: &mut Passage<'_, H::Content>) {
        let content = match passage.content {
            Some(content) => content.clone(),
            None => host.retain(),
        };
        let index = self.outgoing[copy].link;
        if passage.settled {
            self.make_room(host, index);
        }
        let link = &mut self.links[index];
        let out = &mut self.outgoing[copy];
        out.content = Some(content);
        // A settled delivery that the receiver's credit covers is held up by this router's side: it is not dropped, so
        // its sender must wait for it.
        if passage.settled
            && passage.complete
            && !passage.owed
            && passage.link != NONE
            && link.undelivered < link.credit
        {
            out.owes_credit = self.links.key_at(passage.link);
            passage.owed = true;
        }
        let link = &mut self.links[index];
        let last = std::mem::replace(&mut link.queue_tail, copy);
        link.undelivered += 1;
        link.queued_presettled += u32::from(passage.settled);
        out.prev = last;
        match last {
            NONE => link.queue_head = copy,
            last => self.outgoing[last].next = copy,
        }
        self.load_changed(index);
        self.wait_for_room(index);
    }

    /// Notes that a link has deliveries for a connection that cannot take them now.
    fn wait_for_room(&mut self, index: u32) {
        let key = self.links.key_at(index);
        let link = &mut self.links[index];
        let connection = &mut self.connections[link.conn];
        if !connection.writable && !std::mem::replace(&mut link.waiting, true) {
            connection.waiting.push(key);
        }
    }

    /// Before a presettled delivery is queued: if the queue is at the link's capacity, the presettled deliveries in it
    /// are dropped, except the first, and except those that the receiver has given credit for.
    fn make_room(&mut self, host: &mut H, index: u32) {
        let link = &self.links[index];
        if link.undelivered < link.capacity.max(link.credit) {
            return;
        }
        let (mut copy, mut position) = (link.queue_tail, link.undelivered);
        let (keep, mut droppable) = (link.credit.max(1), link.queued_presettled);
        while droppable > 0 && position > keep {
            position -= 1;
            let (previous, presettled) = (self.outgoing[copy].prev, self.outgoing[copy].presettled);
            if presettled {
                droppable -= 1;
                self.drop_queued(host, copy);
            }
            copy = previous;
        }
    }

    /// Drops a presettled copy that is queued.
    pub(crate) fn drop_queued(&mut self, host: &mut H, copy: u32) {
        let link = self.outgoing[copy].link;
        self.unlist_queued(copy);
        self.count_dropped(link);
        self.forget_copy(host, copy);
    }

    /// Takes a copy out of its link's queue.
    pub(crate) fn unlist_queued(&mut self, copy: u32) {
        let Out { link: index, prev, next, presettled, .. } = self.outgoing[copy];
        let link = &mut self.links[index];
        link.undelivered -= 1;
        link.queued_presettled -= u32::from(presettled);
        match prev {
            NONE => link.queue_head = next,
            prev => self.outgoing[prev].next = next,
        }
        match next {
            NONE => link.queue_tail = prev,
            next => self.outgoing[next].prev = prev,
        }
        self.load_changed(index);
    }

    /// Takes a copy out of its link's list of transmitted ones.
    pub(crate) fn unlist_sent(&mut self, copy: u32) {
        let Out { link: index, prev, next, place, .. } = self.outgoing[copy];
        let link = &mut self.links[index];
        if place == Place::Transmitting {
            link.busy = NONE;
        }
        match prev {
            NONE => link.sent_head = next,
            prev => self.outgoing[prev].next = next,
        }
        match next {
            NONE => link.sent_tail = prev,
            next => self.outgoing[next].prev = prev,
        }
    }

    /// Forgets a copy that is in no list of its link any more; the credit it owes is paid.
    pub(crate) fn forget_copy(&mut self, host: &mut H, copy: u32) {
        self.unlist_from_copies(copy);
        let Some(out) = self.outgoing.remove_at(copy) else { return };
        if out.stuck {
            self.unstick(Some(out.link));
        }
        if self.links.get(out.owes_credit).is_some() {
            self.give_back(host, index_of(out.owes_credit));
        }
    }

    /// Takes a copy out of the list of copies of its delivery.
    fn unlist_from_copies(&mut self, copy: u32) {
        let Out { origin, copy_prev: prev, copy_next: next, .. } = self.outgoing[copy];
        if prev != NONE {
            self.outgoing[prev].copy_next = next;
        } else if let Some(delivery) = self.incoming.get_mut(origin) {
            delivery.copies = next;
        }
        if next != NONE {
            self.outgoing[next].copy_prev = prev;
        }
    }

    /// A settled copy has been transmitted: that is its end.
    fn settled_sent(&mut self, host: &mut H, copy: u32) {
        let Out { link, presettled, from_link, origin, born, .. } = self.outgoing[copy];
        if presettled {
            self.count_presettled(link);
        } else {
            self.count_outcome(link, Outcome::Accepted);
        }
        self.count_settled(link, born);
        self.links[link].counters.from_here += u64::from(from_link);
        self.forget_copy(host, copy);
        if !presettled {
            // The receiver wanted it settled; for the sender that is as good as accepted.
            self.copy_resolved(host, origin, Some(amqp::DeliveryState::Accepted), true);
        }
    }

    /// Transmits what is queued, as far as credit and connection allow, and gives back credit that a draining receiver
    /// does not need.
    pub(crate) fn push_queue(&mut self, host: &mut H, index: u32) {
        loop {
            let link = &self.links[index];
            let copy = link.queue_head;
            if copy == NONE || link.credit == 0 || link.busy != NONE {
                break;
            }
            if !self.connections[link.conn].writable {
                return self.wait_for_room(index);
            }
            self.unlist_queued(copy);
            self.outgoing[copy].next = NONE;
            self.outgoing[copy].prev = NONE;
            let content = self.outgoing[copy].content.take();
            self.transmit(host, copy, content.as_ref());
        }
        let second = self.clock.second;
        let link = &mut self.links[index];
        if link.draining && link.queue_head == NONE {
            link.draining = false;
            if std::mem::take(&mut link.credit) > 0 {
                link.no_credit_since = second;
                host.drained(link.host);
            }
        }
    }

    /// A delivery that [`Host::transmit`] took in part only is out completely.
    pub fn transmitted(&mut self, now: Now, host: &mut H, delivery: OutKey) {
        self.tick(now);
        let Some(out) = self.outgoing.get_mut(delivery.0).filter(|out| out.place == Place::Transmitting) else {
            return;
        };
        let (copy, index) = (index_of(delivery.0), out.link);
        if out.settled || out.resolved {
            let resolved = out.resolved;
            self.unlist_sent(copy);
            if resolved {
                self.forget_copy(host, copy);
            } else {
                self.settled_sent(host, copy);
            }
        } else {
            out.place = Place::Sent;
            self.links[index].busy = NONE;
        }
        self.push_queue(host, index);
    }
}
