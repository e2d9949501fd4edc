//! What happens when nothing else does: messages expire and become due, queues outlive their use.

use crate::apply::sweep;
use crate::broker::Broker;
use crate::command::{Command, Orphans};
use crate::ids::{Millis, QueueId, Seq};
use crate::queue::Queue;
use crate::ranges::Ranges;
use crate::settings::Lifetime;
use crate::store::entry::NEVER;
use std::collections::BTreeSet;

/// How many messages one command removes at most.
const AT_ONCE: usize = 4096;

impl Broker {
    /// When [`handle_timeout`](Self::handle_timeout) is to be called next. May be in the past: at once.
    pub fn next_timeout(&self) -> Option<Millis> {
        if !self.ready.is_empty() || self.doomed.values().any(|doomed| !doomed.sweeping) {
            return Some(0);
        }
        self.timers.first().map(|(time, _)| *time)
    }

    /// Looks after all queues whose time has come. What is to be logged and applied is appended to `out`: messages that
    /// have expired, queues that are to be deleted, some of the messages of those that were. Messages that are due now can be
    /// given out.
    pub fn handle_timeout(&mut self, now: Millis, out: &mut Vec<Command>) {
        for (id, doomed) in self.doomed.iter_mut().filter(|(_, doomed)| !doomed.sweeping) {
            doomed.sweeping = true;
            out.push(Command::Sweep { queue: *id, most: sweep::AT_ONCE });
        }
        let mut due: Vec<QueueId> = Vec::new();
        while let Some(&(time, id)) = self.timers.first()
            && time <= now
        {
            self.timers.pop_first();
            if let Some(queue) = self.queues.get_mut(&id) {
                queue.local.timer = None;
            }
            due.push(id);
        }
        for id in due {
            self.now_due(id, now);
            self.now_expired(id, now, out);
            self.now_unused(id, now, out);
            self.touched(id);
        }
    }

    /// Messages that were delayed until now.
    fn now_due(&mut self, id: QueueId, now: Millis) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        while let Some(&(time, seq)) = queue.local.delayed.first()
            && time <= now
        {
            queue.local.delayed.pop_first();
            let viewers: &BTreeSet<_> = &queue.local.viewers;
            for viewer in viewers {
                if let Some(view) = self.consumers.get_mut(viewer.index()).and_then(|viewer| viewer.view.as_mut()) {
                    view.due(seq);
                }
            }
            queue.offer(seq, now, &mut self.consumers);
        }
    }

    fn now_expired(&mut self, id: QueueId, now: Millis, out: &mut Vec<Command>) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let mut expired = std::mem::take(&mut queue.local.expired);
        let before = expired.len();
        queue.find_expired(now, &mut expired);
        for seq in &expired[before..] {
            queue.withhold(*seq, &mut self.consumers);
        }
        expired.sort_unstable();
        for some in expired.chunks(AT_ONCE) {
            let items: Ranges = some.iter().copied().collect();
            out.push(Command::Expire { queue: id, items });
        }
    }

    fn now_unused(&mut self, id: QueueId, now: Millis, out: &mut Vec<Command>) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        if queue.local.deleting || queue.local.delete_at.is_none_or(|time| time > now) {
            return;
        }
        queue.local.delete_at = None;
        if queue.has_outlived_its_use() {
            queue.local.deleting = true;
            let if_empty = matches!(queue.settings.lifetime, Lifetime::Empty | Lifetime::UnusedAndEmpty);
            out.push(Command::DeleteQueue { queue: id, if_empty, orphans: Orphans::DeadLetter });
        }
    }
}

impl Queue {
    /// Messages that are not held and have expired, chunk by chunk.
    fn find_expired(&mut self, now: Millis, expired: &mut Vec<Seq>) {
        while let Some(&(time, first)) = self.local.expiry.first()
            && time <= now
            && expired.len() < AT_ONCE
        {
            self.local.expiry.pop_first();
            if let Some(next) = self.lanes.next_expiry_mut(first) {
                *next = NEVER;
            }
            let mut next = NEVER;
            for seq in self.lanes.places(first.lane(), first.number() / crate::store::CHUNK as u64) {
                if self.lanes.is_held(seq) {
                    continue;
                }
                let Some(expires) = self.lanes.get(seq).map(|entry| entry.expires) else { continue };
                if expires <= now {
                    self.lanes.set_held(seq, true);
                    expired.push(seq);
                } else {
                    next = next.min(expires);
                }
            }
            self.expect_expiry(first, next);
        }
    }
}
