//! The log on a disk that is slow, full, or fails.

use crate::host::{Ear, Memory};
use queue_log::{Condition, Fault, FaultyDisk, Log, LogError, Need, Notice, OpenError, Settings};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

fn open(disk: &FaultyDisk) -> (Log, Arc<Ear>, Memory) {
    let settings = Settings { segment_bytes: 64 * 1024, ..Settings::new("/store") };
    try_open(disk, settings).unwrap()
}

fn try_open(disk: &FaultyDisk, settings: Settings) -> Result<(Log, Arc<Ear>, Memory), OpenError> {
    let (ear, mut memory) = (Arc::new(Ear::default()), Memory::default());
    let log = Log::open(Arc::new(disk.clone()), settings, Arc::<Ear>::clone(&ear), &mut memory)?;
    Ok((log, ear, memory))
}

fn append(log: &Log, need: Need) -> Result<u64, LogError> {
    log.append(vec![vec![5; 1000].into()], 1000, need)
}

/// Appends until there is no room. Gives the last entry that was taken; it is durable.
fn fill(log: &Log, ear: &Ear) -> u64 {
    loop {
        // The next file is there, or cannot be made: then the log knows exactly how much room is left.
        while log.stats().files == log.stats().segments && log.condition() == Condition::Good {
            thread::yield_now();
        }
        match append(log, Need::Ordinary) {
            Ok(index) => ear.wait_durable(index),
            Err(LogError::Full { .. }) => return log.stats().appended,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn entries_that_come_during_a_sync_share_the_next_one() {
    let disk = FaultyDisk::new(1);
    let (log, ear, _) = open(&disk);
    disk.set_latency(Duration::from_millis(20));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    append(&log, Need::Ordinary).unwrap();
                }
            });
        }
    });
    ear.wait_durable(200);
    assert!(log.stats().syncs < 30, "{:?}", log.stats());
}

#[test]
fn a_full_disk_is_said_once_and_refuses_what_is_ordinary_but_not_settlements() {
    let disk = FaultyDisk::new(2);
    let (log, ear, _) = open(&disk);
    disk.set_capacity(Some(disk.used() + 100_000));
    let last = fill(&log, &ear);
    assert!(matches!(append(&log, Need::Ordinary), Err(LogError::Full { .. })));
    assert!(matches!(log.condition(), Condition::Full(_)));
    let settlement = append(&log, Need::Essential).unwrap();
    assert_eq!(settlement, last + 1);
    ear.wait_durable(settlement);
    assert_eq!(ear.count(|notice| matches!(notice, Notice::Full { .. })), 1);
}

#[test]
fn the_log_goes_on_by_itself_when_there_is_room_again() {
    let disk = FaultyDisk::new(3);
    let (log, ear, _) = open(&disk);
    append(&log, Need::Ordinary).unwrap();
    disk.set_capacity(Some(disk.used()));
    let last = fill(&log, &ear);
    disk.set_capacity(None);
    ear.wait_notice(|notice| matches!(notice, Notice::Room { .. }));
    assert_eq!(append(&log, Need::Ordinary), Ok(last + 1));
    ear.wait_durable(last + 1);
    assert_eq!(log.condition(), Condition::Good);
}

#[test]
fn a_checkpoint_can_be_written_on_a_full_disk_and_frees_segments() {
    let disk = FaultyDisk::new(4);
    let (log, ear, _) = open(&disk);
    for _ in 0..300 {
        append(&log, Need::Ordinary).unwrap();
    }
    ear.wait_durable(300);
    while !disk.files().iter().any(|(path, bytes)| path.ends_with("reserve") && !bytes.is_empty()) {
        thread::yield_now();
    }
    disk.set_capacity(Some(disk.used()));
    let last = fill(&log, &ear);
    (1..=last).for_each(|index| log.release(index, 1000));
    log.checkpoint(last, |to| to.write_all(&[1; 20_000])).unwrap();
    ear.wait_notice(|notice| matches!(notice, Notice::Room { .. }));
    assert_eq!(append(&log, Need::Ordinary), Ok(last + 1));
}

#[test]
fn a_store_takes_no_more_than_it_may() {
    let disk = FaultyDisk::new(5);
    let settings = Settings { segment_bytes: 64 * 1024, max_bytes: Some(256 * 1024), ..Settings::new("/store") };
    let (log, ear, _) = try_open(&disk, settings).unwrap();
    while let Ok(index) = append(&log, Need::Ordinary) {
        ear.wait_durable(index);
    }
    assert!(log.stats().disk_bytes <= 256 * 1024, "{:?}", log.stats());
    assert!(log.stats().durable > 200, "{:?}", log.stats());
}

