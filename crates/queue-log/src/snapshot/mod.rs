//! Snapshots: a header, then blocks with a checksum each, then a block that says that this was all. In them are first the
//! log's own table of segments, then whatever the host wrote.

mod reader;
mod table;
mod writer;

pub(crate) use reader::{Damage, Reader, check};
pub(crate) use table::{Row, Table};
pub(crate) use writer::Writer;

use crate::checksum::Seed;

/// Bytes of the header.
const HEADER: usize = 64;
/// Bytes of a block's contents, at most.
const BLOCK: usize = 256 * 1024;
/// Bytes before a block's contents: how many, and their checksum.
const BLOCK_HEAD: usize = 8;

const MAGIC: [u8; 8] = *b"WSTNSNAP";

/// What begins the checksums of a snapshot's blocks. Snapshots and segments never have the same.
fn seed(store: &[u8; 16], index: u64) -> Seed {
    Seed::new(store, !index)
}

/// A block's checksum: of its place among the blocks, and its contents.
fn block_checksum(seed: Seed, number: u64, contents: &[u8]) -> u32 {
    crc32c::crc32c_append(seed.of(&number.to_le_bytes()), contents)
}
