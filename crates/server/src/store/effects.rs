//! Commands take effect in the queues: who waits for one hears of it, and what has happened is seen to.

use std::sync::Arc;

use queue_core::{BodyRef, Broker, Command, EntryIndex, Event, Millis, Output};

use super::bodies::TRANSIENT;
use super::journal::{Batch, Waiter};
use super::links::{Place, Side};
use super::node::Node;
use crate::content::Whole;

impl Node {
    /// What has gathered for queues that live in memory alone takes effect; all of it, if there is no log.
    pub(super) fn apply_unlogged(&mut self, time: Millis) {
        // Without a log there is nothing to wait for.
        let sides = if self.journal.log.is_none() { &Side::BOTH[..] } else { &[Side::Memory] };
        // What takes effect on one side may be followed by something on the other.
        while let Some(side) = sides.iter().find(|side| !self.journal.gathering[**side as usize].is_empty()) {
            let batch = std::mem::take(&mut self.journal.gathering[*side as usize]);
            let Batch { commands, bodies, mut waiters, .. } = batch;
            let entry = self.bodies.keep(bodies);
            self.apply(*side, EntryIndex(entry), time, &commands, &mut waiters);
            self.journal.reuse(*side, commands, waiters);
        }
    }

    /// Whether commands for queues that live in memory alone take effect at once: none waits for the end of the turn.
    pub(super) fn is_direct(&self, side: Side) -> bool {
        side == Side::Memory && self.journal.gathering[Side::Memory as usize].is_empty()
    }

    /// Does something to the queues that live in memory alone, and what comes of it.
    #[inline]
    pub(super) fn at_once<R>(&mut self, call: impl FnOnce(&mut Broker, &mut Vec<Event>) -> R) -> R {
        let mut events = std::mem::take(&mut self.output.events);
        let result = call(&mut self.brokers[Side::Memory as usize], &mut events);
        if !events.is_empty() {
            events.drain(..).for_each(|event| self.happened(Side::Memory, event));
            self.tend_collectors();
        }
        self.output.events = events;
        result
    }

    /// The commands of a transaction take effect in memory, whatever has filled up since they were let pass.
    pub(super) fn apply_promised(&mut self, commands: &[Command], bodies: Vec<Arc<Whole>>) {
        let (time, entry) = (self.clock(), EntryIndex(self.bodies.keep(bodies)));
        let mut output = std::mem::take(&mut self.output);
        output.clear();
        self.broker(Side::Memory).apply_promised(entry, time, commands, &mut output);
        self.take_effect(Side::Memory, commands, &mut output);
        self.output = output;
        self.signals.set_busy();
    }

    /// Commands take effect.
    pub(super) fn apply(
        &mut self,
        side: Side,
        at: EntryIndex,
        time: Millis,
        commands: &[Command],
        waiters: &mut Vec<(usize, Waiter)>,
    ) {
        let mut output = std::mem::take(&mut self.output);
        output.clear();
        self.brokers[side as usize].apply(at, time, commands, &mut output);
        self.take_effect(side, commands, &mut output);
        for (index, waiter) in waiters.drain(..) {
            if let Some(applied) = output.applied.get(index) {
                self.applied(waiter, applied);
            }
        }
        self.output = output;
    }

    /// What comes of commands that were applied.
    pub(super) fn take_effect(&mut self, side: Side, commands: &[Command], output: &mut Output) {
        for event in output.events.drain(..) {
            self.happened(side, event);
        }
        self.release_dead();
        self.note_changes(side, commands, &output.applied);
        self.tend_collectors();
    }

    /// What became of a command: who waits for it goes on.
    pub(super) fn applied(&mut self, waiter: Waiter, applied: &queue_core::Applied) {
        match waiter {
            Waiter::Nobody => {}
            Waiter::Arrival(arrival) => self.arrival_applied(arrival, applied),
            Waiter::Half { pair } => self.half_applied(pair, applied),
            Waiter::Early(early) => self.early_queue_made(*early, applied),
            Waiter::Settlement { .. } => self.settlement_applied(&waiter),
            Waiter::Discharge { arrival, txn } => self.discharged(arrival, txn, applied),
            Waiter::Relocated => self.relocated(true),
            Waiter::Across { crossing, at } => self.across(crossing, at, applied),
            Waiter::Left { crossing } => self.crossed(crossing, true),
            Waiter::Shadow(place) => self.shadow_deleted(place, applied),
            Waiter::Attach { link } => self.node_made(link, applied),
            // Who does not wait any more needs no answer.
            Waiter::Reply(reply) => drop(reply.send(applied.clone())),
        }
    }

    /// Something has happened in the queues.
    fn happened(&mut self, side: Side, event: Event) {
        self.tell(side, &event);
        match event {
            Event::BodyGone { body, size } => self.body_gone(side, body, size),
            Event::QueueMade(queue) => self.queue_made(Place { side, queue }),
            Event::QueueDeleted { queue, address, consumers } => {
                self.queue_deleted(Place { side, queue }, &address, &consumers);
            }
            Event::Full(queue) => self.has_filled(Place { side, queue }),
            Event::Room(queue) => self.has_emptied(Place { side, queue }),
            Event::DeadLettered { .. } => self.collectors.tend = true,
            Event::Dropped { .. } => {}
        }
    }

    /// A message is in no queue of one side any more.
    #[inline]
    pub(super) fn body_gone(&mut self, side: Side, body: BodyRef, size: u64) {
        self.bodies.gone(body);
        match body {
            BodyRef::Log { entry, .. } if side == Side::Logged && entry < TRANSIENT => {
                if self.dead.0 != entry {
                    self.release_dead();
                }
                self.dead = (entry, self.dead.1 + size);
            }
            BodyRef::Log { .. } => {}
            BodyRef::Large { file } => self.file_gone(side, file),
        }
    }

    /// Tells the log which bytes are dead.
    pub(super) fn release_dead(&mut self) {
        let (entry, size) = std::mem::take(&mut self.dead);
        if size > 0
            && let Some(log) = &self.journal.log
        {
            log.release(entry, size);
        }
    }
}
