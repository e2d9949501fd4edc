//! A backup of a store that is open. It has everything up to an entry that was durable when it began, and nothing else;
//! while it is made nothing is removed or used again, and the store goes on taking entries.

use super::Copied;
use super::files::Target;
use crate::checksum::Seed;
use crate::disk::{DiskFile, Mode};
use crate::error::{LogError, OpenError, Place, RESTORE, ReadError};
use crate::format::header::DATA;
use crate::format::identity::Identity;
use crate::format::names;
use crate::inspect::{check_large, missing};
use crate::keeper::absent_is_fine;
use crate::log::Log;
use crate::recovery;
use crate::shared::Shared;
use crate::snapshot;
use crate::window::Window;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes read at once.
const STEP: usize = 1024 * 1024;

/// What a backup has.
struct Extent {
    segments: Vec<Piece>,
    checkpoint: u64,
    last: u64,
    synced: (u64, u32),
    unfinished: BTreeSet<u64>,
    /// The large message that comes next: those from this one on are later than the backup.
    next_large: u64,
}

/// A segment, up to a place.
struct Piece {
    epoch: u64,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    seed: Seed,
    /// Where its entries end.
    end: u32,
    sealed: bool,
    size: u32,
}

impl Log {
    /// Copies the store, as it is now, into a directory that is empty or does not exist, while it goes on. Every checksum
    /// is checked on the way. The backup is complete when this returns; [`restore`](crate::restore) makes a store of it,
    /// and [`verify`](crate::verify) checks it. Takes a while, so it wants a thread.
    ///
    /// `large` is asked while nothing can be removed, what large messages there are, as by [`Inventory::large`](crate::Inventory::large).
    /// Those whose files are not there are left out, and [said](Copied::missing).
    ///
    /// # Errors
    /// If the directory is not empty, something is corrupt, the disk fails, or the log has failed.
    pub fn backup(&self, to: &Path, large: impl FnOnce() -> Vec<(u64, String)>) -> Result<Copied, OpenError> {
        let pin = Pin::new(&self.shared)?;
        let mut target = Target::new(&*self.shared.disk, to)?;
        let extent = self.shared.extent();
        self.shared.copy_snapshot(extent.checkpoint, &mut target)?;
        for piece in &extent.segments {
            piece.check()?;
            let name = names::segment(piece.epoch);
            let bytes = if piece.sealed { piece.size } else { piece.end };
            let to = to.join(names::SEGMENTS).join(name);
            target.copy(&*piece.file, &to, u64::from(bytes), u64::from(piece.size))?;
        }
        let unfinished = self.shared.copy_large(&extent, &mut target)?;
        let missing = missing(&*self.shared.disk, self.shared.dir(), &large(), |file| unfinished.contains(file))?;
        target.sync()?;
        // Last: a backup that was not finished has none, and cannot be opened.
        let identity = Identity { store: self.shared.store, run: self.shared.run, synced: extent.synced };
        recovery::write_identity(&*self.shared.disk, to, &identity)?;
        drop(pin);
        let (files, bytes) = (target.files, target.bytes);
        Ok(Copied { checkpoint: extent.checkpoint, last: extent.last, files, bytes, missing })
    }
}

impl Shared {
    fn extent(&self) -> Extent {
        let state = self.lock();
        let segments = state.segments.iter().map(|segment| Piece {
            epoch: segment.epoch,
            path: segment.path.clone(),
            file: Arc::clone(&segment.file),
            seed: segment.seed,
            end: segment.end,
            sealed: segment.sealed,
            size: segment.size,
        });
        let waiting = state.ready.front().filter(|_| state.segments.is_empty()).map(|ready| Piece {
            epoch: ready.epoch,
            path: ready.path.clone(),
            file: Arc::clone(&ready.file),
            seed: ready.seed,
            end: DATA,
            sealed: false,
            size: ready.size,
        });
        Extent {
            segments: segments.chain(waiting).collect(),
            checkpoint: state.checkpoint,
            last: state.durable,
            synced: recovery::synced(&state),
            unfinished: state.large_open.clone(),
            next_large: u64::from(self.run) << 32 | state.next_large,
        }
    }

    fn copy_snapshot(&self, index: u64, target: &mut Target<'_>) -> Result<(), OpenError> {
        let path = self.dir().join(names::snapshot(index));
        let file = match self.disk.open(&path, Mode::Read) {
            Err(error) if index == 0 && error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.place("open", &path)?,
        };
        match snapshot::check(Arc::clone(&file), &self.store, index) {
            Ok(_) => {}
            Err(snapshot::Damage::Io(source)) => return Err(OpenError::Io { action: "read", path, source }),
            Err(snapshot::Damage::Corrupt { offset, what }) => {
                let what = what.to_owned();
                return Err(OpenError::Corrupt { file: path, offset, what, remedy: CHECKPOINT });
            }
            Err(snapshot::Damage::Version(_)) => {
                let what = "its version is not ours".to_owned();
                return Err(OpenError::Corrupt { file: path, offset: 8, what, remedy: CHECKPOINT });
            }
        }
        let bytes = file.size().place("read", &path)?;
        target.copy(&*file, &target.dir.join(names::snapshot(index)), bytes, bytes)
    }

