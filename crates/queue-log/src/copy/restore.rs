//! A store made from a backup, or from another store that is not open.

use super::Copied;
use super::files::Target;
use crate::disk::{Disk, Mode};
use crate::error::{OpenError, Place, RESTORE};
use crate::format::names;
use crate::inspect::{Problem, Verified, lock, verify_unlocked};
use crate::recover::Inventory;
use crate::recovery;
use crate::recovery::survey::{self, Survey};
use std::path::Path;

/// Makes a store in a directory that is empty or does not exist, from a backup. What the backup has is checked first, with
/// one of the readers that `reader` makes; nothing is written if it is damaged. What was written is checked with another one. Large
/// messages whose files are not in the backup are left out, and [said](Copied::missing).
///
/// # Errors
/// If the backup is not complete or damaged, the directory is not empty, or the operating system refuses.
pub fn restore<I: Inventory>(
    disk: &dyn Disk,
    from: &Path,
    to: &Path,
    reader: impl Fn() -> I,
) -> Result<Copied, OpenError> {
    let _lock = lock(disk, from)?;
    let verified = check(disk, from, &mut reader())?;
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
    let restored = check(disk, to, &mut reader())?;
    if (restored.checkpoint, restored.last, restored.missing.len())
        != (verified.checkpoint, verified.last, verified.missing.len())
    {
        let what = "it is not what the backup was when it was checked: somebody has changed that meanwhile".to_owned();
        return Err(OpenError::Corrupt {
            file: to.to_owned(),
            offset: 0,
            what,
            remedy: "remove it, and restore again",
        });
    }
    Ok(Copied { checkpoint: verified.checkpoint, last: verified.last, files, bytes, missing: verified.missing })
}

/// What a store has. The first damage is an error.
fn check(disk: &dyn Disk, dir: &Path, reader: &mut dyn Inventory) -> Result<Verified, OpenError> {
    let mut verified = verify_unlocked(disk, dir, reader)?;
    match verified.problems.pop() {
        None => Ok(verified),
        Some(problem) => {
            let Problem { file, offset, what } = verified.problems.into_iter().next().unwrap_or(problem);
            Err(OpenError::Corrupt { file, offset, what, remedy: RESTORE })
        }
    }
}

fn whole(disk: &dyn Disk, target: &mut Target<'_>, from: &Path, to: &Path) -> Result<(), OpenError> {
    let file = disk.open(from, Mode::Read).place("open", from)?;
    let size = file.size().place("read", from)?;
    target.copy(&*file, to, size, size)
}
