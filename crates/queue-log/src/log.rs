//! The log as its owner sees it.

use crate::disk::Disk;
use crate::entry::{Haste, Need, Part};
use crate::error::{LogError, OpenError, Place, ReadError};
use crate::format::identity::Identity;
use crate::format::names;
use crate::keeper::Keeper;
use crate::read::Reader;
use crate::recover::Recover;
use crate::recovery;
use crate::segment::{Prepared, Segment};
use crate::settings::{Settings, Watcher, sparse};
use crate::shared::{Shared, State};
use crate::stats::{Condition, Stats};
use crate::writer::Writer;
use parking_lot::Mutex;
use std::any::Any;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};

/// Bytes that a reader of single parts reads at once.
const NEARBY: usize = 32 * 1024;

/// A log that is open. Dropping it writes what is queued, as far as there is room, and closes it.
pub struct Log {
    pub(crate) shared: Arc<Shared>,
    threads: Mutex<Threads>,
    /// Given up last.
    _lock: Box<dyn Any + Send + Sync>,
}

/// The threads of a log, while they run.
#[derive(Default)]
struct Threads {
    writer: Option<JoinHandle<()>>,
    keeper: Option<JoinHandle<()>>,
    checkpoint: Option<JoinHandle<()>>,
}

/// A segment that holds little, as [`Log::sparse`] gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sparse {
    /// Its entries. Not all of them hold anything.
    pub entries: RangeInclusive<u64>,
    /// Bytes of bodies that are alive.
    pub live: u64,
    /// Bytes that it takes on the disk.
    pub size: u64,
}

impl Log {
    /// Opens a store, or makes one in a directory that has none, and gives the host all that it holds.
    ///
    /// Bodies that the host finds to be dead after an entry it is given are released once the log is open: the log counts
    /// those of every entry after the snapshot as alive.
    ///
    /// # Errors
    /// If another process has it, if it is corrupt, if the disk fails, or if the host says so.
    pub fn open(
        disk: Arc<dyn Disk>,
        settings: Settings,
        watcher: Arc<dyn Watcher>,
        recover: &mut dyn Recover,
    ) -> Result<Log, OpenError> {
        let log = Log::open_still(disk, settings, watcher, recover)?;
        let writer = log.start("log-writer", Writer::new(Arc::clone(&log.shared)), Writer::run)?;
        log.threads.lock().writer = Some(writer);
        let keeper = log.start("log-keeper", Keeper::new(Arc::clone(&log.shared)), Keeper::run)?;
        log.threads.lock().keeper = Some(keeper);
        Ok(log)
    }

    /// Opens a store without threads.
    pub(crate) fn open_still(
        disk: Arc<dyn Disk>,
        settings: Settings,
        watcher: Arc<dyn Watcher>,
        recover: &mut dyn Recover,
    ) -> Result<Log, OpenError> {
        settings.check()?;
        let dir = settings.path.clone();
        disk.create_dir(&dir).place("make the directory", &dir)?;
        let path = dir.join(names::LOCK);
        let lock = disk.lock(&path).place("lock", &path)?;
        let Some(lock) = lock else { return Err(OpenError::Locked { path: dir }) };
        let recovered = recovery::recover(&*disk, &settings, recover)?;
        let Identity { store, run, .. } = recovered.identity;
        let run = run + 1;
        let fresh = recovered.state.segments.is_empty() && recovered.state.ready.is_empty();
        let shared = Shared::new(disk, settings, (store, run), watcher, recovered.state);
        if fresh {
            shared.first_segment().place("make a segment in", &dir)?;
        }
        let synced = recovery::synced(&shared.lock());
        recovery::write_identity(&*shared.disk, &dir, &Identity { store, run, synced })?;
        for notice in recovered.notices {
            shared.watcher.notice(notice);
        }
        Ok(Log { shared: Arc::new(shared), threads: Mutex::default(), _lock: Box::new(lock) })
    }

    /// Opens a store that takes entries and never writes them: for tests of what opening does.
    ///
    /// # Errors
    /// As [`Log::open`].
    #[cfg(any(test, feature = "testing"))]
    pub fn open_without_threads(
        disk: Arc<dyn Disk>,
        settings: Settings,
        watcher: Arc<dyn Watcher>,
        recover: &mut dyn Recover,
    ) -> Result<Log, OpenError> {
        Log::open_still(disk, settings, watcher, recover)
    }

