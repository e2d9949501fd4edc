//! One segment, as it is known in memory.

use crate::checksum::Seed;
use crate::disk::DiskFile;
use crate::format::header::DATA;
use crate::points::Points;
use std::path::PathBuf;
use std::sync::Arc;

/// A segment that has, or had, or is about to have entries.
pub(crate) struct Segment {
    pub(crate) epoch: u64,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) path: PathBuf,
    pub(crate) seed: Seed,
    /// Bytes of the file.
    pub(crate) size: u32,
    /// Its first entry, or the one that will be.
    pub(crate) first: u64,
    /// The entry after its last.
    pub(crate) next: u64,
    /// Where its entries end, and the next one or the seal begins.
    pub(crate) end: u32,
    /// Nothing is added to it any more.
    pub(crate) sealed: bool,
    /// Bytes of bodies that were written to it.
    pub(crate) held: u64,
    /// Bytes of bodies of those that were released.
    pub(crate) released: u64,
    /// None: they lie in the seal, nobody asked for them yet.
    pub(crate) points: Option<Points>,
}

impl Segment {
    /// A segment without entries.
    pub(crate) fn empty(prepared: Prepared, first: u64) -> Self {
        let Prepared { epoch, file, path, seed, size } = prepared;
        Segment {
            epoch,
            file,
            path,
            seed,
            size,
            first,
            next: first,
            end: DATA,
            sealed: false,
            held: 0,
            released: 0,
            points: Some(Points::default()),
        }
    }

    /// Bytes of bodies that somebody may still ask for.
    pub(crate) fn live(&self) -> u64 {
        self.held.saturating_sub(self.released)
    }

    /// Bytes that a record may take here, if the seal is to have its room after it.
    pub(crate) fn room(&self, record: u64) -> bool {
        let seal = self.points.as_ref().map_or(0, |points| points.seal_size(record));
        !self.sealed && u64::from(self.end) + record + seal <= u64::from(self.size)
    }

    /// Bytes for records, roughly.
    pub(crate) fn left(&self) -> u64 {
        if self.sealed {
            return 0;
        }
        let rest = u64::from(self.size - self.end);
        let seal = self.points.as_ref().map_or(0, |points| points.seal_size(rest));
        rest.saturating_sub(seal)
    }

    /// Takes note of an entry that was written at the end.
    pub(crate) fn wrote(&mut self, index: u64, held: u32, size: u64) {
        if let Some(points) = &mut self.points {
            points.note(index, self.end, self.held);
        }
        self.held += u64::from(held);
        self.next = index + 1;
        // It had room here, and the segment's size is 32 bits wide.
        self.end += size as u32;
    }
}

/// A segment that waits for its first entry: its header is on the disk.
pub(crate) struct Prepared {
    pub(crate) epoch: u64,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) path: PathBuf,
    pub(crate) seed: Seed,
    pub(crate) size: u32,
}

/// The largest record that a segment of this size can have.
pub(crate) fn largest_record(size: u32) -> u64 {
    u64::from(size - DATA).saturating_sub(Points::default().seal_size(u64::from(size)))
}
