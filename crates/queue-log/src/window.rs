//! Part of a file in memory, moved over it as it is read.

use crate::checksum::Seed;
use crate::disk::DiskFile;
use crate::entry::Entry;
use crate::format::record::{FIXED, Head};
use std::io;
use std::sync::Arc;

/// A file, seen through a buffer. What is read is never more than what a checked head asks for, or the step.
pub(crate) struct Window {
    file: Arc<dyn DiskFile>,
    /// Where the file, or what may be read of it, ends.
    end: u64,
    /// Bytes that are read at least, as long as there are any.
    step: usize,
    at: u64,
    buffer: Vec<u8>,
}

impl Window {
    pub(crate) fn new(file: Arc<dyn DiskFile>, end: u64, step: usize) -> Self {
        Window { file, end, step, at: 0, buffer: Vec::new() }
    }

    /// More of the file may be read.
    pub(crate) fn extend(&mut self, end: u64) {
        self.end = self.end.max(end);
    }

    /// Where the file ends, as far as it may be read.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// So many bytes at a place. None beyond the end.
    pub(crate) fn bytes(&mut self, at: u64, size: usize) -> io::Result<Option<&[u8]>> {
        if at.checked_add(size as u64).is_none_or(|to| to > self.end) {
            return Ok(None);
        }
        let inside = at >= self.at && at + size as u64 <= self.at + self.buffer.len() as u64;
        if !inside {
            let want = size.max(self.step).min(usize::try_from(self.end - at).unwrap_or(usize::MAX));
            self.buffer.resize(want, 0);
            let read = self.file.read_at(&mut self.buffer, at)?;
            self.buffer.truncate(read);
            self.at = at;
        }
        let from = (at - self.at) as usize;
        Ok(self.buffer.get(from..from + size))
    }

    /// The head at a place, with its table, if both check.
    pub(crate) fn head(&mut self, at: u64, seed: Seed) -> io::Result<Option<Head>> {
        let room = self.end.saturating_sub(at);
        let Some(bytes) = self.bytes(at, FIXED)? else { return Ok(None) };
        if !Head::checks(bytes, seed) {
            return Ok(None);
        }
        let Some(head) = Head::decode(bytes, room) else { return Ok(None) };
        let checks = self.bytes(at, head.head_size())?.is_some_and(|bytes| head.table_checks(bytes, seed));
        Ok(checks.then_some(head))
    }

    /// The record whose head is at a place, if all of its parts check.
    pub(crate) fn entry(&mut self, at: u64, head: &Head, seed: Seed) -> io::Result<Option<Entry<'_>>> {
        // A record is no longer than its segment.
        let size = head.size() as usize;
        let entry = self.bytes(at, size)?.map(|bytes| Entry::new(head, bytes));
        Ok(entry.filter(|entry| entry.checks(seed)))
    }
}
