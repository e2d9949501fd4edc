//! What a receiver says of a delivery finds its way to the sender.

use amqp::DeliveryState;
use amqp::state::Modified;

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::{Delivery, Outcome, Place};
use crate::forward::multicast::combine;
use crate::{Host, Now, OutKey};

/// What is left of a delivery when the side that came in is over.
pub(crate) struct End {
    pub(crate) sender: u64,
    pub(crate) delivery_id: u32,
    /// The sender has settled.
    pub(crate) settled: bool,
    pub(crate) stuck: bool,
    pub(crate) born: u32,
    pub(crate) state: Option<DeliveryState>,
}

impl End {
    fn of<C>(delivery: &mut Delivery<C>) -> Self {
        Self {
            sender: delivery.sender,
            delivery_id: delivery.delivery_id,
            settled: delivery.sender_settled,
            stuck: delivery.sender_stuck,
            born: delivery.born,
            state: delivery.state.take(),
        }
    }
}

impl<H: Host> Core<H> {
    /// The receiving peer told a state of a delivery, or settled it, or both.
    pub fn outcome(&mut self, now: Now, host: &mut H, delivery: OutKey, state: Option<DeliveryState>, settled: bool) {
        self.tick(now);
        let state = match state {
            Some(DeliveryState::Other(bytes)) => Some(self.without_transaction(host, delivery, bytes)),
            // As the old router tells it: whatever is modified counts as an attempt that failed. What passes between two
            // links that are one stays as it is.
            Some(DeliveryState::Modified(modified)) if !modified.delivery_failed && !self.is_routed(delivery) => {
                Some(DeliveryState::Modified(Box::new(Modified { delivery_failed: true, ..*modified })))
            }
            state => state,
        };
        let Some(copy) = self.deliveries.get_mut(delivery.0).filter(|copy| copy.is_with_receiver()) else { return };
        let outcome = Outcome::of(state.as_ref());
        // The first terminal state is final.
        let open = copy.is_undecided();
        if open && outcome != Outcome::None {
            copy.outcome = outcome;
        }
        let origin = if copy.direct { delivery.0 } else { copy.origin };
        let state = if open { state } else { None };
        let at_once = settled && copy.direct && copy.complete && copy.place == Place::Sent;
        if origin == 0 && open && !copy.presettled {
            self.tell_own_outcome(host, delivery, outcome, settled);
        }
        if at_once {
            self.settle_direct(host, delivery, state);
        } else if settled {
            self.end_settled(host, delivery);
            self.copy_resolved(host, origin, state, open);
        } else if let Some(state) = state {
            self.copy_updated(host, origin, state, outcome.is_terminal());
        }
    }

    /// Whether a delivery went out on a link that is one with another.
    fn is_routed(&self, delivery: OutKey) -> bool {
        let link = self.deliveries.get(delivery.0).map(|delivery| delivery.link).filter(|link| *link != NONE);
        link.is_some_and(|link| self.links[link].routed.is_some())
    }

    /// The most frequent end of a delivery: both its sides are over at once. The same as the general way, in one step.
    fn settle_direct(&mut self, host: &mut H, key: OutKey, state: Option<DeliveryState>) {
        let index = index_of(key.0);
        let delivery = &mut self.deliveries[index];
        let (listed, stuck, counted) = (delivery.listed(), delivery.stuck, delivery.counted);
        let link = &mut self.links[listed.link];
        link.unsettled -= u32::from(!delivery.settled);
        link.count_concluded(&mut self.statistics, self.clock, delivery);
        let weighed = link.weighed;
        let mut end = End::of(delivery);
        if !matches!(state, None | Some(DeliveryState::Received { .. })) {
            end.state = state;
        }
        self.deliveries.discard(index);
        self.unlist_sent(listed);
        if weighed {
            self.load_changed(listed.link);
        }
        if stuck || counted != 0 {
            self.uncount(listed.link, stuck, counted);
        }
        self.end(host, end);
    }

    /// A copy that is in no list of its link was accepted and settled as it was transmitted.
    pub(crate) fn accepted_at_once(&mut self, host: &mut H, key: OutKey) {
        let index = index_of(key.0);
        let delivery = &mut self.deliveries[index];
        delivery.outcome = Outcome::Accepted;
        self.links[delivery.link].count_concluded(&mut self.statistics, self.clock, delivery);
        let state = Some(DeliveryState::Accepted);
        if delivery.direct && delivery.complete && delivery.counted == 0 {
            // As mostly: both of its sides are over.
            let end = End { state, ..End::of(delivery) };
            self.deliveries.discard(index);
            return self.end(host, end);
        }
        let (presettled, origin) = (delivery.presettled, if delivery.direct { key.0 } else { delivery.origin });
        if origin == 0 && !presettled {
            self.tell_own_outcome(host, key, Outcome::Accepted, true);
        }
        self.forget_copy(host, key.0);
        self.copy_resolved(host, origin, state, true);
    }

    /// A copy that is being or was transmitted is settled, by whichever side: it is counted and forgotten, though a
    /// transmission goes on to its end.
    pub(crate) fn end_settled(&mut self, host: &mut H, key: OutKey) {
        let Some(copy) = self.deliveries.get_mut(key.0) else { return };
        let listed = copy.listed();
        let unsettled = !std::mem::replace(&mut copy.settled, true);
        let link = &mut self.links[listed.link];
        link.unsettled -= u32::from(unsettled);
        link.count_concluded(&mut self.statistics, self.clock, copy);
        let weighed = link.weighed;
        if listed.place == Place::Transmitting {
            copy.resolved = true;
        } else {
            self.unlist_sent(listed);
            self.forget_copy(host, key.0);
        }
        if weighed {
            self.load_changed(listed.link);
        }
    }

