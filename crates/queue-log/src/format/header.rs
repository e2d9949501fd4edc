//! The head of a segment: whose it is, and which one.

use super::head::{self, FileHead, NoHead};

/// Where records begin: a block of its own for the header, so that it is never written again with a record.
pub(crate) const DATA: u32 = 4096;

const MAGIC: [u8; 8] = *b"WSTNSEGM";

/// A segment's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The store's id.
    pub(crate) store: [u8; 16],
    /// Number of the segment: the next of the log has the next number, whatever file it is in. Never used twice.
    pub(crate) epoch: u64,
    /// Bytes of the file.
    pub(crate) size: u32,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; head::SIZE] {
        let Self { store, epoch, size } = *self;
        FileHead { store, number: epoch, before: size, behind: 0 }.encode(MAGIC)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NoHead> {
        let FileHead { store, number, before, .. } = FileHead::decode(MAGIC, bytes)?;
        Ok(Self { store, epoch: number, size: before })
    }
}
