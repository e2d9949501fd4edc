//! A store made from a backup, or from another store that is not open.

use super::Copied;
use super::files::Target;
use crate::disk::{Disk, Mode};
use crate::error::{OpenError, Place, RESTORE};
use crate::format::names;
use crate::inspect::{lock, verify_unlocked};
use crate::recovery;
use crate::recovery::survey::{self, Survey};
use std::path::Path;

/// Makes a store in a directory that is empty or does not exist, from a backup. What the backup has is checked first;
/// nothing is written if it is damaged.
///
/// # Errors
/// If the backup is not complete or damaged, the directory is not empty, or the operating system refuses.
pub fn restore(disk: &dyn Disk, from: &Path, to: &Path) -> Result<Copied, OpenError> {
    let _lock = lock(disk, from)?;
    let verified = verify_unlocked(disk, from)?;
    if let Some(problem) = verified.problems.into_iter().next() {
        let crate::inspect::Problem { file, offset, what } = problem;
        return Err(OpenError::Corrupt { file, offset, what, remedy: RESTORE });
    }
    let survey = Survey::new(disk, from, Mode::Read)?;
    let Some(identity) = survey.identity else {
        let (file, what) = (from.join(names::IDENTITY), "there is no backup here".to_owned());
        return Err(OpenError::Missing { file, what, remedy: RESTORE });
    };
    let mut target = Target::new(disk, to)?;
    for index in &survey.snapshots {
        let name = names::snapshot(*index);
        whole(disk, &mut target, &from.join(&name), &to.join(&name))?;
    }
    for found in &survey.segments {
        let name = names::segment(found.epoch);
        whole(disk, &mut target, &found.path, &to.join(names::SEGMENTS).join(name))?;
    }
    let large = from.join(names::LARGE);
    for name in survey::list(disk, &large)?.iter().filter(|name| names::large_id(name).is_some()) {
        whole(disk, &mut target, &large.join(name), &to.join(names::LARGE).join(name))?;
    }
    target.sync()?;
    recovery::write_identity(disk, to, &identity)?;
    let (files, bytes) = (target.files, target.bytes);
    Ok(Copied { checkpoint: verified.checkpoint, last: verified.last, files, bytes })
}

fn whole(disk: &dyn Disk, target: &mut Target<'_>, from: &Path, to: &Path) -> Result<(), OpenError> {
    let file = disk.open(from, Mode::Read).place("open", from)?;
    let size = file.size().place("read", from)?;
    target.copy(&*file, to, size, size)
}
