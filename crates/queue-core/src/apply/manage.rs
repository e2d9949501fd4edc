//! What people do with messages: removing them, moving them, sending them back.

use super::Context;
use crate::broker::Broker;
use crate::command::Selection;
use crate::ids::{Millis, QueueId, Seq};
use crate::output::{Applied, Done, Refused};
use crate::queue::Queue;
use crate::store::Entry;
use std::sync::Arc;

impl Queue {
    /// The message that came first; of those that came at once, that of the lowest priority.
    pub(crate) fn oldest(&mut self) -> Option<Seq> {
        let mut oldest: Option<(u64, Seq)> = None;
        for lane in (0..crate::ids::PRIORITIES).rev() {
            if let Some(seq) = self.lanes.present_in(lane, 0)
                && let Some(arrived) = self.lanes.get(seq).map(|entry| entry.arrived)
                && oldest.is_none_or(|(before, _)| arrived < before)
            {
                oldest = Some((arrived, seq));
            }
        }
        oldest.map(|(_, seq)| seq)
    }
}

impl Broker {
    /// Calls with each selected message. Messages may leave meanwhile; those that come are not among them. What was set
    /// aside and stays is offered again.
    fn for_selected(
        &mut self,
        id: QueueId,
        what: &Selection,
        now: Millis,
        mut act: impl FnMut(&mut Self, Seq) -> bool,
    ) -> Applied {
        let queue = self.queues.get(&id).ok_or(Refused::NoQueue)?;
        let mut count = 0;
        let most = match what {
            Selection::These(items) => {
                self.for_each(id, items, |broker, seq| count += u64::from(act(broker, seq)));
                self.end_aside(id, items, now);
                return Ok(Done::Messages { count });
            }
            Selection::All => queue.count,
            Selection::First(most) => (*most).min(queue.count),
        };
        let ends: Vec<u64> = (0..crate::ids::PRIORITIES).map(|lane| queue.lanes.next_in(lane)).collect();
        let mut next = Seq::FIRST;
        let mut seen = 0;
        while seen < most
            && let Some(seq) = self.queues.get(&id).and_then(|queue| queue.lanes.present_from(next))
        {
            next = seq.next();
            if seq.number() < ends[seq.lane()] {
                seen += 1;
                count += u64::from(act(self, seq));
            }
        }
        self.touched(id);
        Ok(Done::Messages { count })
    }

    pub(super) fn purge(&mut self, id: QueueId, what: &Selection, context: &mut Context<'_>) -> Applied {
        self.for_selected(id, what, context.time, |broker, seq| {
            broker.count(id, |queue| queue.totals.purged += 1);
            broker.leave(id, seq, true, context).is_some()
        })
    }

    pub(super) fn move_messages(
        &mut self,
        from: QueueId,
        to: QueueId,
        what: &Selection,
        context: &mut Context<'_>,
    ) -> Applied {
        if !self.queues.contains_key(&to) {
            if let Selection::These(items) = what {
                self.end_aside(from, items, context.time);
            }
            return Err(Refused::NoQueue);
        }
        self.for_selected(from, what, context.time, |broker, seq| {
            let moved = broker.leave(from, seq, false, context).is_some_and(|entry| {
                broker.move_to(to, &entry, context);
                true
            });
            broker.count(from, |queue| queue.totals.moved += u64::from(moved));
            moved
        })
    }

    fn move_to(&mut self, to: QueueId, entry: &Entry, context: &mut Context<'_>) {
        if let Some(queue) = self.queues.get(&to) {
            let entry = queue.adopt(entry, context.time);
            self.join(to, entry, context);
        }
    }

    pub(super) fn retry(&mut self, id: QueueId, what: &Selection, context: &mut Context<'_>) -> Applied {
        self.for_selected(id, what, context.time, |broker, seq| {
            let Some(to) = broker.origin(id, seq) else { return false };
            let Some(mut entry) = broker.leave(id, seq, false, context) else { return false };
            entry.change(|extra| {
                extra.overlay = extra.overlay.take().and_then(|overlay| overlay.without_last_death()).map(Arc::new);
            });
            broker.move_to(to, &entry, context);
            broker.count(id, |queue| queue.totals.moved += 1);
            true
        })
    }
}
