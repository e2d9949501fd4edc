//! The writer: takes all that is queued, writes it at once, syncs once, and says so. While it syncs, the next batch gathers;
//! that is all there is to group commit.

use crate::checksum::Seed;
use crate::disk::{self, DiskFile};
use crate::format::record::{self, Head, Kind};
use crate::presence::{Look, OFTEN};
use crate::segment::Segment;
use crate::shared::{Queued, Shared, State, Step};
use std::io::IoSlice;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Bytes of one write, unless one entry alone has more.
const BATCH: u64 = 8 * 1024 * 1024;
/// Parts shorter than this are copied to lie beside each other; others are written from where they are.
const COPIED: usize = 8 * 1024;
/// How long entries that nobody waits for wait for one that somebody waits for.
const SOON: Duration = Duration::from_millis(5);
/// How long the writer waits before it tries again to write to a disk that is full.
const PATIENCE: Duration = Duration::from_millis(200);

pub(crate) struct Writer {
    shared: Arc<Shared>,
    scratch: Vec<u8>,
    /// What was taken but could not be written for lack of room.
    unwritten: Option<Batch>,
    /// The proof that the last write was synced is there, or nothing was written.
    marked: bool,
    /// When it was seen last that the segment is still there.
    look: Look,
}

/// What is written and synced at once, all into one segment.
struct Batch {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    seed: Seed,
    start: u32,
    entries: Vec<Queued>,
    /// What the seal holds, and the number of the entry after it.
    seal: Option<(Vec<u8>, u64)>,
}

/// Bytes to write: in the scratch buffer, or a part of an entry.
enum Piece {
    Copied(Range<usize>),
    Part(usize, usize),
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Writer { shared, scratch: Vec::new(), unwritten: None, marked: true, look: Look::every(OFTEN) }
    }

    /// The writer's thread.
    pub(crate) fn run(mut self) {
        loop {
            self.pause();
            match self.step() {
                Step::Worked | Step::Paced => {}
                Step::Over => break,
                Step::Idle => self.rest(),
                Step::Blocked => {
                    let mut state = self.shared.lock();
                    if state.closing && state.full.is_some() {
                        break;
                    }
                    self.shared.writer.wait_for(&mut state, PATIENCE);
                }
            }
        }
    }

    /// Waits a little for an entry that somebody waits for: what nobody waits for is written with it, and the proof that the
    /// last write was synced is not needed if there is a next one.
    fn pause(&self) {
        let mut state = self.shared.lock();
        let until = Instant::now() + SOON;
        while !state.hurries() && !self.shared.writer.wait_until(&mut state, until).timed_out() {}
    }

    /// Waits until there is anything.
    fn rest(&self) {
        let mut state = self.shared.lock();
        if state.queue.is_empty() && !state.closing && state.failed.is_none() {
            state.resting = true;
            self.shared.writer.wait(&mut state);
            state.resting = false;
        }
    }

    /// Writes what is queued, as much as goes at once.
    pub(crate) fn step(&mut self) -> Step {
        let again = self.unwritten.is_some();
        let batch = match self.unwritten.take() {
            Some(batch) => batch,
            None => match self.take() {
                Ok(batch) => batch,
                Err(Step::Idle) if !self.marked => return self.mark(),
                Err(step) => return step,
            },
        };
        match self.write(&batch) {
            Ok(()) if again => self.shared.say_room(),
            Ok(()) => {}
            Err(error) if disk::is_full(&error) => {
                self.shared.say_full(error.to_string());
                self.unwritten = Some(batch);
                return Step::Blocked;
            }
            Err(error) => {
                self.shared.fail(format!("{}: cannot write: {error}", batch.path.display()));
                return Step::Over;
            }
        }
        let began = Instant::now();
        if let Err(error) = batch.file.sync() {
            self.shared.fail(format!("{}: cannot sync: {error}", batch.path.display()));
            return Step::Over;
        }
        self.shared.counters.synced(began.elapsed());
        if self.look.is_due() && !self.shared.finds(&*batch.file, &batch.path) {
            return Step::Over;
        }
        self.done(batch);
        Step::Worked
    }

    /// What is to be written next.
    fn take(&mut self) -> Result<Batch, Step> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        if state.failed.is_some() {
            return Err(Step::Over);
        }
        if state.queue.is_empty() {
            return Err(if state.closing && self.marked { Step::Over } else { Step::Idle });
        }
        if !state.open_segment() {
            shared.nudge(&mut state);
            return Err(Step::Blocked);
        }
        let State { queue, segments, ready, .. } = &mut *state;
        // There is one: it was just opened.
        let Some(segment) = segments.last() else { return Err(Step::Blocked) };
        let (mut entries, mut bytes) = (Vec::new(), 0);
        let mut seal = None;
        while let Some(next) = queue.front() {
            let size = next.size();
            if !segment.room(bytes + size) {
                let all = queue_end(segment, &entries);
                seal = (!ready.is_empty()).then(|| (seal_of(segment, &entries), all));
                break;
            }
            if bytes + size > BATCH && bytes > 0 {
                break;
            }
            bytes += size;
            entries.extend(queue.pop_front());
        }
        if entries.is_empty() && seal.is_none() {
            state.starved = true;
            shared.nudge(&mut state);
            return Err(Step::Blocked);
        }
        let (file, path) = (Arc::clone(&segment.file), segment.path.clone());
        let start = segment.end;
        let seed = segment.seed;
        state.hurry &= !state.queue.is_empty();
        Ok(Batch { file, path, seed, start, entries, seal })
    }

    fn write(&mut self, batch: &Batch) -> std::io::Result<()> {
        let pieces = encode(&mut self.scratch, batch, self.shared.run);
        let slices: Vec<IoSlice<'_>> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Copied(range) => IoSlice::new(&self.scratch[range.clone()]),
                Piece::Part(entry, part) => IoSlice::new(batch.entries[*entry].parts[*part].as_ref()),
            })
            .collect();
        batch.file.write_at(&slices, u64::from(batch.start))
    }

    /// The batch is on the disk.
    fn done(&mut self, batch: Batch) {
        let shared = &self.shared;
        let mut state = shared.lock();
        if state.failed.is_some() {
            return;
        }
        let mut bytes = 0;
        if let Some(segment) = state.segments.last_mut() {
            for entry in &batch.entries {
                bytes += entry.size();
                segment.wrote(entry.index, entry.held, entry.size());
            }
            segment.sealed = batch.seal.is_some();
        }
        state.queued_bytes -= bytes;
        let durable = batch.entries.last().map(|last| last.index);
        state.durable = durable.unwrap_or(state.durable);
        if state.wants_keeper() {
            shared.nudge(&mut state);
        }
        drop(state);
        shared.counters.entries.fetch_add(batch.entries.len() as u64, Relaxed);
        shared.counters.bytes.fetch_add(bytes, Relaxed);
        self.marked = batch.seal.is_some();
        if let Some(durable) = durable {
            shared.watcher.durable(durable);
        }
    }

    /// Writes down that everything so far was synced. The next write would prove the same; this is for when there is none.
    /// It needs no sync: who finds it knows.
    fn mark(&mut self) -> Step {
        self.marked = true;
        let state = self.shared.lock();
        let Some(segment) = state.segments.last() else { return Step::Worked };
        let (file, path, seed, at) = (Arc::clone(&segment.file), segment.path.clone(), segment.seed, segment.end);
        let (index, closing) = (segment.next, state.closing);
        drop(state);
        let head = Head { kind: Kind::Mark, index, parts: 0, length: 0, held: 0, start: at, run: self.shared.run };
        self.scratch.clear();
        record::encode_head(&mut self.scratch, &head, [].into_iter(), seed);
        let written = disk::write_all(&*file, &self.scratch, u64::from(at));
        let written = if closing { written.and_then(|()| file.sync()) } else { written };
        match written {
            Err(error) if !disk::is_full(&error) => {
                self.shared.fail(format!("{}: cannot write: {error}", path.display()));
                Step::Over
            }
            _ => Step::Worked,
        }
    }
}

