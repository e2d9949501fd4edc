//! A record: a head with a table of its parts, and the parts, each with a checksum of its own, so that one of them can be
//! read and checked alone.
//!
//! ```text
//!  0 u32 checksum of bytes 4 to 40, begun with the segment's seed
//!  4 u32 checksum of the table, likewise
//!  8 u32 how many parts
//! 12 u32 length of all parts together
//! 16 u32 held: bytes of bodies that live until they are released
//! 20 u32 where in the segment the write began that this record was part of
//! 24 u64 index
//! 32 u32 run, and in the lowest byte the kind
//! 36 u32 zero
//! 40     the table, for each part: u32 length, u32 checksum
//!        the parts, then zeros up to a multiple of 8
//! ```

use crate::checksum::{Seed, u32_at, u64_at};
use crate::format::LAST;

/// Bytes of a head before its table.
pub(crate) const FIXED: usize = 40;
/// Bytes of a part in the table.
pub(crate) const ROW: usize = 8;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What somebody appended.
    Entry,
    /// The end of a segment: its one part says where in it entries are. The next segment goes on.
    Seal,
    /// Nothing but the proof that everything before it was synced. The next record takes its place.
    Mark,
}

impl Kind {
    fn code(self) -> u32 {
        match self {
            Kind::Entry => 1,
            Kind::Seal => 2,
            Kind::Mark => 3,
        }
    }

    fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            1 => Kind::Entry,
            2 => Kind::Seal,
            3 => Kind::Mark,
            _ => return None,
        })
    }
}

/// A head without its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    /// Of an entry, its number; of others, the number that the next entry will have.
    pub(crate) index: u64,
    pub(crate) parts: u32,
    pub(crate) length: u32,
    pub(crate) held: u32,
    pub(crate) start: u32,
    pub(crate) run: u32,
}

impl Head {
    /// What the first bytes say, if they could be a head with `room` bytes from its beginning to the segment's end. Only
    /// [`Head::checks`] tells whether they are one.
    pub(crate) fn decode(bytes: &[u8], room: u64) -> Option<Self> {
        if bytes.len() < FIXED {
            return None;
        }
        let last = u32_at(bytes, 32);
        let head = Head {
            kind: Kind::from_code(last & 0xff)?,
            index: u64_at(bytes, 24),
            parts: u32_at(bytes, 8),
            length: u32_at(bytes, 12),
            held: u32_at(bytes, 16),
            start: u32_at(bytes, 20),
            run: last >> 8,
        };
        (head.size() <= room && head.index <= LAST).then_some(head)
    }

    /// Whether the checksum of the head holds. `bytes` begins with it.
    pub(crate) fn checks(bytes: &[u8], seed: Seed) -> bool {
        bytes.len() >= FIXED && seed.of(&bytes[4..FIXED]) == u32_at(bytes, 0)
    }

    /// Whether the checksum of the table holds. `bytes` begins with a head that checks, and the table.
    pub(crate) fn table_checks(&self, bytes: &[u8], seed: Seed) -> bool {
        bytes.get(FIXED..self.head_size()).is_some_and(|table| seed.of(table) == u32_at(bytes, 4))
            && self.rows(bytes).map(|row| u64::from(row.length)).sum::<u64>() == u64::from(self.length)
    }

    /// Bytes of head and table.
    pub(crate) fn head_size(&self) -> usize {
        FIXED + ROW * self.parts as usize
    }

    /// Bytes of the whole record.
    pub(crate) fn size(&self) -> u64 {
        size(u64::from(self.parts), u64::from(self.length))
    }

    /// The table, of bytes that begin with head and table.
    pub(crate) fn rows<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = Row> + use<'a> {
        rows(bytes, self.parts)
    }
}

/// The table of so many parts, of bytes that begin with head and table.
pub(crate) fn rows(bytes: &[u8], parts: u32) -> impl Iterator<Item = Row> + use<'_> {
    let table = bytes.get(FIXED..FIXED + ROW * parts as usize).unwrap_or_default();
    table.chunks_exact(ROW).map(|row| Row { length: u32_at(row, 0), checksum: u32_at(row, 4) })
}

/// A part, as the table has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) length: u32,
    pub(crate) checksum: u32,
}

/// Bytes that a record takes.
pub(crate) fn size(parts: u64, length: u64) -> u64 {
    (FIXED as u64 + ROW as u64 * parts + length).next_multiple_of(8)
}

/// Zeros after the parts.
pub(crate) fn padding(parts: u64, length: u64) -> usize {
    (size(parts, length) - (FIXED as u64 + ROW as u64 * parts + length)) as usize
}

/// Writes head and table.
pub(crate) fn encode_head<'a>(out: &mut Vec<u8>, head: &Head, parts: impl Iterator<Item = &'a [u8]>, seed: Seed) {
    let from = out.len();
    out.extend_from_slice(&[0; 8]);
    for number in [head.parts, head.length, head.held, head.start] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&head.index.to_le_bytes());
    out.extend_from_slice(&(head.run << 8 | head.kind.code()).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    for part in parts {
        // A part is never longer than a segment, whose size is 32 bits wide.
        out.extend_from_slice(&(part.len() as u32).to_le_bytes());
        out.extend_from_slice(&seed.of(part).to_le_bytes());
    }
    let table = seed.of(&out[from + FIXED..]);
    out[from + 4..from + 8].copy_from_slice(&table.to_le_bytes());
    let checksum = seed.of(&out[from + 4..from + FIXED]);
    out[from..from + 4].copy_from_slice(&checksum.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 9;

    fn encoded(parts: &[&[u8]]) -> (Head, Vec<u8>, Seed) {
        let seed = Seed::new(&[3; 16], SEED);
        let length = parts.iter().map(|part| part.len() as u32).sum();
        let parts_count = parts.len() as u32;
        let head = Head { kind: Kind::Entry, index: 77, parts: parts_count, length, held: 5, start: 4096, run: 3 };
        let mut bytes = Vec::new();
        encode_head(&mut bytes, &head, parts.iter().copied(), seed);
        (head, bytes, seed)
    }

    fn checks(head: &Head, bytes: &[u8], seed: Seed) -> bool {
        Head::checks(bytes, seed) && head.table_checks(bytes, seed)
    }

    #[test]
    fn a_head_says_the_same_when_it_is_read_again() {
        let (head, bytes, seed) = encoded(&[b"one", b"", b"three"]);
        assert_eq!(Head::decode(&bytes, 1000), Some(head));
        assert!(checks(&head, &bytes, seed));
        assert_eq!(head.rows(&bytes).map(|row| row.length).collect::<Vec<_>>(), [3, 0, 5]);
    }

    #[test]
    fn any_flipped_bit_of_a_head_or_its_table_is_noticed() {
        let (head, bytes, seed) = encoded(&[b"one", b"two"]);
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let read = Head::decode(&bytes, 1000);
            assert!(read.is_none_or(|read| !checks(&read, &bytes, seed)), "bit {bit} of {head:?}");
        }
    }

    #[test]
    fn a_record_of_another_segment_or_store_does_not_check() {
        let (head, bytes, _) = encoded(&[b"one"]);
        assert!(!checks(&head, &bytes, Seed::new(&[3; 16], SEED + 1)));
        assert!(!checks(&head, &bytes, Seed::new(&[4; 16], SEED)));
    }

    #[test]
    fn a_head_that_says_more_than_there_is_room_for_is_none() {
        let (head, bytes, _) = encoded(&[b"one"]);
        assert_eq!(Head::decode(&bytes, head.size() - 1), None);
    }
}
