//! The messages of one queue: entries in chunks, chunks in lanes, one lane for each priority.
//!
//! An entry is found by its place in constant time within a chunk, and a chunk by its number in a row. Beside the
//! entries each chunk has one bit a message for what changes often: whether it is there, may be given to a consumer, is
//! held by one, or was.

pub(crate) mod bits;
pub(crate) mod chunk;
pub(crate) mod entry;
mod lane;
mod lanes;
pub(crate) mod packed;
mod row;

pub(crate) use bits::Bits;
pub(crate) use chunk::{CHUNK, Chunk};
pub(crate) use entry::Entry;
pub(crate) use lanes::Lanes;
pub(crate) use row::Row;
