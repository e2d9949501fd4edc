//! The keeper of files: the next segment is there before it is needed, and those that nobody needs are used again.
//!
//! A used segment first loses its name, and that is synced, before anything is written to it; it gets its new name when its
//! new header is synced. So a file that has a segment's name always has that segment's header and bytes.

use crate::checksum::Seed;
use crate::disk::{self, DiskFile, Mode};
use crate::format::header::Header;
use crate::format::names;
use crate::presence::{Look, SELDOM};
use crate::segment::Prepared;
use crate::shared::{Filled, Shared, Spare, Step};
use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Bytes of zeros that are written at once, and how long to wait at least before the next: a little at a time, for the writer is
/// to find both processor and disk free. They are synced only when all are written: each sync of a file that grows may make the
/// writer wait for the file system's journal. But they are on their way to the disk at once, or that sync is a burst for which
/// the writer waits.
const CHUNK: u64 = 256 * 1024;
const PACE: Duration = Duration::from_micros(2500);
/// A page of zeros.
static ZEROS: [u8; 4096] = [0; 4096];
/// Bytes of a new store's first segment, at most. It is written once before it is used, which takes its time.
const FIRST: u32 = 16 * 1024 * 1024;
/// How long the keeper waits before it looks again whether there is room.
const PATIENCE: Duration = Duration::from_millis(500);

pub(crate) struct Keeper {
    shared: Arc<Shared>,
    /// The file that is about to become a segment.
    making: Option<Spare>,
    /// When it was seen last that all files are still there.
    look: Look,
}

