//! A copy goes out: at once if its link can take it, else through the link's queue.

use std::sync::Arc;

use amqp::DeliveryState;

use crate::address::key::phase_of_key;
use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::{Out, Outcome, Place};
use crate::forward::Passage;
use crate::queue::Queued;
use crate::{Host, Now, OutKey, Transmit, Transmitted};

impl<H: Host> Core<H> {
    /// Makes a copy for a link, and transmits or queues it.
    pub(crate) fn send_copy(&mut self, host: &mut H, link: u32, passage: &mut Passage<'_, H::Content>) {
        let record = &self.links[link];
        let connection = &self.connections[record.conn];
        let idle = record.queue_head == NONE && record.busy == NONE;
        let ready = idle && record.credit > 0 && connection.writable;
        let annotate = connection.annotate;
        let mut out = Out::new(link, passage.origin, self.next_tag, passage.born);
        self.next_tag += 1;
        out.presettled = passage.settled;
        out.settled = passage.settled || record.send_settled;
        out.from_link = passage.link != 0;
        if annotate {
            out.phase = phase_of_key(&self.addresses[record.addr].key);
            out.to_override = self.override_for(passage);
        }
        let key = self.outgoing.insert(out);
        if passage.origin != 0 {
            self.list_among_copies(index_of(key), passage.origin);
        }
        if ready {
            self.transmit(host, OutKey(key), passage.content);
        } else {
            self.enqueue(host, index_of(key), passage);
        }
    }

    /// What `x-opt-qd.to` is to say: what the message said, or else the target of the link it came in on.
    fn override_for(&mut self, passage: &Passage<'_, H::Content>) -> Option<Arc<str>> {
        if let Some(given) = passage.to_override {
            return Some(Arc::from(given));
        }
        let link = self.links.get_mut(passage.link).filter(|link| link.addr != NONE)?;
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

    /// Takes a copy that is being forgotten out of the list of copies of its delivery.
    pub(crate) fn unlist_from_copies(&mut self, out: &Out<H::Content>) {
        if out.copy_prev != NONE {
            self.outgoing[out.copy_prev].copy_next = out.copy_next;
        } else if let Some(delivery) = self.incoming.get_mut(out.origin) {
            delivery.copies = out.copy_next;
        }
        if out.copy_next != NONE {
            self.outgoing[out.copy_next].copy_prev = out.copy_prev;
        }
    }

    /// Transmits a copy that is in no list of its link. The link has credit and is not busy.
    pub(crate) fn transmit(&mut self, host: &mut H, key: OutKey, content: Option<&H::Content>) {
        let copy = index_of(key.0);
        let out = &mut self.outgoing[copy];
        let index = out.link;
        let link = &mut self.links[index];
        link.spend_credit(self.clock);
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
        match host.transmit(link.host, key, content, &how) {
            Transmitted::Complete if out.settled => return self.settled_sent(host, key),
            Transmitted::Complete => out.place = Place::Sent,
            Transmitted::Partial => {
                out.place = Place::Transmitting;
                link.busy = copy;
            }
        }
        let last = std::mem::replace(&mut link.sent_tail, copy);
        link.unsettled += u32::from(!out.settled);
        out.prev = last;
        out.next = NONE;
        let weighed = link.weighed;
        match last {
            NONE => link.sent_head = copy,
            last => self.outgoing[last].next = copy,
        }
        if weighed {
            self.load_changed(index);
        }
    }

    /// A settled copy, in no list of its link any more, has been transmitted: that is its end.
    fn settled_sent(&mut self, host: &mut H, key: OutKey) {
        let Some(out) = self.forget_copy(host, key.0) else { return };
        let link = &mut self.links[out.link];
        if out.presettled {
            link.count_presettled(&mut self.statistics);
        } else {
            link.count_outcome(&mut self.statistics, Outcome::Accepted);
        }
        link.count_settled(&mut self.statistics, self.clock, out.born);
        link.counters.from_here += u64::from(out.from_link);
        if !out.presettled {
            // The receiver wanted it settled; for the sender that is as good as accepted.
            self.copy_resolved(host, out.origin, Some(DeliveryState::Accepted), true);
        }
    }

    /// Forgets a copy that is in no list of its link any more. The credit it owes is paid.
    pub(crate) fn forget_copy(&mut self, host: &mut H, key: u64) -> Option<Out<H::Content>> {
        let out = self.outgoing.remove(key)?;
        if out.origin != 0 {
            self.unlist_from_copies(&out);
        }
        if out.stuck {
            self.unstick(Some(out.link));
        }
        if out.owes_credit != 0
            && let Some(sender) = self.links.get_mut(out.owes_credit)
        {
            sender.give_back(host, &mut self.statistics);
        }
        Some(out)
    }

    /// Takes a copy out of its link's list of transmitted ones.
    pub(crate) fn unlist_sent(&mut self, out: &Queued) {
        let link = &mut self.links[out.link];
        if out.place == Place::Transmitting {
            link.busy = NONE;
        }
        match out.prev {
            NONE => link.sent_head = out.next,
            prev => self.outgoing[prev].next = out.next,
        }
        match out.next {
            NONE => link.sent_tail = out.prev,
            next => self.outgoing[next].prev = out.prev,
        }
    }

    /// A delivery that [`Host::transmit`] took in part only is out completely.
    pub fn transmitted(&mut self, now: Now, host: &mut H, delivery: OutKey) {
        self.tick(now);
        let Some(out) = self.outgoing.get_mut(delivery.0).filter(|out| out.place == Place::Transmitting) else {
            return;
        };
        let index = out.link;
        if out.settled || out.resolved {
            let (place, resolved) = (Queued::of(out), out.resolved);
            self.unlist_sent(&place);
            if resolved {
                self.forget_copy(host, delivery.0);
            } else {
                self.settled_sent(host, delivery);
            }
        } else {
            out.place = Place::Sent;
            self.links[index].busy = NONE;
        }
        self.push_queue(host, index);
    }
}
