//! Old messages among many dead ones: they are appended to the log once more, so that the space of the others can be used
//! again.

use std::collections::HashMap;

use queue_core::{BodyRef, Command, QueueId, Seq};
use queue_log::Sparse;

use super::journal::Waiter;
use super::links::Side;
use super::node::Node;

/// Messages that are relocated at once.
const MOST: usize = 256;

/// Messages that are being read to be appended once more, and in which queues they are.
pub(super) type Relocating = HashMap<BodyRef, Vec<(QueueId, Seq)>>;

impl Node {
    /// If a segment of the log holds little that is alive, begins to have that read. One after the other: the next one when
    /// all is read.
    pub(super) fn relocate(&mut self) {
        let Some(log) = self.journal.log.as_ref().filter(|_| self.relocating.is_empty()) else { return };
        let Some(Sparse { entries, .. }) = log.sparse() else { return };
        let living = self.broker(Side::Logged).living_before(entries.end() + 1, MOST);
        for found in living {
            if matches!(found.body, BodyRef::Log { entry, .. } if entries.contains(&entry)) {
                self.relocating.entry(found.body).or_default().push((found.queue, found.seq));
            }
        }
        let bodies: Vec<BodyRef> = self.relocating.keys().copied().collect();
        for body in bodies {
            match self.bodies.get(body).is_some() {
                true => self.relocate_one(body),
                false => self.ask_for(body),
            }
        }
    }

    /// A message was read: if that was to append it once more, it is.
    pub(super) fn relocate_one(&mut self, body: BodyRef) {
        let Some(of) = self.relocating.remove(&body) else { return };
        let Some(whole) = self.bodies.get(body).cloned() else { return };
        self.submit(Side::Logged, Command::Relocate { from: body, of }, Some(whole), Waiter::Nobody);
    }
}
