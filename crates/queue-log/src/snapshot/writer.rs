//! Writes a snapshot, block by block.

use super::{BLOCK, MAGIC, seed};
use crate::checksum::Seed;
use crate::disk::{DiskFile, is_full, write_all};
use crate::format::block;
use crate::format::head::{self, FileHead};
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
        let head = FileHead { store: *store, number: index, ..FileHead::default() };
        put(&*file, &head.encode(MAGIC), 0, make_room)?;
        let block = vec![0; block::HEAD];
        Ok(Writer { file, seed: seed(store, index), at: head::SIZE as u64, synced: 0, number: 0, block, make_room })
    }

    /// Writes the last block and syncs. Gives the bytes of the file.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if self.block.len() > block::HEAD {
            self.write_block()?;
        }
        self.write_block()?;
        self.file.sync()?;
        Ok(self.at)
    }

    fn write_block(&mut self) -> io::Result<()> {
        block::seal(&mut self.block, self.seed, self.number);
        put(&*self.file, &self.block, self.at, self.make_room)?;
        self.at += self.block.len() as u64;
        self.number += 1;
        self.block.truncate(block::HEAD);
        if self.at - self.synced >= SYNCED {
            self.file.sync()?;
            self.synced = self.at;
        }
        Ok(())
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let take = bytes.len().min(BLOCK + block::HEAD - self.block.len());
        self.block.extend_from_slice(&bytes[..take]);
        if self.block.len() == BLOCK + block::HEAD {
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
