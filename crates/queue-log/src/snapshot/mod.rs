//! Snapshots: a header, then blocks with a checksum each, then a block that says that this was all. In them are first the
//! log's own table of segments, then whatever the host wrote.

mod reader;
mod table;
mod writer;

pub(crate) use reader::{Damage, Reader, check};
pub(crate) use table::{Row, Table};
pub(crate) use writer::Writer;

use crate::checksum::Seed;

/// Bytes of a block's contents, at most.
const BLOCK: usize = 256 * 1024;

const MAGIC: [u8; 8] = *b"WSTNSNAP";

/// What begins the checksums of a snapshot's blocks. Snapshots and segments never have the same.
fn seed(store: &[u8; 16], index: u64) -> Seed {
    Seed::new(store, !index)
}
