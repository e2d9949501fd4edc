//! Large messages: each in a file of its own, written while it comes, so that none of it need be kept in memory. An entry
//! names it by its id.
//!
//! A file is a header and blocks of equal size (the last may be shorter), each with its length and checksum before it, and a
//! block without contents that says that this was all.

mod reader;
mod writer;

pub use reader::LargeReader;
pub use writer::LargeWriter;

use crate::checksum::Seed;
use crate::disk::Mode;
use crate::error::{OpenError, Place, ReadError};
use crate::format::{block, head, names};
use crate::keeper::absent_is_fine;
use crate::log::Log;
use crate::shared::Shared;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of a block's contents.
const BLOCK: usize = 64 * 1024;
const MAGIC: [u8; 8] = *b"WSTNMESG";
/// Begins the checksums of large messages, beside their ids: no segment and no snapshot has this in its number.
const NUMBER: u64 = 1 << 62;

/// What became of the files of large messages after recovery.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// How many files nobody knew, and were removed.
    pub removed: usize,
    /// Messages whose files are not there.
    pub missing: Vec<u64>,
}

impl Log {
    /// A new file for a large message. No message had its id before, even if the store was opened anew since.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn create_large(&self) -> io::Result<LargeWriter> {
        let mut state = self.shared.lock();
        let id = u64::from(self.shared.run) << 32 | state.next_large;
        state.next_large += 1;
        state.large_open.insert(id);
        drop(state);
        LargeWriter::new(Arc::clone(&self.shared), id)
    }

    /// A large message, to be read.
    ///
    /// # Errors
    /// If there is none with this id, or it is not what was written.
    pub fn open_large(&self, id: u64) -> Result<LargeReader, ReadError> {
        let path = self.shared.large_path(id);
        match self.shared.disk.open(&path, Mode::Read) {
            Ok(file) => LargeReader::new(file, path, &self.shared.store, id),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ReadError::NoMessage { id }),
            Err(source) => Err(ReadError::Io { file: path, source }),
        }
    }

    /// A large message is not needed any more, as an entry that is durable says. While a backup runs it is put off.
    ///
    /// # Errors
    /// As the operating system says. It is an orphan then, and goes when the store is opened next.
    pub fn remove_large(&self, id: u64) -> io::Result<()> {
        let mut state = self.shared.lock();
        if state.pins > 0 {
            state.large_doomed.push(id);
            return Ok(());
        }
        drop(state);
        absent_is_fine(self.shared.disk.remove(&self.shared.large_path(id)))
    }

    /// After recovery: these are the large messages that there are. All other files are removed: they were not finished, or
    /// not removed, when the process ended.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn keep_large(&self, ids: impl IntoIterator<Item = u64>) -> Result<Kept, OpenError> {
        let mut wanted: BTreeSet<u64> = ids.into_iter().collect();
        let dir = self.shared.dir().join(names::LARGE);
        let this_run = u64::from(self.shared.run);
        let mut kept = Kept::default();
        for name in self.shared.disk.list(&dir).place("read", &dir)? {
            // Files of this run are being written, or waiting for their entry.
            let orphan = names::large_id(&name).is_none_or(|id| !wanted.remove(&id) && id >> 32 != this_run);
            if orphan {
                let path = dir.join(name);
                absent_is_fine(self.shared.disk.remove(&path)).place("remove", &path)?;
                kept.removed += 1;
            }
        }
        kept.missing = wanted.into_iter().collect();
        Ok(kept)
    }
}

impl Shared {
    pub(crate) fn large_path(&self, id: u64) -> PathBuf {
        self.dir().join(names::LARGE).join(names::large(id))
    }
}

/// What begins the checksums of a large message.
fn seed(store: &[u8; 16], id: u64) -> Seed {
    Seed::new(store, id | NUMBER)
}

/// Where a block is.
fn place_of(number: u64) -> u64 {
    head::SIZE as u64 + number * (block::HEAD + BLOCK) as u64
}
