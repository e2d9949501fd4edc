//! From record to record through one segment.

use crate::checksum::Seed;
use crate::entry::Entry;
use crate::format::header::DATA;
use crate::format::record::{Head, Kind};
use crate::recovery::survey::Found;
use crate::window::Window;
use std::io;
use std::sync::Arc;

/// Bytes read at once.
const STEP: usize = 1024 * 1024;

/// A place in a segment, and what the record there has to say to be the next.
pub(crate) struct Walk {
    window: Window,
    seed: Seed,
    /// Where the next record is.
    pub(crate) at: u64,
    /// The number of the next entry.
    pub(crate) next: u64,
    /// The run of the last record.
    pub(crate) run: u32,
    /// Where the write began that the last record was part of. None before the first.
    pub(crate) start: Option<u32>,
}

/// What is at a place.
pub(crate) enum Here<'a> {
    /// The next entry.
    Entry(Entry<'a>, Head),
    /// The end of a segment that was filled.
    Seal,
    /// The end of what was written, and the proof that all of it was synced.
    Mark,
    /// None of these. The reason.
    Nothing(&'static str),
}

impl Walk {
    pub(crate) fn new(found: &Found, seed: Seed, next: u64, run: u32) -> Self {
        let window = Window::new(Arc::clone(&found.file), u64::from(found.size), STEP);
        Walk { window, seed, at: u64::from(DATA), next, run, start: None }
    }

    /// From another place than the beginning, where the entry with this number is.
    pub(crate) fn at(found: &Found, seed: Seed, (at, next): (u64, u64), run: u32) -> Self {
        Walk { at, ..Walk::new(found, seed, next, run) }
    }

    /// What comes next, and goes past it.
    pub(crate) fn step(&mut self) -> io::Result<Here<'_>> {
        let at = self.at;
        let Some(head) = self.window.head(at, self.seed)? else {
            return Ok(Here::Nothing("no record, or the checksum of its head does not hold"));
        };
        if head.run < self.run {
            return Ok(Here::Nothing("a record that was cut off before"));
        }
        if head.index != self.next {
            return Ok(Here::Nothing("a record with the number of another"));
        }
        if head.kind == Kind::Mark {
            return Ok(Here::Mark);
        }
        let Some(entry) = self.window.entry(at, &head, self.seed)? else {
            return Ok(Here::Nothing("the checksum of a record's contents does not hold"));
        };
        self.at += head.size();
        self.run = head.run;
        self.start = Some(head.start);
        match head.kind {
            Kind::Entry => {
                self.next += 1;
                Ok(Here::Entry(entry, head))
            }
            Kind::Seal | Kind::Mark => Ok(Here::Seal),
        }
    }

    /// The bytes of a segment, to look for more in it.
    pub(crate) fn into_window(self) -> Window {
        self.window
    }
}
