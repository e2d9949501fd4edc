//! Checksums: CRC-32C, begun with what the bytes belong to, so that bytes in the wrong place do not check.

/// The beginning of the checksums of one segment or file: of the store's id and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seed(u32);

impl Seed {
    pub(crate) fn new(store: &[u8; 16], number: u64) -> Self {
        Seed(crc32c::crc32c_append(crc32c::crc32c(store), &number.to_le_bytes()))
    }

    pub(crate) fn of(self, bytes: &[u8]) -> u32 {
        crc32c::crc32c_append(self.0, bytes)
    }
}

/// A little-endian number at a place in a slice that is known to be long enough.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

/// A little-endian number at a place in a slice that is known to be long enough.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}