    /// Large messages that entries may name. Gives the files that have no end.
    fn copy_large(&self, extent: &Extent, target: &mut Target<'_>) -> Result<Vec<PathBuf>, OpenError> {
        let folder = self.dir().join(names::LARGE);
        let mut unfinished = Vec::new();
        for name in self.disk.list(&folder).place("read", &folder)? {
            let was_there = |id: &u64| *id < extent.next_large && !extent.unfinished.contains(id);
            let Some(id) = names::large_id(&name).filter(was_there) else { continue };
            let path = folder.join(&name);
            let file = match self.disk.open(&path, Mode::Read) {
                // It was given up before it was finished.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other.place("open", &path)?,
            };
            match check_large(Arc::clone(&file), &path, &self.store, id) {
                Ok(_) => {}
                Err(ReadError::Unfinished { file }) => {
                    unfinished.push(file);
                    continue;
                }
                Err(ReadError::Io { source, .. }) => return Err(source).place("read", &path),
                Err(ReadError::CorruptMessage { offset, .. }) => {
                    let what = "a block's checksum does not hold".to_owned();
                    return Err(OpenError::Corrupt { file: path, offset, what, remedy: RESTORE });
                }
                Err(other) => {
                    let what = other.to_string();
                    return Err(OpenError::Corrupt { file: path, offset: 0, what, remedy: RESTORE });
                }
            }
            let bytes = file.size().place("read", &path)?;
            target.copy(&*file, &target.dir.join(names::LARGE).join(name), bytes, bytes)?;
        }
        Ok(unfinished)
    }
}

/// What to do when the snapshot of an open store is damaged.
const CHECKPOINT: &str =
    "the store still has all that it holds in memory: make another checkpoint, then another backup";

impl Piece {
    /// Checks every record.
    fn check(&self) -> Result<(), OpenError> {
        let mut window = Window::new(Arc::clone(&self.file), u64::from(self.end), STEP);
        let mut at = u64::from(DATA);
        while at < u64::from(self.end) {
            let head = window.head(at, self.seed).place("read", &self.path)?;
            let Some(head) = head else { return Err(self.corrupt(at)) };
            if window.entry(at, &head, self.seed).place("read", &self.path)?.is_none() {
                return Err(self.corrupt(at));
            }
            at += head.size();
        }
        Ok(())
    }

    fn corrupt(&self, offset: u64) -> OpenError {
        let what = "a record's checksum does not hold".to_owned();
        OpenError::Corrupt { file: self.path.clone(), offset, what, remedy: RESTORE }
    }
}

/// While there is one, nothing is removed or used again.
struct Pin<'a>(&'a Shared);

impl<'a> Pin<'a> {
    /// Waits for a checkpoint that is being written: it would replace what is copied.
    fn new(shared: &'a Shared) -> Result<Self, LogError> {
        let mut state = shared.lock();
        while state.checkpointing {
            shared.checkpointed.wait(&mut state);
        }
        if let Some(text) = &state.failed {
            return Err(LogError::Failed(text.clone()));
        }
        state.pins += 1;
        Ok(Pin(shared))
    }
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.pins -= 1;
        if state.pins > 0 {
            return;
        }
        let doomed = std::mem::take(&mut state.large_doomed);
        self.0.nudge(&mut state);
        drop(state);
        for id in doomed {
            // If it cannot be removed now, it is an orphan when the store is opened next.
            let _ = absent_is_fine(self.0.disk.remove(&self.0.large_path(id)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crash::store_in_memory;

    #[test]
    fn large_messages_that_are_removed_during_a_backup_are_there_until_it_ends() {
        let log = store_in_memory();
        let mut large = log.create_large().unwrap();
        large.append(b"large").unwrap();
        large.sync().unwrap();
        let pin = Pin::new(&log.shared).unwrap();
        log.remove_large(large.id()).unwrap();
        assert_eq!(log.open_large(large.id()).unwrap().read(0, 5).unwrap(), b"large");
        drop(pin);
        assert!(log.open_large(large.id()).is_err());
    }

    #[test]
    fn segments_that_nobody_needs_are_kept_as_they_are_during_a_backup() {
        use crate::entry::Need;
        use crate::keeper::Keeper;
        use crate::shared::Step;
        use crate::writer::Writer;
        let log = store_in_memory();
        let mut writer = Writer::new(Arc::clone(&log.shared));
        let mut keeper = Keeper::new(Arc::clone(&log.shared));
        for _ in 0..20 {
            log.append(vec![vec![1; 1000].into()], 0, Need::Ordinary).unwrap();
            while [writer.step(), keeper.step()].contains(&Step::Worked) {}
        }
        let pin = Pin::new(&log.shared).unwrap();
        let plan = log.shared.plan_checkpoint(20).unwrap();
        log.shared.checkpoint(plan, |_| Ok(()));
        let retired: Vec<PathBuf> = log.shared.lock().retired.iter().map(|segment| segment.path.clone()).collect();
        assert!(retired.len() > 1);
        let there = |path: &PathBuf| log.shared.disk.open(path, Mode::Read).is_ok();
        while keeper.step() == Step::Worked {}
        assert!(retired.iter().all(there));
        drop(pin);
        while keeper.step() == Step::Worked {}
        assert!(!retired.iter().any(there));
    }
}
