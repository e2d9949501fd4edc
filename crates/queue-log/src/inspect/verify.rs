//! Is a store, or a backup, whole?

use super::{Item, dump_unlocked, lock};
use crate::disk::{Disk, Mode};
use crate::error::{OpenError, RESTORE};
use crate::format::names;
use crate::recover::Inventory;
use crate::recovery;
use crate::recovery::survey::{self, Survey};
use crate::settings::Notice;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A large message whose file is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The file.
    pub file: PathBuf,
    /// What its owner calls the message.
    pub message: String,
}

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
    /// Large messages whose files are not there, or have lost their end: these cannot be read, all others can.
    pub missing: Vec<Missing>,
    /// What is wrong. With the first kind of these the store cannot be opened, or a message cannot be read.
    pub problems: Vec<Problem>,
}

/// Checks every checksum of a store that is not open, and whether anything is missing: what large messages there should be
/// is known to the reader, which is given all that the store holds. Changes nothing.
///
/// # Errors
/// If the store is open, is of another version, or the operating system refuses. What is wrong with the store is no error.
pub fn verify(disk: &dyn Disk, dir: &Path, reader: &mut dyn Inventory) -> Result<Verified, OpenError> {
    let _lock = lock(disk, dir)?;
    verify_unlocked(disk, dir, reader)
}

pub(crate) fn verify_unlocked(disk: &dyn Disk, dir: &Path, reader: &mut dyn Inventory) -> Result<Verified, OpenError> {
    let mut verified = Verified::default();
    let flow = dump_unlocked(disk, dir, &mut |item| {
        verified.count(item);
        ControlFlow::Continue(())
    })?;
    debug_assert!(flow.is_continue());
    match whole(disk, dir, reader) {
        Ok((checkpoint, last, notices)) => {
            (verified.checkpoint, verified.last, verified.notices) = (checkpoint, last, notices);
            let unfinished = &verified.unfinished;
            verified.missing = missing(disk, dir, &reader.large(), |file| unfinished.contains(file))?;
        }
        Err(OpenError::Corrupt { file, offset, what, .. }) => verified.problem(file, offset, what),
        Err(OpenError::Missing { file, what, .. }) => verified.problem(file, 0, format!("it is missing: {what}")),
        Err(OpenError::NoFile { path }) => verified.problem(path, 0, super::NO_FILE.to_owned()),
        // Which segment has it is not known here.
        Err(error @ OpenError::Host { .. }) => verified.problem(dir.join(names::SEGMENTS), 0, error.to_string()),
        Err(other) => return Err(other),
    }
    Ok(verified)
}

/// Goes through the store as if to open it. Gives the checkpoint and the last entry.
fn whole(disk: &dyn Disk, dir: &Path, reader: &mut dyn Inventory) -> Result<(u64, u64, Vec<Notice>), OpenError> {
    let survey = Survey::new(disk, dir, Mode::Read)?;
    let Some(identity) = survey.identity else {
        return Err(OpenError::Missing {
            file: dir.join(names::IDENTITY),
            what: "there is no store here, or its backup was not finished".to_owned(),
            remedy: RESTORE,
        });
    };
    let (replayed, checkpoint) = recovery::read(disk, dir, &survey, identity, reader)?;
    let last = replayed.segments.last().map_or(checkpoint, |segment| segment.next - 1);
    Ok((checkpoint, last.max(checkpoint), replayed.notices))
}

/// Which of the files of large messages are not in a store's directory, or are of no use.
pub(crate) fn missing(
    disk: &dyn Disk,
    dir: &Path,
    wanted: &[(u64, String)],
    is_of_no_use: impl Fn(&PathBuf) -> bool,
) -> Result<Vec<Missing>, OpenError> {
    let folder = dir.join(names::LARGE);
    let there: BTreeSet<u64> = survey::list(disk, &folder)?.iter().filter_map(|name| names::large_id(name)).collect();
    let mut missing = Vec::new();
    for (id, message) in wanted {
        let file = folder.join(names::large(*id));
        if !there.contains(id) || is_of_no_use(&file) {
            missing.push(Missing { file, message: message.clone() });
        }
    }
    Ok(missing)
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
