//! New messages.

use super::Context;
use crate::body::BodyRef;
use crate::broker::Broker;
use crate::command::{Enqueue, Target};
use crate::facts::Facts;
use crate::ids::{Millis, QueueId, Seq};
use crate::output::{Applied, Done, Event, Refused};
use crate::queue::Queue;
use crate::settings::Overflow;
use crate::store::Entry;
use smallvec::SmallVec;
use std::sync::Arc;

/// Queues that a message goes to, each once.
pub(super) type Queues = SmallVec<[QueueId; 4]>;

/// A value with the name of its property: values of other properties are other keys.
fn full_key(name: &str, value: &[u8]) -> Arc<[u8]> {
    [name.as_bytes(), &[0], value].concat().into()
}

impl Queue {
    /// Whether a message's key is one of those that replace each other here.
    pub(crate) fn goes_by(&self, key: &[u8]) -> bool {
        let rest = self.settings.last_value_key.as_ref().and_then(|name| key.strip_prefix(name.as_bytes()));
        rest.is_some_and(|rest| rest.first() == Some(&0))
    }

    /// Finds the message of each key anew. If there are several, the others lose theirs.
    pub(super) fn index_keys(&mut self) {
        self.last_values.clear();
        let mut next = Seq::FIRST;
        while let Some(seq) = self.lanes.present_from(next) {
            next = seq.next();
            let Some(key) = self.lanes.get(seq).and_then(|entry| entry.key()).cloned() else { continue };
            if !self.goes_by(&key) {
                continue;
            }
            if let Some(other) = self.last_values.insert(key, seq)
                && let Some(entry) = self.lanes.get_mut(other)
            {
                entry.change(|extra| extra.key = None);
            }
        }
    }

    /// A message that has just come.
    #[inline(always)] // Each message comes by here.
    pub(super) fn entry(&self, facts: &Facts, body: BodyRef, time: Millis) -> Entry {
        let mut entry = Entry::new(body, facts.size, time);
        entry.durable = facts.durable;
        entry.priority = facts.priority;
        entry.expires = self.settings.expiry(time, facts.expires_at).unwrap_or(crate::store::entry::NEVER);
        if facts.group.is_some() || facts.deliver_at.is_some() || self.settings.last_value_key.is_some() {
            self.add_extra(&mut entry, facts);
        }
        entry
    }

    /// Adds what most messages do not have.
    #[inline(never)]
    fn add_extra(&self, entry: &mut Entry, facts: &Facts) {
        let key = self.settings.last_value_key.as_deref().and_then(|name| Some(full_key(name, facts.key(name)?)));
        if facts.group.is_some() || facts.deliver_at.is_some() || key.is_some() {
            entry.change(|extra| {
                extra.group.clone_from(&facts.group);
                extra.deliver_at = facts.deliver_at;
                extra.key = key;
            });
        }
    }

    #[inline]
    pub(crate) fn is_full(&self, messages: u64, bytes: u64) -> bool {
        self.settings.overflow == Overflow::Reject && self.is_beyond(messages, bytes)
    }

    /// Counts a message that is refused because there is no room for it.
    fn refuse(&mut self, events: &mut Vec<Event>) -> Arc<str> {
        self.totals.refused += 1;
        if !self.local.full {
            events.push(self.turn_full(true));
        }
        self.settings.address.clone()
    }
}

impl Broker {
    /// The queues that a message goes to, each once.
    pub(super) fn resolve(&self, to: &[Target]) -> Result<Queues, Refused> {
        let mut queues = Queues::new();
        let mut found = false;
        for target in to {
            match target {
                Target::Queue(queue) => {
                    if self.queues.contains_key(queue) {
                        found = true;
                        queues.push(*queue);
                    }
                }
                Target::Topic { topic, except } => {
                    if self.topics.contains_key(topic) {
                        found = true;
                        // There may be very many of both.
                        let mut except = except.clone();
                        except.sort_unstable();
                        queues.extend(self.bound(*topic).filter(|queue| except.binary_search(queue).is_err()));
                    }
                }
            }
        }
        if !found {
            return Err(Refused::NoQueue);
        }
        if queues.len() > 1 {
            queues.sort_unstable();
            queues.dedup();
        }
        Ok(queues)
    }

    pub(super) fn enqueue(&mut self, enqueue: &Enqueue, context: &mut Context<'_>) -> Applied {
        let body = context.place_of(enqueue.body);
        let result = self.enqueue_into(enqueue, body, context);
        if !matches!(result, Ok(Done::Enqueued { copies: 1.. }) | Err(Refused::PartlyFull { .. })) {
            context.events.push(Event::BodyGone { body, size: enqueue.facts.size });
        }
        result
    }

    /// Those of these queues that have no room for a message go from the list. The first of them is returned.
    pub(super) fn refuse_full(&mut self, queues: &mut Queues, size: u64, events: &mut Vec<Event>) -> Option<Arc<str>> {
        let mut first = None;
        queues.retain(|id| {
            let Some(queue) = self.queues.get_mut(id).filter(|queue| queue.is_full(1, size)) else { return true };
            let address = queue.refuse(events);
            first.get_or_insert(address);
            false
        });
        first
    }

    fn enqueue_into(&mut self, enqueue: &Enqueue, body: BodyRef, context: &mut Context<'_>) -> Applied {
        let facts = &enqueue.facts;
        if let ([Target::Queue(id)], None) = (&enqueue.to[..], &facts.duplicate_id) {
            // What most messages are.
            let queue = self.queues.get_mut(id).ok_or(Refused::NoQueue)?;
            if !context.promised && queue.is_full(1, facts.size) {
                return Err(Refused::Full { queue: queue.refuse(context.events) });
            }
            let entry = queue.entry(facts, body, context.time);
            if !queue.is_plain(&entry) {
                self.join(*id, entry, context);
            } else {
                if queue.join_plain(entry, context.events) {
                    self.ready.push_back(*id);
                }
            }
            return Ok(Done::Enqueued { copies: 1 });
        }
        let mut queues = self.resolve(&enqueue.to)?;
        let any = !queues.is_empty();
        if facts.duplicate_id.is_some() {
            queues.retain(|id| !self.is_duplicate(*id, facts, context.time));
            if any && queues.is_empty() {
                return Err(Refused::Duplicate);
            }
        }
        // One that is full keeps it from nobody else.
        let full = match context.promised {
            true => None,
            false => self.refuse_full(&mut queues, facts.size, context.events),
        };
        if let (Some(queue), true) = (&full, queues.is_empty()) {
            return Err(Refused::Full { queue: Arc::clone(queue) });
        }
        let shared = queues.len() > 1;
        if shared {
            self.shared.insert(body, queues.len() as u32);
        }
        for id in &queues {
            let Some(queue) = self.queues.get_mut(id) else { continue };
            if let Some(duplicate) = &facts.duplicate_id {
                queue.known.add(duplicate, &queue.settings, context.time);
            }
            let mut entry = queue.entry(facts, body, context.time);
            entry.shared = shared;
            self.join(*id, entry, context);
        }
        match full {
            Some(queue) => Err(Refused::PartlyFull { queue }),
            None => Ok(Done::Enqueued { copies: queues.len() as u32 }),
        }
    }

    fn is_duplicate(&mut self, id: QueueId, facts: &Facts, now: Millis) -> bool {
        let (Some(queue), Some(duplicate)) = (self.queues.get_mut(&id), &facts.duplicate_id) else { return false };
        let known = queue.settings.duplicate_count > 0 && queue.known.has(duplicate, &queue.settings, now);
        queue.totals.duplicates += u64::from(known);
        known
    }
}
