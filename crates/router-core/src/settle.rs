//! What a receiver says of a delivery finds its way to the sender.

use amqp::DeliveryState;
use amqp::state::Modified;

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::{Out, Outcome, Place};
use crate::forward::multicast::combine;
use crate::queue::Queued;
use crate::{Host, Now, OutKey};

impl<H: Host> Core<H> {
    /// The receiving peer told a state of a delivery, or settled it, or both.
    pub fn outcome(&mut self, now: Now, host: &mut H, delivery: OutKey, state: Option<DeliveryState>, settled: bool) {
        self.tick(now);
        let state = match state {
            Some(DeliveryState::Other(bytes)) => Some(self.without_transaction(host, delivery, bytes)),
            state => state,
        };
        let Some(out) = self.outgoing.get_mut(delivery.0) else { return };
        if out.place == Place::Queue || out.resolved {
            return;
        }
        let origin = out.origin;
        // The first terminal state is final.
        let open = out.is_undecided();
        let outcome = Outcome::of(state.as_ref());
        let decides = open && (settled || outcome.is_terminal());
        let state = state.filter(|_| open);
        if open && outcome != Outcome::None {
            out.outcome = outcome;
        }
        if settled {
            self.end_settled(host, delivery);
            self.copy_resolved(host, origin, state, decides);
        } else if let Some(state) = state {
            self.copy_updated(host, origin, state, decides);
        }
    }

    /// A copy that is being or was transmitted is settled, by whichever side: it is counted and forgotten, though a
    /// transmission goes on to its end.
    pub(crate) fn end_settled(&mut self, host: &mut H, key: OutKey) {
        let Some(out) = self.outgoing.get_mut(key.0) else { return };
        let place = Queued::of(out);
        let (outcome, born, from_link) = (out.outcome, out.born, out.from_link);
        let unsettled = !std::mem::replace(&mut out.settled, true);
        let link = &mut self.links[place.link];
        link.unsettled -= u32::from(unsettled);
        link.count_outcome(&mut self.statistics, outcome);
        link.count_settled(&mut self.statistics, self.clock, born);
        link.counters.from_here += u64::from(from_link);
        let weighed = link.weighed;
        if place.place == Place::Transmitting {
            out.resolved = true;
        } else {
            self.unlist_sent(&place);
            self.forget_copy(host, key.0);
        }
        if weighed {
            self.load_changed(place.link);
        }
    }

    /// A copy got a state and is not settled.
    fn copy_updated(&mut self, host: &mut H, origin: u64, state: DeliveryState, decides: bool) {
        let Some(delivery) = self.incoming.get_mut(origin) else { return };
        if delivery.multicast {
            if decides {
                delivery.undecided -= 1;
                combine(delivery, Some(state));
                self.tell_state(host, origin);
            }
        } else if !matches!(state, DeliveryState::Received { .. }) {
            delivery.state = Some(state);
            self.tell_state(host, origin);
        } else if !delivery.settled
            && let Some(link) = self.links.get(delivery.link)
        {
            // How far the receiver has come is told at once, even while the message is still coming.
            host.update_incoming(link.host, delivery.delivery_id, Some(state), false);
        }
    }

    /// A copy is settled, or gone, with `state` if any. `decides`: nothing terminal was known of it before.
    pub(crate) fn copy_resolved(&mut self, host: &mut H, origin: u64, state: Option<DeliveryState>, decides: bool) {
        let Some(delivery) = self.incoming.get_mut(origin) else { return };
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
        if last {
            self.conclude(host, origin);
        } else if multicast && decides {
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
        let Some(delivery) = self.incoming.remove(origin) else { return };
        if delivery.stuck {
            let link = self.links.get(delivery.link).map(|_| index_of(delivery.link));
            self.unstick(link);
        }
        let Some(link) = self.links.get_mut(delivery.link) else { return };
        if !delivery.settled {
            link.unsettled -= 1;
            link.count_outcome(&mut self.statistics, Outcome::of(delivery.state.as_ref()));
            link.count_settled(&mut self.statistics, self.clock, delivery.born);
            host.update_incoming(link.host, delivery.delivery_id, delivery.state, true);
        }
        link.give_back(host, &mut self.statistics);
    }

    /// A receiver is gone: what it had not seen is released, what it had begun to see is modified, as perhaps failed.
    /// What was settled is lost, and counted.
    pub(crate) fn receiver_gone(&mut self, host: &mut H, index: u32) {
        loop {
            let copy = self.links[index].sent_head;
            if copy == NONE {
                break;
            }
            self.unlist_sent(&Queued::of(&self.outgoing[copy]));
            let Some(out) = self.forget_copy(host, self.outgoing.key_at(copy)) else { break };
            if out.resolved {
                continue;
            }
            if out.presettled {
                self.links[index].count_dropped(&mut self.statistics);
            } else {
                self.sent_to_the_lost(host, &out);
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
                self.unlist_queued(&Queued::of(&self.outgoing[copy]));
                self.forget_copy(host, self.outgoing.key_at(copy));
                self.copy_resolved(host, origin, Some(DeliveryState::Released), true);
            }
        }
    }

    /// What became of a delivery is not known: its receiver is gone.
    fn sent_to_the_lost(&mut self, host: &mut H, out: &Out<H::Content>) {
        let decides = out.is_undecided();
        let failed = Modified { delivery_failed: true, ..Modified::default() };
        let state = decides.then(|| DeliveryState::Modified(Box::new(failed)));
        self.copy_resolved(host, out.origin, state, decides);
    }
}
