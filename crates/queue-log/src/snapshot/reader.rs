//! Reads a snapshot, block by block, and hands out nothing that was not checked.

use super::{BLOCK, MAGIC, seed};
use crate::checksum::Seed;
use crate::disk::DiskFile;
use crate::format::block;
use crate::format::head::{self, FileHead, NoHead};
use std::io::{self, Read};
use std::sync::Arc;

/// What is wrong with a snapshot, and where.
#[derive(Debug)]
pub(crate) enum Damage {
    Corrupt { offset: u64, what: &'static str },
    Version(u32),
    Io(io::Error),
}

impl From<io::Error> for Damage {
    fn from(error: io::Error) -> Self {
        Damage::Io(error)
    }
}

/// A snapshot that is being read.
pub(crate) struct Reader {
    file: Arc<dyn DiskFile>,
    seed: Seed,
    /// Where the next block is.
    at: u64,
    number: u64,
    block: Vec<u8>,
    used: usize,
    ended: bool,
}

impl Reader {
    pub(crate) fn new(file: Arc<dyn DiskFile>, store: &[u8; 16], index: u64) -> Result<Self, Damage> {
        let mut bytes = [0; head::SIZE];
        let read = file.read_at(&mut bytes, 0)?;
        let head = FileHead::decode(MAGIC, &bytes[..read]).map_err(|wrong| match wrong {
            NoHead::Corrupt => Damage::Corrupt { offset: 0, what: "its header is not that of a snapshot" },
            NoHead::Version(version) => Damage::Version(version),
        })?;
        if head.store != *store || head.number != index {
            return Err(Damage::Corrupt { offset: 0, what: "it is of another store, or has another's name" });
        }
        let seed = seed(store, index);
        Ok(Reader { file, seed, at: head::SIZE as u64, number: 0, block: Vec::new(), used: 0, ended: false })
    }

    /// Reads the next block. False: that was all.
    fn next(&mut self) -> Result<bool, Damage> {
        if self.ended {
            return Ok(false);
        }
        let corrupt = |offset, what| Err(Damage::Corrupt { offset, what });
        let mut head = [0; block::HEAD];
        if self.file.read_at(&mut head, self.at)? < block::HEAD {
            return corrupt(self.at, "it ends before its last block");
        }
        let size = block::length(&head);
        if size > BLOCK {
            return corrupt(self.at, "a block is longer than any can be");
        }
        self.block.resize(size, 0);
        self.used = 0;
        if self.file.read_at(&mut self.block, self.at + block::HEAD as u64)? < size {
            return corrupt(self.at, "it ends within a block");
        }
        if !block::checks(&head, &self.block, self.seed, self.number) {
            return corrupt(self.at, "a block's checksum does not hold");
        }
        self.at += (block::HEAD + size) as u64;
        self.number += 1;
        self.ended = size == 0;
        if self.ended && self.file.size()? != self.at {
            return corrupt(self.at, "there is more after its last block");
        }
        Ok(!self.ended)
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.used == self.block.len() {
            match self.next() {
                Ok(true) => {}
                Ok(false) => return Ok(0),
                Err(Damage::Io(error)) => return Err(error),
                Err(Damage::Corrupt { what, .. }) => return Err(io::Error::new(io::ErrorKind::InvalidData, what)),
                Err(Damage::Version(_)) => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        let take = buffer.len().min(self.block.len() - self.used);
        buffer[..take].copy_from_slice(&self.block[self.used..self.used + take]);
        self.used += take;
        Ok(take)
    }
}

/// Reads all of a snapshot. Gives how many bytes it holds.
pub(crate) fn check(file: Arc<dyn DiskFile>, store: &[u8; 16], index: u64) -> Result<u64, Damage> {
    let mut reader = Reader::new(file, store, index)?;
    let mut bytes = 0;
    while reader.next()? {
        bytes += reader.block.len() as u64;
    }
    Ok(bytes)
}
