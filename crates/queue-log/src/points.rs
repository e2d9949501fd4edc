//! Where in a segment entries are: not each of them, but one every 16 KiB, from which one reads on.

use crate::checksum::{u32_at, u64_at};
use crate::format::record;

/// Bytes between two points, at least.
const SPACING: u32 = 16 * 1024;
/// Bytes of an encoded point.
const ENCODED: usize = 16;
/// Bytes before the encoded points.
const BEFORE: usize = 16;

/// An entry's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) index: u64,
    /// Where its record begins in the segment.
    pub(crate) at: u32,
    /// Bytes held by the entries before it in the segment.
    pub(crate) held: u32,
}

/// The points of one segment, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Points(Vec<Point>);

impl Points {
    /// Takes note of an entry, if it is far enough from the one noted last.
    pub(crate) fn note(&mut self, index: u64, at: u32, held: u64) {
        if self.0.last().is_none_or(|last| at - last.at >= SPACING) {
            // Bodies lie in the segment, whose size is 32 bits wide.
            self.0.push(Point { index, at, held: held as u32 });
        }
    }

    /// The last point at or before an entry.
    pub(crate) fn before(&self, index: u64) -> Option<Point> {
        let after = self.0.partition_point(|point| point.index <= index);
        after.checked_sub(1).map(|at| self.0[at])
    }

    /// Bytes that the seal takes, if so many records of so many bytes come before it.
    pub(crate) fn seal_size(&self, more: u64) -> u64 {
        let points = self.0.len() as u64 + 1 + more / u64::from(SPACING);
        record::size(1, BEFORE as u64 + points * ENCODED as u64)
    }

    /// What the seal holds: the first index, the bytes held by all, and the points.
    pub(crate) fn encode(&self, first: u64, held: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BEFORE + self.0.len() * ENCODED);
        bytes.extend_from_slice(&first.to_le_bytes());
        bytes.extend_from_slice(&held.to_le_bytes());
        for point in &self.0 {
            bytes.extend_from_slice(&point.index.to_le_bytes());
            bytes.extend_from_slice(&point.at.to_le_bytes());
            bytes.extend_from_slice(&point.held.to_le_bytes());
        }
        bytes
    }

    /// First index, bytes held, and points. None if these are not what `encode` makes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(u64, u64, Self)> {
        if bytes.len() < BEFORE || !(bytes.len() - BEFORE).is_multiple_of(ENCODED) {
            return None;
        }
        let points = bytes[BEFORE..].chunks_exact(ENCODED);
        let points: Vec<Point> = points
            .map(|point| Point { index: u64_at(point, 0), at: u32_at(point, 8), held: u32_at(point, 12) })
            .collect();
        let ordered = points.windows(2).all(|two| two[0].index < two[1].index && two[0].at < two[1].at);
        ordered.then(|| (u64_at(bytes, 0), u64_at(bytes, 8), Points(points)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_before_an_entry_is_found() {
        let mut points = Points::default();
        for index in 10..200 {
            points.note(index, 4096 + (index as u32 - 10) * 1000, (index - 10) * 900);
        }
        assert_eq!(points.before(9), None);
        assert_eq!(points.before(10), Some(Point { index: 10, at: 4096, held: 0 }));
        assert_eq!(points.before(26), Some(Point { index: 10, at: 4096, held: 0 }));
        assert_eq!(points.before(27), Some(Point { index: 27, at: 4096 + 17_000, held: 17 * 900 }));
        let bytes = points.encode(10, 190 * 900);
        assert_eq!(Points::decode(&bytes), Some((10, 190 * 900, points)));
    }

    #[test]
    fn there_is_room_for_the_seal_whatever_comes_before_it() {
        let mut points = Points::default();
        let mut at = 4096;
        for index in 0..500_u64 {
            let size = index * 97 % 40_000;
            let foreseen = points.seal_size(size);
            points.note(index, at, 0);
            at += size as u32;
            assert!(record::size(1, points.encode(0, 0).len() as u64) <= foreseen);
        }
    }
}
