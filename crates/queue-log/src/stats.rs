//! What the log counts.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Upper bounds of the classes of sync times, in microseconds; a last class has what took longer.
pub const SYNC_BOUNDS: [u64; 16] =
    [50, 100, 150, 200, 300, 500, 750, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000, 1_000_000];

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) entries: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) sync_micros: AtomicU64,
    pub(crate) sync_slowest: AtomicU64,
    pub(crate) classes: [AtomicU64; SYNC_BOUNDS.len() + 1],
    pub(crate) recycled: AtomicU64,
    pub(crate) created: AtomicU64,
}

impl Counters {
    pub(crate) fn synced(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.syncs.fetch_add(1, Relaxed);
        self.sync_micros.fetch_add(micros, Relaxed);
        self.sync_slowest.fetch_max(micros, Relaxed);
        let class = SYNC_BOUNDS.partition_point(|bound| *bound < micros);
        self.classes[class].fetch_add(1, Relaxed);
    }
}

/// Counts and sizes of a log, since it was opened where it counts events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The newest entry that was appended.
    pub appended: u64,
    /// The newest entry that is on the disk.
    pub durable: u64,
    /// The entry up to which the newest checkpoint goes.
    pub checkpoint: u64,
    /// Bytes that are appended but not on the disk yet. Who appends holds its senders back when these grow.
    pub queued_bytes: u64,
    /// Segments with entries.
    pub segments: usize,
    /// Segments and files that can become some, all of them.
    pub files: usize,
    /// Bytes of those files.
    pub disk_bytes: u64,
    /// Bytes of bodies that were not released.
    pub live_bytes: u64,
    /// Entries written.
    pub entries: u64,
    /// Bytes written, of records.
    pub bytes: u64,
    /// Syncs of the log.
    pub syncs: u64,
    /// Time that they took together, in microseconds.
    pub sync_micros: u64,
    /// Time that the slowest took, in microseconds.
    pub sync_slowest: u64,
    /// How many took at most so long, by [`SYNC_BOUNDS`]; the last of them, longer.
    pub sync_classes: [u64; SYNC_BOUNDS.len() + 1],
    /// Segments used again.
    pub recycled: u64,
    /// Segments made.
    pub created: u64,
}

/// Whether the log takes entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// It does.
    Good,
    /// There is no room for another segment; what is ordinary is, or soon will be, refused. The reason.
    Full(String),
    /// Never again until it is opened anew. The reason.
    Failed(String),
}
