//! The file that says who a store is. It is written anew whenever the store is opened.

use super::VERSION;
use crate::checksum::{u32_at, u64_at};

/// Bytes of the file.
pub(crate) const SIZE: usize = 64;
/// Highest number of a run: what a record has room for.
pub(crate) const RUN_MAX: u32 = (1 << 24) - 1;

const MAGIC: [u8; 8] = *b"WSTNSTOR";

/// Who a store is, and what was known of it when it was opened last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its id.
    pub(crate) store: [u8; 16],
    /// How often it was opened. Records say in which run they were written, so that what was cut off in an earlier one is
    /// never taken for what was written since.
    pub(crate) run: u32,
    /// The segment up to which, and the place in it, everything was on the disk at that time.
    pub(crate) synced: (u64, u32),
}

/// Why bytes are no identity.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoIdentity {
    /// Their checksum does not hold, or they are none.
    Corrupt,
    /// They are of another version.
    Version(u32),
}

impl Identity {
    pub(crate) fn encode(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.run.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.store);
        bytes[32..40].copy_from_slice(&self.synced.0.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.synced.1.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..60]);
        bytes[60..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NoIdentity> {
        if bytes.len() != SIZE || bytes[..8] != MAGIC || crc32c::crc32c(&bytes[..60]) != u32_at(bytes, 60) {
            return Err(NoIdentity::Corrupt);
        }
        match u32_at(bytes, 8) {
            VERSION => {}
            other => return Err(NoIdentity::Version(other)),
        }
        let mut store = [0; 16];
        store.copy_from_slice(&bytes[16..32]);
        Ok(Identity { store, run: u32_at(bytes, 12), synced: (u64_at(bytes, 32), u32_at(bytes, 40)) })
    }
}