impl State {
    /// Whether the writer is to go on at once.
    fn hurries(&self) -> bool {
        self.hurry || self.closing || self.full.is_some() || self.failed.is_some()
    }

    /// Sees to it that the last segment is open for entries. False: there is none to open.
    fn open_segment(&mut self) -> bool {
        let first = match self.segments.last() {
            Some(last) if !last.sealed => return true,
            Some(last) => last.next,
            None => self.durable + 1,
        };
        let next = self.ready.pop_front();
        self.starved = next.is_none();
        self.segments.extend(next.map(|next| Segment::empty(next, first)));
        // The next one is wanted now.
        self.nudged = true;
        !self.starved
    }
}

/// The number of the entry after these.
fn queue_end(segment: &Segment, entries: &[Queued]) -> u64 {
    entries.last().map_or(segment.next, |last| last.index + 1)
}

/// What the seal of a segment holds if these are its last entries.
fn seal_of(segment: &Segment, entries: &[Queued]) -> Vec<u8> {
    let mut points = segment.points.clone().unwrap_or_default();
    let (mut at, mut held) = (segment.end, segment.held);
    for entry in entries {
        points.note(entry.index, at, held);
        at += entry.size() as u32;
        held += u64::from(entry.held);
    }
    points.encode(segment.first, held)
}

/// Lays out a batch: small things beside each other in the scratch buffer, large ones where they are.
fn encode(scratch: &mut Vec<u8>, batch: &Batch, run: u32) -> Vec<Piece> {
    scratch.clear();
    let mut pieces = Vec::new();
    let mut from = 0;
    for (number, entry) in batch.entries.iter().enumerate() {
        let Queued { index, parts, held, length } = entry;
        let (index, held, length) = (*index, *held, *length);
        let count = parts.len() as u32;
        let head = Head { kind: Kind::Entry, index, parts: count, length, held, start: batch.start, run };
        record::encode_head(scratch, &head, parts.iter().map(AsRef::as_ref), batch.seed);
        for (part, bytes) in parts.iter().map(AsRef::as_ref).enumerate() {
            if bytes.len() < COPIED {
                scratch.extend_from_slice(bytes);
                continue;
            }
            pieces.push(Piece::Copied(from..scratch.len()));
            pieces.push(Piece::Part(number, part));
            from = scratch.len();
        }
        scratch.resize(scratch.len() + record::padding(u64::from(count), u64::from(length)), 0);
    }
    if let Some((bytes, index)) = &batch.seal {
        let length = bytes.len() as u32;
        let head = Head { kind: Kind::Seal, index: *index, parts: 1, length, held: 0, start: batch.start, run };
        record::encode_head(scratch, &head, [bytes.as_slice()].into_iter(), batch.seed);
        scratch.extend_from_slice(bytes);
        scratch.resize(scratch.len() + record::padding(1, u64::from(length)), 0);
    }
    pieces.push(Piece::Copied(from..scratch.len()));
    pieces
}
