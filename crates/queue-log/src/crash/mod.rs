//! Thousands of stores whose power is cut at every operation of the disk. `QUEUE_LOG_SEED` and `QUEUE_LOG_RUNS` choose the
//! first seed and how many there are.

mod host;
mod model;
mod run;
mod threads;

use crate::disk::{Disk, FaultyDisk};
use crate::error::OpenError;
use crate::log::Log;
use crate::settings::Settings;
use run::{Plague, Run, Seen};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// An empty store with small segments and no threads.
pub(crate) fn store_in_memory() -> Log {
    store_in_memory_of(model::settings().segment_bytes)
}

/// An empty store with segments of so many bytes and no threads.
pub(crate) fn store_in_memory_of(segment_bytes: u32) -> Log {
    let settings = Settings { segment_bytes, ..model::settings() };
    Log::open_still(
        Arc::new(FaultyDisk::new(1)),
        settings,
        Arc::new(host::Ear::default()),
        &mut host::Opening::default(),
    )
    .unwrap()
}

/// Steps of one run.
const STEPS: u64 = 120;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap())
}

fn runs(plague: Plague, usual: u64) {
    let first = number("QUEUE_LOG_SEED", 1);
    let mut all = Seen::default();
    for seed in first..first + number("QUEUE_LOG_RUNS", usual) {
        let run = catch_unwind(AssertUnwindSafe(|| {
            let mut run = Run::new(seed, plague);
            run.run(STEPS);
            run.seen
        }));
        match run {
            Ok(seen) => all.add(&seen),
            Err(panic) => {
                eprintln!("with QUEUE_LOG_SEED={seed} QUEUE_LOG_RUNS=1, {plague:?}");
                resume_unwind(panic);
            }
        }
    }
    println!("{plague:?}: {all:?}");
}

impl Seen {
    fn add(&mut self, other: &Seen) {
        self.operations += other.operations;
        self.cuts += other.cuts;
        self.lives += other.lives;
        self.torn += other.torn;
        self.failures += other.failures;
        self.full += other.full;
        self.recycled += other.recycled;
        self.checkpoints += other.checkpoints;
        self.entries += other.entries;
    }
}

/// Damages a store in one place, and opens it: it is right, or somebody is told. Gives whether it was opened.
fn damaged(run: &mut Run) -> bool {
    let disk = run.killed();
    let files = disk.files();
    let (path, bytes) = &files[run.random.below(files.len() as u64) as usize];
    if bytes.is_empty() {
        return true;
    }
    match run.random.below(8) {
        0 => disk.truncate(path, run.random.below(bytes.len() as u64)),
        1 => disk.remove(path).unwrap(),
        // Most of a segment may be empty; a flip is to hit something.
        2 => disk.flip(path, run.random.below(bytes.len() as u64 * 8)),
        _ => {
            let full: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
            if full.is_empty() {
                return true;
            }
            let at = full[run.random.below(full.len() as u64) as usize];
            disk.flip(path, at as u64 * 8 + run.random.below(8));
        }
    }
    match run.model.open(&disk) {
        Ok(opened) => {
            assert!(opened.state.applied >= run.model.durable, "{}: damage is taken for a crash", path.display());
            run.model.check_bodies(&opened, false);
            true
        }
        Err(OpenError::Corrupt { .. } | OpenError::Missing { .. }) => false,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

#[test]
fn damage_is_reported_and_nothing_damaged_is_served() {
    let first = number("QUEUE_LOG_SEED", 1);
    let (mut opened, mut refused) = (0, 0);
    for seed in first..first + number("QUEUE_LOG_RUNS", 30) {
        let mut run = Run::new(seed, Plague::None);
        run.run_undisturbed(STEPS);
        for _ in 0..60 {
            let fine = catch_unwind(AssertUnwindSafe(|| damaged(&mut run))).unwrap_or_else(|panic| {
                eprintln!("with QUEUE_LOG_SEED={seed} QUEUE_LOG_RUNS=1");
                resume_unwind(panic)
            });
            if fine { opened += 1 } else { refused += 1 }
        }
    }
    println!("{opened} opened, {refused} refused");
}

#[test]
fn whatever_was_confirmed_is_there_wherever_the_power_is_cut() {
    runs(Plague::None, 30);
}

#[test]
fn whatever_was_confirmed_is_there_whatever_operation_fails() {
    runs(Plague::Errors, 30);
}

#[test]
fn whatever_was_confirmed_is_there_on_a_disk_that_is_full_now_and_then() {
    runs(Plague::Full, 30);
}
