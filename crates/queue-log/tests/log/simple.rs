//! The log when nothing goes wrong.

use crate::host::Folder;
use queue_log::{Log, LogError, Need, Notice, OpenError, ReadError, Settings};

fn body(number: u64) -> Vec<u8> {
    (0..1000 + number % 7).map(|byte| (byte * number) as u8).collect()
}

#[test]
fn entries_come_back_in_order_when_the_store_is_opened_again() {
    let folder = Folder::new();
    let (log, ear, _) = folder.open();
    for number in 1..=500 {
        let parts = vec![b"command".to_vec().into(), body(number).into()];
        assert_eq!(log.append(parts, 1000, Need::Ordinary), Ok(number));
    }
    ear.wait_durable(500);
    drop(log);
    let (log, _, memory) = folder.open();
    let expected: Vec<_> = (1..=500).map(|number| (number, vec![b"command".to_vec(), body(number)])).collect();
    assert_eq!(memory.entries, expected);
    assert_eq!(log.append(vec![body(1).into()], 0, Need::Ordinary), Ok(501));
}

#[test]
fn what_nobody_waits_for_comes_to_the_disk_by_itself_and_in_its_order() {
    let folder = Folder::new();
    let (log, ear, _) = folder.open();
    assert_eq!(log.append_soon(vec![body(1).into()], 0, Need::Essential), Ok(1));
    ear.wait_durable(1);
    // The writer does not expect anything by now, or not yet: both are to do.
    assert_eq!(log.append_soon(vec![body(2).into()], 0, Need::Essential), Ok(2));
    assert_eq!(log.append(vec![body(3).into()], 1000, Need::Ordinary), Ok(3));
    ear.wait_durable(3);
    assert_eq!(log.append_soon(vec![body(4).into()], 0, Need::Essential), Ok(4));
    drop(log);
    let (_log, _, memory) = folder.open();
    let expected: Vec<_> = (1..=4).map(|number| (number, vec![body(number)])).collect();
    assert_eq!(memory.entries, expected);
}

#[test]
fn a_part_is_read_alone_from_this_run_and_from_the_one_before() {
    let folder = Folder::new();
    let (log, ear, _) = folder.open();
    for number in 1..=300 {
        log.append(vec![b"command".to_vec().into(), body(number).into(), Vec::new().into()], 1000, Need::Ordinary)
            .unwrap();
    }
    ear.wait_durable(300);
    reads_all(&log);
    drop(log);
    let (log, _, _) = folder.open();
    reads_all(&log);
}

fn reads_all(log: &Log) {
    for number in [1, 2, 150, 299, 300] {
        assert_eq!(log.read_part(number, 1).unwrap(), body(number));
        assert_eq!(log.read_part(number, 2).unwrap(), b"");
        assert_eq!(log.read(number, 3, 10).unwrap(), [&b"mand"[..], &body(number)[..6]].concat());
    }
    assert!(matches!(log.read_part(301, 0), Err(ReadError::NotThere { index: 301 })));
    assert!(matches!(log.read_part(1, 3), Err(ReadError::NotThere { index: 1 })));
    let mut reader = log.reader(1 << 20);
    for number in 1..=300 {
        assert_eq!(reader.entry(number).unwrap()[1], body(number));
    }
}

#[test]
fn after_a_checkpoint_the_host_gets_the_snapshot_and_what_came_after_it() {
    let folder = Folder::new();
    let (log, ear, _) = folder.open();
    for number in 1..=400 {
        log.append(vec![body(number).into()], 1000, Need::Ordinary).unwrap();
    }
    ear.wait_durable(400);
    for number in 1..=380 {
        log.release(number, 1000);
    }
    log.checkpoint(390, |to| to.write_all(&[7; 1_000_000])).unwrap();
    ear.wait_notice(|notice| matches!(notice, Notice::Checkpoint { index: 390, .. }));
    log.append(vec![body(401).into()], 1000, Need::Ordinary).unwrap();
    ear.wait_durable(401);
    drop(log);
    let (log, _, memory) = folder.open();
    assert_eq!(memory.snapshot, Some((390, vec![7; 1_000_000])));
    let expected: Vec<_> = (391..=401).map(|number| (number, vec![body(number)])).collect();
    assert_eq!(memory.entries, expected);
    assert_eq!(log.read_part(385, 0).unwrap(), body(385));
}

