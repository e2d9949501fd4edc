//! One run: a store is used for a while, and at each operation of its disk the power is cut.

use super::host::{Ear, Opening, State};
use super::model::{DIR, Model, Opened, settings};
use crate::copy::restore;
use crate::disk::{Fault, FaultyDisk, Random};
use crate::entry::Need;
use crate::error::LogError;
use crate::inspect::verify;
use crate::keeper::Keeper;
use crate::log::Log;
use crate::settings::Notice;
use crate::shared::Step;
use crate::writer::Writer;
use std::path::Path;
use std::sync::Arc;

/// What goes wrong beside the power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plague {
    None,
    /// Operations fail.
    Errors,
    /// The disk is too small, now and then.
    Full,
}

/// Counts of what was seen.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) operations: u64,
    pub(super) cuts: u64,
    pub(super) lives: u64,
    pub(super) torn: u64,
    pub(super) failures: u64,
    pub(super) full: u64,
    pub(super) recycled: u64,
    pub(super) checkpoints: u64,
    pub(super) entries: u64,
}

pub(super) struct Run {
    pub(super) random: Random,
    plague: Plague,
    disk: FaultyDisk,
    log: Log,
    writer: Writer,
    keeper: Keeper,
    ear: Arc<Ear>,
    state: State,
    pub(super) model: Model,
    pub(super) seen: Seen,
}

impl Run {
    pub(super) fn new(seed: u64, plague: Plague) -> Self {
        let disk = FaultyDisk::new(seed);
        let model = Model::new();
        let opened = model.check(&disk);
        let mut run = Run {
            random: Random::new(seed),
            plague,
            disk: disk.clone(),
            writer: Writer::new(Arc::clone(&opened.log.shared)),
            keeper: Keeper::new(Arc::clone(&opened.log.shared)),
            log: opened.log,
            ear: opened.ear,
            state: opened.state,
            model,
            seen: Seen::default(),
        };
        run.begin_life();
        run
    }

    /// Uses the store, and nothing happens to it.
    pub(super) fn run_undisturbed(&mut self, steps: u64) {
        for _ in 0..steps {
            self.act();
            self.disk.recorded();
            self.note();
        }
        self.settle();
    }

    /// The store as it is found after the process was killed, with nothing under way.
    pub(super) fn killed(&self) -> FaultyDisk {
        self.disk.after_kill()
    }

