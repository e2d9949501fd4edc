//! The log's own part of a snapshot: which segments there were, and how much of them was alive.

use crate::checksum::{u32_at, u64_at};
use crate::format::LAST;
use std::io::{self, Read, Write};

/// Bytes of a row.
const ROW: usize = 40;
/// Bytes before the rows.
const HEAD: usize = 16;

/// The segments at the time of a snapshot, those with entries up to its index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// The segment in which the first entry after the snapshot is, or will be, or the snapshot's last is.
    pub(crate) resume: u64,
    pub(crate) rows: Vec<Row>,
}

/// A segment, as far as its entries are not after the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) epoch: u64,
    pub(crate) first: u64,
    /// The entry after the last.
    pub(crate) next: u64,
    /// Where they end.
    pub(crate) end: u32,
    /// Bytes of bodies that are alive.
    pub(crate) live: u64,
    /// The snapshot's last entry is after this segment, or it was sealed.
    pub(crate) sealed: bool,
}

impl Table {
    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.resume.to_le_bytes())?;
        to.write_all(&(self.rows.len() as u64).to_le_bytes())?;
        for row in &self.rows {
            let mut bytes = [0; ROW];
            bytes[..8].copy_from_slice(&row.epoch.to_le_bytes());
            bytes[8..16].copy_from_slice(&row.first.to_le_bytes());
            bytes[16..24].copy_from_slice(&row.next.to_le_bytes());
            bytes[24..32].copy_from_slice(&row.live.to_le_bytes());
            bytes[32..36].copy_from_slice(&row.end.to_le_bytes());
            bytes[36] = u8::from(row.sealed);
            to.write_all(&bytes)?;
        }
        Ok(())
    }

    pub(crate) fn read(from: &mut dyn Read) -> io::Result<Self> {
        let mut head = [0; HEAD];
        from.read_exact(&mut head)?;
        let mut table = Table { resume: u64_at(&head, 0), rows: Vec::new() };
        for _ in 0..u64_at(&head, 8) {
            let mut row = [0; ROW];
            from.read_exact(&mut row)?;
            table.rows.push(Row {
                epoch: u64_at(&row, 0),
                first: u64_at(&row, 8),
                next: u64_at(&row, 16),
                live: u64_at(&row, 24),
                end: u32_at(&row, 32),
                sealed: row[36] != 0,
            });
        }
        let ordered = table.rows.windows(2).all(|two| two[0].epoch < two[1].epoch && two[0].next <= two[1].first);
        // Numbers that no store reaches would only lead to sums that no number holds.
        let fits = table.rows.iter().all(|row| {
            (1..=row.next).contains(&row.first)
                && row.next <= LAST
                && row.epoch <= table.resume
                && row.live <= u32::MAX.into()
        });
        if ordered && fits && (1..=LAST).contains(&table.resume) {
            Ok(table)
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }

    pub(crate) fn row(&self, epoch: u64) -> Option<&Row> {
        self.rows.binary_search_by_key(&epoch, |row| row.epoch).ok().map(|at| &self.rows[at])
    }
}