impl Keeper {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Keeper { shared, making: None, look: Look::every(SELDOM) }
    }

    /// The keeper's thread.
    pub(crate) fn run(mut self) {
        loop {
            if self.look.is_due() && !self.shared.finds_all() {
                break;
            }
            match self.step() {
                Step::Worked => {}
                Step::Over => break,
                step => {
                    let mut state = self.shared.lock();
                    if state.nudged || state.closed || state.failed.is_some() {
                        continue;
                    }
                    let keeper = &self.shared.keeper;
                    match step {
                        Step::Paced => drop(keeper.wait_for(&mut state, PACE)),
                        Step::Blocked => drop(keeper.wait_for(&mut state, PATIENCE)),
                        _ => drop(keeper.wait_for(&mut state, SELDOM)),
                    }
                }
            }
        }
    }

    /// Does one thing that is to be done.
    pub(crate) fn step(&mut self) -> Step {
        let mut state = self.shared.lock();
        if state.closed || state.failed.is_some() {
            return Step::Over;
        }
        state.nudged = false;
        let unpinned = state.pins == 0;
        let (old, retired, wanted) =
            (unpinned && !state.old_snapshots.is_empty(), unpinned && !state.retired.is_empty(), state.wants_segment());
        drop(state);
        if old {
            return self.finish("remove an old snapshot", Self::remove_snapshots);
        }
        if retired {
            return self.finish("use a segment again", Self::recycle);
        }
        if wanted {
            self.finish("prepare a segment", Self::prepare)
        } else {
            self.finish("keep a reserve", Self::reserve)
        }
    }

    /// No room is something to wait for; any other failure of the disk ends the log.
    fn finish(&mut self, what: &str, act: impl FnOnce(&mut Self) -> io::Result<Step>) -> Step {
        match act(self) {
            Ok(step) => step,
            Err(error) if disk::is_full(&error) => {
                self.shared.say_full(error.to_string());
                Step::Blocked
            }
            Err(error) => {
                self.shared.fail(format!("{}: cannot {what}: {error}", self.shared.dir().display()));
                Step::Over
            }
        }
    }

    fn remove_snapshots(&mut self) -> io::Result<Step> {
        let old = self.shared.lock().old_snapshots.clone();
        for path in &old {
            absent_is_fine(self.shared.disk.remove(path))?;
        }
        self.shared.disk.sync_dir(self.shared.dir())?;
        self.shared.lock().old_snapshots.retain(|path| !old.contains(path));
        Ok(Step::Worked)
    }

    /// Takes the name from a segment that nobody needs, and keeps the file.
    fn recycle(&mut self) -> io::Result<Step> {
        let mut state = self.shared.lock();
        let Some(segment) = state.retired.last() else { return Ok(Step::Idle) };
        let (path, file, size) = (segment.path.clone(), Arc::clone(&segment.file), segment.size);
        let keep = size == self.shared.settings.segment_bytes && state.free.len() < self.shared.settings.spare_segments;
        let free = self.shared.dir().join(names::SEGMENTS).join(names::free(state.next_free));
        state.next_free += 1;
        drop(state);
        if keep {
            self.shared.disk.rename(&path, &free)?;
        } else {
            self.shared.disk.remove(&path)?;
        }
        let mut state = self.shared.lock();
        state.retired.retain(|segment| segment.path != path);
        drop(state);
        self.shared.disk.sync_dir(&self.shared.dir().join(names::SEGMENTS))?;
        if keep {
            self.shared.lock().free.push(Spare { path: free, file, size });
            self.shared.counters.recycled.fetch_add(1, Relaxed);
        }
        Ok(Step::Worked)
    }

    /// Makes the next segment, step by step, as soon as it is needed.
    fn prepare(&mut self) -> io::Result<Step> {
        let Some(spare) = self.making.as_ref() else {
            let (spare, written) = self.begin()?;
            self.shared.lock().making = Some(Filled { size: u64::from(spare.size), written, filling: false });
            self.making = Some(spare);
            return Ok(Step::Worked);
        };
        self.shared.say_room();
        let mut state = self.shared.lock();
        if let Some(mut filled) = state.making
            && filled.written < filled.size
            && !state.is_urgent()
        {
            filled.filling = state.is_behind(&filled);
            state.making = Some(filled);
            drop(state);
            if !filled.filling {
                return Ok(Step::Idle);
            }
            let bytes = CHUNK.min(filled.size - filled.written);
            fill(&*spare.file, filled.written, bytes)?;
            spare.file.begin_sync(filled.written, bytes);
            filled.written += bytes;
            self.shared.lock().making = Some(filled);
            return Ok(Step::Paced);
        }
        let epoch = state.next_epoch;
        drop(state);
        let prepared = self.shared.christen(spare, epoch)?;
        self.making = None;
        let mut state = self.shared.lock();
        state.making = None;
        state.next_epoch += 1;
        state.ready.push_back(prepared);
        drop(state);
        self.shared.writer.notify_one();
        Ok(Step::Worked)
    }

    /// A file that has its room, one that was used or a new one, and how many bytes of it were written once.
    fn begin(&self) -> io::Result<(Spare, u64)> {
        let size = u64::from(self.shared.settings.segment_bytes);
        let spare = self.shared.lock().free.pop();
        if let Some(spare) = spare {
            return Ok((spare, size));
        }
        let state = self.shared.lock();
        let files = state.files() as u64 + 1;
        drop(state);
        if self.shared.settings.max_bytes.is_some_and(|most| files * size > most) {
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "the store has as many segments as it may"));
        }
        Ok((self.shared.create(self.shared.settings.segment_bytes)?, 0))
    }

    /// Keeps room for a checkpoint on a disk that gets full.
    fn reserve(&mut self) -> io::Result<Step> {
        let state = self.shared.lock();
        if state.reserve > 0 || state.full.is_some() || state.checkpointing {
            return Ok(Step::Idle);
        }
        let snapshot = self.shared.dir().join(names::snapshot(state.checkpoint));
        drop(state);
        let snapshot = self.shared.disk.open(&snapshot, Mode::Read).and_then(|file| file.size()).unwrap_or(0);
        let bytes = self.shared.reserve_for(snapshot);
        let path = self.shared.dir().join(names::RESERVE);
        absent_is_fine(self.shared.disk.remove(&path))?;
        let file = self.shared.disk.open(&path, Mode::Create)?;
        let reserve = match file.allocate(bytes) {
            Ok(()) => bytes,
            // The next segment is there; that is what matters.
            Err(error) if disk::is_full(&error) => {
                absent_is_fine(self.shared.disk.remove(&path))?;
                0
            }
            Err(error) => return Err(error),
        };
        self.shared.lock().reserve = reserve;
        Ok(Step::Idle)
    }
}

