//! What a sender says of its deliveries after they were offered: more of the message, the end of it, settlement.

use amqp::DeliveryState;

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::{Delivery, KeptSaid, Outcome, Place};
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
        let Some(record) = self.deliveries.get(delivery.0) else { return };
        if record.sender == 0 || record.sender_settled {
            return;
        }
        self.for_each_copy(delivery.0, |core, copy| core.tell_receiver(host, copy, state.as_ref(), settled));
        if settled {
            self.sender_settled(host, delivery.0, false);
        }
    }

    /// Whether a delivery goes back to the connection it came in on, be it among others.
    pub fn comes_back(&self, delivery: InKey) -> bool {
        let Some(record) = self.deliveries.get(delivery.0) else { return false };
        let Some(sender) = self.links.get(record.sender) else { return false };
        self.any_copy(record, |copy| self.links[copy.link].conn == sender.conn)
    }

    /// Whether a delivery, or one copy of it, has not begun to leave.
    pub fn waits(&self, delivery: InKey) -> bool {
        let Some(record) = self.deliveries.get(delivery.0) else { return false };
        self.any_copy(record, |copy| copy.place == Place::Queue)
    }

    fn any_copy(&self, of: &Delivery<H::Content>, is: impl Fn(&Delivery<H::Content>) -> bool) -> bool {
        if of.link != NONE {
            return is(of);
        }
        let next = |copy: u32| Some(self.deliveries[copy].next_copy).filter(|next| *next != NONE);
        let mut copies = std::iter::successors(Some(of.next_copy).filter(|copy| *copy != NONE), |copy| next(*copy));
        copies.any(|copy| is(&self.deliveries[copy]))
    }

    /// Does something with each copy of a delivery; it may forget that copy, but no other.
    fn for_each_copy(&mut self, key: u64, mut action: impl FnMut(&mut Self, u64)) {
        let Some(delivery) = self.deliveries.get(key) else { return };
        if delivery.link != NONE {
            return action(self, key);
        }
        let mut copy = delivery.next_copy;
        while copy != NONE {
            let next = self.deliveries[copy].next_copy;
            action(self, self.deliveries.key_at(copy));
            copy = next;
        }
    }

    fn tell_receiver(&mut self, host: &mut H, key: u64, state: Option<&DeliveryState>, settled: bool) {
        let copy = &mut self.deliveries[index_of(key)];
        let link = &mut self.links[copy.link];
        if let (Some(waiting), Some(state)) = (&mut copy.waiting, state) {
            KeptSaid::amend(&mut waiting.said, state);
        }
        match copy.place {
            // It will go out settled.
            Place::Queue if settled && !copy.presettled => {
                copy.settled = true;
                copy.presettled = true;
                link.queued_presettled += 1;
            }
            Place::Queue => {}
            Place::Transmitting | Place::Sent if copy.settled => {}
            Place::Transmitting | Place::Sent => {
                host.update_outgoing(link.host, OutKey(key), state.cloned(), settled);
                if settled {
                    self.end_settled(host, OutKey(key));
                }
            }
        }
    }

    /// The sender has settled: nothing can be told to it any more. `with_message`: it did so with the last transfer, so
    /// that the delivery counts as presettled.
    fn sender_settled(&mut self, host: &mut H, key: u64, with_message: bool) {
        let Some(delivery) = self.deliveries.get_mut(key) else { return };
        delivery.sender_settled = true;
        let (born, complete, sender) = (delivery.born, delivery.complete, delivery.sender);
        let outcome = Outcome::of(delivery.state.as_ref());
        if std::mem::take(&mut delivery.sender_stuck) {
            let link = self.links.get(sender).map(|_| index_of(sender));
            self.unstick(link);
        }
        if let Some(link) = self.links.get_mut(sender) {
            link.unsettled -= 1;
            if with_message {
                link.count_presettled(&mut self.statistics);
            } else {
                link.count_outcome(&mut self.statistics, outcome);
            }
            link.count_settled_with_sender(&mut self.statistics, self.clock, born);
        }
        if complete {
            self.conclude(host, key);
        }
    }

    /// More of a streamed message is there, though not all of it: it is not stuck.
    pub fn moved(&mut self, now: Now, delivery: InKey) {
        self.tick(now);
        let millis = self.clock.millis;
        if let Some(record) = self.deliveries.get_mut(delivery.0) {
            record.moved = millis;
        }
    }

    /// The rest of a streamed message is there. `settled`: the sender has settled by now.
    pub fn received(&mut self, now: Now, host: &mut H, delivery: InKey, settled: bool) {
        self.tick(now);
        let Some(record) = self.deliveries.get_mut(delivery.0).filter(|record| !record.complete) else { return };
        record.complete = true;
        record.moved = self.clock.millis;
        let (settled_before, over) = (record.sender_settled, record.unsettled == 0 || record.taken);
        if let Some(link) = self.links.get_mut(record.sender) {
            link.arriving = 0;
        }
        if settled && !settled_before {
            self.for_each_copy(delivery.0, |core, copy| core.tell_receiver(host, copy, None, true));
            self.sender_settled(host, delivery.0, true);
        } else if settled_before || over {
            self.conclude(host, delivery.0);
        } else {
            self.tell_state(host, delivery.0);
        }
    }

    /// The sender aborted a streamed message, or was lost in the middle of it.
    pub fn aborted(&mut self, now: Now, host: &mut H, delivery: InKey) {
        self.tick(now);
        let Some(record) = self.deliveries.get_mut(delivery.0).filter(|record| !record.complete) else { return };
        record.complete = true;
        let (sender, settled, stuck) = (record.sender, record.sender_settled, record.sender_stuck);
        self.for_each_copy(delivery.0, |core, copy| core.abort_copy(host, copy));
        self.end_incoming(delivery.0);
        if stuck {
            let link = self.links.get(sender).map(|_| index_of(sender));
            self.unstick(link);
        }
        if let Some(link) = self.links.get_mut(sender) {
            link.arriving = 0;
            link.unsettled -= u32::from(!settled);
            link.give_back(host, &mut self.statistics);
        }
    }

    fn abort_copy(&mut self, host: &mut H, key: u64) {
        let copy = &self.deliveries[index_of(key)];
        let (listed, settled) = (copy.listed(), copy.settled);
        match listed.place {
            Place::Queue => {
                self.unlist_queued(listed);
                self.forget_copy(host, key);
                self.return_stream(listed.link);
            }
            Place::Transmitting => {
                host.abort(self.links[listed.link].host, OutKey(key));
                self.unlist_sent(listed);
                self.links[listed.link].unsettled -= u32::from(!settled);
                self.load_changed(listed.link);
                self.forget_copy(host, key);
                self.push_queue(host, listed.link);
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
