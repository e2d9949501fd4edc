//! The first 64 bytes of a store's file: what kind of file it is, whose, and which one. Each kind says in a file of its own
//! what the numbers mean to it.

use super::VERSION;
use crate::checksum::{u32_at, u64_at};

/// Bytes of it.
pub(crate) const SIZE: usize = 64;

/// Where its checksum is: of all that is before it.
const CHECKSUM: usize = 60;

/// What a file begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FileHead {
    /// The store's id.
    pub(crate) store: [u8; 16],
    /// Which of its kind the file is.
    pub(crate) number: u64,
    /// Between the version and the store.
    pub(crate) before: u32,
    /// Behind the number.
    pub(crate) behind: u32,
}

/// Why bytes are no such head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoHead {
    /// Their checksum does not hold, or they are none.
    Corrupt,
    /// They are of another version.
    Version(u32),
}

impl FileHead {
    /// `magic`: the kind of the file.
    pub(crate) fn encode(&self, magic: [u8; 8]) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&magic);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.before.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.store);
        bytes[32..40].copy_from_slice(&self.number.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.behind.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM]);
        bytes[CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the beginning of a file that should be of this kind.
    pub(crate) fn decode(magic: [u8; 8], bytes: &[u8]) -> Result<Self, NoHead> {
        let Some(bytes) = bytes.first_chunk::<SIZE>() else { return Err(NoHead::Corrupt) };
        if bytes[..8] != magic || crc32c::crc32c(&bytes[..CHECKSUM]) != u32_at(bytes, CHECKSUM) {
            return Err(NoHead::Corrupt);
        }
        match u32_at(bytes, 8) {
            VERSION => {}
            other => return Err(NoHead::Version(other)),
        }
        let mut store = [0; 16];
        store.copy_from_slice(&bytes[16..32]);
        Ok(Self { store, number: u64_at(bytes, 32), before: u32_at(bytes, 12), behind: u32_at(bytes, 40) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: [u8; 8] = *b"WSTNTEST";
    const HEAD: FileHead = FileHead { store: [7; 16], number: 42, before: 1 << 20, behind: 5 };

    #[test]
    fn a_head_says_the_same_when_it_is_read_again() {
        assert_eq!(FileHead::decode(MAGIC, &HEAD.encode(MAGIC)), Ok(HEAD));
        assert_eq!(FileHead::decode(*b"WSTNELSE", &HEAD.encode(MAGIC)), Err(NoHead::Corrupt));
    }

    #[test]
    fn any_flipped_bit_of_a_head_is_noticed() {
        for bit in 0..SIZE * 8 {
            let mut bytes = HEAD.encode(MAGIC);
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(FileHead::decode(MAGIC, &bytes), Err(NoHead::Corrupt), "bit {bit}");
        }
    }
}
