//! The names of files: as they are seen, as they are on the disk, and what lies between.

use super::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Default)]
pub(super) struct Names {
    pub(super) live: BTreeMap<PathBuf, u64>,
    pub(super) dirs: BTreeSet<PathBuf>,
    durable: BTreeMap<PathBuf, u64>,
    /// What was done since, in order. A journal keeps that order, and may lose the end.
    pending: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Create(PathBuf, u64),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Change {
    fn dir(&self) -> Option<&Path> {
        match self {
            Change::Create(path, _) | Change::Rename(path, _) | Change::Remove(path) => path.parent(),
        }
    }

    fn apply(self, names: &mut BTreeMap<PathBuf, u64>) {
        match self {
            Change::Create(path, inode) => {
                names.insert(path, inode);
            }
            Change::Rename(from, to) => {
                if let Some(inode) = names.remove(&from) {
                    names.insert(to, inode);
                }
            }
            Change::Remove(path) => {
                names.remove(&path);
            }
        }
    }
}

impl Names {
    pub(super) fn create(&mut self, path: &Path, inode: u64) {
        self.change(Change::Create(path.to_owned(), inode));
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.there(from)?;
        self.change(Change::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.there(path)?;
        self.change(Change::Remove(path.to_owned()));
        Ok(())
    }

    /// Puts a name there for good.
    pub(super) fn put(&mut self, path: &Path, inode: u64) {
        self.dirs.extend(path.parent().map(Path::to_owned));
        self.live.insert(path.to_owned(), inode);
        self.durable.insert(path.to_owned(), inode);
    }

    /// Removes a file for good.
    pub(super) fn forget(&mut self, path: &Path) {
        self.live.remove(path);
        self.durable.remove(path);
        self.pending.clear();
    }

    pub(super) fn sync(&mut self, dir: &Path) {
        for change in self.pending.extract_if(.., |change| change.dir() == Some(dir)) {
            change.apply(&mut self.durable);
        }
    }

    /// The power is cut.
    pub(super) fn cut(&mut self, random: &mut Random) {
        let kept = random.below(self.pending.len() as u64 + 1) as usize;
        for change in self.pending.drain(..).take(kept) {
            change.apply(&mut self.durable);
        }
        self.live = self.durable.clone();
    }

    fn change(&mut self, change: Change) {
        change.clone().apply(&mut self.live);
        self.pending.push(change);
    }

    fn there(&self, path: &Path) -> io::Result<()> {
        if self.live.contains_key(path) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}
