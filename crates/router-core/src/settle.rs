//! What a receiver says of a delivery finds its way to the sender.

use amqp::DeliveryState;

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::{Out, Outcome, Place};
use crate::forward::multicast::combine;
use crate::{Host, Now, OutKey};

impl<H: Host> Core<H> {
    /// The receiving peer told a state of a delivery, or settled it, or both.
    pub fn outcome(&mut self, now: Now, host: &mut H, delivery: OutKey, state: Option<DeliveryState>, settled: bool) {
        self.tick(now);
        let Some(out) = self.outgoing.get_mut(delivery.0) else { return };
        if out.place == Place::Queue || out.resolved {
            return;
        }
        let origin = out.origin;
        let state = match state {
            Some(DeliveryState::Other(bytes)) => Some(self.without_transaction(host, origin, bytes)),
            state => state,
        };
        let Some(out) = self.outgoing.get_mut(delivery.0) else { return };
        // The first terminal state is final.
        let decided = matches!(out.outcome, Outcome::None | Outcome::Other);
        let outcome = Outcome::of(state.as_ref());
        let decides = decided && (settled || !matches!(outcome, Outcome::None | Outcome::Other));
        let state = state.filter(|_| decided);
        if decided && outcome != Outcome::None {
            out.outcome = outcome;
        }
        if settled {
            self.end_settled(host, index_of(delivery.0));
            self.copy_resolved(host, origin, state, decides);
        } else if let Some(state) = state {
            self.copy_updated(host, origin, state, decides);
        }
    }

    /// A copy was settled, by whichever side: it is counted and forgotten, though a transmission goes on to its end.
    pub(crate) fn end_settled(&mut self, host: &mut H, copy: u32) {
        let out = &mut self.outgoing[copy];
        let Out { link: index, outcome, born, from_link, place, .. } = *out;
        if !out.settled {
            out.settled = true;
            self.links[index].unsettled -= 1;
        }
        self.count_outcome(index, outcome);
        self.count_settled(index, born);
        self.links[index].counters.from_here += u64::from(from_link);
        if place == Place::Transmitting {
            self.outgoing[copy].resolved = true;
        } else {
            self.unlist_sent(copy);
            self.forget_copy(host, copy);
        }
        self.load_changed(index);
    }

    /// A copy got a state and is not settled.
    fn copy_updated(&mut self, host: &mut H, origin: u64, state: DeliveryState, decides: bool) {
        let Some(delivery) = self.incoming.get_mut(origin) else { return };
        if !delivery.multicast {
            if !matches!(state, DeliveryState::Received { .. }) {
                delivery.state = Some(state.clone());
            } else if delivery.settled {
                return;
            } else if let Some(link) = self.links.get(delivery.link) {
                // How far the receiver has come is told at once, even while the message is still coming.
                return host.update_incoming(link.host, delivery.delivery_id, Some(state), false);
            }
            return self.tell_state(host, origin);
        }
        if decides {
            delivery.undecided -= 1;
            combine(delivery, Some(state));
            self.tell_state(host, origin);
        }
    }

    /// A copy is settled, or gone, with `state` if any. `decides`: nothing terminal was known of it before.
    pub(crate) fn copy_resolved(&mut self, host: &mut H, origin: u64, state: Option<DeliveryState>, decides: bool) {
        let Some(delivery) = self.incoming.get_mut(origin) else { return };
        delivery.unsettled -= 1;
        let last = delivery.unsettled == 0;
        let newly_decided = delivery.multicast && decides;
        if newly_decided {
            delivery.undecided -= 1;
            combine(delivery, state);
        } else if delivery.multicast {
            // Its state was combined when it came.
        } else if let Some(state) = state.filter(|state| !matches!(state, DeliveryState::Received { .. })) {
            delivery.state = Some(state);
        }
        if last {
            self.conclude(host, origin);
        } else if newly_decided {
            self.tell_state(host, origin);
        }
    }

    /// Tells the sender the state of an unsettled delivery, once it is decided and the message complete.
    pub(crate) fn tell_state(&mut self, host: &mut H, origin: u64) {
        let Some(delivery) = self.incoming.get(origin) else { return };
        let decided = !delivery.multicast || delivery.undecided == 0;
        if decided
            && delivery.complete
            && !delivery.settled
            && delivery.state.is_some()
            && let Some(link) = self.links.get(delivery.link)
        {
            host.update_incoming(link.host, delivery.delivery_id, delivery.state.clone(), false);
        }
    }

    /// All copies of a delivery are settled: so is the delivery, unless its message is still coming.
    pub(crate) fn conclude(&mut self, host: &mut H, origin: u64) {
        if !self.incoming.get(origin).is_some_and(|delivery| delivery.complete) {
            return;
        }
        if self.incoming[index_of(origin)].copies != NONE {
            self.orphan_copies(origin);
        }
        let Some(delivery) = self.incoming.remove(origin) else { return };
        let link = self.links.get(delivery.link).map(|_| index_of(delivery.link));
        if delivery.stuck {
            self.unstick(link);
        }
        let Some(link) = link else { return };
        if !delivery.settled {
            self.links[link].unsettled -= 1;
            self.count_outcome(link, Outcome::of(delivery.state.as_ref()));
            self.count_settled(link, delivery.born);
            host.update_incoming(self.links[link].host, delivery.delivery_id, delivery.state, true);
        }
        self.give_back(host, link);
    }

    /// Copies of a delivery whose record goes no longer have anyone to report to.
    pub(crate) fn orphan_copies(&mut self, origin: u64) {
        let Some(delivery) = self.incoming.get_mut(origin) else { return };
        let mut copy = std::mem::replace(&mut delivery.copies, NONE);
        while copy != NONE {
            let out = &mut self.outgoing[copy];
            copy = std::mem::replace(&mut out.copy_next, NONE);
            out.copy_prev = NONE;
            out.origin = 0;
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
            let Out { origin, settled, presettled, resolved, outcome, .. } = self.outgoing[copy];
            self.unlist_sent(copy);
            self.links[index].unsettled -= u32::from(!settled);
            if presettled && !resolved {
                self.count_dropped(index);
            }
            self.forget_copy(host, copy);
            if !presettled && !resolved {
                let failed = amqp::state::Modified { delivery_failed: true, ..Default::default() };
                let decides = matches!(outcome, Outcome::None | Outcome::Other);
                let state = decides.then(|| DeliveryState::Modified(Box::new(failed)));
                self.copy_resolved(host, origin, state, decides);
            }
        }
        loop {
            let copy = self.links[index].queue_head;
            if copy == NONE {
                break;
            }
            let Out { origin, presettled, .. } = self.outgoing[copy];
            if presettled {
                self.drop_queued(host, copy);
            } else {
                self.unlist_queued(copy);
                self.forget_copy(host, copy);
                self.copy_resolved(host, origin, Some(DeliveryState::Released), true);
            }
        }
    }
}
