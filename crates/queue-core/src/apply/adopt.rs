//! Messages of another broker: they come as those do that go from one queue to another, only that their bytes and what was
//! added to them come with the command. And what such a message is to this broker that is on its own side: one that goes to several
//! of its queues.

use super::Context;
use crate::body::BodyRef;
use crate::broker::Broker;
use crate::command::{Adopt, Target};
use crate::ids::{QueueId, Seq};
use crate::output::{Applied, Done, Event, Refused};
use crate::store::Entry;

impl Adopt {
    fn entry(&self, body: BodyRef, time: u64) -> Entry {
        let mut entry = Entry::new(body, self.size, time);
        (entry.priority, entry.durable) = (self.priority, self.durable);
        if self.group.is_some() || self.key.is_some() || self.overlay.is_some() {
            entry.change(|extra| {
                extra.group.clone_from(&self.group);
                extra.key.clone_from(&self.key);
                extra.overlay.clone_from(&self.overlay);
            });
        }
        entry
    }
}

impl Broker {
    pub(super) fn adopt(&mut self, adopt: &Adopt, context: &mut Context<'_>) -> Applied {
        let body = context.place_of(adopt.body);
        let result = self.adopt_into(adopt, body, context);
        if !matches!(result, Ok(Done::Enqueued { copies: 1.. }) | Err(Refused::PartlyFull { .. })) {
            context.events.push(Event::BodyGone { body, size: adopt.size });
        }
        result
    }

    fn adopt_into(&mut self, adopt: &Adopt, body: BodyRef, context: &mut Context<'_>) -> Applied {
        let mut queues = self.resolve(std::slice::from_ref(&adopt.to))?;
        let full = match adopt.if_room {
            true => self.refuse_full(&mut queues, adopt.size, context.events),
            false => None,
        };
        if let (Some(queue), true) = (&full, queues.is_empty()) {
            return Err(Refused::Full { queue: queue.clone() });
        }
        let mut entry = adopt.entry(body, context.time);
        entry.shared = queues.len() > 1;
        if entry.shared {
            // It may be a file that others here have already.
            *self.shared.entry(body).or_default() += queues.len() as u32;
        }
        for id in &queues {
            if let Some(queue) = self.queues.get(id) {
                let entry = queue.adopt(&entry, context.time);
                self.join(*id, entry, context);
            }
        }
        match full {
            Some(queue) => Err(Refused::PartlyFull { queue }),
            None => Ok(Done::Enqueued { copies: queues.len() as u32 }),
        }
    }

    pub(super) fn spread(&mut self, from: QueueId, item: Seq, to: &Target, context: &mut Context<'_>) -> Applied {
        let queues = self.resolve(std::slice::from_ref(to));
        let Some(mut entry) = self.leave(from, item, false, context) else { return Ok(Done::Messages { count: 0 }) };
        let mut queues = queues.unwrap_or_default();
        queues.retain(|id| self.takes(*id, 1, entry.size()));
        if queues.is_empty() {
            self.release_body(entry.gone(), context.events);
        } else {
            entry.shared = self.share_body(entry.body(), queues.len() as u32 - 1, entry.shared);
        }
        for id in queues {
            if let Some(queue) = self.queues.get(&id) {
                let entry = queue.adopt(&entry, context.time);
                self.join(id, entry, context);
            }
        }
        self.touched(from);
        Ok(Done::Messages { count: 1 })
    }
}
