//! Is a store, or a backup, whole?

use super::{Item, dump_unlocked, lock};
use crate::disk::{Disk, Mode};
use crate::entry::Entry;
use crate::error::{HostError, OpenError, RESTORE};
use crate::format::names;
use crate::recover::Recover;
use crate::recovery::{self, survey::Survey};
use crate::settings::Notice;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// What is wrong with a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// Where in it, in bytes.
    pub offset: u64,
    /// What.
    pub what: String,
}

/// What a store has, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// The entry up to which the newest snapshot goes.
    pub checkpoint: u64,
    /// The last entry.
    pub last: u64,
    /// Segments.
    pub segments: usize,
    /// Entries in them that are whole, those before the snapshot included.
    pub entries: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Large messages that are whole.
    pub large: usize,
    /// Files of large messages that were not finished. They go when the store is opened, as no entry names them; if one
    /// does, its end is lost.
    pub unfinished: Vec<PathBuf>,
    /// What opening the store would say about it, without being a problem.
    pub notices: Vec<Notice>,
    /// What is wrong. With the first kind of these the store cannot be opened, or a message cannot be read.
    pub problems: Vec<Problem>,
}

/// Checks every checksum of a store that is not open, and whether anything is missing. Changes nothing.
///
/// # Errors
/// If the store is open, is of another version, or the operating system refuses. What is wrong with the store is no error.
pub fn verify(disk: &dyn Disk, dir: &Path) -> Result<Verified, OpenError> {
    let _lock = lock(disk, dir)?;
    verify_unlocked(disk, dir)
}

pub(crate) fn verify_unlocked(disk: &dyn Disk, dir: &Path) -> Result<Verified, OpenError> {
    let mut verified = Verified::default();
    let flow = dump_unlocked(disk, dir, &mut |item| {
        verified.count(item);
        ControlFlow::Continue(())
    })?;
    debug_assert!(flow.is_continue());
    match whole(disk, dir) {
        Ok((checkpoint, last, notices)) => {
            (verified.checkpoint, verified.last, verified.notices) = (checkpoint, last, notices);
        }
        Err(OpenError::Corrupt { file, offset, what, .. }) => verified.problem(file, offset, what),
        Err(OpenError::Missing { file, what, .. }) => verified.problem(file, 0, format!("it is missing: {what}")),
        Err(OpenError::Host { source, .. }) => {
            return Err(OpenError::Io { action: "read", path: dir.to_owned(), source: io::Error::other(source) });
        }
        Err(other) => return Err(other),
    }
    Ok(verified)
}

/// Goes through the store as if to open it. Gives the checkpoint and the last entry.
fn whole(disk: &dyn Disk, dir: &Path) -> Result<(u64, u64, Vec<Notice>), OpenError> {
    let survey = Survey::new(disk, dir, Mode::Read)?;
    let Some(identity) = survey.identity else {
        return Err(OpenError::Missing {
            file: dir.join(names::IDENTITY),
            what: "there is no store here, or its backup was not finished".to_owned(),
            remedy: RESTORE,
        });
    };
    let (replayed, checkpoint) = recovery::read(disk, dir, &survey, identity, &mut Nobody)?;
    let last = replayed.segments.last().map_or(checkpoint, |segment| segment.next - 1);
    Ok((checkpoint, last.max(checkpoint), replayed.notices))
}

impl Verified {
    fn count(&mut self, item: &Item<'_>) {
        match item {
            Item::Segment { .. } => self.segments += 1,
            Item::Entry { size, .. } => {
                self.entries += 1;
                self.bytes += size;
            }
            Item::Large { .. } => self.large += 1,
            Item::Unfinished { file, .. } => self.unfinished.push(file.to_path_buf()),
            Item::Damage { file, offset, what, .. } => self.problem(file.to_path_buf(), *offset, what.clone()),
            _ => {}
        }
    }

    /// Each place is told once.
    fn problem(&mut self, file: PathBuf, offset: u64, what: String) {
        if !self.problems.iter().any(|problem| problem.file == file && problem.offset == offset) {
            self.problems.push(Problem { file, offset, what });
        }
    }
}

/// A host that looks at nothing.
struct Nobody;

impl Recover for Nobody {
    fn snapshot(&mut self, _: u64, from: &mut dyn Read) -> Result<(), HostError> {
        io::copy(from, &mut io::sink())?;
        Ok(())
    }

    fn entry(&mut self, _: &Entry<'_>) -> Result<(), HostError> {
        Ok(())
    }
}
