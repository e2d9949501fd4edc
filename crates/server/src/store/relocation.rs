//! Old messages among many dead ones: they are appended to the log once more, so that the space of the others can be used
//! again. After each checkpoint all segments are gone through, one after the other.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use queue_core::{BodyRef, Command, Millis, QueueId, Seq};

use super::journal::Waiter;
use super::links::{Role, Side};
use super::node::Node;

/// Messages that are relocated at once.
const MOST: usize = 256;
/// Bytes of the log that a message takes at most when it is relocated, beside its own: if it is an entry of its own.
pub(super) const EACH: u64 = 104;
/// Milliseconds between two rounds while the log is full.
const PAUSE: Millis = 100;

/// How far that is.
#[derive(Default)]
pub(super) struct Relocation {
    /// Messages that are being read to be appended once more, and in which queues they are.
    reading: HashMap<BodyRef, Vec<(QueueId, Seq)>>,
    /// How many have been appended, and are not known to be on disk.
    under_way: usize,
    /// The last entry of the segments that are done with in this round.
    done: u64,
    /// The last entry of the segment that is being gone through.
    chosen: Option<u64>,
    /// Bytes of the log were freed of which no entry says so: only a checkpoint makes them room.
    pub(super) has_freed: bool,
    /// When the next round may begin while the log is full.
    again: Millis,
}

impl Node {
    /// Begins a round, unless there is one.
    pub(super) fn relocate(&mut self) {
        if self.is_relocating() {
            return;
        }
        self.relocation.done = 0;
        self.relocation.chosen = None;
        self.relocate_more();
    }

    /// Begins a round if the log is full: there may be room once what lives among the dead is elsewhere. It is looked for from time
    /// to time only.
    pub(super) fn relocate_again(&mut self, time: Millis) {
        if time >= self.relocation.again {
            self.relocation.again = time + PAUSE;
            self.relocate();
        }
    }

    fn is_relocating(&self) -> bool {
        !self.relocation.reading.is_empty() || self.relocation.under_way > 0
    }

    /// Goes on with the next segment that holds little that is alive, if nothing is under way.
    fn relocate_more(&mut self) {
        let Some(log) = self.journal.log.clone() else { return };
        while !self.is_relocating()
            && let Some(sparse) = log.sparse(self.relocation.done)
        {
            let last = *sparse.entries.end();
            self.let_go_of_what_was_sent(&sparse.entries);
            if self.relocation.chosen != Some(last) {
                // Of small messages there may be so many that it gains nothing. If there is little room it is done with those only of
                // which all find room: else the segment would stay, and that room be gone.
                let most = match self.journal.stuck {
                    Some(_) => log.room(),
                    None => sparse.size / 2,
                };
                if self.broker(Side::Logged).weight_in(&sparse.entries, EACH, most) > most {
                    self.relocation.done = last;
                    continue;
                }
                self.relocation.chosen = Some(last);
            }
            let living = self.broker(Side::Logged).living_in(&sparse.entries, MOST);
            if living.len() < MOST {
                self.relocation.done = last;
                self.relocation.chosen = None;
            }
            for found in living {
                self.relocation.reading.entry(found.body).or_default().push((found.queue, found.seq));
            }
            let bodies: Vec<BodyRef> = self.relocation.reading.keys().copied().collect();
            for body in bodies {
                match self.bodies.get(body).is_some() {
                    true => self.relocate_one(body),
                    false => self.ask_for(body),
                }
            }
        }
    }

    /// Messages that consumers hold were given to them from where they were then. What was sent to them is needed there no more.
    fn let_go_of_what_was_sent(&mut self, entries: &RangeInclusive<u64>) {
        let receivers = self.links.iter().filter_map(|(_, link)| match &link.role {
            Role::Receiver(receiver) => Some(&receiver.parked),
            _ => None,
        });
        let parked = || receivers.clone().flatten().map(|assignment| assignment.body).collect::<HashSet<BodyRef>>();
        // Mostly there is nothing to look for.
        let known = OnceCell::new();
        let gone =
            self.brokers[Side::Logged as usize].let_go(entries, |body| known.get_or_init(parked).contains(&body));
        self.relocation.has_freed |= !gone.is_empty();
        for (body, size) in gone {
            self.body_gone(Side::Logged, body, size);
        }
        self.release_dead();
    }

    /// A message was read: if that was to append it once more, it is.
    pub(super) fn relocate_one(&mut self, body: BodyRef) {
        if self.relocation.reading.is_empty() {
            return;
        }
        let Some(of) = self.relocation.reading.remove(&body) else { return };
        let Some(whole) = self.bodies.get(body).cloned() else { return };
        self.relocation.under_way += 1;
        self.submit(Side::Logged, Command::Relocate { from: body, of }, Some(whole), Waiter::Relocated);
    }

    /// A message cannot be read.
    pub(super) fn not_relocated(&mut self, body: BodyRef) {
        self.relocation.reading.remove(&body);
    }

    /// A message was appended once more, or the log has not taken it; then the round is over.
    pub(super) fn relocated(&mut self, taken: bool) {
        self.relocation.under_way = self.relocation.under_way.saturating_sub(1);
        if !taken {
            self.relocation.done = u64::MAX;
        }
        self.relocate_more();
    }
}
