//! What the log's threads and its callers share.

use crate::disk::{Disk, DiskFile};
use crate::entry::{Haste, Need, Part};
use crate::error::LogError;
use crate::format::record;
use crate::segment::{Prepared, Segment};
use crate::settings::{Notice, Settings, Watcher};
use crate::stats::Counters;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All that an open log is.
pub(crate) struct Shared {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) settings: Settings,
    pub(crate) store: [u8; 16],
    /// How often the store was opened.
    pub(crate) run: u32,
    pub(crate) watcher: Arc<dyn Watcher>,
    pub(crate) counters: Counters,
    pub(crate) writer: Condvar,
    pub(crate) keeper: Condvar,
    /// Told when a checkpoint ends or the log fails.
    pub(crate) checkpointed: Condvar,
    state: Mutex<State>,
}

/// What changes, behind the lock. Nobody holds it during a system call on a file.
pub(crate) struct State {
    /// Entries that the writer has not taken yet.
    pub(crate) queue: VecDeque<Queued>,
    /// Bytes of records that are not durable yet, taken by the writer or not.
    pub(crate) queued_bytes: u64,
    /// The number that the next entry gets.
    pub(crate) next_index: u64,
    /// Everything up to here is on the disk.
    pub(crate) durable: u64,
    /// In order; the last one is written to.
    pub(crate) segments: Vec<Segment>,
    /// What comes after the last one.
    pub(crate) ready: VecDeque<Prepared>,
    /// The number that the next segment to be prepared gets.
    pub(crate) next_epoch: u64,
    /// The writer cannot go on without another segment.
    pub(crate) starved: bool,
    /// Files that can become segments.
    pub(crate) free: Vec<Spare>,
    pub(crate) next_free: u64,
    /// A file that is about to become a segment: the keeper has it.
    pub(crate) making: Option<Filled>,
    /// Segments that nobody needs any more.
    pub(crate) retired: Vec<Segment>,
    /// Snapshots that nobody needs any more.
    pub(crate) old_snapshots: Vec<PathBuf>,
    /// Bytes of the file that is given up for a checkpoint when the disk is full. 0: there is none.
    pub(crate) reserve: u64,
    /// Backups under way: nothing may be removed or used again.
    pub(crate) pins: usize,
    /// Large messages to be removed when there are no pins any more.
    pub(crate) large_doomed: Vec<u64>,
    /// Large messages that are still being written: no entry names them yet.
    pub(crate) large_open: BTreeSet<u64>,
    /// Counter in the ids of large messages.
    pub(crate) next_large: u64,
    /// The entry up to which the newest snapshot goes.
    pub(crate) checkpoint: u64,
    pub(crate) checkpointing: bool,
    /// Why there is no room for another segment.
    pub(crate) full: Option<String>,
    /// An append was refused since there was room last.
    pub(crate) refused: bool,
    pub(crate) failed: Option<String>,
    /// Somebody waits for an entry that the writer has not taken yet.
    pub(crate) hurry: bool,
    /// The writer waits until there is anything.
    pub(crate) resting: bool,
    /// Nothing is appended any more; the writer ends when all is written.
    pub(crate) closing: bool,
    /// There may be something to do for the keeper.
    pub(crate) nudged: bool,
    /// The keeper ends.
    pub(crate) closed: bool,
}

/// An entry on its way to the disk.
pub(crate) struct Queued {
    pub(crate) index: u64,
    pub(crate) parts: Vec<Part>,
    pub(crate) held: u32,
    pub(crate) length: u32,
}

impl Queued {
    pub(crate) fn size(&self) -> u64 {
        record::size(self.parts.len() as u64, u64::from(self.length))
    }
}

/// A file that can become a segment.
pub(crate) struct Spare {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) size: u32,
}

/// How much of a file that is about to become a segment was written once: to write it again is cheaper for the file system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filled {
    /// Bytes of the file.
    pub(crate) size: u64,
    /// Bytes of it that were written.
    pub(crate) written: u64,
    /// The keeper is at it.
    pub(crate) filling: bool,
}

/// What a step of one of the log's threads came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Something was done, there may be more.
    Worked,
    /// There is nothing to do.
    Idle,
    /// Something was done; there is more, but it is to be done slowly.
    Paced,
    /// There is something to do that cannot be done now: try again a little later.
    Blocked,
    /// There will be nothing to do.
    Over,
}

