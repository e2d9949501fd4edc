//! A disk in memory that fails on purpose, for tests. What is not synced may be lost, torn and reordered when the power is
//! cut; operations fail when they are told to; there may be too little room. Everything follows from a seed.

mod file;
mod names;

use super::{Disk, DiskFile, Mode};
use file::{Inode, OpenFile};
use names::Names;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// With an I/O error, after it was done in part: a write wrote some of its bytes, a sync kept some of what was to be
    /// synced and forgot that the rest is not on the disk.
    Io,
    /// For lack of room, with nothing done.
    Full,
}

/// A disk in memory that fails on purpose. Clones are the same disk.
#[derive(Clone)]
pub struct FaultyDisk {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Clone)]
struct Inner {
    names: Names,
    inodes: BTreeMap<u64, Inode>,
    next_inode: u64,
    random: Random,
    /// Operations that changed something, or tried to.
    operations: u64,
    faults: BTreeMap<u64, Fault>,
    /// Bytes that all files together may have.
    capacity: Option<u64>,
    latency: Duration,
    /// The disk as it was after each operation, if that is recorded.
    history: Option<Vec<Inner>>,
    locked: BTreeSet<PathBuf>,
}

impl FaultyDisk {
    /// An empty disk.
    pub fn new(seed: u64) -> Self {
        FaultyDisk::from_inner(Inner {
            names: Names::default(),
            inodes: BTreeMap::new(),
            next_inode: 1,
            random: Random::new(seed),
            operations: 0,
            faults: BTreeMap::new(),
            capacity: None,
            latency: Duration::ZERO,
            history: None,
            locked: BTreeSet::new(),
        })
    }

    fn from_inner(inner: Inner) -> Self {
        FaultyDisk { inner: Arc::new(Mutex::new(inner)) }
    }

    /// How many operations changed something, or tried to.
    pub fn operations(&self) -> u64 {
        self.inner.lock().operations
    }

    /// Makes the operation with this number fail, the first being 0.
    pub fn fail_at(&self, operation: u64, fault: Fault) {
        self.inner.lock().faults.insert(operation, fault);
    }

    /// No operation is made to fail any more.
    pub fn fail_no_more(&self) {
        self.inner.lock().faults.clear();
    }

    /// Bytes that all files together may have from now on.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.inner.lock().capacity = bytes;
    }

    /// Bytes that all files together have.
    pub fn used(&self) -> u64 {
        self.inner.lock().used()
    }

    /// How long each sync takes from now on.
    pub fn set_latency(&self, latency: Duration) {
        self.inner.lock().latency = latency;
    }

    /// From now on the disk is kept as it was after each operation.
    pub fn record(&self) {
        self.inner.lock().history = Some(Vec::new());
    }

    /// The disk as it was after each operation since this was asked last.
    pub fn recorded(&self) -> Vec<FaultyDisk> {
        let history = self.inner.lock().history.as_mut().map(std::mem::take);
        history.unwrap_or_default().into_iter().map(FaultyDisk::from_inner).collect()
    }

    /// Another disk, as this one would be found if the power were cut now.
    pub fn after_power_cut(&self, seed: u64) -> FaultyDisk {
        let mut inner = self.inner.lock().clone();
        inner.random = Random::new(seed);
        inner.restart();
        let Inner { names, inodes, random, .. } = &mut inner;
        names.cut(random);
        for inode in inodes.values_mut() {
            inode.cut(random);
        }
        FaultyDisk::from_inner(inner)
    }

    /// Another disk, as this one would be found if only the process were killed now.
    pub fn after_kill(&self) -> FaultyDisk {
        let mut inner = self.inner.lock().clone();
        inner.restart();
        FaultyDisk::from_inner(inner)
    }

    /// The files, with their bytes as they are read.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let inner = self.inner.lock();
        inner.names.live.iter().map(|(path, inode)| (path.clone(), inner.inodes[inode].live.to_vec())).collect()
    }

    /// Puts a file there, synced, with its directory.
    pub fn put(&self, path: &Path, bytes: Vec<u8>) {
        let mut inner = self.inner.lock();
        let inode = inner.next_inode;
        inner.next_inode += 1;
        inner.inodes.insert(inode, Inode::of(bytes));
        inner.names.put(path, inode);
    }

    /// Removes all files of a directory and those below it.
    pub fn remove_all(&self, dir: &Path) {
        let mut inner = self.inner.lock();
        let inside: Vec<PathBuf> = inner.names.live.keys().filter(|path| path.starts_with(dir)).cloned().collect();
        for path in inside {
            inner.names.forget(&path);
        }
    }

    /// Cuts off the end of a file.
    pub fn truncate(&self, path: &Path, bytes: u64) {
        let mut inner = self.inner.lock();
        let Some(inode) = inner.names.live.get(path).copied() else { return };
        if let Some(inode) = inner.inodes.get_mut(&inode) {
            inode.truncate(bytes);
        }
    }

    /// Flips a bit of a file, as if it had rotted.
    pub fn flip(&self, path: &Path, bit: u64) {
        let mut inner = self.inner.lock();
        let Some(inode) = inner.names.live.get(path).copied() else { return };
        if let Some(inode) = inner.inodes.get_mut(&inode) {
            inode.flip(bit);
        }
    }
}

