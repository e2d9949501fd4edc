//! What became of deliveries, and messages that expired.

use super::Context;
use super::bury::Corpse;
use crate::broker::Broker;
use crate::command::{Outcome, Settle};
use crate::facts::{DELIVERY_DELAY, DELIVERY_TIME, millis, time_of};
use crate::ids::{Millis, QueueId, Seq};
use crate::output::{Applied, Done, Event, Refused};
use crate::overlay::{MAX_ERROR, Overlay, Reason, pairs};
use crate::queue::Queue;
use crate::ranges::Ranges;
use crate::store::entry::Gone;
use amqp::Decoder;
use std::sync::Arc;

/// Bytes of an encoded time.
const LONGEST_TIME: usize = 9;

/// What a consumer's outcome does to a message.
enum Fate {
    Stays,
    Dies(Reason),
}

impl Broker {
    /// Calls with each message of these places that is in the queue. Messages may leave meanwhile.
    pub(crate) fn for_each(&mut self, id: QueueId, items: &Ranges, mut act: impl FnMut(&mut Self, Seq)) -> u64 {
        let mut count = 0;
        for (first, last) in items.iter() {
            let mut next = first;
            while let Some(seq) = self.queues.get(&id).and_then(|queue| queue.lanes.present_from(next))
                && seq <= last
            {
                count += 1;
                act(self, seq);
                next = seq.next();
            }
        }
        count
    }

    pub(super) fn settle(&mut self, settle: &Settle, context: &mut Context<'_>) -> Applied {
        let id = settle.queue;
        if !self.queues.contains_key(&id) {
            return Err(Refused::NoQueue);
        }
        let accepted = settle.outcome == Outcome::Accepted;
        let count = if accepted {
            settle.items.iter().map(|range| self.accept(settle, range, context)).sum()
        } else {
            self.for_each(id, &settle.items, |broker, seq| broker.settle_one(settle, seq, context))
        };
        if accepted {
            self.check_lifetime(id, context.time);
            self.touched(id);
        }
        Ok(Done::Messages { count })
    }

    /// Messages of these places are done with: what most of them come to. How many were there.
    fn accept(&mut self, settle: &Settle, (first, last): (Seq, Seq), context: &mut Context<'_>) -> u64 {
        let (id, mut next, mut count) = (settle.queue, first, 0);
        while next <= last {
            if self.accept_plain(id, next, context.events) {
                (next, count) = (next.next(), count + 1);
                continue;
            }
            // There is more to it, or no message at this place.
            let found = self.queues.get(&id).and_then(|queue| queue.lanes.present_from(next));
            let Some(seq) = found.filter(|seq| *seq <= last) else { break };
            if seq == next {
                self.settle_one(settle, seq, context);
                (next, count) = (seq.next(), count + 1);
            } else {
                next = seq;
            }
        }
        count
    }

    /// A message of which nothing more is to be known is done with. False if it is no such message.
    fn accept_plain(&mut self, id: QueueId, seq: Seq, events: &mut Vec<Event>) -> bool {
        let Some(queue) = self.queues.get_mut(&id) else { return false };
        let Some(gone) = queue.accept_plain(seq, events) else { return false };
        if let Some(holder) = queue.local.holders.remove(seq) {
            self.remove_acquisition(holder);
        }
        self.release_body(gone, events);
        true
    }

    fn settle_one(&mut self, settle: &Settle, seq: Seq, context: &mut Context<'_>) {
        let id = settle.queue;
        self.end_acquisition(id, seq);
        match &settle.outcome {
            Outcome::Accepted => {
                self.count(id, |queue| queue.totals.accepted += 1);
                self.leave(id, seq, true, context);
            }
            Outcome::Rejected { error } => {
                self.count(id, |queue| queue.totals.rejected += 1);
                self.kill(id, seq, Reason::Rejected, error.clone(), context);
            }
            outcome if outcome.is_release() => self.give_back(id, seq, context.time),
            Outcome::Modified { failed, undeliverable_here, annotations } => {
                let by = settle.by.as_ref().filter(|_| *undeliverable_here);
                match self.modify(id, seq, *failed, by, annotations.as_deref(), context.time) {
                    Fate::Stays => self.give_back(id, seq, context.time),
                    Fate::Dies(reason) => self.kill(id, seq, reason, None, context),
                }
            }
            Outcome::Released => {}
        }
        self.touched(id);
    }

