//! Goes through the log from the snapshot on, and gives the host what it finds.

use super::evidence::Search;
use super::survey::{Found, Survey};
use super::walk::{Here, Walk};
use crate::checksum::Seed;
use crate::error::{OpenError, Place, RESTORE};
use crate::format::names;
use crate::recover::Recover;
use crate::segment::{Prepared, Segment};
use crate::settings::Notice;
use crate::snapshot::{Row, Table};
use std::path::Path;
use std::sync::Arc;

/// What the log is made of.
pub(crate) struct Replayed {
    /// In order, those that are needed; the last is to be written to, unless it is sealed.
    pub(crate) segments: Vec<Segment>,
    /// Segments that wait for their first entry.
    pub(crate) ready: Vec<Prepared>,
    /// Segments that nobody needs.
    pub(crate) retired: Vec<Segment>,
    /// The last write, if nothing proves that it was synced.
    pub(crate) unproven: Option<Tail>,
    pub(crate) notices: Vec<Notice>,
}

/// Bytes in a segment.
pub(crate) struct Tail {
    pub(crate) segment: usize,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// What is known before.
pub(crate) struct Known<'a> {
    pub(crate) dir: &'a Path,
    pub(crate) survey: &'a Survey,
    pub(crate) store: [u8; 16],
    /// The run that ended.
    pub(crate) last_run: u32,
    /// Everything before this place was on the disk.
    pub(crate) synced: (u64, u32),
    /// The entry up to which the snapshot goes, and what it says.
    pub(crate) checkpoint: u64,
    pub(crate) table: Table,
}

