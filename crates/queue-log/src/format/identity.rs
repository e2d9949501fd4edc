//! The file that says who a store is. It is written anew whenever the store is opened.

use super::head::{self, FileHead, NoHead};

/// Highest number of a run: what a record has room for.
pub(crate) const RUN_MAX: u32 = (1 << 24) - 1;

const MAGIC: [u8; 8] = *b"WSTNSTOR";

/// Who a store is, and what was known of it when it was opened last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its id.
    pub(crate) store: [u8; 16],
    /// How often it was opened. Records say in which run they were written, so that what was cut off in an earlier one is
    /// never taken for what was written since.
    pub(crate) run: u32,
    /// The segment up to which, and the place in it, everything was on the disk at that time.
    pub(crate) synced: (u64, u32),
}

impl Identity {
    pub(crate) fn encode(&self) -> [u8; head::SIZE] {
        let Self { store, run, synced: (segment, place) } = *self;
        FileHead { store, number: segment, before: run, behind: place }.encode(MAGIC)
    }

    /// Reads the whole file.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NoHead> {
        if bytes.len() != head::SIZE {
            return Err(NoHead::Corrupt);
        }
        let FileHead { store, number, before, behind } = FileHead::decode(MAGIC, bytes)?;
        Ok(Self { store, run: before, synced: (number, behind) })
    }
}
