//! What a sender says of its deliveries after they were offered: more of the message, the end of it, settlement.

use amqp::DeliveryState;

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::{Outcome, Place};
use crate::queue::Queued;
use crate::{Host, InKey, Now, OutKey};

impl<H: Host> Core<H> {
    /// The sending peer told a state of a delivery, or settled it, or both.
    pub fn sender_outcome(
        &mut self,
        now: Now,
        host: &mut H,
        delivery: InKey,
        state: Option<DeliveryState>,
        settled: bool,
    ) {
        self.tick(now);
        let Some(record) = self.incoming.get(delivery.0).filter(|record| !record.settled) else { return };
        let mut copy = record.copies;
        while copy != NONE {
            let next = self.outgoing[copy].copy_next;
            self.tell_receiver(host, copy, state.as_ref(), settled);
            copy = next;
        }
        if settled {
            self.sender_settled(host, delivery.0, false);
        }
    }

    fn tell_receiver(&mut self, host: &mut H, copy: u32, state: Option<&DeliveryState>, settled: bool) {
        let key = OutKey(self.outgoing.key_at(copy));
        let out = &mut self.outgoing[copy];
        let link = &mut self.links[out.link];
        match out.place {
            // It will go out settled.
            Place::Queue if settled && !out.presettled => {
                out.settled = true;
                out.presettled = true;
                link.queued_presettled += 1;
            }
            Place::Queue => {}
            Place::Transmitting | Place::Sent if out.settled => {}
            Place::Transmitting | Place::Sent => {
                host.update_outgoing(link.host, key, state.cloned(), settled);
                if settled {
                    self.end_settled(host, key);
                }
            }
        }
    }

    /// The sender has settled: nothing can be told to it any more. `with_message`: it did so with the last transfer, so
    /// that the delivery counts as presettled.
    fn sender_settled(&mut self, host: &mut H, key: u64, with_message: bool) {
        let Some(delivery) = self.incoming.get_mut(key) else { return };
        delivery.settled = true;
        let (born, complete, link) = (delivery.born, delivery.complete, delivery.link);
        let outcome = Outcome::of(delivery.state.as_ref());
        if std::mem::take(&mut delivery.stuck) {
            let link = self.links.get(link).map(|_| index_of(link));
            self.unstick(link);
        }
        if let Some(link) = self.links.get_mut(link) {
            link.unsettled -= 1;
            if with_message {
                link.count_presettled(&mut self.statistics);
            } else {
                link.count_outcome(&mut self.statistics, outcome);
            }
            link.count_settled(&mut self.statistics, self.clock, born);
        }
        if complete {
            self.conclude(host, key);
        }
    }

    /// The rest of a streamed message is there. `settled`: the sender has settled by now.
    pub fn received(&mut self, now: Now, host: &mut H, delivery: InKey, settled: bool) {
        self.tick(now);
        let Some(record) = self.incoming.get_mut(delivery.0).filter(|record| !record.complete) else { return };
        record.complete = true;
        let (settled_before, mut copy) = (record.settled, record.copies);
        if let Some(link) = self.links.get_mut(record.link) {
            link.arriving = 0;
        }
        if settled && !settled_before {
            while copy != NONE {
                let next = self.outgoing[copy].copy_next;
                self.tell_receiver(host, copy, None, true);
                copy = next;
            }
            self.sender_settled(host, delivery.0, true);
        } else if settled_before || self.incoming[index_of(delivery.0)].unsettled == 0 {
            self.conclude(host, delivery.0);
        } else {
            self.tell_state(host, delivery.0);
        }
    }

    /// The sender aborted a streamed message, or was lost in the middle of it.
    pub fn aborted(&mut self, now: Now, host: &mut H, delivery: InKey) {
        self.tick(now);
        let Some(record) = self.incoming.get_mut(delivery.0).filter(|record| !record.complete) else { return };
        record.complete = true;
        let mut copy = record.copies;
        while copy != NONE {
            let next = self.outgoing[copy].copy_next;
            self.abort_copy(host, copy);
            copy = next;
        }
        let Some(record) = self.incoming.remove(delivery.0) else { return };
        if record.stuck {
            let link = self.links.get(record.link).map(|_| index_of(record.link));
            self.unstick(link);
        }
        if let Some(link) = self.links.get_mut(record.link) {
            link.arriving = 0;
            link.unsettled -= u32::from(!record.settled);
            link.give_back(host, &mut self.statistics);
        }
    }

    fn abort_copy(&mut self, host: &mut H, copy: u32) {
        let key = OutKey(self.outgoing.key_at(copy));
        let (place, settled) = (Queued::of(&self.outgoing[copy]), self.outgoing[copy].settled);
        match place.place {
            Place::Queue => {
                self.unlist_queued(&place);
                self.forget_copy(host, key.0);
            }
            Place::Transmitting => {
                host.abort(self.links[place.link].host, key);
                self.unlist_sent(&place);
                self.links[place.link].unsettled -= u32::from(!settled);
                self.load_changed(place.link);
                self.forget_copy(host, key.0);
                self.push_queue(host, place.link);
            }
            // All of it was taken, contrary to what the sender says: the receiver will settle it.
            Place::Sent => {}
        }
    }

    /// A sender is gone: what it had begun to send is aborted, the rest goes on its way.
    pub(crate) fn sender_gone(&mut self, host: &mut H, index: u32) {
        let arriving = self.links[index].arriving;
        if arriving != 0 {
            let now = self.now();
            self.aborted(now, host, InKey(arriving));
        }
    }
}
