//! The log with its threads: the power is cut at each operation here, too, but afterwards, on what was recorded.

use super::host::{Opening, State};
use super::model::{Model, settings};
use super::number;
use crate::disk::{FaultyDisk, Random};
use crate::entry::Need;
use crate::log::Log;
use crate::settings::{Notice, Watcher};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::Duration;

/// What was reported, and after how many operations of the disk.
struct Ear {
    disk: FaultyDisk,
    durable: Mutex<Vec<(u64, u64)>>,
    checkpoints: Mutex<Vec<(u64, u64)>>,
    changed: Condvar,
}

impl Watcher for Ear {
    fn durable(&self, up_to: u64) {
        self.durable.lock().push((self.disk.operations(), up_to));
        self.changed.notify_all();
    }

    fn notice(&self, notice: Notice) {
        match notice {
            Notice::Checkpoint { index, .. } => self.checkpoints.lock().push((self.disk.operations(), index)),
            other => panic!("{other}"),
        }
    }
}

impl Ear {
    fn wait(&self, index: u64) {
        let mut durable = self.durable.lock();
        while durable.last().is_none_or(|(_, up_to)| *up_to < index) {
            assert!(!self.changed.wait_for(&mut durable, Duration::from_secs(60)).timed_out());
        }
    }
}

/// What was reported before so many operations were done.
fn reported(reports: &[(u64, u64)], operations: u64) -> u64 {
    reports.iter().filter(|(at, _)| *at <= operations).map(|(_, index)| *index).max().unwrap_or(0)
}

fn story(seed: u64) -> usize {
    let mut random = Random::new(seed);
    let disk = FaultyDisk::new(seed);
    let ear = Arc::new(Ear {
        disk: disk.clone(),
        durable: Mutex::default(),
        checkpoints: Mutex::default(),
        changed: Condvar::new(),
    });
    let watcher = Arc::<Ear>::clone(&ear);
    let log = Log::open(Arc::new(disk.clone()), settings(), watcher, &mut Opening::default()).unwrap();
    let before = disk.operations();
    disk.record();
    let (mut model, mut state) = (Model::new(), State::default());
    for _ in 0..40 {
        let mut last = 0;
        for _ in 0..=random.below(6) {
            let settled = state.live.keys().next().copied().filter(|_| random.below(2) == 0);
            let body = vec![random.next() as u8; random.below(900) as usize];
            let parts = vec![settled.map(|index| index.to_le_bytes().to_vec()).unwrap_or_default(), body];
            let held = parts[1].len() as u64;
            let entry = parts.iter().cloned().map(Into::into).collect();
            let appended = match random.below(2) {
                0 => log.append(entry, held, Need::Ordinary),
                _ => log.append_soon(entry, held, Need::Ordinary),
            };
            last = appended.unwrap();
            assert_eq!(model.append(parts), last);
        }
        if random.below(2) == 0 {
            ear.wait(last);
            for index in state.applied + 1..=last {
                for (index, bytes) in state.apply(index, &model.entries[index as usize - 1]) {
                    log.release(index, bytes);
                }
            }
        }
        if random.below(5) == 0 {
            let bytes = state.encode();
            log.wait_for_checkpoint();
            log.checkpoint(state.applied, move |to| to.write_all(&bytes)).unwrap();
        }
    }
    log.close();
    let recorded = disk.recorded();
    for (number, disk) in recorded.iter().enumerate() {
        let operations = before + number as u64 + 1;
        // What was reported between this operation and the next is counted for the next.
        model.durable = reported(&ear.durable.lock(), operations - 1);
        model.checkpoint = reported(&ear.checkpoints.lock(), operations - 1);
        model.check(&disk.after_power_cut(random.next()));
    }
    model.durable = model.entries.len() as u64;
    model.check(&disk.after_power_cut(random.next()));
    recorded.len()
}

#[test]
fn whatever_was_confirmed_is_there_when_threads_do_it_all_at_once() {
    let first = number("QUEUE_LOG_SEED", 1);
    let cuts: usize = (first..first + number("QUEUE_LOG_RUNS", 20)).map(story).sum();
    println!("{cuts} cuts");
}
