//! The bytes of files: as they are read, as they are on the disk, and the writes between.

use super::{Fault, Inner, Random};
use crate::disk::DiskFile;
use parking_lot::Mutex;
use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::thread;

/// Bytes that are written whole or not at all, unless the disk is of the worst kind.
const SECTOR: usize = 512;

#[derive(Clone, Default)]
pub(super) struct Inode {
    pub(super) live: Arc<Vec<u8>>,
    durable: Arc<Vec<u8>>,
    /// Writes since the last sync: where, and what. No bytes: the file is made this long.
    pending: Vec<(usize, Arc<Vec<u8>>)>,
}

impl Inode {
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let bytes = Arc::new(bytes);
        Inode { live: Arc::clone(&bytes), durable: bytes, pending: Vec::new() }
    }

    fn write(&mut self, at: usize, bytes: Arc<Vec<u8>>) {
        put(Arc::make_mut(&mut self.live), at, &bytes);
        self.pending.push((at, bytes));
    }

    /// A sync that fails: some of the writes are on the disk, and none is known not to be.
    fn half_synced(&mut self, random: &mut Random) {
        self.settle(random);
    }

    /// The power is cut.
    pub(super) fn cut(&mut self, random: &mut Random) {
        self.settle(random);
        self.live = Arc::clone(&self.durable);
    }

    pub(super) fn truncate(&mut self, bytes: u64) {
        for file in [&mut self.live, &mut self.durable] {
            Arc::make_mut(file).truncate(bytes as usize);
        }
    }

    pub(super) fn flip(&mut self, bit: u64) {
        let at = (bit / 8) as usize;
        for bytes in [&mut self.live, &mut self.durable] {
            if let Some(byte) = Arc::make_mut(bytes).get_mut(at) {
                *byte ^= 1 << (bit % 8);
            }
        }
    }

    /// Some of the writes get to the disk: all, none, the first of them, or any sectors of any of them.
    fn settle(&mut self, random: &mut Random) {
        let way = random.below(5);
        let first = random.below(self.pending.len() as u64 + 1) as usize;
        let durable = Arc::make_mut(&mut self.durable);
        for (number, (at, bytes)) in self.pending.drain(..).enumerate() {
            match way {
                0 => {}
                1 => put(durable, at, &bytes),
                2 if number < first => put(durable, at, &bytes),
                2 if number == first => {
                    let short = random.below(bytes.len() as u64 + 1) as usize;
                    put(durable, at, &bytes[..short]);
                }
                2 => {}
                _ => scatter(durable, at, &bytes, random, way == 4),
            }
        }
    }
}

/// Any sectors of a write, the others not; if `torn`, even parts of sectors.
fn scatter(durable: &mut Vec<u8>, at: usize, bytes: &[u8], random: &mut Random, torn: bool) {
    if bytes.is_empty() && random.below(2) == 0 {
        put(durable, at, bytes);
    }
    let mut from = 0;
    while from < bytes.len() {
        let to = (from + SECTOR - (at + from) % SECTOR).min(bytes.len());
        let kept = match random.below(if torn { 3 } else { 2 }) {
            0 => from,
            1 => to,
            _ => from + random.below((to - from) as u64) as usize,
        };
        if kept > from {
            put(durable, at + from, &bytes[from..kept]);
        }
        from = to;
    }
}

fn put(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if file.len() < at + bytes.len() {
        file.resize(at + bytes.len(), 0);
    }
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

pub(super) struct OpenFile {
    pub(super) disk: Arc<Mutex<Inner>>,
    pub(super) inode: u64,
}

impl OpenFile {
    fn change(&self, act: impl FnOnce(&mut Inner, &mut Inode, Option<Fault>) -> io::Result<()>) -> io::Result<()> {
        let mut inner = self.disk.lock();
        let fault = inner.begin();
        // A file that is open has its inode, even if it lost its name.
        let mut inode = inner.inodes.remove(&self.inode).unwrap_or_default();
        let result = match fault {
            Some(Fault::Full) => Err(Fault::Full.error()),
            fault => act(&mut inner, &mut inode, fault),
        };
        inner.inodes.insert(self.inode, inode);
        inner.end();
        result
    }
}

impl DiskFile for OpenFile {
    fn write_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let mut bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
        let at = offset as usize;
        self.grow(offset + bytes.len() as u64)?;
        self.change(|inner, inode, fault| {
            if fault.is_some() {
                bytes.truncate(inner.random.below(bytes.len() as u64 + 1) as usize);
            }
            inode.write(at, Arc::new(bytes));
            fault.map_or(Ok(()), |fault| Err(fault.error()))
        })
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let inner = self.disk.lock();
        let live = &inner.inodes[&self.inode].live;
        let from = (offset as usize).min(live.len());
        let size = buffer.len().min(live.len() - from);
        buffer[..size].copy_from_slice(&live[from..from + size]);
        Ok(size)
    }

    fn sync(&self) -> io::Result<()> {
        let latency = self.disk.lock().latency;
        if !latency.is_zero() {
            thread::sleep(latency);
        }
        self.change(|inner, inode, fault| {
            if let Some(fault) = fault {
                inode.half_synced(&mut inner.random);
                return Err(fault.error());
            }
            inode.durable = Arc::clone(&inode.live);
            inode.pending.clear();
            Ok(())
        })
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        self.grow(bytes)?;
        self.change(|_, inode, fault| {
            if let Some(fault) = fault {
                return Err(fault.error());
            }
            inode.write(bytes as usize, Arc::default());
            Ok(())
        })
    }

    fn is_at(&self, path: &Path) -> bool {
        self.disk.lock().names.live.get(path) == Some(&self.inode)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.disk.lock().inodes[&self.inode].live.len() as u64)
    }
}

impl OpenFile {
    /// Whether the file may have so many bytes.
    fn grow(&self, to: u64) -> io::Result<()> {
        let inner = self.disk.lock();
        let more = to.saturating_sub(inner.inodes[&self.inode].live.len() as u64);
        if inner.has_room(more) { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }
}
