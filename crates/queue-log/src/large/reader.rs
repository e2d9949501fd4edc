//! Reads a large message, from wherever one wants.

use super::{BLOCK, MAGIC, place_of, seed};
use crate::checksum::Seed;
use crate::disk::DiskFile;
use crate::error::ReadError;
use crate::format::block;
use crate::format::head::{self, FileHead};
use std::path::PathBuf;
use std::sync::Arc;

/// A large message that is being read. The last block that was read is kept.
pub struct LargeReader {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    seed: Seed,
    /// Number and contents of a block that checks.
    block: Option<(u64, Vec<u8>)>,
}

impl LargeReader {
    pub(crate) fn new(file: Arc<dyn DiskFile>, path: PathBuf, store: &[u8; 16], id: u64) -> Result<Self, ReadError> {
        let mut bytes = [0; head::SIZE];
        let read = file.read_at(&mut bytes, 0).map_err(|source| ReadError::Io { file: path.clone(), source })?;
        let head = FileHead::decode(MAGIC, &bytes[..read]);
        if !head.is_ok_and(|head| head.store == *store && head.number == id) {
            return Err(ReadError::CorruptMessage { file: path, offset: 0 });
        }
        Ok(LargeReader { file, path, seed: seed(store, id), block: None })
    }

    /// Bytes of the message, at most so many: fewer where a block ends, none where the message ends.
    ///
    /// # Errors
    /// If the disk cannot be read, or has not what was written.
    pub fn read(&mut self, offset: u64, size: usize) -> Result<&[u8], ReadError> {
        let number = offset / BLOCK as u64;
        let within = (offset % BLOCK as u64) as usize;
        if self.block.as_ref().is_none_or(|(have, _)| *have != number) {
            let contents = self.load(number)?;
            self.block = Some((number, contents));
        }
        let contents = self.block.as_ref().map_or(&[][..], |(_, contents)| contents);
        let from = within.min(contents.len());
        Ok(&contents[from..contents.len().min(from.saturating_add(size))])
    }

    fn load(&mut self, number: u64) -> Result<Vec<u8>, ReadError> {
        let at = place_of(number);
        let corrupt = || ReadError::CorruptMessage { file: self.path.clone(), offset: at };
        // The block, and what must come after it if it is not full.
        let mut bytes = vec![0; block::HEAD + BLOCK + block::HEAD];
        let read = self.file.read_at(&mut bytes, at);
        let read = read.map_err(|source| ReadError::Io { file: self.path.clone(), source })?;
        bytes.truncate(read);
        if read < block::HEAD {
            return Err(ReadError::Unfinished { file: self.path.clone() });
        }
        let size = block::length(&bytes);
        if size > BLOCK {
            return Err(corrupt());
        }
        let end = block::HEAD + size;
        let Some(contents) = bytes.get(block::HEAD..end) else {
            return Err(ReadError::Unfinished { file: self.path.clone() });
        };
        if !block::checks(&bytes, contents, self.seed, number) {
            return Err(corrupt());
        }
        if (1..BLOCK).contains(&size)
            && bytes.get(end..end + block::HEAD) != Some(&block::end(self.seed, number + 1)[..])
        {
            return Err(ReadError::Unfinished { file: self.path.clone() });
        }
        bytes.truncate(end);
        bytes.drain(..block::HEAD);
        Ok(bytes)
    }
}
