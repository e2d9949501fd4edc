//! Looking into a store that is not open, without changing it: for people, and for programs that check backups.

mod files;
mod segments;
mod verify;

pub(crate) use files::check_large;
pub use verify::{Missing, Problem, Verified, verify};
pub(crate) use verify::{missing, verify_unlocked};

use crate::disk::{Disk, Mode};
use crate::entry::Entry;
use crate::error::{OpenError, Place};
use crate::format::names;
use crate::recovery::survey;
use std::any::Any;
use std::ops::ControlFlow;
use std::path::Path;

/// Something in a store.
#[derive(Debug)]
#[non_exhaustive]
pub enum Item<'a> {
    /// The store itself.
    Store {
        /// Its id.
        id: [u8; 16],
        /// How often it was opened.
        run: u32,
    },
    /// A snapshot that is whole.
    Snapshot {
        /// Its file.
        file: &'a Path,
        /// The entry up to which it goes.
        index: u64,
        /// Bytes in it.
        bytes: u64,
    },
    /// A segment; its records follow.
    Segment {
        /// Its file.
        file: &'a Path,
        /// Its number in the log.
        number: u64,
        /// Bytes of the file.
        size: u64,
    },
    /// An entry that is whole.
    Entry {
        /// Where it begins in the segment.
        offset: u64,
        /// The entry.
        entry: Entry<'a>,
        /// Bytes that it takes.
        size: u64,
        /// Where the write began that it was part of.
        write: u64,
        /// The run in which it was written.
        run: u32,
    },
    /// The segment is full, and the next goes on with this entry.
    Seal {
        /// Where it is in the segment.
        offset: u64,
        /// The number of the next entry.
        next: u64,
    },
    /// Everything before this place is known to have been synced, and nothing was written since.
    Mark {
        /// Where it is in the segment.
        offset: u64,
        /// The number of the next entry.
        next: u64,
    },
    /// Nothing more was written to the segment, or the end of it was torn off by a crash.
    End {
        /// Where the end is in the segment.
        offset: u64,
        /// There are remains of a write that was not finished.
        torn: bool,
    },
    /// What was written here is damaged.
    Damage {
        /// The file.
        file: &'a Path,
        /// Where in it.
        offset: u64,
        /// What is wrong.
        what: String,
        /// Where the next record is that is whole, if there is one in this file.
        resumes: Option<u64>,
    },
    /// A large message that is whole.
    Large {
        /// Its file.
        file: &'a Path,
        /// What entries call it.
        id: u64,
        /// Bytes of the message.
        bytes: u64,
    },
    /// A large message that was not finished. No entry names it, unless its end is lost.
    Unfinished {
        /// Its file.
        file: &'a Path,
        /// What entries would call it.
        id: u64,
    },
    /// A file that waits to become a segment.
    Free {
        /// The file.
        file: &'a Path,
    },
}

/// Shows everything in a store that is not open, in order: the store, its snapshots, segments with their records, large
/// messages, and what is damaged. Ends early if it is told to break.
///
/// # Errors
/// If the store is open, or the operating system refuses. Damage is shown, not an error.
pub fn dump(
    disk: &dyn Disk,
    dir: &Path,
    show: &mut dyn FnMut(&Item<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, OpenError> {
    let _lock = lock(disk, dir)?;
    dump_unlocked(disk, dir, show)
}

fn dump_unlocked(
    disk: &dyn Disk,
    dir: &Path,
    show: &mut dyn FnMut(&Item<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, OpenError> {
    let no_files = survey::no_files(disk, dir)?;
    for file in &no_files {
        let what = NO_FILE.to_owned();
        if show(&Item::Damage { file, offset: 0, what, resumes: None }).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    let identity = dir.join(names::IDENTITY);
    let id = match survey::read_identity(disk, &identity) {
        _ if no_files.contains(&identity) => None,
        Ok(Some(identity)) => {
            if show(&Item::Store { id: identity.store, run: identity.run }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            Some(identity)
        }
        Ok(None) => {
            let what = "it is missing: nothing says whose files these are".to_owned();
            if show(&Item::Damage { file: &identity, offset: 0, what, resumes: None }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            None
        }
        Err(error) => {
            if show_error(error, show)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            None
        }
    };
    // Without it, a segment's own header says whose it is.
    let store = id.map(|id| id.store).or_else(|| segments::any_store(disk, dir));
    let last_run = id.map_or(0, |id| id.run);
    let Some(store) = store else { return Ok(ControlFlow::Continue(())) };
    if files::snapshots(disk, dir, &store, show)?.is_break()
        || segments::all(disk, dir, (&store, last_run), show)?.is_break()
        || files::large(disk, dir, &store, show)?.is_break()
    {
        return Ok(ControlFlow::Break(()));
    }
    Ok(ControlFlow::Continue(()))
}

/// What is said of a directory, a link or the like with the name of a file.
const NO_FILE: &str = "it is no file but a directory, a link or the like";

/// Damage is shown; what the operating system refuses is an error.
fn show_error(
    error: OpenError,
    show: &mut dyn FnMut(&Item<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, OpenError> {
    match error {
        OpenError::Corrupt { file, offset, what, .. } => {
            Ok(show(&Item::Damage { file: &file, offset, what, resumes: None }))
        }
        OpenError::Missing { file, what, .. } => {
            Ok(show(&Item::Damage { file: &file, offset: 0, what: format!("it is missing: {what}"), resumes: None }))
        }
        OpenError::NoFile { path } => {
            Ok(show(&Item::Damage { file: &path, offset: 0, what: NO_FILE.to_owned(), resumes: None }))
        }
        error => Err(error),
    }
}

/// Sees to it that no process has the store open meanwhile. A directory without a lock file is not changed.
pub(crate) fn lock(disk: &dyn Disk, dir: &Path) -> Result<Option<Box<dyn Any + Send + Sync>>, OpenError> {
    let names = disk.list(dir).place("read", dir)?;
    if !names.iter().any(|name| name == names::LOCK) {
        return Ok(None);
    }
    let path = dir.join(names::LOCK);
    match disk.lock(&path) {
        Ok(Some(lock)) => Ok(Some(Box::new(lock))),
        Ok(None) => Err(OpenError::Locked { path: dir.to_owned() }),
        // Who may not write here cannot disturb anybody, nor be told of anybody.
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error).place("lock", &path),
    }
}

/// Opens a file to read it.
fn open(disk: &dyn Disk, path: &Path) -> Result<std::sync::Arc<dyn crate::disk::DiskFile>, OpenError> {
    disk.open(path, Mode::Read).place("open", path)
}
