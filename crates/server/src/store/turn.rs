//! The work of one turn: what is certain takes effect, queues choose, and what is to be said is gathered.

use std::time::Duration;

use queue_core::{EntryIndex, Millis};
use router_core::Now;

use super::clock::AT_LEAST;
use super::journal::{InFlight, Waiter};
use super::links::Side;
use super::node::Node;
use super::say::Speech;

impl Node {
    /// One round of work. What is to be said is moved to `speech`.
    pub(super) fn work(&mut self, now: Now, speech: &mut Speech) {
        self.look_at_clock(now);
        let time = self.time(now);
        self.apply_accepted();
        self.take_notes();
        self.take_large(now);
        self.go_on_asking();
        self.go_on_crossing();
        self.look_at_time(time);
        self.look_after_shadows(time);
        self.apply_unlogged(time);
        self.distribute(now);
        // What was chosen for those who take everything settled is gone from its queue.
        self.apply_unlogged(time);
        // In large steps.
        if !self.crowded.is_empty() && self.bodies.transient_bytes() < self.most_transient / 8 * 7 {
            self.room_in_memory();
        }
        if self.journal.is_full() {
            self.seal(time);
        }
        // Both keep their memory.
        std::mem::swap(&mut speech.says, &mut self.says);
        std::mem::swap(&mut speech.plain, &mut self.plain);
    }

    /// What is to be done when nothing is to be said any more.
    pub(super) fn rest(&mut self, now: Now) {
        let time = self.time(now);
        self.seal(time);
        self.checkpoint_if_due();
        self.bodies.trim();
        self.looking = None;
        self.admissions.rest();
        let next = Side::BOTH.into_iter().filter_map(|side| self.brokers[side as usize].next_timeout()).min();
        let retry = (self.journal.stuck.is_some() || self.unlogged.is_under_way()).then_some(time + 1000);
        let asking = (!self.admissions.is_empty() || self.crossings.are_asking()).then_some(time);
        // The system's clock may be set meanwhile.
        let next = next.map(|next| next.min(time + AT_LEAST));
        let next = next.into_iter().chain(retry).chain(asking).chain(self.shadows.next_time()).min();
        self.signals.set_timer(next.map(|next| Duration::from_millis(next.saturating_sub(time).max(1))));
    }

    /// Takes what other threads have left.
    fn take_notes(&mut self) {
        let durable = self.signals.durable();
        while let Some(entry) = self.journal.landed(durable) {
            let InFlight { index, time, commands, mut waiters, .. } = entry;
            self.apply(Side::Logged, EntryIndex(index), time, &commands, &mut waiters);
            self.journal.reuse(Side::Logged, commands, waiters);
        }
        let mut fetched = Vec::new();
        self.signals.take_fetched(&mut fetched);
        for fetched in fetched {
            self.read_back(fetched);
        }
        if self.unlogged.awaits_checkpoints() {
            self.note_checkpoints(self.clock());
        }
        let told = self.signals.take_condition();
        if told || self.journal.stuck.is_some() {
            self.journal.look();
        }
        if self.journal.failed.is_some() && !self.is_ended {
            self.is_ended = true;
            self.end_what_waits_for_the_log(self.clock());
        }
        let is_news = self.journal.applied > self.journal.checkpointed || self.relocation.has_freed;
        if self.journal.stuck.is_some() && is_news {
            // What is dead may make room.
            self.checkpoint();
        }
        if self.journal.stuck.is_some() && self.journal.failed.is_none() {
            self.take_back(self.clock());
            self.go_on_without_entries(self.clock());
            self.relocate_again(self.clock());
        }
        if !self.held_back.is_empty() && self.journal.takes_more(self.enough_waits()) {
            self.room_for_all();
        }
    }

    /// Looks from time to time whether the system's clock was set.
    fn look_at_clock(&mut self, now: Now) {
        if self.clock.is_due(now) && self.clock.look(now) {
            // How times in messages are to be understood is known to whoever looks at a sender's messages.
            self.epoch += 1;
        }
    }

    /// What is due: messages expire, come up for delivery, queues go that nobody uses.
    fn look_at_time(&mut self, time: Millis) {
        for side in Side::BOTH {
            if self.broker(side).next_timeout().is_some_and(|due| due <= time) {
                let mut commands = Vec::new();
                self.broker(side).handle_timeout(time, &mut commands);
                commands.into_iter().for_each(|command| self.submit(side, command, None, Waiter::Nobody));
            }
        }
    }

    /// Puts what has gathered into the log.
    fn seal(&mut self, time: Millis) {
        if self.unlogged.is_under_way() {
            return;
        }
        // While there is little room, what is relocated is an entry of its own, and the rest another.
        self.seal_once(time);
        if self.journal.stuck.is_some() && !self.journal.is_blocked {
            self.seal_once(time);
        }
    }

    fn seal_once(&mut self, time: Millis) {
        match self.journal.seal(time, !self.starved.is_empty()) {
            Ok(Some((entry, bodies))) => self.bodies.append(entry, bodies),
            Ok(None) => {}
            Err(refused) => self.log_refused(*refused, time),
        }
    }
}
