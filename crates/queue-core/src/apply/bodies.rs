//! How many messages have the same bytes, and where these are.

use super::Context;
use crate::body::BodyRef;
use crate::broker::Broker;
use crate::ids::{QueueId, Seq};
use crate::output::{Applied, Done, Event};
use crate::store::entry::Gone;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Bytes that consumers were given, and that are not where they were for their messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// How many deliveries.
    by: u32,
    /// No message has them any more; how many there are.
    gone: Option<u64>,
}

impl Broker {
    /// One message less has its bytes: perhaps nobody needs them now.
    pub(super) fn release_body(&mut self, gone: Gone, events: &mut Vec<Event>) {
        if self.released(gone) {
            events.push(Event::BodyGone { body: gone.body, size: gone.size });
        }
    }

    /// One message less has its bytes. Whether nobody needs them now.
    #[inline]
    pub(super) fn released(&mut self, gone: Gone) -> bool {
        let Gone { body, size, shared } = gone;
        if shared && let Some(count) = self.shared.get_mut(&body) {
            *count -= 1;
            if *count > 0 {
                return false;
            }
            self.shared.remove(&body);
        }
        self.is_needless(body, size)
    }

    /// No message has these bytes: whether nobody needs them. Consumers that were given them may still read them.
    fn is_needless(&mut self, body: BodyRef, size: u64) -> bool {
        match self.kept.get_mut(&body) {
            Some(kept) => {
                kept.gone = Some(size);
                false
            }
            None => true,
        }
    }

    /// The message that a consumer holds is not where its bytes were when it was given it.
    pub(super) fn keep_body(&mut self, holder: usize, body: BodyRef) {
        if let Some(acquisition) = self.acquisitions.at(holder)
            && acquisition.keeps.is_none()
        {
            acquisition.keeps = Some(body);
            self.kept.entry(body).or_default().by += 1;
        }
    }

    /// A consumer is done with a message. What nobody needs now is told later, for no command may be at hand.
    pub(crate) fn remove_acquisition(&mut self, index: usize) {
        let acquisition = self.acquisitions.remove(index, &mut self.consumers);
        let Some(body) = acquisition.and_then(|acquisition| acquisition.keeps) else { return };
        let Some(kept) = self.kept.get_mut(&body) else { return };
        kept.by -= 1;
        if kept.by == 0 {
            let gone = kept.gone;
            self.kept.remove(&body);
            self.late.extend(gone.map(|size| Event::BodyGone { body, size }));
        }
    }

    /// Bytes in these entries of the log that no message has any more, and that consumers which were given them have read or do not
    /// need, as `reads` says: nobody does from now on. Returned is how many each of them had.
    pub fn let_go(&mut self, entries: &RangeInclusive<u64>, reads: impl Fn(BodyRef) -> bool) -> Vec<(BodyRef, u64)> {
        let from = BodyRef::Log { entry: *entries.start(), part: 0 };
        let to = BodyRef::Log { entry: *entries.end(), part: u32::MAX };
        let gone = self.kept.range(from..=to).filter_map(|(body, kept)| Some((*body, kept.gone?)));
        let gone: Vec<_> = gone.filter(|(body, _)| !reads(*body)).collect();
        for (body, _) in &gone {
            self.kept.remove(body);
        }
        gone
    }

    /// So many messages more will have these bytes, besides one that has left its queue and has not let go of them
    /// (`shared`: it was one of several). Whether they are shared now.
    pub(super) fn share_body(&mut self, body: BodyRef, more: u32, shared: bool) -> bool {
        match more {
            0 => shared,
            more => {
                // One that is not shared has let nobody count it. Others may have its file nevertheless: they have come from elsewhere.
                let count = self.shared.entry(body).or_insert(u32::from(shared));
                *count = count.saturating_add(more + u32::from(!shared));
                true
            }
        }
    }

    pub(super) fn relocate(&mut self, from: BodyRef, of: &[(QueueId, Seq)], context: &mut Context<'_>) -> Applied {
        let to = context.next_body();
        let all: BTreeSet<_> = of.iter().copied().collect();
        let mut moved: Vec<(QueueId, Seq)> = Vec::new();
        let mut size = 0;
        for (id, seq) in all {
            let Some(queue) = self.queues.get_mut(&id) else { continue };
            let holder = queue.local.holders.get(seq);
            let Some(entry) = queue.lanes.get_mut(seq).filter(|entry| entry.body() == from) else { continue };
            entry.set_body(to);
            size = entry.size();
            queue.lanes.note_body(seq);
            moved.push((id, seq));
            if let Some(holder) = holder {
                self.keep_body(holder, from);
            }
        }
        let count = moved.len() as u32;
        if count == 0 {
            context.events.push(Event::BodyGone { body: to, size: 0 });
            return Ok(Done::Messages { count: 0 });
        }
        for (id, seq) in moved {
            if let Some(entry) = self.queues.get_mut(&id).and_then(|queue| queue.lanes.get_mut(seq)) {
                entry.shared = count > 1;
            }
        }
        if count > 1 {
            self.shared.insert(to, count);
        }
        let rest = self.shared.get(&from).map_or(0, |before| before.saturating_sub(count));
        if rest > 0 {
            self.shared.insert(from, rest);
        } else {
            self.shared.remove(&from);
            if self.is_needless(from, size) {
                context.events.push(Event::BodyGone { body: from, size });
            }
        }
        Ok(Done::Messages { count: count.into() })
    }
}
