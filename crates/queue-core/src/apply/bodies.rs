//! How many messages have the same bytes, and where these are.

use super::Context;
use crate::body::BodyRef;
use crate::broker::Broker;
use crate::ids::{QueueId, Seq};
use crate::output::{Applied, Done, Event};
use std::collections::BTreeSet;

impl Broker {
    /// So many messages more will have these bytes, besides one that has left its queue and has not let go of them
    /// (`shared`: it was one of several). Whether they are shared now.
    pub(super) fn share_body(&mut self, body: BodyRef, more: u32, shared: bool) -> bool {
        match more {
            0 => shared,
            more => {
                let count = self.shared.entry(body).or_insert(1);
                *count = count.saturating_add(more);
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
            let Some(entry) = queue.lanes.get_mut(seq).filter(|entry| entry.body() == from) else { continue };
            entry.set_body(to);
            size = entry.size();
            queue.lanes.note_body(seq);
            moved.push((id, seq));
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
            context.events.push(Event::BodyGone { body: from, size });
        }
        Ok(Done::Messages { count: count.into() })
    }
}