    /// A copy got a state and is not settled.
    fn copy_updated(&mut self, host: &mut H, origin: u64, state: DeliveryState, decides: bool) {
        let Some(delivery) = self.deliveries.get_mut(origin) else { return };
        if delivery.multicast {
            if decides {
                delivery.undecided -= 1;
                combine(delivery, Some(state));
                self.tell_state(host, origin);
            }
        } else if !matches!(state, DeliveryState::Received { .. }) {
            delivery.state = Some(state);
            self.tell_state(host, origin);
        } else if !delivery.sender_settled
            && let Some(link) = self.links.get(delivery.sender)
        {
            // How far the receiver has come is told at once, even while the message is still coming.
            host.update_incoming(link.host, delivery.delivery_id, Some(state), false);
        }
    }

    /// A copy is settled, or gone, with `state` if any. `decides`: nothing terminal was known of it before.
    pub(crate) fn copy_resolved(&mut self, host: &mut H, origin: u64, state: Option<DeliveryState>, decides: bool) {
        let Some(delivery) = self.deliveries.get_mut(origin) else { return };
        delivery.unsettled -= 1;
        let (last, multicast) = (delivery.unsettled == 0, delivery.multicast);
        if !multicast {
            if !matches!(state, None | Some(DeliveryState::Received { .. })) {
                delivery.state = state;
            }
        } else if decides {
            delivery.undecided -= 1;
            combine(delivery, state);
        }
        if !last {
            if multicast && decides {
                self.tell_state(host, origin);
            }
        } else if delivery.complete {
            self.conclude(host, origin);
        }
    }

    /// Tells the sender the state of an unsettled delivery, once it is decided and the message complete.
    pub(crate) fn tell_state(&mut self, host: &mut H, origin: u64) {
        let Some(delivery) = self.deliveries.get(origin) else { return };
        let decided = !delivery.multicast || delivery.undecided == 0;
        if decided
            && delivery.complete
            && !delivery.sender_settled
            && delivery.state.is_some()
            && let Some(link) = self.links.get(delivery.sender)
        {
            host.update_incoming(link.host, delivery.delivery_id, delivery.state.clone(), false);
        }
    }

    /// All copies of a delivery are settled, or its sender has settled, and the message is complete: the side that came
    /// in is over.
    pub(crate) fn conclude(&mut self, host: &mut H, origin: u64) {
        let Some(delivery) = self.deliveries.get_mut(origin) else { return };
        let end = End::of(delivery);
        self.end_incoming(origin);
        self.end(host, end);
    }

    /// Tells the sender the end of a delivery, counts it, and gives its credit back.
    fn end(&mut self, host: &mut H, end: End) {
        if end.stuck {
            let link = self.links.get(end.sender).map(|_| index_of(end.sender));
            self.unstick(link);
        }
        if !end.settled {
            return self.end_unsettled(host, end);
        }
        if let Some(link) = self.links.get_mut(end.sender) {
            link.give_back(host, &mut self.statistics);
        }
    }

    /// The same for a delivery that its sender has not settled, as mostly, and that is not stuck any more.
    #[inline(always)] // There are two ways to it, both of them hot.
    pub(crate) fn end_unsettled(&mut self, host: &mut H, end: End) {
        let Some(link) = self.links.get_mut(end.sender) else { return };
        link.unsettled -= 1;
        link.count_outcome(&mut self.statistics, Outcome::of(end.state.as_ref()));
        link.count_settled_with_sender(&mut self.statistics, self.clock, end.born);
        host.update_incoming(link.host, end.delivery_id, end.state, true);
        link.give_back(host, &mut self.statistics);
    }

    /// The side that came in is over; a side that still goes out stays.
    pub(crate) fn end_incoming(&mut self, key: u64) {
        let Some(delivery) = self.deliveries.get_mut(key) else { return };
        if delivery.link == NONE {
            self.deliveries.discard(index_of(key));
        } else {
            delivery.direct = false;
            delivery.sender = 0;
            delivery.sender_stuck = false;
        }
    }

    /// A receiver is gone: what it had not seen is released, what it had begun to see is modified, as perhaps failed.
    /// What was settled is lost, and counted.
    pub(crate) fn receiver_gone(&mut self, host: &mut H, index: u32) {
        loop {
            let copy = self.links[index].sent_head;
            if copy == NONE {
                break;
            }
            self.lose_sent(host, copy);
        }
        loop {
            let copy = self.links[index].queue_head;
            if copy == NONE {
                break;
            }
            self.lose_queued(host, copy);
        }
    }

    fn lose_sent(&mut self, host: &mut H, index: u32) {
        let key = self.deliveries.key_at(index);
        let copy = &self.deliveries[index];
        let Delivery { presettled, resolved, link, .. } = *copy;
        let (decides, origin) = (copy.is_undecided(), if copy.direct { key } else { copy.origin });
        self.unlist_sent(copy.listed());
        self.forget_copy(host, key);
        if resolved {
            return;
        }
        if presettled {
            return self.links[link].count_presettled_dropped(&mut self.statistics);
        }
        let failed = Modified { delivery_failed: true, ..Modified::default() };
        let state = decides.then(|| DeliveryState::Modified(Box::new(failed)));
        self.copy_resolved(host, origin, state, decides);
    }

    fn lose_queued(&mut self, host: &mut H, index: u32) {
        let key = self.deliveries.key_at(index);
        let copy = &self.deliveries[index];
        if copy.presettled {
            return self.drop_queued(host, index);
        }
        let origin = if copy.direct { key } else { copy.origin };
        self.unlist_queued(copy.listed());
        self.forget_copy(host, key);
        self.copy_resolved(host, origin, Some(DeliveryState::Released), true);
    }
}
