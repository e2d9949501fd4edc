//! Messages come into a queue and leave it.

use super::Context;
use crate::broker::Broker;
use crate::consumer::Consumer;
use crate::ids::{ConsumerId, Millis, QueueId, Seq};
use crate::output::Event;
use crate::queue::Queue;
use crate::settings::Overflow;
use crate::store::Entry;
use crate::store::entry::NEVER;
use slab::Slab;

impl Queue {
    /// A message was held by a consumer that had its group for it.
    pub(crate) fn drop_from_group(&mut self, seq: Seq, consumers: &mut Slab<Consumer>) {
        if !self.settings.groups {
            return;
        }
        if let Some(group) = self.lanes.get(seq).and_then(|entry| entry.group()).cloned() {
            self.local.groups.let_go(&group, consumers);
        }
    }

    /// Whether a message comes in without ado: it never expires, nobody looks at each message, and none has to leave for it.
    #[inline]
    pub(super) fn is_plain(&self, entry: &Entry) -> bool {
        entry.extra.is_none()
            && entry.expires == NEVER
            && self.local.viewers.is_empty()
            && !matches!(self.settings.overflow, Overflow::DropHead | Overflow::Ring)
    }

    /// Puts such a message behind all others of its priority. Whether the queue is to be put on the broker's list.
    #[inline]
    pub(super) fn join_plain(&mut self, entry: Entry, events: &mut Vec<Event>) -> bool {
        self.count_in(entry.size());
        let lane = self.lane_of(&entry);
        self.lanes.push(lane, entry, true);
        self.wake();
        events.extend(self.fullness());
        !std::mem::replace(&mut self.local.listed, true)
    }

    #[inline]
    pub(super) fn lane_of(&self, entry: &Entry) -> usize {
        crate::ids::lane_of(if self.settings.priorities { entry.priority } else { crate::DEFAULT_PRIORITY })
    }

    #[inline]
    pub(super) fn count_in(&mut self, size: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(size);
        self.totals.enqueued += 1;
        self.totals.enqueued_bytes = self.totals.enqueued_bytes.saturating_add(size);
    }

    /// A message is held by a consumer, which thereby has its group.
    pub(crate) fn take_into_group(&mut self, seq: Seq, by: ConsumerId, consumers: &mut Slab<Consumer>) {
        if !self.settings.groups {
            return;
        }
        if let Some(group) = self.lanes.get(seq).and_then(|entry| entry.group()).cloned() {
            self.local.groups.take(&group, seq, by, consumers);
        }
    }
}

impl Broker {
    /// Puts a message behind all others of its priority.
    pub(super) fn join(&mut self, id: QueueId, entry: Entry, context: &mut Context<'_>) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let (lane, size, expires) = (queue.lane_of(&entry), entry.size(), entry.expires);
        let key = entry.key().filter(|key| queue.goes_by(key)).cloned();
        let overflows = matches!(queue.settings.overflow, Overflow::DropHead | Overflow::Ring);
        self.written += entry.written();
        queue.count_in(size);
        context.events.extend(queue.fullness());
        let seq = queue.lanes.push(lane, entry, false);
        queue.offer(seq, context.time, &mut self.consumers);
        queue.expect_expiry(seq, expires);
        if let Some(key) = key
            && let Some(older) = queue.last_values.insert(key, seq)
        {
            queue.totals.replaced += 1;
            self.leave(id, older, true, context);
        }
        if overflows {
            self.evict(id, context);
        }
        self.touched(id);
    }

    /// Takes a message out of a queue. `done`: it goes nowhere else, so that its bytes are not needed. If a consumer holds
    /// it, they are kept until that consumer is done with them.
    pub(super) fn leave(&mut self, id: QueueId, seq: Seq, done: bool, context: &mut Context<'_>) -> Option<Entry> {
        let queue = self.queues.get_mut(&id)?;
        if !queue.lanes.contains(seq) {
            return None;
        }
        let holder = queue.local.holders.remove(seq);
        if holder.is_some() {
            queue.drop_from_group(seq, &mut self.consumers);
        } else {
            queue.withhold(seq, &mut self.consumers);
        }
        let entry = queue.take_out(seq)?;
        self.written -= entry.written();
        queue.count -= 1;
        queue.bytes = queue.bytes.saturating_sub(entry.size());
        if queue.local.full {
            context.events.extend(queue.fullness());
        }
        if let Some(key) = entry.key()
            && queue.last_values.get(key) == Some(&seq)
        {
            queue.last_values.remove(key);
        }
        self.check_lifetime(id, context.time);
        if let Some(acquisition) = holder.and_then(|holder| self.acquisitions.at(holder)) {
            acquisition.gone = true;
            let (settling, holder) = (acquisition.settling, acquisition.id.index());
            if settling {
                // Its consumer has spoken, and what it said will find nothing.
                self.remove_acquisition(holder);
            } else {
                self.keep_body(holder, entry.body());
            }
        }
        if done {
            self.release_body(entry.gone(), context.events);
        }
        Some(entry)
    }

    /// A consumer does not hold a message any more. The message is not offered to others.
    pub(crate) fn end_acquisition(&mut self, id: QueueId, seq: Seq) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        if let Some(holder) = queue.local.holders.remove(seq) {
            queue.drop_from_group(seq, &mut self.consumers);
            self.remove_acquisition(holder);
        }
    }

    /// A message that was held may be given to consumers again.
    pub(crate) fn give_back(&mut self, id: QueueId, seq: Seq, now: Millis) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        if !queue.lanes.is_held(seq) {
            return;
        }
        queue.lanes.set_held(seq, false);
        queue.lanes.set_returned(seq);
        queue.offer(seq, now, &mut self.consumers);
        if let Some(expires) = queue.lanes.get(seq).map(|entry| entry.expires) {
            queue.expect_expiry(seq, expires);
        }
        self.touched(id);
    }
}