impl Shared {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        settings: Settings,
        (store, run): ([u8; 16], u32),
        watcher: Arc<dyn Watcher>,
        state: State,
    ) -> Self {
        Shared {
            disk,
            settings,
            store,
            run,
            watcher,
            counters: Counters::default(),
            writer: Condvar::new(),
            keeper: Condvar::new(),
            checkpointed: Condvar::new(),
            state: Mutex::new(state),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.settings.path
    }

    /// There is something to do for the keeper.
    pub(crate) fn nudge(&self, state: &mut State) {
        state.nudged = true;
        self.keeper.notify_one();
    }

    /// Nothing is accepted from now on.
    pub(crate) fn fail(&self, text: String) {
        let mut state = self.lock();
        if state.failed.is_some() {
            return;
        }
        state.failed = Some(text.clone());
        state.queue.clear();
        state.queued_bytes = 0;
        drop(state);
        self.writer.notify_all();
        self.keeper.notify_all();
        self.checkpointed.notify_all();
        self.watcher.notice(Notice::Failed { text });
    }

    /// There is no room. Said once, until there is room again.
    pub(crate) fn say_full(&self, reason: String) {
        let mut state = self.lock();
        if state.full.is_some() {
            return;
        }
        state.full = Some(reason.clone());
        let left = state.segments.last().map_or(0, Segment::left);
        drop(state);
        self.watcher.notice(Notice::Full { path: self.dir().to_owned(), left, reason });
    }

    /// There is room again.
    pub(crate) fn say_room(&self) {
        let mut state = self.lock();
        if state.full.take().is_none() {
            return;
        }
        state.refused = false;
        drop(state);
        self.watcher.notice(Notice::Room { path: self.dir().to_owned() });
    }

    /// Takes an entry into the queue.
    pub(crate) fn append(&self, parts: Vec<Part>, held: u64, need: Need, haste: Haste) -> Result<u64, LogError> {
        let length: u64 = parts.iter().map(|part| part.as_ref().len() as u64).sum();
        let size = record::size(parts.len() as u64, length);
        let limit = crate::segment::largest_record(self.settings.segment_bytes);
        if size > limit {
            return Err(LogError::TooLarge { size, limit });
        }
        let mut state = self.lock();
        state.admits(self, size, need)?;
        let index = state.next_index;
        state.next_index += 1;
        state.queued_bytes += size;
        // Both are at most the size of a segment, which is 32 bits wide.
        let (length, held) = (length as u32, held.min(length) as u32);
        state.queue.push_back(Queued { index, parts, held, length });
        state.hurry |= haste == Haste::AtOnce;
        // Otherwise the writer finds it in time.
        let wakes = haste == Haste::AtOnce || state.resting;
        drop(state);
        if wakes {
            self.writer.notify_one();
        }
        Ok(index)
    }
}

impl State {
    fn admits(&mut self, shared: &Shared, size: u64, need: Need) -> Result<(), LogError> {
        if let Some(text) = &self.failed {
            return Err(LogError::Failed(text.clone()));
        }
        if self.closing {
            return Err(LogError::Closed);
        }
        let reserve = shared.settings.kept_from(need);
        if self.full.is_some() && self.queued_bytes + size + reserve > self.room_ahead() {
            self.refused = true;
            return Err(LogError::Full { path: shared.dir().to_owned(), needed: size });
        }
        Ok(())
    }

    /// Takes the entries out that the writer cannot take, unless there will be room without anybody making some. The number of the first
    /// of them, and its size.
    pub(crate) fn take_back(&mut self) -> Option<(u64, u64)> {
        let may_come = self.checkpointing || self.making.is_some() || !self.retired.is_empty() || !self.free.is_empty();
        if self.full.is_none() || !self.starved || !self.ready.is_empty() || may_come {
            return None;
        }
        let (first, size) = self.queue.front().map(|entry| (entry.index, entry.size()))?;
        self.queued_bytes -= self.queue.drain(..).map(|entry| entry.size()).sum::<u64>();
        self.next_index = first;
        Some((first, size))
    }

    /// Whether the next segment is to be prepared.
    pub(crate) fn wants_segment(&self) -> bool {
        self.ready.is_empty() && self.failed.is_none()
    }

    /// Whether the next segment is needed soon.
    pub(crate) fn is_urgent(&self) -> bool {
        self.starved || self.segments.last().is_none_or(|last| last.left() < u64::from(last.size / 4))
    }

    /// Whether the next segment, so far filled, is to be written on: in step with the last one, from when an eighth of that is
    /// in use until it gets urgent. Nobody has to wait long for a disk that is written to no faster than that.
    pub(crate) fn is_behind(&self, next: &Filled) -> bool {
        let Some(last) = self.segments.last() else { return false };
        let (used, begin, end) = (u64::from(last.end), u64::from(last.size / 8), u64::from(last.size / 4 * 3));
        let due = used.saturating_sub(begin) * next.size / (end - begin).max(1);
        next.written < next.size.min(due)
    }

    /// Whether the writer has something new for the keeper to do. It is not woken for every write.
    pub(crate) fn wants_keeper(&self) -> bool {
        let begins = self.making.as_ref().is_none_or(|next| !next.filling && self.is_behind(next));
        self.wants_segment() && self.full.is_none() && (begins || self.is_urgent())
    }

    /// Bytes for records in the segments that are there.
    pub(crate) fn room_ahead(&self) -> u64 {
        let ready = self.ready.iter().map(|ready| crate::segment::largest_record(ready.size));
        self.segments.last().map_or(0, Segment::left) + ready.sum::<u64>()
    }

    /// The segment that has, or had, an entry.
    pub(crate) fn segment_of(&self, index: u64) -> Option<usize> {
        let after = self.segments.partition_point(|segment| segment.first <= index);
        let at = after.checked_sub(1)?;
        (index < self.segments[at].next).then_some(at)
    }

    /// Files that are segments, or can become some.
    pub(crate) fn files(&self) -> usize {
        self.segments.len()
            + self.ready.len()
            + self.free.len()
            + self.retired.len()
            + usize::from(self.making.is_some())
    }
}
