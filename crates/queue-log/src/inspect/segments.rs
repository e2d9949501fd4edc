//! The segments of a store, record by record.

use super::{Item, show_error};
use crate::checksum::Seed;
use crate::disk::{Disk, Mode};
use crate::error::{OpenError, Place};
use crate::format::head;
use crate::format::header::{DATA, Header};
use crate::format::names::{self, Kind};
use crate::recovery::evidence::Search;
use crate::recovery::survey::{self, Found};
use crate::recovery::walk::{Here, Walk};
use crate::window::Window;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes read at once.
const STEP: usize = 1024 * 1024;

type Show<'a> = &'a mut dyn FnMut(&Item<'_>) -> ControlFlow<()>;

/// The store that a segment's header names.
pub(super) fn any_store(disk: &dyn Disk, dir: &Path) -> Option<[u8; 16]> {
    let segments = segments(disk, dir).ok()?;
    segments.into_iter().find_map(|(_, path)| {
        let file = disk.open(&path, Mode::Read).ok()?;
        let mut bytes = [0; head::SIZE];
        let read = file.read_at(&mut bytes, 0).ok()?;
        Header::decode(&bytes[..read]).ok().map(|header| header.store)
    })
}

/// Shows all segments, and the files that can become some.
pub(super) fn all(
    disk: &dyn Disk,
    dir: &Path,
    (store, last_run): (&[u8; 16], u32),
    show: Show<'_>,
) -> Result<ControlFlow<()>, OpenError> {
    for (kind, path) in segments(disk, dir)? {
        let epoch = match kind {
            Kind::Segment(epoch) => epoch,
            Kind::Free(_) if show(&Item::Free { file: &path }).is_break() => return Ok(ControlFlow::Break(())),
            Kind::Free(_) => continue,
        };
        let flow = match survey::open_segment(disk, Mode::Read, store, epoch, path) {
            Ok(found) => Records::new(&found, store, last_run).show(show)?,
            Err(error) => show_error(error, show)?,
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn segments(disk: &dyn Disk, dir: &Path) -> Result<Vec<(Kind, PathBuf)>, OpenError> {
    let folder = dir.join(names::SEGMENTS);
    let names = survey::list(disk, &folder)?.into_iter();
    let mut segments: Vec<_> =
        names.filter_map(|name| Some((names::segment_kind(&name)?, folder.join(name)))).collect();
    segments.sort_unstable_by_key(|(kind, _)| match kind {
        Kind::Segment(epoch) => (0, *epoch),
        Kind::Free(number) => (1, *number),
    });
    Ok(segments)
}

/// The records of one segment.
struct Records<'a> {
    found: &'a Found,
    seed: Seed,
    last_run: u32,
}

impl<'a> Records<'a> {
    fn new(found: &'a Found, store: &[u8; 16], last_run: u32) -> Self {
        Records { found, seed: Seed::new(store, found.epoch), last_run }
    }

    fn show(&self, show: Show<'_>) -> Result<ControlFlow<()>, OpenError> {
        let Found { epoch, path, size, .. } = self.found;
        if show(&Item::Segment { file: path, number: *epoch, size: u64::from(*size) }).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        // A segment begins with any number; after damage, with a later one.
        let (mut at, mut next, mut run) = (u64::from(DATA), 0, 0);
        let mut what = "no record, or the checksum of its head does not hold";
        let mut first = self.window(FIRST).head(at, self.seed).place("read", path)?.map(|head| (at, head.index));
        loop {
            if let Some(place) = first {
                let mut walk = Walk::at(self.found, self.seed, place, run);
                what = loop {
                    match self.record(&mut walk, show)? {
                        Shown::More => {}
                        Shown::Broken => return Ok(ControlFlow::Break(())),
                        Shown::Over => return Ok(ControlFlow::Continue(())),
                        Shown::Nothing(what) => break what,
                    }
                };
                (at, next, run) = (walk.at, walk.next, walk.run);
            }
            let behind = self.behind(at, next, run, at)?;
            if behind.proof.is_none() {
                return Ok(show(&Item::End { offset: at, torn: behind.remains }));
            }
            first = self.first_record(at + 8, next, run)?;
            let resumes = first.map(|(place, _)| place);
            let flow = show(&Item::Damage { file: path, offset: at, what: what.to_owned(), resumes });
            if flow.is_break() || first.is_none() {
                return Ok(flow);
            }
        }
    }

    fn record(&self, walk: &mut Walk, show: Show<'_>) -> Result<Shown, OpenError> {
        let offset = walk.at;
        let next = walk.next;
        let (flow, over) = match walk.step().place("read", &self.found.path)? {
            Here::Entry(entry, head) => {
                let (size, write, run) = (head.size(), u64::from(head.start), head.run);
                (show(&Item::Entry { offset, entry, size, write, run }), false)
            }
            Here::Seal => (show(&Item::Seal { offset, next }), true),
            Here::Mark => (show(&Item::Mark { offset, next }), true),
            Here::Nothing(what) => return Ok(Shown::Nothing(what)),
        };
        Ok(match flow {
            ControlFlow::Break(()) => Shown::Broken,
            ControlFlow::Continue(()) if over => Shown::Over,
            ControlFlow::Continue(()) => Shown::More,
        })
    }

    /// The first record from a place on whose head is whole, and the number that its entry has.
    fn first_record(&self, at: u64, next: u64, run: u32) -> Result<Option<(u64, u64)>, OpenError> {
        let found = self.behind(at, next, run, 0)?.proof;
        let Some(from) = found else { return Ok(None) };
        let mut window = self.window(FIRST);
        let head = window.head(from, self.seed).place("read", &self.found.path)?;
        Ok(head.map(|head| (from, head.index)))
    }

    /// What is behind a place.
    fn behind(&self, from: u64, next: u64, run: u32, end: u64) -> Result<crate::recovery::evidence::Behind, OpenError> {
        let search = Search { seed: self.seed, from, end, next, run, last_run: self.last_run };
        search.look(&mut self.window(STEP)).place("read", &self.found.path)
    }

    fn window(&self, step: usize) -> Window {
        Window::new(Arc::clone(&self.found.file), u64::from(self.found.size), step)
    }
}

/// Bytes read for one head.
const FIRST: usize = 4096;

/// What became of a record.
enum Shown {
    More,
    Over,
    Broken,
    Nothing(&'static str),
}
