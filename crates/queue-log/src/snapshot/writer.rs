//! Writes a snapshot, block by block.

use super::{BLOCK, BLOCK_HEAD, HEADER, MAGIC, block_checksum, seed};
use crate::checksum::Seed;
use crate::disk::{DiskFile, is_full, write_all};
use crate::format::VERSION;
use std::io::{self, Write};
use std::sync::Arc;

/// Bytes after which the file is synced, so that the log's own syncs never wait for many of them.
const SYNCED: u64 = 4 * 1024 * 1024;

/// A snapshot that is being written.
pub(crate) struct Writer<'a> {
    file: Arc<dyn DiskFile>,
    seed: Seed,
    at: u64,
    synced: u64,
    number: u64,
    /// Head and contents of the next block.
    block: Vec<u8>,
    /// Makes room when there is none. False: it cannot.
    make_room: &'a dyn Fn() -> bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        file: Arc<dyn DiskFile>,
        store: &[u8; 16],
        index: u64,
        make_room: &'a dyn Fn() -> bool,
    ) -> io::Result<Self> {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[16..32].copy_from_slice(store);
        header[32..40].copy_from_slice(&index.to_le_bytes());
        let checksum = crc32c::crc32c(&header[..60]);
        header[60..].copy_from_slice(&checksum.to_le_bytes());
        put(&*file, &header, 0, make_room)?;
        let block = vec![0; BLOCK_HEAD];
        Ok(Writer { file, seed: seed(store, index), at: HEADER as u64, synced: 0, number: 0, block, make_room })
    }

    /// Writes the last block and syncs. Gives the bytes of the file.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if self.block.len() > BLOCK_HEAD {
            self.write_block()?;
        }
        self.write_block()?;
        self.file.sync()?;
        Ok(self.at)
    }

    fn write_block(&mut self) -> io::Result<()> {
        let contents = &self.block[BLOCK_HEAD..];
        let (size, checksum) = (contents.len() as u32, block_checksum(self.seed, self.number, contents));
        self.block[..4].copy_from_slice(&size.to_le_bytes());
        self.block[4..8].copy_from_slice(&checksum.to_le_bytes());
        put(&*self.file, &self.block, self.at, self.make_room)?;
        self.at += self.block.len() as u64;
        self.number += 1;
        self.block.truncate(BLOCK_HEAD);
        if self.at - self.synced >= SYNCED {
            self.file.sync()?;
            self.synced = self.at;
        }
        Ok(())
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let take = bytes.len().min(BLOCK + BLOCK_HEAD - self.block.len());
        self.block.extend_from_slice(&bytes[..take]);
        if self.block.len() == BLOCK + BLOCK_HEAD {
            self.write_block()?;
        }
        Ok(take)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes, and once more if room can be made.
fn put(file: &dyn DiskFile, bytes: &[u8], at: u64, make_room: &dyn Fn() -> bool) -> io::Result<()> {
    match write_all(file, bytes, at) {
        Err(error) if is_full(&error) && make_room() => write_all(file, bytes, at),
        other => other,
    }
}
