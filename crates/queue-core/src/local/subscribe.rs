//! Consumers come and go.

use crate::acquire::NONE;
use crate::broker::Broker;
use crate::command::{Command, Outcome};
use crate::consumer::{Consumer, ConsumerSettings, Mode, SubscribeError, View};
use crate::ids::{AcqId, ConsumerId, Millis, QueueId, aged};
use crate::queue::Queue;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Where a consumer stands among those of which one is active: by priority, then by arrival.
fn candidate(consumer: &Consumer) -> (Reverse<i32>, ConsumerId) {
    // The upper half of an id is the ordinal of its making.
    (Reverse(consumer.settings.priority), consumer.id)
}

impl Queue {
    fn admits(&self, settings: &ConsumerSettings, holder: Option<&Consumer>) -> Result<(), SubscribeError> {
        let queue = self.settings.address.clone();
        if let Some(most) = self.settings.max_consumers
            && self.local.consumers.len() >= most as usize
        {
            return Err(SubscribeError::TooMany { queue, most });
        }
        if settings.mode == Mode::Copy {
            return Ok(());
        }
        if let Some(holder) = holder {
            return Err(SubscribeError::Exclusive { queue, holder: holder.settings.name.clone() });
        }
        if settings.exclusive && self.local.takers > 0 {
            return Err(SubscribeError::NotAlone { queue, others: self.local.takers });
        }
        Ok(())
    }

    fn add(&mut self, consumer: &Consumer) {
        let id = consumer.id;
        self.local.consumers.insert(id);
        self.local.used = true;
        self.local.delete_at = None;
        if consumer.view.is_some() {
            self.local.viewers.insert(id);
        }
        if consumer.settings.mode == Mode::Move {
            self.local.takers += 1;
            self.local.candidates.insert(candidate(consumer));
            if consumer.settings.exclusive {
                self.local.exclusive = Some(id);
            }
        }
    }

    fn remove(&mut self, consumer: &Consumer) {
        let id = consumer.id;
        self.local.consumers.remove(&id);
        self.local.viewers.remove(&id);
        self.local.groups.owners.remove(&id);
        self.local.draining.retain(|other| *other != id);
        if consumer.settings.mode == Mode::Move {
            self.local.takers -= 1;
            self.local.candidates.remove(&candidate(consumer));
        }
        if self.local.exclusive == Some(id) {
            self.local.exclusive = None;
        }
    }
}

impl Broker {
    /// Attaches a consumer. It gets nothing before it has credit.
    ///
    /// # Errors
    /// If the queue is not there, or does not admit it.
    pub fn subscribe(&mut self, queue: QueueId, mut settings: ConsumerSettings) -> Result<ConsumerId, SubscribeError> {
        let to = self.queues.get_mut(&queue).ok_or(SubscribeError::NoQueue)?;
        if to.settings.browse_only {
            settings.mode = Mode::Copy;
        }
        let holder = to.local.exclusive.and_then(|id| self.consumers.get(id.index()));
        to.admits(&settings, holder)?;
        self.generation = self.generation.wrapping_add(1);
        let id = ConsumerId(aged(self.generation, self.consumers.vacant_key()));
        let views = settings.filter || settings.mode == Mode::Copy;
        let consumer = Consumer {
            id,
            queue,
            settings,
            credit: 0,
            drain: false,
            listed: false,
            parked: false,
            view: views.then(Box::default),
            own: BTreeSet::new(),
            groups_seen: 0,
            group_search: None,
            first: NONE,
            held: 0,
        };
        to.add(&consumer);
        self.consumers.insert(consumer);
        Ok(id)
    }

    /// Whether a consumer is the one that is given messages, in a queue where only one at a time is. In other queues
    /// everyone is.
    pub fn is_active(&self, consumer: ConsumerId) -> bool {
        let found = self.consumers.get(consumer.index()).filter(|found| found.id == consumer);
        found.and_then(|found| self.queues.get(&found.queue)).is_some_and(|queue| !queue.is_inactive(consumer))
    }

    /// The consumers of a queue.
    pub fn consumers(&self, queue: QueueId) -> impl Iterator<Item = ConsumerId> + '_ {
        self.queues.get(&queue).into_iter().flat_map(|queue| queue.local.consumers.iter().copied())
    }

    /// Ends a consumer. `unsettled` is said of what it holds and has not spoken of: [`Outcome::lost`] if it went away,
    /// [`Outcome::Released`] if it left in order. What has to be logged for that is appended to `out`.
    pub fn cancel(&mut self, consumer: ConsumerId, unsettled: &Outcome, now: Millis, out: &mut Vec<Command>) {
        let Some(found) = self.consumer(consumer) else { return };
        let id = found.queue;
        let mut held: Vec<AcqId> = Vec::new();
        let all = self.consumers.get(consumer.index()).map(|found| self.acquisitions.of(found)).unwrap_or_default();
        for index in all {
            held.extend(self.acquisitions.at(index).filter(|held| !held.settling).map(|held| held.id));
        }
        // In order, so that one range says it all.
        held.sort_by_key(|id| self.acquisitions.get_mut(*id).map(|held| held.seq));
        let first = out.len();
        for id in held {
            let Some(command) = self.outcome(id, unsettled.clone(), now) else { continue };
            let merged = out[first..].last_mut().is_some_and(|last| last.absorb(&command));
            if !merged {
                out.push(command);
            }
        }
        let gone = self.consumers.remove(consumer.index());
        let consumers = &self.consumers;
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.remove(&gone);
            if gone.listed {
                let there = |id: ConsumerId| consumers.get(id.index()).is_some_and(|consumer| consumer.id == id);
                match gone.settings.mode {
                    Mode::Copy => queue.local.browsers.lost(there),
                    Mode::Move => queue.line(gone.settings.priority).lost(there),
                }
            }
            queue.local.lines.retain(|(_, line)| !line.is_empty());
            // Another one may be the active one now.
            queue.wake();
        }
        self.list(id);
        self.check_lifetime(id, now);
        self.retime(id);
    }

    /// A queue is gone, without messages: so are its consumers, who are returned.
    pub(crate) fn forget_queue(&mut self, id: QueueId) -> (Option<Box<Queue>>, Vec<ConsumerId>) {
        let Some(queue) = self.queues.remove(&id) else { return (None, Vec::new()) };
        if let Some(timer) = queue.local.timer {
            self.timers.remove(&(timer, id));
        }
        let consumers: Vec<ConsumerId> = queue.local.consumers.iter().copied().collect();
        for consumer in &consumers {
            let Some(gone) = self.consumers.try_remove(consumer.index()) else { continue };
            for held in self.acquisitions.of(&gone) {
                self.remove_acquisition(held);
            }
        }
        (Some(queue), consumers)
    }
}

impl Consumer {
    /// It has to look at every message from now on, rather than take the first.
    pub(crate) fn become_viewer(&mut self, queue: &mut Queue) -> &mut View {
        queue.local.viewers.insert(self.id);
        self.view.get_or_insert_default()
    }
}