impl Inner {
    fn restart(&mut self) {
        self.history = None;
        self.faults.clear();
        self.locked.clear();
        self.operations = 0;
    }

    fn used(&self) -> u64 {
        self.names.live.values().map(|inode| self.inodes[inode].live.len() as u64).sum()
    }

    /// Begins an operation that changes something. Gives how it is to fail.
    fn begin(&mut self) -> Option<Fault> {
        let fault = self.faults.remove(&self.operations);
        self.operations += 1;
        fault
    }

    /// Whether files may have so many bytes more.
    fn has_room(&self, more: u64) -> bool {
        self.capacity.is_none_or(|capacity| self.used() + more <= capacity)
    }

    fn end(&mut self) {
        if let Some(mut history) = self.history.take() {
            history.push(self.clone());
            self.history = Some(history);
        }
    }

    fn at_name(&mut self, act: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if let Some(fault) = self.begin() {
            return Err(fault.error());
        }
        act(self)?;
        self.end();
        Ok(())
    }
}

impl Fault {
    fn error(self) -> io::Error {
        match self {
            Fault::Io => io::Error::other("the disk fails on purpose"),
            Fault::Full => io::ErrorKind::StorageFull.into(),
        }
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn DiskFile>> {
        let mut inner = self.inner.lock();
        let there = inner.names.live.get(path).copied();
        let inode = match (there, mode) {
            (Some(_), Mode::Create) => return Err(io::ErrorKind::AlreadyExists.into()),
            (None, Mode::Read | Mode::Write) => return Err(io::ErrorKind::NotFound.into()),
            (Some(inode), _) => inode,
            (None, Mode::Create) => {
                let inode = inner.next_inode;
                inner.at_name(|inner| {
                    inner.next_inode += 1;
                    inner.inodes.insert(inode, Inode::default());
                    inner.names.create(path, inode);
                    Ok(())
                })?;
                inode
            }
        };
        Ok(Arc::new(OpenFile { disk: Arc::clone(&self.inner), inode }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.inner.lock();
        inner.names.dirs.insert(path.to_owned());
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let inner = self.inner.lock();
        if !inner.names.dirs.contains(dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inside = inner.names.live.keys().filter(|path| path.parent() == Some(dir));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn list_others(&self, dir: &Path) -> io::Result<Vec<String>> {
        let inner = self.inner.lock();
        let inside = inner.names.dirs.iter().filter(|path| path.parent() == Some(dir));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.lock().at_name(|inner| inner.names.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.lock().at_name(|inner| inner.names.remove(path))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.inner.lock().at_name(|inner| {
            inner.names.sync(dir);
            Ok(())
        })
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>> {
        if !self.inner.lock().locked.insert(path.to_owned()) {
            return Ok(None);
        }
        Ok(Some(Box::new(Locked { disk: Arc::clone(&self.inner), path: path.to_owned() })))
    }

    fn unique(&self) -> io::Result<[u8; 16]> {
        let random = &mut self.inner.lock().random;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&random.next().to_le_bytes());
        bytes[8..].copy_from_slice(&random.next().to_le_bytes());
        Ok(bytes)
    }
}

struct Locked {
    disk: Arc<Mutex<Inner>>,
    path: PathBuf,
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.disk.lock().locked.remove(&self.path);
    }
}

/// Numbers that look random and follow from a seed (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}
