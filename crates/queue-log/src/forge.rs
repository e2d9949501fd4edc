//! Files with any contents, and checksums that hold nevertheless: for who tests what is behind the checksums.

use crate::checksum::Seed;
use crate::format::header::{DATA, Header};
use crate::format::identity::Identity;
use crate::format::record::{self, FIXED};
use crate::snapshot;
use std::io::Write;
use std::sync::Arc;

/// The id of a forged store.
const STORE: [u8; 16] = *b"a forged store!!";

/// A record, or what looks like one.
#[derive(Debug, Clone, Default)]
pub struct Forged {
    /// 1 for an entry, 2 for a seal, 3 for a mark; or anything else.
    pub kind: u8,
    /// How many parts it says it has, beside those in the table.
    pub more_parts: u32,
    /// How many bytes it says it has, beside those of its parts.
    pub more_bytes: u32,
    /// Bytes held.
    pub held: u32,
    /// Where its write began.
    pub start: u32,
    /// Number of the entry.
    pub index: u64,
    /// The run.
    pub run: u32,
    /// Its parts.
    pub parts: Vec<Vec<u8>>,
}

/// The file that says who the store is.
pub fn identity(run: u32, synced: (u64, u32)) -> Vec<u8> {
    Identity { store: STORE, run, synced }.encode().to_vec()
}

/// The file of a segment, with these records and `rest` behind them.
pub fn segment(epoch: u64, records: &[Forged], rest: &[u8], size: u32) -> Vec<u8> {
    let seed = Seed::new(&STORE, epoch);
    let mut bytes = Header { store: STORE, epoch, size }.encode().to_vec();
    bytes.resize(DATA as usize, 0);
    for forged in records {
        put(&mut bytes, forged, seed);
    }
    bytes.extend_from_slice(rest);
    bytes
}

fn put(bytes: &mut Vec<u8>, forged: &Forged, seed: Seed) {
    let from = bytes.len();
    let length: usize = forged.parts.iter().map(Vec::len).sum();
    bytes.extend_from_slice(&[0; 8]);
    let parts = (forged.parts.len() as u32).wrapping_add(forged.more_parts);
    for number in [parts, (length as u32).wrapping_add(forged.more_bytes), forged.held, forged.start] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&forged.index.to_le_bytes());
    bytes.extend_from_slice(&(forged.run << 8 | u32::from(forged.kind)).to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    for part in &forged.parts {
        bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&seed.of(part).to_le_bytes());
    }
    let table = seed.of(&bytes[from + FIXED..]);
    bytes[from + 4..from + 8].copy_from_slice(&table.to_le_bytes());
    let checksum = seed.of(&bytes[from + 4..from + FIXED]);
    bytes[from..from + 4].copy_from_slice(&checksum.to_le_bytes());
    bytes.extend(forged.parts.iter().flatten());
    bytes.resize(bytes.len() + record::padding(forged.parts.len() as u64, length as u64), 0);
}

/// The file of a snapshot with these contents, the log's table included.
pub fn snapshot(index: u64, contents: &[u8]) -> Vec<u8> {
    let disk = crate::disk::FaultyDisk::new(0);
    let path = std::path::Path::new("/snapshot");
    let written = crate::disk::Disk::open(&disk, path, crate::disk::Mode::Create).and_then(|file| {
        let mut writer = snapshot::Writer::new(Arc::clone(&file), &STORE, index, &|| false)?;
        writer.write_all(contents)?;
        writer.finish()
    });
    written.map_or_else(|_| Vec::new(), |_| disk.files().remove(0).1)
}