    fn modify(
        &mut self,
        id: QueueId,
        seq: Seq,
        failed: bool,
        by: Option<&Arc<str>>,
        annotations: Option<&[u8]>,
        now: Millis,
    ) -> Fate {
        let Some(queue) = self.queues.get_mut(&id) else { return Fate::Stays };
        let settings = queue.settings.clone();
        // Not held by anybody here, as when the log is replayed: nobody may have it while it changes.
        if !queue.lanes.is_held(seq) {
            queue.withhold(seq, &mut self.consumers);
            queue.lanes.set_held(seq, true);
        }
        queue.totals.failed += u64::from(failed);
        let Some(entry) = queue.lanes.get_mut(seq) else { return Fate::Stays };
        if by.is_some() || annotations.is_some() {
            self.written -= entry.written();
            entry.change(|extra| {
                let overlay: &mut Arc<Overlay> = extra.overlay.get_or_insert_default();
                let overlay = Arc::make_mut(overlay);
                by.into_iter().for_each(|name| overlay.refuse(name));
                annotations.into_iter().for_each(|annotations| overlay.annotate(annotations));
                if overlay.is_empty() {
                    extra.overlay = None;
                }
            });
            self.written += entry.written();
        }
        let mut due = annotations.and_then(|annotations| asked_for(annotations, now));
        if failed {
            entry.failed = entry.failed.saturating_add(1);
            if settings.limit_of_deliveries().is_some_and(|limit| entry.failed >= limit) {
                return Fate::Dies(Reason::DeliveryLimit);
            }
            let delay = settings.back_off(entry.failed);
            due = due.or((delay > 0).then(|| now.saturating_add(delay)));
        }
        entry.set_deliver_at(due);
        Fate::Stays
    }

    /// A message leaves for the dead-letter or expiry address.
    pub(super) fn kill(
        &mut self,
        id: QueueId,
        seq: Seq,
        reason: Reason,
        error: Option<Arc<str>>,
        context: &mut Context<'_>,
    ) {
        let Some(settings) = self.queues.get(&id).map(|queue| queue.settings.clone()) else { return };
        if let Some(entry) = self.leave(id, seq, false, context) {
            context.dead.push_back(Corpse::new(id, &settings, entry, reason, error));
        }
    }

    pub(super) fn expire(&mut self, id: QueueId, items: &Ranges, context: &mut Context<'_>) -> Applied {
        if !self.queues.contains_key(&id) {
            return Err(Refused::NoQueue);
        }
        let mut expired = 0;
        self.for_each(id, items, |broker, seq| {
            let queue = broker.queues.get_mut(&id);
            let due = queue.and_then(|queue| queue.lanes.get(seq)).is_some_and(|entry| entry.expires <= context.time);
            if due {
                broker.count(id, |queue| queue.totals.expired += 1);
                broker.kill(id, seq, Reason::Expired, None, context);
                expired += 1;
            } else {
                broker.give_back_unheld(id, seq, context.time);
            }
        });
        self.touched(id);
        Ok(Done::Messages { count: expired })
    }

    /// A message that was held for a command that did not take it away, rather than by a consumer.
    pub(crate) fn give_back_unheld(&mut self, id: QueueId, seq: Seq, now: Millis) {
        if self.queues.get(&id).is_some_and(|queue| queue.local.holders.get(seq).is_none()) {
            self.give_back(id, seq, now);
        }
    }
}

impl Queue {
    /// Takes out a message that is accepted, and of which nothing more is to be known. `None` if it is no such message.
    #[inline(always)] // There are two ways to it, both of them hot.
    pub(super) fn accept_plain(&mut self, seq: Seq, events: &mut Vec<Event>) -> Option<Gone> {
        let gone = self.lanes.remove_plain(seq)?;
        self.count -= 1;
        self.bytes = self.bytes.saturating_sub(gone.size);
        self.totals.accepted += 1;
        if self.local.full {
            events.extend(self.fullness());
        }
        Some(gone)
    }
}

impl Outcome {
    /// Bytes that it writes to each message.
    pub fn writes(&self) -> usize {
        match self {
            Self::Rejected { error } => error.as_ref().map_or(0, |error| error.len().min(MAX_ERROR)),
            Self::Modified { annotations, .. } => annotations.as_ref().map_or(0, |annotations| annotations.len()),
            Self::Accepted | Self::Released => 0,
        }
    }

    /// The same, writing nothing but when a message is to be delivered.
    pub fn without_writing(self) -> Self {
        match self {
            Self::Rejected { .. } => Self::Rejected { error: None },
            Self::Modified { failed, undeliverable_here, annotations } => {
                let annotations = annotations.and_then(|annotations| times_of(&annotations));
                Self::Modified { failed, undeliverable_here, annotations }
            }
            outcome => outcome,
        }
    }
}

/// Of annotations those that say when a message is to be delivered, of each kind the first.
fn times_of(annotations: &[u8]) -> Option<Arc<[u8]>> {
    let mut bytes = Vec::new();
    for name in [DELIVERY_TIME, DELIVERY_DELAY] {
        let mut of_this =
            pairs(annotations).filter(|(key, _)| Decoder::new(key).read_symbol().is_ok_and(|key| key == name));
        if let Some((key, value)) = of_this.next().filter(|(_, value)| value.len() <= LONGEST_TIME) {
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(value);
        }
    }
    (!bytes.is_empty()).then(|| bytes.into())
}

/// When annotations that a consumer merged into a message say that it is to be delivered.
fn asked_for(annotations: &[u8], now: Millis) -> Option<Millis> {
    pairs(annotations).find_map(|(key, value)| match Decoder::new(key).read_symbol().ok()? {
        DELIVERY_TIME => time_of(value).map(millis),
        DELIVERY_DELAY => Decoder::new(value).read_integer().ok().map(|delay| now.saturating_add(millis(delay))),
        _ => None,
    })
}