#[test]
fn segments_are_used_again_once_nobody_needs_them() {
    let folder = Folder::new();
    let (log, ear, _) = folder.open();
    for number in 1..=5_000 {
        log.append(vec![body(number).into()], 1000, Need::Ordinary).unwrap();
        if number % 250 == 0 {
            ear.wait_durable(number);
            for number in number - 249..=number {
                log.release(number, 1000);
            }
            log.checkpoint(number, |to| to.write_all(b"state")).unwrap();
            log.wait_for_checkpoint();
        }
    }
    let stats = log.stats();
    assert!(stats.recycled > 40, "{stats:?}");
    assert!(stats.disk_bytes < 2_000_000, "{stats:?}");
    assert!(matches!(log.read_part(1, 0), Err(ReadError::NotThere { index: 1 })));
}

#[test]
fn one_old_message_keeps_only_its_own_segment() {
    let folder = Folder::new();
    let (log, ear, _) = folder.open();
    for number in 1..=2_000 {
        log.append(vec![body(number).into()], 1000, Need::Ordinary).unwrap();
    }
    ear.wait_durable(2_000);
    for number in (1..=2_000).filter(|number| *number != 10) {
        log.release(number, 1000);
    }
    log.checkpoint(2_000, |to| to.write_all(b"state")).unwrap();
    log.wait_for_checkpoint();
    assert_eq!(log.stats().segments, 2);
    let sparse = log.sparse(0).unwrap();
    assert!(sparse.entries.contains(&10) && sparse.live == 1000, "{sparse:?}");
    drop(log);
    let (log, _, _) = folder.open();
    assert_eq!(log.read_part(10, 0).unwrap(), body(10));
}

#[test]
fn two_processes_do_not_open_one_store() {
    let folder = Folder::new();
    let (log, _, _) = folder.open();
    assert!(matches!(folder.try_open(folder.settings()), Err(OpenError::Locked { .. })));
    drop(log);
    folder.open();
}

#[test]
fn an_entry_larger_than_a_segment_is_refused() {
    let folder = Folder::new();
    let (log, _, _) = folder.open();
    let refused = log.append(vec![vec![0; 64 * 1024].into()], 0, Need::Ordinary);
    assert!(matches!(refused, Err(LogError::TooLarge { .. })), "{refused:?}");
}

#[test]
fn a_large_message_has_a_file_of_its_own() {
    let folder = Folder::new();
    let (log, _, _) = folder.open();
    let bytes: Vec<u8> = (0..300_000_u32).map(|number| (number / 3) as u8).collect();
    let mut large = log.create_large().unwrap();
    for piece in bytes.chunks(7_777) {
        large.append(piece).unwrap();
    }
    assert_eq!(large.size(), 300_000);
    large.sync().unwrap();
    let id = large.id();
    let lost = log.create_large().unwrap().id();
    drop((large, log));
    let (log, _, _) = folder.open();
    let (mut reader, mut read) = (log.open_large(id).unwrap(), Vec::new());
    loop {
        let more = reader.read(read.len() as u64, 10_000).unwrap();
        if more.is_empty() {
            break;
        }
        read.extend_from_slice(more);
    }
    assert!(read == bytes);
    assert!(matches!(log.open_large(lost), Err(ReadError::NoMessage { .. })));
    let kept = log.keep_large([77]).unwrap();
    assert_eq!((kept.removed, kept.missing), (1, vec![77]));
    assert!(matches!(log.open_large(id), Err(ReadError::NoMessage { .. })));
}

#[test]
fn an_entry_larger_than_the_first_segment_of_a_new_store_goes_into_the_next() {
    let folder = Folder::new();
    let settings = Settings { segment_bytes: 32 * 1024 * 1024, ..folder.settings() };
    let (log, ear, _) = folder.try_open(settings.clone()).unwrap();
    let large = vec![3; 20 * 1024 * 1024];
    log.append(vec![large.clone().into()], 0, Need::Ordinary).unwrap();
    ear.wait_durable(1);
    drop(log);
    let (_, _, memory) = folder.try_open(settings).unwrap();
    assert!(memory.entries == [(1, vec![large])]);
}