impl Known<'_> {
    /// Goes through the whole log.
    pub(crate) fn replay(&self, recover: &mut dyn Recover) -> Result<Replayed, OpenError> {
        let mut replayed = self.before()?;
        let chain = self.chain()?;
        let mut next = self.checkpoint + 1;
        let mut run = 0;
        let mut end = None;
        for (at, found) in chain.iter().enumerate() {
            let row = self.table.row(found.epoch);
            let first = row.map_or(next, |row| row.first);
            let mut segment = self.segment(found, first);
            let mut walk = Walk::new(found, segment.seed, first, run);
            let reason = self.through(&mut segment, &mut walk, row, recover)?;
            (next, run) = (walk.next, walk.run);
            let position = replayed.segments.len();
            if let Some(start) = walk.start {
                replayed.unproven = Some(Tail { segment: position, from: u64::from(start), to: walk.at });
            }
            replayed.segments.push(segment);
            if let Some(reason) = reason {
                if reason == Reason::Mark {
                    replayed.unproven = None;
                }
                end = Some((at, walk, reason));
                break;
            }
        }
        if let Some((at, walk, reason)) = end {
            replayed.notices.extend(self.judge(&chain[at..], walk, reason)?);
            replayed.ready.extend(chain[at + 1..].iter().map(|found| self.prepared(found)));
        }
        if next <= self.checkpoint {
            let place = replayed.segments.last();
            return Err(OpenError::Corrupt {
                file: place.map_or(self.dir.to_owned(), |segment| segment.path.clone()),
                offset: place.map_or(0, |segment| u64::from(segment.end)),
                what: format!("the log ends with entry {}, before the snapshot's {}", next - 1, self.checkpoint),
                remedy: RESTORE,
            });
        }
        Ok(replayed)
    }

    /// Segments all of whose entries are in the snapshot: they only hold bodies.
    fn before(&self) -> Result<Replayed, OpenError> {
        let found = |epoch| self.survey.segments.iter().find(|found| found.epoch == epoch);
        let mut kept = Vec::new();
        for row in self.table.rows.iter().filter(|row| row.epoch < self.table.resume && row.live > 0) {
            let Some(found) = found(row.epoch) else {
                return Err(self.missing(row.epoch, format!("messages of entries {} to {}", row.first, row.next - 1)));
            };
            kept.push(Segment {
                next: row.next,
                end: row.end,
                sealed: true,
                held: row.live,
                points: None,
                ..self.segment(found, row.first)
            });
        }
        let needless = self.survey.segments.iter().filter(|found| {
            let row = self.table.row(found.epoch);
            found.epoch < self.table.resume && row.is_none_or(|row| row.live == 0)
        });
        let retired = needless.map(|found| self.segment(found, 0)).collect();
        Ok(Replayed { segments: kept, ready: Vec::new(), retired, unproven: None, notices: Vec::new() })
    }

    /// The segments from the snapshot's on. None of them may be missing.
    fn chain(&self) -> Result<Vec<Found>, OpenError> {
        let chain: Vec<Found> =
            self.survey.segments.iter().filter(|found| found.epoch >= self.table.resume).cloned().collect();
        for (at, found) in chain.iter().enumerate() {
            let wanted = self.table.resume + at as u64;
            if found.epoch != wanted {
                return Err(self.missing(wanted, "entries that no snapshot has".to_owned()));
            }
        }
        let last = chain.last().map_or(0, |found| found.epoch);
        // The place up to which all was there is never in a segment that was not needed any more: that is never the last.
        let wanted = self.table.resume.max(self.synced.0);
        if last < wanted {
            return Err(self.missing(last.max(self.table.resume - 1) + 1, "entries that no snapshot has".to_owned()));
        }
        Ok(chain)
    }

    /// Through one segment. None: it is sealed, and the next goes on.
    fn through(
        &self,
        segment: &mut Segment,
        walk: &mut Walk,
        row: Option<&Row>,
        recover: &mut dyn Recover,
    ) -> Result<Option<Reason>, OpenError> {
        loop {
            if let Some(row) = row
                && segment.next == row.next
                && segment.next <= self.checkpoint + 1
            {
                segment.released = segment.held.saturating_sub(row.live);
            }
            match walk.step().place("read", &segment.path)? {
                Here::Entry(entry, head) => {
                    segment.wrote(head.index, head.held, head.size());
                    if head.index > self.checkpoint {
                        let index = head.index;
                        recover.entry(&entry).map_err(|source| OpenError::Host { index, source })?;
                    }
                }
                Here::Seal => {
                    segment.sealed = true;
                    return Ok(None);
                }
                Here::Mark => return Ok(Some(Reason::Mark)),
                Here::Nothing(what) => return Ok(Some(Reason::Nothing(what))),
            }
        }
    }

    /// The log ends in the first of these segments. Is this the end that it had?
    fn judge(&self, chain: &[Found], walk: Walk, reason: Reason) -> Result<Option<Notice>, OpenError> {
        let Some(found) = chain.first() else { return Ok(None) };
        let (end, next, run) = (walk.at, walk.next, walk.run);
        let corrupt = |why: String| {
            let what = match reason {
                Reason::Nothing(what) => what,
                Reason::Mark => "the log ends",
            };
            Err(OpenError::Corrupt {
                file: found.path.clone(),
                offset: end,
                what: format!("{what}, where entry {next} should be: {why}"),
                remedy: RESTORE,
            })
        };
        let row = self.table.row(found.epoch).map_or(0, |row| row.end);
        let known = self.synced.max((self.table.resume, if found.epoch == self.table.resume { row } else { 0 }));
        if (found.epoch, end) < (known.0, u64::from(known.1)) {
            return corrupt("it was on the disk when the store was opened last, or a snapshot was made".to_owned());
        }
        let mut window = walk.into_window();
        let mut behind = None;
        for (at, later) in chain.iter().enumerate() {
            // In the later ones any record is a proof: they are written to when this one is full and synced.
            let seed = Seed::new(&self.store, later.epoch);
            let end = if at == 0 { end } else { 0 };
            let search = Search { seed, from: end, end, next, run, last_run: self.last_run };
            if at > 0 {
                window = crate::window::Window::new(Arc::clone(&later.file), u64::from(later.size), 1024 * 1024);
            }
            let here = search.look(&mut window).place("read", &later.path)?;
            if let Some(proof) = here.proof {
                return corrupt(format!("{} has a later record at byte {proof}", later.path.display()));
            }
            behind.get_or_insert(here);
        }
        let torn = behind.is_some_and(|behind| behind.remains);
        Ok(torn.then(|| Notice::TornTail { file: found.path.clone(), offset: end, last: next - 1 }))
    }

    fn segment(&self, found: &Found, first: u64) -> Segment {
        let Found { epoch, path, file, size } = found.clone();
        let seed = Seed::new(&self.store, epoch);
        Segment::empty(Prepared { epoch, file, path, seed, size }, first)
    }

    fn prepared(&self, found: &Found) -> Prepared {
        let Found { epoch, path, file, size } = found.clone();
        Prepared { epoch, file, path, seed: Seed::new(&self.store, epoch), size }
    }

    fn missing(&self, epoch: u64, what: String) -> OpenError {
        OpenError::Missing { file: names::segment_path(self.dir, epoch), what, remedy: RESTORE }
    }
}

/// Why the walk through a segment ended before a seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Mark,
    Nothing(&'static str),
}