    /// Uses the store, with the power cut at each operation.
    pub(super) fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            self.act();
            let recorded = self.disk.recorded();
            self.seen.operations += recorded.len() as u64;
            for disk in recorded {
                self.cut(&disk);
            }
            self.note();
            if self.log.shared.lock().failed.is_some() || self.random.below(40) == 0 {
                self.restart();
            }
        }
        self.finish();
    }

    fn act(&mut self) {
        match self.random.below(12) {
            0..=3 => (0..=self.random.below(4)).for_each(|_| self.append()),
            4..=6 => drop(self.writer.step()),
            7 => while self.writer.step() == Step::Worked {},
            8 | 9 => drop(self.keeper.step()),
            10 => self.checkpoint(),
            _ => self.plague(),
        }
    }

    fn append(&mut self) {
        let live: Vec<u64> = self.state.live.keys().copied().collect();
        let mut settled = Vec::new();
        for index in live {
            // Most messages do not live long, a few do.
            if self.random.below(3) == 0 && index % 17 != 0 {
                settled.extend_from_slice(&index.to_le_bytes());
            }
        }
        let need = if settled.is_empty() { Need::Ordinary } else { Need::Essential };
        let mut parts = vec![settled];
        for _ in 0..self.random.below(3) {
            let largest = if self.random.below(4) == 0 { 1500 } else { 100 };
            let size = self.random.below(largest);
            parts.push((0..size).map(|_| self.random.next() as u8).collect());
        }
        let held = parts[1..].iter().map(|part| part.len() as u64).sum();
        match self.log.append(parts.iter().cloned().map(Into::into).collect(), held, need) {
            Ok(index) => assert_eq!(self.model.append(parts), index),
            Err(LogError::Full { .. }) => assert!(self.plague != Plague::None && self.log.shared.lock().full.is_some()),
            Err(LogError::Failed(_)) => assert_eq!(self.plague, Plague::Errors),
            Err(error) => panic!("{error}"),
        }
        self.seen.entries += 1;
    }

    fn checkpoint(&mut self) {
        let index = self.state.applied;
        let bytes = self.state.encode();
        match self.log.shared.plan_checkpoint(index) {
            Ok(plan) => self.log.shared.checkpoint(plan, |to| to.write_all(&bytes)),
            Err(LogError::Failed(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }

    fn plague(&mut self) {
        match self.plague {
            Plague::None => {}
            Plague::Errors => {
                let at = self.disk.operations() + self.random.below(20);
                let fault = if self.random.below(4) == 0 { Fault::Full } else { Fault::Io };
                self.disk.fail_at(at, fault);
            }
            Plague::Full if self.random.below(3) == 0 => self.disk.set_capacity(None),
            Plague::Full => {
                let room = self.random.below(20_000);
                self.disk.set_capacity(Some(self.disk.used() + room));
            }
        }
    }

    /// Takes note of what the log reports.
    fn note(&mut self) {
        self.model.durable = self.model.durable.max(self.ear.durable());
        while self.state.applied < self.model.durable {
            let index = self.state.applied + 1;
            for (index, bytes) in self.state.apply(index, &self.model.entries[index as usize - 1]) {
                self.log.release(index, bytes);
            }
        }
        let checkpoint = self.log.shared.lock().checkpoint;
        self.seen.checkpoints += u64::from(checkpoint > self.model.checkpoint);
        self.model.checkpoint = checkpoint;
    }

    /// The power is cut now: the store is right, takes an entry, and is right again.
    fn cut(&mut self, disk: &FaultyDisk) {
        self.seen.cuts += 1;
        let kill = self.random.below(4) == 0;
        let after = if kill { disk.after_kill() } else { disk.after_power_cut(self.random.next()) };
        after.set_capacity(None);
        if self.random.below(8) == 0 {
            let verified = verify(&after, Path::new(DIR), &mut Opening::default()).unwrap();
            let last = verified.last;
            assert!(verified.problems.is_empty(), "a crash is taken for a problem: {verified:?}");
            assert_eq!(self.model.check(&after).state.applied, last);
            return;
        }
        let opened = self.model.check(&after);
        self.seen.torn += u64::from(opened.ear.heard(|notice| matches!(notice, Notice::TornTail { .. })));
        if self.random.below(4) == 0 {
            self.go_on(opened, &after);
        }
    }

    /// A store that was cut off is used a little, and cut off again.
    fn go_on(&mut self, opened: Opened, disk: &FaultyDisk) {
        let mut model = self.model.clone();
        model.truncate(opened.state.applied);
        // As long as the entry whose place it takes: what was lost behind that begins where this one ends.
        let lost = self.model.entries.get(opened.state.applied as usize).cloned().unwrap_or(vec![vec![]; 2]);
        let mut parts = vec![lost[0].clone()];
        for part in &lost[1..] {
            parts.push(part.iter().map(|_| self.random.next() as u8).collect());
        }
        let held = parts[1..].iter().map(|part| part.len() as u64).sum();
        let appended = opened.log.append(parts.iter().cloned().map(Into::into).collect(), held, Need::Essential);
        assert_eq!(appended, Ok(model.append(parts)));
        let mut writer = Writer::new(Arc::clone(&opened.log.shared));
        let mut keeper = Keeper::new(Arc::clone(&opened.log.shared));
        for _ in 0..self.random.below(12) {
            writer.step();
            keeper.step();
        }
        model.durable = model.durable.max(opened.ear.durable());
        model.check(&disk.after_power_cut(self.random.next()));
    }

    /// The process ends, or the power is cut, and the store is opened again.
    fn restart(&mut self) {
        self.seen.failures += u64::from(self.log.shared.lock().failed.is_some());
        let kill = self.random.below(2) == 0;
        let disk = if kill { self.disk.after_kill() } else { self.disk.after_power_cut(self.random.next()) };
        disk.set_capacity(None);
        let opened = self.model.check(&disk);
        self.seen.recycled += self.log.stats().recycled;
        self.seen.full += u64::from(self.ear.heard(|notice| matches!(notice, Notice::Full { .. })));
        self.model.truncate(opened.state.applied);
        self.disk = disk;
        self.writer = Writer::new(Arc::clone(&opened.log.shared));
        self.keeper = Keeper::new(Arc::clone(&opened.log.shared));
        (self.log, self.ear, self.state) = (opened.log, opened.ear, opened.state);
        self.begin_life();
    }

    fn begin_life(&mut self) {
        self.seen.lives += 1;
        self.model.checkpoint = self.log.shared.lock().checkpoint;
        self.disk.record();
    }

    /// All that is queued gets to the disk once there is room and nothing fails.
    fn settle(&mut self) {
        self.disk.set_capacity(None);
        self.disk.fail_no_more();
        for _ in 0..200 {
            self.writer.step();
            self.keeper.step();
        }
        self.note();
        if self.log.shared.lock().failed.is_none() {
            assert_eq!(self.model.durable, self.model.entries.len() as u64, "the log does not go on");
        }
    }

    /// The end of a run: a backup, and a store made from it.
    fn finish(&mut self) {
        self.settle();
        self.seen.recycled += self.log.stats().recycled;
        self.model.check(&self.disk.after_power_cut(self.random.next()));
        if self.log.shared.lock().failed.is_none() {
            self.log.backup(Path::new("/backup"), Vec::new).unwrap();
            self.disk.remove_all(Path::new(DIR));
            restore(&self.disk, Path::new("/backup"), Path::new(DIR), Opening::default).unwrap();
            let restored = self.model.check(&self.disk.after_power_cut(self.random.next()));
            assert_eq!(restored.state.applied, self.model.durable);
        }
        assert!(self.log.stats().disk_bytes <= 8192 * (settings().spare_segments + self.log.stats().files) as u64);
    }
}
