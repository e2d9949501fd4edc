//! Checkpoints: the host's state up to an entry, so that the entries before it are needed only for the bodies in them.

use crate::checksum::Seed;
use crate::disk::{DiskFile, Mode};
use crate::error::LogError;
use crate::format::header::DATA;
use crate::format::names;
use crate::keeper::absent_is_fine;
use crate::segment::Segment;
use crate::settings::Notice;
use crate::shared::{Shared, State};
use crate::snapshot::{Row, Table, Writer};
use crate::window::Window;
use std::io::{self, Write};
use std::sync::Arc;

/// Bytes read at once to find an entry's end.
const STEP: usize = 64 * 1024;

/// A checkpoint that was asked for: the table of segments as it was then.
pub(crate) struct Plan {
    pub(crate) index: u64,
    table: Table,
    cut: Option<Cut>,
}

/// The segment that has entries on both sides of the checkpoint, whose row is not complete until its heads were read.
struct Cut {
    file: Arc<dyn DiskFile>,
    seed: Seed,
    /// Where the segment's entries end.
    end: u32,
    /// A place before the checkpoint's last entry: what comes next there, where it is, and the bytes held before.
    next: u64,
    at: u32,
    held: u64,
    released: u64,
}

impl Shared {
    /// Takes note of what is alive now.
    pub(crate) fn plan_checkpoint(&self, index: u64) -> Result<Plan, LogError> {
        let mut state = self.lock();
        if let Some(text) = &state.failed {
            return Err(LogError::Failed(text.clone()));
        }
        if state.closing {
            return Err(LogError::Closed);
        }
        if state.checkpointing {
            return Err(LogError::Busy);
        }
        let (from, to) = (state.checkpoint, state.durable);
        if !(from..=to).contains(&index) {
            return Err(LogError::OutOfRange { index, from, to });
        }
        state.checkpointing = true;
        let mut plan = Plan { index, table: Table { resume: state.resume(index), rows: Vec::new() }, cut: None };
        for segment in state.segments.iter().filter(|segment| segment.first <= index && segment.first < segment.next) {
            plan.add(segment);
        }
        Ok(plan)
    }

    /// Writes a checkpoint, and says whether it stands.
    pub(crate) fn checkpoint(&self, plan: Plan, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let index = plan.index;
        let result = self.write_checkpoint(plan, write);
        let mut state = self.lock();
        state.checkpointing = false;
        let notice = match result {
            Ok((bytes, table)) => {
                state.checkpoint = index;
                if self.reserve_for(bytes) > state.reserve {
                    // The next one is to find room, too.
                    state.reserve = 0;
                }
                let freed = state.retire(&table, index);
                Notice::Checkpoint { index, bytes, freed }
            }
            Err(error) => Notice::CheckpointFailed { index, text: error.to_string() },
        };
        self.nudge(&mut state);
        drop(state);
        self.checkpointed.notify_all();
        self.watcher.notice(notice);
    }

    fn write_checkpoint(
        &self,
        plan: Plan,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<(u64, Table)> {
        let index = plan.index;
        let table = plan.complete()?;
        let name = names::snapshot(index);
        let temporary = self.dir().join(format!("{name}.tmp"));
        absent_is_fine(self.disk.remove(&temporary))?;
        let file = self.disk.open(&temporary, Mode::Create)?;
        let written = self.write_snapshot(file, index, &table, write);
        if written.is_err() {
            absent_is_fine(self.disk.remove(&temporary))?;
        }
        let bytes = written?;
        self.disk.rename(&temporary, &self.dir().join(&name))?;
        self.disk.sync_dir(self.dir())?;
        let others = self.disk.list(self.dir())?.into_iter();
        let others = others.filter(|other| names::snapshot_index(other).is_some_and(|other| other < index));
        let others: Vec<_> = others.map(|other| self.dir().join(other)).collect();
        self.lock().old_snapshots = others;
        Ok((bytes, table))
    }

    fn write_snapshot(
        &self,
        file: Arc<dyn DiskFile>,
        index: u64,
        table: &Table,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let make_room = || self.give_reserve();
        let mut writer = Writer::new(file, &self.store, index, &make_room)?;
        table.write(&mut writer)?;
        write(&mut writer)?;
        writer.finish()
    }

    /// Bytes to keep for a checkpoint, if the one before had so many: it may be a little larger.
    pub(crate) fn reserve_for(&self, snapshot: u64) -> u64 {
        u64::from(self.settings.segment_bytes / 2).max(snapshot + snapshot / 4)
    }

    /// Gives up the room that is kept for this: a checkpoint is what frees segments. False: there is none.
    fn give_reserve(&self) -> bool {
        let had = std::mem::take(&mut self.lock().reserve);
        had > 0 && self.disk.remove(&self.dir().join(names::RESERVE)).is_ok()
    }
}

impl Plan {
    fn add(&mut self, segment: &Segment) {
        let next = segment.next.min(self.index + 1);
        let whole = next == segment.next;
        let Segment { epoch, first, end, .. } = *segment;
        let live = segment.live();
        self.table.rows.push(Row { epoch, first, next, end, live, sealed: whole && segment.sealed });
        if whole {
            return;
        }
        let point = segment.points.as_ref().and_then(|points| points.before(self.index));
        let (next, at, held) = point.map_or((first, DATA, 0), |point| (point.index, point.at, u64::from(point.held)));
        let (file, seed, released) = (Arc::clone(&segment.file), segment.seed, segment.released);
        self.cut = Some(Cut { file, seed, end, next, at, held, released });
    }

    /// The table, with the row of the segment that goes on.
    fn complete(mut self) -> io::Result<Table> {
        if let (Some(cut), Some(row)) = (self.cut, self.table.rows.last_mut()) {
            let mut window = Window::new(cut.file, u64::from(cut.end), STEP);
            let (mut at, mut held) = (u64::from(cut.at), cut.held);
            for wanted in cut.next..=self.index {
                let head = window.head(at, cut.seed)?.filter(|head| head.index == wanted);
                let head = head.ok_or_else(|| io::Error::other(format!("entry {wanted} cannot be read again")))?;
                at += head.size();
                held += u64::from(head.held);
            }
            // Within the segment, whose size is 32 bits wide.
            row.end = at as u32;
            row.live = held.saturating_sub(cut.released);
        }
        Ok(self.table)
    }
}

impl State {
    /// The segment from which the log is read when there is a snapshot up to this entry: the first that is not over with
    /// it, or the last.
    fn resume(&self, index: u64) -> u64 {
        let over = self.segments.partition_point(|segment| segment.next <= index + 1 && segment.sealed);
        let ready = self.ready.front().map_or(self.next_epoch, |ready| ready.epoch);
        self.segments.get(over).or(self.segments.last()).map_or(ready, |segment| segment.epoch)
    }

    /// Takes out the segments that nobody needs once a checkpoint stands. Never the last.
    fn retire(&mut self, table: &Table, index: u64) -> usize {
        let last = self.segments.last().map_or(0, |last| last.epoch);
        let needless = |segment: &mut Segment| {
            let dead = table.row(segment.epoch).is_none_or(|row| row.live == 0);
            segment.sealed && segment.next <= index + 1 && segment.epoch != last && dead
        };
        let before = self.retired.len();
        let retired: Vec<Segment> = self.segments.extract_if(.., needless).collect();
        self.retired.extend(retired);
        self.retired.len() - before
    }
}
