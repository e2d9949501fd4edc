//! A disk that stops answering when it is told to, and goes on later, or fails then.

use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Condvar, Mutex};
use queue_log::{Disk, DiskFile, Mode, RealDisk};

/// The real disk. Clones stall together, until one of them is dropped.
#[derive(Clone, Default)]
pub(crate) struct StallingDisk(Arc<Gate>);

#[derive(Default)]
struct Gate {
    stalled: Mutex<bool>,
    failing: AtomicBool,
    opened: Condvar,
}

impl StallingDisk {
    /// From now on a sync and a read take until [`StallingDisk::go_on`].
    pub(crate) fn stall(&self) {
        *self.0.stalled.lock() = true;
    }

    /// From now on a sync of the log fails. What is written may be on the disk nevertheless.
    pub(crate) fn fail(&self) {
        self.0.failing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn go_on(&self) {
        *self.0.stalled.lock() = false;
        self.0.opened.notify_all();
    }
}

impl Drop for StallingDisk {
    fn drop(&mut self) {
        // A test that fails does not hang.
        self.go_on();
    }
}

impl Gate {
    fn pass(&self) {
        let mut stalled = self.stalled.lock();
        while *stalled {
            self.opened.wait(&mut stalled);
        }
    }
}

impl Disk for StallingDisk {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn DiskFile>> {
        let of_log = path.parent().is_some_and(|folder| folder.ends_with("log"));
        Ok(Arc::new(StallingFile { file: RealDisk.open(path, mode)?, of_log, gate: Arc::clone(&self.0) }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(dir)
    }

    fn list_others(&self, dir: &Path) -> io::Result<Vec<String>> {
        RealDisk.list_others(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.0.pass();
        RealDisk.sync_dir(dir)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>> {
        RealDisk.lock(path)
    }

    fn unique(&self) -> io::Result<[u8; 16]> {
        RealDisk.unique()
    }
}

struct StallingFile {
    file: Arc<dyn DiskFile>,
    /// It is a segment of the log.
    of_log: bool,
    gate: Arc<Gate>,
}

impl DiskFile for StallingFile {
    fn write_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.file.write_at(slices, offset)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.gate.pass();
        self.file.read_at(buffer, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.gate.pass();
        if self.of_log && self.gate.failing.load(Ordering::Relaxed) {
            return Err(io::Error::other("the disk has failed"));
        }
        self.file.sync()
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        self.file.allocate(bytes)
    }

    fn is_at(&self, path: &Path) -> bool {
        self.file.is_at(path)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}
