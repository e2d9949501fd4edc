//! Which large messages there should be: for who checks a store, or copies it.

use std::io::Read;

use queue_core::{EntryIndex, Snapshot};
use queue_log::{Entry, HostError, Inventory, Recover};

use super::recovery::Recovery;

/// What a store that no router has open holds: it is read as by a router that starts, and tells which large messages there
/// should be. Takes as much memory as such a router.
#[derive(Default)]
pub struct StoreContents(Recovery);

impl Recover for StoreContents {
    fn snapshot(&mut self, index: u64, from: &mut dyn Read) -> Result<(), HostError> {
        self.0.snapshot(index, from)
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), HostError> {
        self.0.entry(entry)
    }
}

impl Inventory for StoreContents {
    fn large(&self) -> Vec<(u64, String)> {
        large(&self.0.broker.snapshot(EntryIndex(self.0.applied)))
    }
}

/// The file of each large message, and what people call the message.
pub(super) fn large(snapshot: &Snapshot) -> Vec<(u64, String)> {
    snapshot.in_files().map(|it| (it.file, format!("message {} of the queue '{}'", it.seq, it.queue))).collect()
}
