//! A host that only remembers.

use parking_lot::{Condvar, Mutex};
use queue_log::{Entry, HostError, Inventory, Log, Notice, OpenError, RealDisk, Recover, Settings, Watcher};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What a store gave when it was opened.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) snapshot: Option<(u64, Vec<u8>)>,
    pub(crate) entries: Vec<(u64, Vec<Vec<u8>>)>,
}

impl Recover for Memory {
    fn snapshot(&mut self, index: u64, from: &mut dyn Read) -> Result<(), HostError> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        self.snapshot = Some((index, bytes));
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), HostError> {
        self.entries.push((entry.index(), entry.parts().map(<[u8]>::to_vec).collect()));
        Ok(())
    }
}

/// One that knows which large messages there should be.
#[derive(Default)]
pub(crate) struct Knowing {
    pub(crate) memory: Memory,
    pub(crate) large: Vec<(u64, String)>,
}

impl Recover for Knowing {
    fn snapshot(&mut self, index: u64, from: &mut dyn Read) -> Result<(), HostError> {
        self.memory.snapshot(index, from)
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), HostError> {
        self.memory.entry(entry)
    }
}

impl Inventory for Knowing {
    fn large(&self) -> Vec<(u64, String)> {
        self.large.clone()
    }
}

/// Waits for what the log says.
#[derive(Default)]
pub(crate) struct Ear {
    heard: Mutex<(u64, Vec<Notice>)>,
    changed: Condvar,
}

impl Watcher for Ear {
    fn durable(&self, up_to: u64) {
        self.heard.lock().0 = up_to;
        self.changed.notify_all();
    }

    fn notice(&self, notice: Notice) {
        self.heard.lock().1.push(notice);
        self.changed.notify_all();
    }
}

impl Ear {
    pub(crate) fn wait_durable(&self, index: u64) {
        self.wait(|(durable, _)| *durable >= index);
    }

    pub(crate) fn wait_notice(&self, wanted: impl Fn(&Notice) -> bool) {
        self.wait(|(_, notices)| notices.iter().any(&wanted));
    }

    pub(crate) fn count(&self, wanted: impl Fn(&Notice) -> bool) -> usize {
        self.heard.lock().1.iter().filter(|notice| wanted(notice)).count()
    }

    fn wait(&self, done: impl Fn(&(u64, Vec<Notice>)) -> bool) {
        let mut heard = self.heard.lock();
        while !done(&heard) {
            assert!(!self.changed.wait_for(&mut heard, Duration::from_secs(60)).timed_out(), "heard only {heard:?}");
        }
    }
}

/// A directory that is removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Folder(std::env::temp_dir().join(format!("queue-log-{}-{number}", std::process::id())))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.clone()
    }

    /// Settings for small segments in this directory.
    pub(crate) fn settings(&self) -> Settings {
        Settings { segment_bytes: 64 * 1024, ..Settings::new(self.path()) }
    }

    pub(crate) fn open(&self) -> (Log, Arc<Ear>, Memory) {
        self.try_open(self.settings()).unwrap()
    }

    pub(crate) fn try_open(&self, settings: Settings) -> Result<(Log, Arc<Ear>, Memory), OpenError> {
        let (ear, mut memory) = (Arc::new(Ear::default()), Memory::default());
        let log = Log::open(Arc::new(RealDisk), settings, Arc::<Ear>::clone(&ear), &mut memory)?;
        Ok((log, ear, memory))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
