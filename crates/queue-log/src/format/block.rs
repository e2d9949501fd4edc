//! Snapshots and large messages are rows of blocks: each has its length and checksum before its contents, and one without
//! contents says that this was all.

use crate::checksum::{Seed, u32_at};

/// Bytes before a block's contents.
pub(crate) const HEAD: usize = 8;

/// Writes the head of a block, for which there is room before its contents.
pub(crate) fn seal(block: &mut [u8], seed: Seed, number: u64) {
    let (head, contents) = block.split_at_mut(HEAD);
    head[..4].copy_from_slice(&(contents.len() as u32).to_le_bytes());
    head[4..].copy_from_slice(&checksum(seed, number, contents).to_le_bytes());
}

/// The block after the last.
pub(crate) fn end(seed: Seed, number: u64) -> [u8; HEAD] {
    let mut block = [0; HEAD];
    seal(&mut block, seed, number);
    block
}

/// How long the contents are, as the head says that `bytes` begins with.
pub(crate) fn length(bytes: &[u8]) -> usize {
    u32_at(bytes, 0) as usize
}

/// Whether these are the contents that the head is about.
pub(crate) fn checks(head: &[u8], contents: &[u8], seed: Seed, number: u64) -> bool {
    checksum(seed, number, contents) == u32_at(head, 4)
}

/// Of a block's place among the others, and its contents.
fn checksum(seed: Seed, number: u64, contents: &[u8]) -> u32 {
    crc32c::crc32c_append(seed.of(&number.to_le_bytes()), contents)
}