    fn start<T: Send + 'static>(&self, name: &str, what: T, run: fn(T)) -> Result<JoinHandle<()>, OpenError> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || run(what));
        thread.place("start a thread for", self.shared.dir())
    }

    /// Appends an entry, and gives its number: the one after the entry before. It is on the disk when
    /// [`Watcher::durable`] says so. `held` says how many of its bytes are bodies, which live until they are
    /// [released](Log::release); a part can be [read](Log::read_part) alone, so each body should be one.
    ///
    /// Never waits: what the disk is slower than gathers in memory ([`Stats::queued_bytes`]), and who appends has to hold
    /// back.
    ///
    /// # Errors
    /// If there is no room, the entry is too large, or the log has failed or is closed.
    pub fn append(&self, parts: Vec<Part>, held: u64, need: Need) -> Result<u64, LogError> {
        self.shared.append(parts, held, need, Haste::AtOnce)
    }

    /// As [`Log::append`], for an entry that nobody waits for: it is written and synced together with the next that is
    /// appended, or after a few milliseconds, so that what comes meanwhile need not wait for a sync of its own.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn append_soon(&self, parts: Vec<Part>, held: u64, need: Need) -> Result<u64, LogError> {
        self.shared.append(parts, held, need, Haste::Soon)
    }

    /// Gives back what was appended before the log knew that it is full, and finds no room: it would wait until somebody makes some, and
    /// so would all that is appended later. The number of the first entry that is not in the log and never was, and why; nor are
    /// those after it, whose numbers are given again. `None`: nothing waits in vain.
    pub fn take_back(&self) -> Option<(u64, LogError)> {
        let (first, needed) = self.shared.lock().take_back()?;
        Some((first, LogError::Full { path: self.shared.dir().to_owned(), needed }))
    }

    /// One part of an entry. Reads the disk.
    ///
    /// # Errors
    /// If it is not there, not yet, or not what was written.
    pub fn read_part(&self, index: u64, part: u32) -> Result<Vec<u8>, ReadError> {
        Reader::new(Arc::clone(&self.shared), NEARBY).part(index, part)
    }

    /// Bytes of an entry, whose parts are taken as one row of bytes; fewer where it ends. Reads the disk.
    ///
    /// # Errors
    /// If it is not there, not yet, or not what was written.
    pub fn read(&self, index: u64, offset: u64, size: usize) -> Result<Vec<u8>, ReadError> {
        Reader::new(Arc::clone(&self.shared), NEARBY).bytes(index, offset, size)
    }

    /// A reader that reads so many bytes at once, for who reads entry after entry.
    pub fn reader(&self, ahead: usize) -> Reader {
        Reader::new(Arc::clone(&self.shared), ahead.max(NEARBY))
    }

    /// So many bytes of bodies of an entry are not needed any more. When all of a segment's are released, and a checkpoint
    /// made since then stands, the segment is used again. Entries that are gone are passed over.
    pub fn release(&self, index: u64, bytes: u64) {
        let mut state = self.shared.lock();
        if let Some(at) = state.segment_of(index) {
            let segment = &mut state.segments[at];
            segment.released = (segment.released + bytes).min(segment.held);
        }
    }

    /// Stores the host's state after an entry, so that the log before it need not be kept: what `write` writes is given to
    /// [`Recover::snapshot`] when the store is opened. Runs on a thread of its own;
    /// [`Notice::Checkpoint`](crate::Notice::Checkpoint) says that it stands. Everything that entries up to this one have
    /// made dead must have been released before, and nothing else.
    ///
    /// # Errors
    /// If another one is under way, the entry is not durable yet or is older than the last checkpoint's, or the log has
    /// failed or is closed.
    pub fn checkpoint(
        &self,
        index: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> Result<(), LogError> {
        let plan = self.shared.plan_checkpoint(index)?;
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name("log-checkpoint".to_owned());
        match thread.spawn(move || shared.checkpoint(plan, write)) {
            Ok(thread) => {
                // The one before has said that it is done: else this one had been refused.
                self.threads.lock().checkpoint = Some(thread);
                Ok(())
            }
            Err(error) => {
                self.shared.lock().checkpointing = false;
                Err(LogError::Failed(format!("cannot start a thread: {error}")))
            }
        }
    }

    /// Waits until no checkpoint is being written.
    pub fn wait_for_checkpoint(&self) {
        let mut state = self.shared.lock();
        while state.checkpointing {
            self.shared.checkpointed.wait(&mut state);
        }
    }

    /// The first segment whose entries are all later than `after`, that no entry is added to any more, and of which less than a
    /// quarter is alive: its host may append what lives in it once more, and release it here.
    pub fn sparse(&self, after: u64) -> Option<Sparse> {
        let state = self.shared.lock();
        let checkpoint = state.checkpoint;
        let candidates = state.segments.iter().filter(|segment| {
            segment.sealed
                && segment.next <= checkpoint + 1
                && segment.live() > 0
                && segment.first < segment.next
                && segment.first > after
        });
        let found = candidates.filter(|segment| segment.live() < sparse(segment.size));
        found.min_by_key(|segment| segment.first).map(|segment| Sparse {
            entries: segment.first..=segment.next - 1,
            live: segment.live(),
            size: u64::from(segment.size),
        })
    }

    /// The store's directory.
    pub fn dir(&self) -> &Path {
        self.shared.dir()
    }

    /// Whether it takes entries.
    pub fn condition(&self) -> Condition {
        let state = self.shared.lock();
        match (&state.failed, &state.full) {
            (Some(text), _) => Condition::Failed(text.clone()),
            (None, Some(reason)) => Condition::Full(reason.clone()),
            (None, None) => Condition::Good,
        }
    }

    /// Bytes that are appended but not on the disk yet.
    pub fn queued_bytes(&self) -> u64 {
        self.shared.lock().queued_bytes
    }

    /// Bytes for entries in the segments that are there, beside what is on its way.
    pub fn room(&self) -> u64 {
        let state = self.shared.lock();
        state.room_ahead().saturating_sub(state.queued_bytes)
    }

    /// The newest entry that is on the disk.
    pub fn durable(&self) -> u64 {
        self.shared.lock().durable
    }

    /// Counts and sizes.
    pub fn stats(&self) -> Stats {
        let counters = &self.shared.counters;
        let state = self.shared.lock();
        let State { segments, ready, retired, free, .. } = &*state;
        let size = u64::from(self.shared.settings.segment_bytes);
        let sizes = |segments: &[Segment]| segments.iter().map(|segment| u64::from(segment.size)).sum::<u64>();
        let waiting = ready.iter().map(|Prepared { size, .. }| u64::from(*size)).sum::<u64>();
        let spare = (free.len() as u64 + u64::from(state.making.is_some())) * size;
        Stats {
            appended: state.next_index - 1,
            durable: state.durable,
            checkpoint: state.checkpoint,
            queued_bytes: state.queued_bytes,
            segments: segments.len(),
            files: state.files(),
            disk_bytes: sizes(segments) + sizes(retired) + waiting + spare,
            live_bytes: segments.iter().map(Segment::live).sum(),
            entries: counters.entries.load(Relaxed),
            bytes: counters.bytes.load(Relaxed),
            syncs: counters.syncs.load(Relaxed),
            sync_micros: counters.sync_micros.load(Relaxed),
            sync_slowest: counters.sync_slowest.load(Relaxed),
            sync_classes: std::array::from_fn(|class| counters.classes[class].load(Relaxed)),
            recycled: counters.recycled.load(Relaxed),
            created: counters.created.load(Relaxed),
        }
    }

    /// Takes nothing more, writes what is queued as far as there is room, and ends the threads.
    pub fn close(&self) {
        self.shared.lock().closing = true;
        self.shared.writer.notify_all();
        let Threads { writer, keeper, checkpoint } = std::mem::take(&mut *self.threads.lock());
        // The writer may need the keeper to the end. A thread that panicked has said so on its own.
        let _ = writer.map(JoinHandle::join);
        self.shared.lock().closed = true;
        self.shared.keeper.notify_all();
        let _ = keeper.map(JoinHandle::join);
        let _ = checkpoint.map(JoinHandle::join);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.close();
    }
}