impl Shared {
    /// Makes a file that has its room. On failure there is none.
    pub(crate) fn create(&self, size: u32) -> io::Result<Spare> {
        let mut state = self.lock();
        let path = self.dir().join(names::SEGMENTS).join(names::free(state.next_free));
        state.next_free += 1;
        drop(state);
        let file = self.disk.open(&path, Mode::Create)?;
        if let Err(error) = file.allocate(u64::from(size)) {
            absent_is_fine(self.disk.remove(&path))?;
            return Err(error);
        }
        self.counters.created.fetch_add(1, Relaxed);
        Ok(Spare { path, file, size })
    }

    /// The first segment of a new store: it is there before anything is appended.
    pub(crate) fn first_segment(&self) -> io::Result<()> {
        let spare = self.lock().free.pop();
        let spare = match spare {
            Some(spare) => spare,
            None => {
                let spare = self.create(self.settings.segment_bytes.min(FIRST))?;
                fill(&*spare.file, 0, spare.size.into())?;
                spare
            }
        };
        let epoch = self.lock().next_epoch;
        let prepared = self.christen(&spare, epoch)?;
        let mut state = self.lock();
        state.next_epoch += 1;
        state.ready.push_back(prepared);
        Ok(())
    }

    /// Gives a file its new header, and then its new name.
    pub(crate) fn christen(&self, spare: &Spare, epoch: u64) -> io::Result<Prepared> {
        let size = spare.size;
        let header = Header { store: self.store, epoch, size };
        disk::write_all(&*spare.file, &header.encode(), 0)?;
        spare.file.sync()?;
        let path: PathBuf = names::segment_path(self.dir(), epoch);
        self.disk.rename(&spare.path, &path)?;
        self.disk.sync_dir(&self.dir().join(names::SEGMENTS))?;
        let file = Arc::clone(&spare.file);
        Ok(Prepared { epoch, file, path, seed: Seed::new(&self.store, epoch), size })
    }
}

/// Writes zeros, whole pages of them. What was written once is written again at half the cost: the file system need not note
/// that it is in use.
fn fill(file: &dyn DiskFile, at: u64, bytes: u64) -> io::Result<()> {
    let pages = vec![IoSlice::new(&ZEROS); (bytes / ZEROS.len() as u64) as usize];
    file.write_at(&pages, at)
}

pub(crate) fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crash::store_in_memory_of;
    use crate::entry::Need;
    use crate::writer::Writer;

    #[test]
    fn the_next_segment_is_filled_in_step_with_the_last_one() {
        const SIZE: u32 = 8 * 1024 * 1024;
        let log = store_in_memory_of(SIZE);
        let mut writer = Writer::new(Arc::clone(&log.shared));
        let mut keeper = Keeper::new(Arc::clone(&log.shared));
        let mut halfway = None;
        for _ in 0..60 {
            log.append(vec![vec![1; 100 * 1024].into()], 0, Need::Ordinary).unwrap();
            assert_eq!(writer.step(), Step::Worked);
            while keeper.step() != Step::Idle {}
            let state = log.shared.lock();
            let used = f64::from(state.segments[0].end) / f64::from(SIZE);
            let Some(next) = state.making else { break };
            let filled = next.written as f64 / next.size as f64;
            let ahead = filled - (used - 0.125) / 0.625;
            if filled > 0.0 {
                assert!((0.0..=CHUNK as f64 / f64::from(SIZE)).contains(&ahead), "used {used}, filled {filled}");
            }
            halfway = halfway.or((used > 0.5).then_some(filled));
        }
        assert!(halfway.is_some_and(|filled| filled > 0.5));
        assert_eq!(log.shared.lock().ready.len(), 1, "it is there when it gets urgent");
    }
}
