//! All messages of one priority in a queue, in chunks.

use super::chunk::{CHUNK, Chunk};
use super::row::Row;

/// All messages of one priority.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    /// The number of the next message.
    pub(crate) next: u64,
    /// By number of the first slot, divided by the size of a chunk. Those without messages are not kept,
    /// but for the one that the next message goes to.
    pub(crate) chunks: Row<Box<Chunk>>,
    /// The chunks that have a free message.
    pub(crate) with_free: Row<()>,
}

/// The chunk and the slot of a number.
#[inline]
pub(crate) fn split(number: u64) -> (u64, usize) {
    (number / CHUNK as u64, (number % CHUNK as u64) as usize)
}

pub(crate) fn join(chunk: u64, slot: usize) -> u64 {
    chunk * CHUNK as u64 + slot as u64
}

impl Lane {
    /// The first message from this number on that is free.
    pub(crate) fn free_from(&self, number: u64) -> Option<u64> {
        let (first, slot) = split(number);
        for (at, ()) in self.with_free.from(first) {
            let start = if at == first { slot } else { 0 };
            if let Some(found) = self.chunks.get(at).and_then(|chunk| chunk.free.first_from(start)) {
                return Some(join(at, found));
            }
        }
        None
    }

    /// The first message from this number on.
    pub(crate) fn present_from(&self, number: u64) -> Option<u64> {
        let (first, slot) = split(number);
        for (at, chunk) in self.chunks.from(first) {
            let start = if at == first { slot } else { 0 };
            if let Some(found) = chunk.present.first_from(start) {
                return Some(join(at, found));
            }
        }
        None
    }
}
