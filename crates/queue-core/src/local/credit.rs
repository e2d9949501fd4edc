//! How many messages consumers may be given.

use crate::broker::Broker;
use crate::consumer::{Consumer, Mode};
use crate::ids::ConsumerId;
use crate::queue::Queue;
use slab::Slab;
use std::collections::VecDeque;

impl Queue {
    /// Puts a consumer into its line, if it may be given something.
    pub(super) fn line_up(&mut self, consumer: &mut Consumer) {
        if consumer.credit == 0 || consumer.parked {
            return;
        }
        if !consumer.own.is_empty() {
            self.local.groups.owners.insert(consumer.id);
        }
        if std::mem::replace(&mut consumer.listed, true) {
            return;
        }
        match consumer.settings.mode {
            Mode::Copy => self.local.browsers.ready.push_back(consumer.id),
            Mode::Move => self.line(consumer.settings.priority).ready.push_back(consumer.id),
        }
    }
}

impl Broker {
    /// A consumer may be given so many messages more, in all: what a flow frame says, less what is on its way. `drain`: what
    /// cannot be used at once is to be given back, see [`next_drained`](Self::next_drained).
    pub fn set_credit(&mut self, consumer: ConsumerId, credit: u32, drain: bool) {
        let Some(found) = self.consumers.get_mut(consumer.index()).filter(|found| found.id == consumer) else {
            return;
        };
        found.credit = credit;
        let Some(queue) = self.queues.get_mut(&found.queue) else { return };
        if drain && !found.drain {
            queue.local.draining.push(consumer);
        }
        if !drain && found.drain {
            queue.local.draining.retain(|other| *other != consumer);
        }
        found.drain = drain;
        if found.listed {
            // It may stand among those for whom there was nothing: it is asked again, which costs little.
            queue.wake();
        }
        queue.line_up(found);
        let id = found.queue;
        self.list(id);
    }

    /// How many messages a consumer may still be given.
    pub fn credit(&self, consumer: ConsumerId) -> u32 {
        self.consumers.get(consumer.index()).filter(|found| found.id == consumer).map_or(0, |found| found.credit)
    }

    /// The bytes are there for which a consumer waited ([`Match::Unknown`](crate::Match::Unknown)), or will never be:
    /// it is asked again.
    pub fn fetched(&mut self, consumer: ConsumerId) {
        let Some(found) = self.consumers.get_mut(consumer.index()).filter(|found| found.id == consumer) else {
            return;
        };
        found.parked = false;
        let id = found.queue;
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.line_up(found);
        }
        self.list(id);
    }

    /// The next consumer that asked for its credit to be used up or given back, and for whom there is nothing more: its
    /// credit is 0 now, and was so much. To be called when [`next_delivery`](Self::next_delivery) has no more.
    pub fn next_drained(&mut self) -> Option<(ConsumerId, u32)> {
        self.drained.pop_front()
    }
}

impl Queue {
    /// There is nothing for any of the consumers: those that asked for it give back their credit.
    pub(super) fn drain(&mut self, consumers: &mut Slab<Consumer>, drained: &mut VecDeque<(ConsumerId, u32)>) {
        if self.local.draining.is_empty() {
            return;
        }
        self.local.draining.retain(|id| {
            let Some(consumer) = consumers.get_mut(id.index()).filter(|consumer| consumer.id == *id) else {
                return false;
            };
            if consumer.parked {
                return true;
            }
            drained.push_back((*id, std::mem::take(&mut consumer.credit)));
            consumer.drain = false;
            false
        });
    }
}
