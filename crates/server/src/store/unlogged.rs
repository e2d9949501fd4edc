//! What makes the store smaller needs no room in its log. If the log is full and takes not even that, it takes effect without an
//! entry, and a checkpoint has the state after it, for which room is kept. Whoever waits for it hears of it when the checkpoint
//! stands; until then nothing is appended, as entries are applied after a crash to a state that may not have it.
//!
//! So however small messages are, and in whatever order they are settled, a full log goes on: segments in which nothing lives are
//! free after the checkpoint, and what lives in others is [relocated](super::relocation). That room is kept for as well, so that it
//! goes on as long as what is really kept, counted with [`EACH`](super::relocation::EACH) bytes more for each message, takes less than
//! a quarter of the log without its last segment: then one of the others has less than a quarter. What was taken before the log
//! knew that it is full, and does not fit into the segment that it began then, it [gives back](queue_log::Log::take_back): that is refused.

use std::collections::VecDeque;

use queue_core::{Applied, Command, EntryIndex, Millis, Output};

use router_core::OutKey;

use super::journal::Waiter;
use super::links::Side;
use super::node::Node;

/// How long to wait before a checkpoint is tried again that could not be written, in milliseconds.
const PAUSE: Millis = 1000;

/// What has taken effect without an entry.
#[derive(Default)]
pub(super) struct Unlogged {
    /// No checkpoint has it.
    fresh: Effects,
    /// For each checkpoint that is being written, what it has.
    begun: VecDeque<Effects>,
    /// When to try again.
    again: Millis,
}

#[derive(Default)]
struct Effects {
    /// Whether there are any.
    any: bool,
    waiters: Vec<(Applied, Waiter)>,
    /// Files of large messages that are not needed any more.
    files: Vec<u64>,
}

impl Effects {
    fn append(&mut self, mut other: Self) {
        self.any |= other.any;
        self.waiters.append(&mut other.waiters);
        self.files.append(&mut other.files);
    }
}

impl Unlogged {
    /// Whether there is anything that no checkpoint has for certain.
    pub(super) fn is_under_way(&self) -> bool {
        self.fresh.any || self.begun.iter().any(|effects| effects.any)
    }

    /// Whether it matters what becomes of checkpoints.
    pub(super) fn awaits_checkpoints(&self) -> bool {
        self.fresh.any || !self.begun.is_empty()
    }

    /// A checkpoint of the state as it is now is being written.
    pub(super) fn checkpoint_begun(&mut self) {
        self.begun.push_back(std::mem::take(&mut self.fresh));
    }

    /// The sender of a delivery waits for nothing any more.
    pub(super) fn forget_arrival(&mut self, key: OutKey) {
        let all = std::iter::once(&mut self.fresh).chain(&mut self.begun);
        all.flat_map(|effects| &mut effects.waiters).any(|(_, waiter)| waiter.forget_arrival(key));
    }

    /// The file of a message is not needed any more, once the state that says so is on the disk. False: it is already.
    pub(super) fn keeps_file(&mut self, file: u64) -> bool {
        let keeps = self.is_under_way();
        if keeps {
            self.fresh.any = true;
            self.fresh.files.push(file);
        }
        keeps
    }
}

/// Whether a command only makes the store smaller, or leaves it as large as it is.
pub(super) fn needs_no_room(command: &Command) -> bool {
    match command {
        Command::Enqueue(_) | Command::Adopt(_) | Command::Relocate { .. } => false,
        Command::Transaction(commands) => commands.iter().all(needs_no_room),
        _ => true,
    }
}

impl Node {
    /// Has take effect what the log has no room for, if it needs none.
    pub(super) fn go_on_without_entries(&mut self, time: Millis) {
        // What is on its way was there before, and is to take effect before.
        if !self.journal.is_blocked || self.unlogged.is_under_way() || !self.journal.flight.is_empty() {
            return;
        }
        self.journal.is_blocked = false;
        let side = Side::Logged;
        let (batch, rest) = std::mem::take(&mut self.journal.gathering[side as usize]).split(needs_no_room);
        self.journal.gathering[side as usize] = rest;
        if batch.is_empty() {
            return;
        }
        // From now on files are kept.
        self.unlogged.fresh.any = true;
        let mut output = Output::default();
        let time = time.max(self.journal.time);
        self.journal.time = time;
        self.brokers[side as usize].apply(EntryIndex(self.journal.applied), time, &batch.commands, &mut output);
        self.take_effect(side, &batch.commands, &mut output);
        let waiters = batch.waiters.into_iter();
        let waiters = waiters.filter_map(|(index, waiter)| Some((output.applied.get(index)?.clone(), waiter)));
        self.unlogged.fresh.waiters.extend(waiters);
        self.checkpoint();
    }

    /// Takes note of checkpoints that stand, or could not be written.
    pub(super) fn note_checkpoints(&mut self, time: Millis) {
        while let Some(stands) = self.signals.take_checkpoint() {
            let Some(effects) = self.unlogged.begun.pop_front() else { continue };
            if !stands {
                self.unlogged.again = time + PAUSE;
                self.unlogged.fresh.append(effects);
                continue;
            }
            for (applied, waiter) in effects.waiters {
                self.applied(waiter, &applied);
            }
            effects.files.into_iter().for_each(|file| self.large.remove(file));
        }
        if self.unlogged.fresh.any && self.unlogged.begun.is_empty() && self.unlogged.again <= time {
            self.unlogged.again = time + PAUSE;
            self.checkpoint();
        }
    }

    /// The log has failed: who waits for what has taken effect without an entry. Files stay, as after a restart it is known who needs
    /// them.
    pub(super) fn unlogged_in_doubt(&mut self) -> Vec<Waiter> {
        let mut all = std::mem::take(&mut self.unlogged.fresh);
        self.unlogged.begun.iter_mut().for_each(|effects| all.append(std::mem::take(effects)));
        all.waiters.into_iter().map(|(_, waiter)| waiter).collect()
    }

    /// A body with a file of its own is gone.
    pub(super) fn file_gone(&mut self, side: Side, file: u64) {
        if side == Side::Memory || !self.unlogged.keeps_file(file) {
            self.large.remove(file);
        }
    }
}
