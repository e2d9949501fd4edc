//! Messages for queues that live in memory alone: they are in their queue, or on their way to a consumer, when the core's call
//! returns.

use std::sync::Arc;

use queue_core::{Came, EntryIndex, Facts, Millis, QueueId};
use router_core::{Passing, Transmitted};

use super::facts_of;
use crate::content::Whole;
use crate::store::links::{Arrival, Destination, Place, Role, Side};
use crate::store::node::Node;

impl Node {
    /// The queue that all messages of a link go to, if that lives in memory alone and lets everything in, if nothing is before
    /// them, and nothing about the link has changed.
    pub(super) fn plain_destination(&self, link: u32) -> Option<QueueId> {
        let Role::Sender(sender) = &self.links.get(link as usize)?.role else { return None };
        let Destination::Queue(Place { side, queue }) = sender.to else { return None };
        let is_known = sender.look.epoch == self.epoch && !sender.look.filtered;
        (is_known && self.admissions.is_empty() && self.is_direct(side)).then_some(queue)
    }

    /// Takes a message for such a queue.
    pub(super) fn take_plain(
        &mut self,
        time: Millis,
        arrival: Arrival,
        queue: QueueId,
        whole: Arc<Whole>,
        passing: Option<&Passing>,
    ) -> Transmitted {
        let Some(sender) = self.sender_mut(arrival.link) else { return Transmitted::Complete };
        sender.note_arrival();
        sender.note_size(whole.bytes().len() as u64);
        // What is no message of AMQP cannot be read like one.
        if let Ok(facts) = Facts::of_whole(whole.bytes(), time, &sender.look.wanted) {
            return self.take_at_once(time, arrival, queue, whole, facts, passing);
        }
        match facts_of(whole.bytes(), |bytes| Facts::of_whole(bytes, time, &sender.look.wanted)) {
            Ok(facts) => self.take_at_once(time, arrival, queue, whole, facts, passing),
            Err(error) => {
                self.refuse(arrival, error);
                Transmitted::Complete
            }
        }
    }

    /// Puts a message into a queue that lives in memory alone. `passing`: it may go on at once. `Complete`: what there was to be said of
    /// it is said.
    pub(super) fn take_at_once(
        &mut self,
        time: Millis,
        arrival: Arrival,
        queue: QueueId,
        whole: Arc<Whole>,
        facts: Facts,
        passing: Option<&Passing>,
    ) -> Transmitted {
        let at = EntryIndex(self.bodies.keep_one(whole));
        match self.at_once(|broker, events| broker.enqueue_at_once(at, time, queue, facts, events)) {
            Ok(came) => {
                self.arrival_over(arrival.link);
                if let Came::Given { consumer, acquisition } = came {
                    if let Some(passing) = passing
                        && let Some(on) = self.pass_on(arrival.key, consumer, acquisition)
                    {
                        passing.set(Some(on));
                        return Transmitted::Passed;
                    }
                    let assignment = self.broker(Side::Memory).assignment(acquisition);
                    assignment.into_iter().for_each(|assignment| self.assigned(Side::Memory, assignment));
                }
                if arrival.settled { Transmitted::Complete } else { Transmitted::Accepted }
            }
            Err(refused) => {
                self.arrival_applied(arrival, &Err(refused));
                Transmitted::Complete
            }
        }
    }
}
