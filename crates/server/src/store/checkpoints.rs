//! Checkpoints: the state of all queues is stored from time to time, and at the end, so that the log before it can be used
//! again.

use queue_core::{EntryIndex, Snapshot};
use queue_log::LogError;

use super::links::Side;
use super::node::Node;

/// Bytes appended to the log after which a checkpoint is due, unless the log has little room.
pub(super) const EVERY: u64 = 128 * 1024 * 1024;
/// The share of the room of the log after which one is due: its space is free again only then.
pub(super) const SHARE: u64 = 8;

impl Node {
    /// Stores the state of all queues when much has happened since that was done last.
    pub(super) fn checkpoint_if_due(&mut self) {
        if self.journal.since_checkpoint >= self.checkpoint_every {
            self.checkpoint();
            self.relocate();
        }
    }

    /// The state of all queues of the log.
    pub(super) fn snapshot(&self) -> Snapshot {
        self.brokers[Side::Logged as usize].snapshot(EntryIndex(self.journal.applied))
    }

    /// Stores the state of all queues, so that the log before it can be used again.
    pub(super) fn checkpoint(&mut self) {
        let Some(log) = &self.journal.log else { return };
        let snapshot = self.snapshot();
        match log.checkpoint(self.journal.applied, move |to| snapshot.write(|bytes| to.write_all(bytes))) {
            Ok(()) => {
                (self.journal.since_checkpoint, self.journal.checkpointed) = (0, self.journal.applied);
                self.relocation.has_freed = false;
                self.unlogged.checkpoint_begun();
            }
            // It is tried again.
            Err(LogError::Busy) => {}
            Err(error) => {
                (self.journal.since_checkpoint, self.journal.checkpointed) = (0, self.journal.applied);
                logging::log!(ROUTER_CORE, Warning, "No checkpoint of the store: {error}");
            }
        }
    }

    /// Writes what is left, and closes the log.
    pub(super) fn close(&mut self) {
        let time = self.clock();
        self.finish_asking();
        if let Err(refused) = self.journal.seal(time, true) {
            let error = refused.error;
            self.journal.put_before(refused.batch);
            self.journal.is_blocked = true;
            self.go_on_without_entries(time);
            if !self.journal.gathering[Side::Logged as usize].is_empty() {
                logging::log!(ROUTER_CORE, Warning, "What was said last is not stored: {error}");
            }
        }
        self.reading.stop();
        self.large.stop();
        if let Some(log) = &self.journal.log {
            log.wait_for_checkpoint();
        }
        // The next start need not read what has happened since the last one.
        self.checkpoint();
        let Some(log) = self.journal.log.take() else { return };
        log.wait_for_checkpoint();
        log.close();
    }
}