#[test]
fn what_was_taken_before_the_log_knew_that_it_is_full_and_finds_no_room_can_be_taken_back() {
    let disk = FaultyDisk::new(15);
    let settings = Settings { segment_bytes: 64 * 1024, max_bytes: Some(192 * 1024), ..Settings::new("/store") };
    let (log, ear, _) = try_open(&disk, settings.clone()).unwrap();
    append(&log, Need::Ordinary).unwrap();
    ear.wait_durable(1);
    assert_eq!(log.take_back(), None);
    disk.set_latency(Duration::from_millis(50));
    let mut appended = 1;
    while appended < 300 {
        appended = append(&log, Need::Ordinary).unwrap();
    }
    disk.set_latency(Duration::ZERO);
    let (first, error) = loop {
        match log.take_back() {
            Some(taken) => break taken,
            None => thread::yield_now(),
        }
    };
    assert!(matches!(error, LogError::Full { .. }) && (2..300).contains(&first), "{first} {error}");
    assert_eq!(log.take_back(), None);
    assert_eq!(log.queued_bytes(), 0);
    // Something smaller finds room, and has the number.
    assert_eq!(log.append(vec![vec![6; 10].into()], 0, Need::Relocation), Ok(first));
    ear.wait_durable(first);
    drop(log);
    let (log, _, memory) = try_open(&disk, settings).unwrap();
    assert_eq!((log.durable(), memory.entries.len() as u64), (first, first));
}

#[test]
fn after_a_sync_that_failed_nothing_is_taken_until_the_store_is_opened_again() {
    let disk = FaultyDisk::new(6);
    let (log, ear, _) = open(&disk);
    for _ in 0..10 {
        append(&log, Need::Ordinary).unwrap();
    }
    ear.wait_durable(10);
    (0..4).for_each(|more| disk.fail_at(disk.operations() + more, Fault::Io));
    let _ = append(&log, Need::Ordinary);
    ear.wait_notice(|notice| matches!(notice, Notice::Failed { .. }));
    assert!(matches!(append(&log, Need::Essential), Err(LogError::Failed(_))));
    assert!(matches!(log.checkpoint(10, |_| Ok(())), Err(LogError::Failed(_))));
    assert!(matches!(log.condition(), Condition::Failed(text) if text.contains("/store")));
    assert_eq!(log.durable(), 10);
    drop(log);
    let (log, ear, memory) = open(&disk.after_kill());
    assert!(memory.entries.len() >= 10);
    let index = append(&log, Need::Ordinary).unwrap();
    ear.wait_durable(index);
}

#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_one_before() {
    let disk = FaultyDisk::new(7);
    let (log, ear, _) = open(&disk);
    for _ in 0..10 {
        append(&log, Need::Ordinary).unwrap();
    }
    ear.wait_durable(10);
    log.checkpoint(5, |to| to.write_all(b"five")).unwrap();
    log.wait_for_checkpoint();
    log.checkpoint(10, |_| Err(std::io::Error::other("the host cannot"))).unwrap();
    ear.wait_notice(|notice| matches!(notice, Notice::CheckpointFailed { index: 10, .. }));
    drop(log);
    let (_, _, memory) = open(&disk.after_kill());
    assert_eq!(memory.snapshot, Some((5, b"five".to_vec())));
    assert_eq!(memory.entries.len(), 5);
}

#[test]
fn files_that_are_removed_while_the_log_is_open_are_missed_even_if_nothing_is_written() {
    for (number, kind) in ["segment", "store", "snapshot"].into_iter().enumerate() {
        let disk = FaultyDisk::new(8 + number as u64);
        let (log, ear, _) = open(&disk);
        append(&log, Need::Ordinary).unwrap();
        ear.wait_durable(1);
        log.checkpoint(1, |to| to.write_all(b"one")).unwrap();
        log.wait_for_checkpoint();
        let of_kind = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kind));
        for (path, _) in disk.files().into_iter().filter(|(path, _)| of_kind(path)) {
            disk.remove_all(&path);
        }
        ear.wait_notice(
            |notice| matches!(notice, Notice::Failed { text } if text.contains("restore it from a backup")),
        );
        assert!(matches!(append(&log, Need::Ordinary), Err(LogError::Failed(_))));
    }
}
