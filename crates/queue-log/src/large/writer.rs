//! Writes a large message as it comes.

use super::{BLOCK, MAGIC, place_of, seed};
use crate::checksum::Seed;
use crate::disk::{DiskFile, Mode, write_all};
use crate::format::head::FileHead;
use crate::format::{block, names};
use crate::keeper::absent_is_fine;
use crate::shared::Shared;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A large message that is being written. If it is dropped before its last bytes are synced, it is removed.
pub struct LargeWriter {
    shared: Arc<Shared>,
    id: u64,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    seed: Seed,
    number: u64,
    /// Head and contents of the block that is not full yet.
    block: Vec<u8>,
    synced: bool,
}

impl LargeWriter {
    pub(super) fn new(shared: Arc<Shared>, id: u64) -> io::Result<Self> {
        let path = shared.large_path(id);
        let opened = shared.disk.open(&path, Mode::Create);
        if opened.is_err() {
            shared.lock().large_open.remove(&id);
        }
        let file = opened?;
        let seed = seed(&shared.store, id);
        let head = FileHead { store: shared.store, number: id, ..FileHead::default() };
        let writer =
            LargeWriter { shared, id, path, file, seed, number: 0, block: vec![0; block::HEAD], synced: false };
        write_all(&*writer.file, &head.encode(MAGIC), 0)?;
        Ok(writer)
    }

    /// What entries call it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Bytes of the message so far.
    pub fn size(&self) -> u64 {
        self.number * BLOCK as u64 + (self.block.len() - block::HEAD) as u64
    }

    /// Appends bytes. Writes to the disk whenever a block is full.
    ///
    /// # Errors
    /// As the operating system says; the message is of no use then.
    pub fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.synced {
            self.synced = false;
            self.shared.lock().large_open.insert(self.id);
        }
        while !bytes.is_empty() {
            let take = bytes.len().min(BLOCK + block::HEAD - self.block.len());
            self.block.extend_from_slice(&bytes[..take]);
            bytes = &bytes[take..];
            if self.block.len() == BLOCK + block::HEAD {
                self.write_block()?;
                self.number += 1;
                self.block.truncate(block::HEAD);
            }
        }
        Ok(())
    }

    /// Writes what is left, and syncs: an entry may name the message from now on.
    ///
    /// # Errors
    /// As the operating system says; the message is of no use then.
    pub fn sync(&mut self) -> io::Result<()> {
        let mut end = place_of(self.number);
        let mut number = self.number;
        if self.block.len() > block::HEAD {
            self.write_block()?;
            end += self.block.len() as u64;
            number += 1;
        }
        write_all(&*self.file, &block::end(self.seed, number), end)?;
        self.file.sync()?;
        self.shared.disk.sync_dir(&self.shared.dir().join(names::LARGE))?;
        self.synced = true;
        self.shared.lock().large_open.remove(&self.id);
        Ok(())
    }

    fn write_block(&mut self) -> io::Result<()> {
        block::seal(&mut self.block, self.seed, self.number);
        write_all(&*self.file, &self.block, place_of(self.number))
    }
}

impl Drop for LargeWriter {
    fn drop(&mut self) {
        if !self.synced {
            // If it cannot be removed now, it is an orphan when the store is opened next.
            let _ = absent_is_fine(self.shared.disk.remove(&self.path));
            self.shared.lock().large_open.remove(&self.id);
        }
    }
}
