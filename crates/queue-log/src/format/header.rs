//! The head of a segment: whose it is, and which one.

use super::VERSION;
use crate::checksum::{u32_at, u64_at};

/// Where records begin: a block of its own for the header, so that it is never written again with a record.
pub(crate) const DATA: u32 = 4096;
/// Bytes of the header that mean something.
pub(crate) const SIZE: usize = 64;

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

/// Why bytes are no header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoHeader {
    /// Its checksum does not hold, or it is none.
    Corrupt,
    /// It is one of another version.
    Version(u32),
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.size.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.store);
        bytes[32..40].copy_from_slice(&self.epoch.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..60]);
        bytes[60..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NoHeader> {
        if bytes.len() < SIZE || bytes[..8] != MAGIC || crc32c::crc32c(&bytes[..60]) != u32_at(bytes, 60) {
            return Err(NoHeader::Corrupt);
        }
        match u32_at(bytes, 8) {
            VERSION => {}
            other => return Err(NoHeader::Version(other)),
        }
        let mut store = [0; 16];
        store.copy_from_slice(&bytes[16..32]);
        Ok(Header { store, epoch: u64_at(bytes, 32), size: u32_at(bytes, 12) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { store: [7; 16], epoch: 42, size: 1 << 20 };

    #[test]
    fn a_header_says_the_same_when_it_is_read_again() {
        assert_eq!(Header::decode(&HEADER.encode()), Ok(HEADER));
    }

    #[test]
    fn any_flipped_bit_of_a_header_is_noticed() {
        for bit in 0..SIZE * 8 {
            let mut bytes = HEADER.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&bytes), Err(NoHeader::Corrupt), "bit {bit}");
        }
    }
}
