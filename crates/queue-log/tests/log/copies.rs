//! Backups, and looking into stores that are not open.

use crate::host::{Ear, Folder, Knowing, Memory};
use queue_log::{Item, Log, Missing, Need, OpenError, RealDisk, dump, restore, verify};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn body(number: u64) -> Vec<u8> {
    (0..900 + number % 50).map(|byte| (byte ^ number) as u8).collect()
}

fn append(log: &Log, ear: &Ear, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers.clone() {
        log.append(vec![body(number).into()], body(number).len() as u64, Need::Ordinary).unwrap();
    }
    ear.wait_durable(*numbers.end());
}

fn release(log: &Log, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        log.release(number, body(number).len() as u64);
    }
}

/// A store with a checkpoint, entries on both sides of it, an old entry that lives, and a large message. Its id.
fn filled(folder: &Folder) -> (Log, Arc<Ear>, u64) {
    let (log, ear, _) = folder.open();
    append(&log, &ear, 1..=400);
    release(&log, 2..=350);
    log.checkpoint(350, |to| to.write_all(b"state at 350")).unwrap();
    log.wait_for_checkpoint();
    append(&log, &ear, 401..=450);
    let mut large = log.create_large().unwrap();
    large.append(&[9; 200_000]).unwrap();
    large.sync().unwrap();
    let id = large.id();
    (log, ear, id)
}

fn segment_of(dir: &Path, wanted: u64) -> (PathBuf, u64) {
    let (mut segment, mut place) = (PathBuf::new(), None);
    let flow = dump(&RealDisk, dir, &mut |item| {
        match item {
            Item::Segment { file, .. } if place.is_none() => segment = file.to_path_buf(),
            Item::Entry { entry, offset, .. } if entry.index() == wanted => place = Some(*offset),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap().is_continue());
    (segment, place.unwrap())
}

fn flip(file: &Path, at: u64) {
    let file = fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 4], at).unwrap();
}

#[test]
fn a_backup_taken_while_entries_come_is_a_store_with_all_that_was_durable() {
    let (folder, backup, restored) = (Folder::new(), Folder::new(), Folder::new());
    let (log, ear, large) = filled(&folder);
    let ended = AtomicBool::new(false);
    let copied = thread::scope(|scope| {
        let busy = scope.spawn(|| {
            let mut number = 450;
            while !ended.load(Ordering::Relaxed) || number < 700 {
                append(&log, &ear, number + 1..=number + 10);
                release(&log, number - 60..=number - 50);
                log.checkpoint(number, |to| to.write_all(b"later")).unwrap();
                number += 10;
                log.wait_for_checkpoint();
            }
        });
        let copied = log.backup(&backup.path(), Vec::new).unwrap();
        ended.store(true, Ordering::Relaxed);
        busy.join().unwrap();
        copied
    });
    assert!(copied.last >= 450, "{copied:?}");
    let verified = verify(&RealDisk, &backup.path(), &mut Knowing::default()).unwrap();
    assert_eq!((verified.problems.len(), verified.last, verified.large), (0, copied.last, 1), "{verified:?}");
    assert_eq!(restore(&RealDisk, &backup.path(), &restored.path(), Knowing::default).unwrap().last, copied.last);
    let (log, _, Memory { snapshot, entries }) = restored.open();
    assert_eq!(snapshot.unwrap().0, copied.checkpoint);
    let expected: Vec<_> = (copied.checkpoint + 1..=copied.last).map(|number| (number, vec![body(number)])).collect();
    assert!(entries == expected);
    assert_eq!(log.read_part(1, 0).unwrap(), body(1));
    assert_eq!(log.open_large(large).unwrap().read(150_000, 10).unwrap(), [9; 10]);
}

#[test]
fn a_backup_goes_only_into_an_empty_directory() {
    let folder = Folder::new();
    let (log, _, _) = filled(&folder);
    assert!(matches!(log.backup(&folder.path(), Vec::new), Err(OpenError::NotEmpty { .. })));
}

#[test]
fn a_backup_that_was_not_finished_is_none() {
    let (folder, backup, restored) = (Folder::new(), Folder::new(), Folder::new());
    let (log, _, _) = filled(&folder);
    log.backup(&backup.path(), Vec::new).unwrap();
    fs::remove_file(backup.path().join("store")).unwrap();
    assert!(!verify(&RealDisk, &backup.path(), &mut Knowing::default()).unwrap().problems.is_empty());
    assert!(matches!(
        restore(&RealDisk, &backup.path(), &restored.path(), Knowing::default),
        Err(OpenError::Corrupt { .. })
    ));
    assert!(!restored.path().exists());
}

#[test]
fn a_store_that_is_open_is_not_verified() {
    let folder = Folder::new();
    let (_log, _, _) = filled(&folder);
    assert!(matches!(verify(&RealDisk, &folder.path(), &mut Knowing::default()), Err(OpenError::Locked { .. })));
}

#[test]
fn verify_finds_nothing_wrong_with_a_store_that_was_closed() {
    let folder = Folder::new();
    drop(filled(&folder));
    let verified = verify(&RealDisk, &folder.path(), &mut Knowing::default()).unwrap();
    assert_eq!((verified.checkpoint, verified.last, verified.large), (350, 450, 1));
    assert!(verified.problems.is_empty() && verified.notices.is_empty(), "{verified:?}");
}

#[test]
fn a_flipped_bit_in_any_entry_is_found_by_file_and_offset_and_the_rest_is_shown() {
    for wanted in [1, 390, 449] {
        let folder = Folder::new();
        drop(filled(&folder));
        let (segment, at) = segment_of(&folder.path(), wanted);
        flip(&segment, at + 100);
        let verified = verify(&RealDisk, &folder.path(), &mut Knowing::default()).unwrap();
        let found: Vec<_> = verified.problems.iter().map(|problem| (problem.file.clone(), problem.offset)).collect();
        assert_eq!(found, [(segment, at)], "{verified:?}");
        let mut after = false;
        let flow = dump(&RealDisk, &folder.path(), &mut |item| {
            after |= matches!(item, Item::Entry { entry, .. } if entry.index() == wanted + 1);
            ControlFlow::Continue(())
        });
        assert!(flow.unwrap().is_continue());
        assert!(after, "entry {} is not shown", wanted + 1);
    }
}

#[test]
fn a_damaged_entry_after_the_snapshot_keeps_the_store_closed_and_says_where() {
    let folder = Folder::new();
    drop(filled(&folder));
    let (segment, at) = segment_of(&folder.path(), 390);
    flip(&segment, at + 100);
    let Err(OpenError::Corrupt { file, offset, remedy, .. }) = folder.try_open(folder.settings()) else {
        panic!("it was opened")
    };
    assert_eq!((file, offset), (segment, at));
    assert!(remedy.contains("restore"), "{remedy}");
}

#[test]
fn a_damaged_body_before_the_snapshot_is_not_handed_out() {
    let folder = Folder::new();
    drop(filled(&folder));
    let (segment, at) = segment_of(&folder.path(), 1);
    flip(&segment, at + 100);
    let (log, _, _) = folder.open();
    let error = log.read_part(1, 0).unwrap_err().to_string();
    assert!(error.contains(&segment.display().to_string()) && error.contains("corrupt"), "{error}");
}

#[test]
fn a_large_message_without_its_end_is_not_handed_out_as_a_shorter_one() {
    let folder = Folder::new();
    let (log, _, id) = filled(&folder);
    let file = folder.path().join("large").join(format!("message-{id:012}"));
    for size in [64 + 3 * (65_536 + 8), 150_000] {
        fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(size).unwrap();
        let mut reader = log.open_large(id).unwrap();
        let mut at = 0;
        let error = loop {
            match reader.read(at, 10_000) {
                Ok(bytes) => {
                    assert!(!bytes.is_empty(), "it ends at {at}");
                    at += bytes.len() as u64;
                }
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("not finished"), "{error}");
    }
}

#[test]
fn large_messages_whose_files_are_gone_or_have_no_end_are_named_and_all_else_is_copied() {
    let cut = |file: &Path| fs::OpenOptions::new().write(true).open(file).unwrap().set_len(150_000).unwrap();
    for damage in [&|file: &Path| fs::remove_file(file).unwrap() as (), &cut as &dyn Fn(&Path)] {
        let (folder, backup, restored) = (Folder::new(), Folder::new(), Folder::new());
        let (log, _, id) = filled(&folder);
        let large = || vec![(id, "the ninth of 'orders'".to_owned())];
        let knowing = || Knowing { large: large(), ..Knowing::default() };
        assert_eq!(log.backup(&backup.path(), large).unwrap().missing, []);
        assert_eq!(verify(&RealDisk, &backup.path(), &mut knowing()).unwrap().missing, []);
        let name = format!("large/message-{id:012}");
        let gone = |folder: &Folder| vec![Missing { file: folder.path().join(&name), message: large()[0].1.clone() }];
        let other = Folder::new();
        damage(&folder.path().join(&name));
        assert_eq!(log.backup(&other.path(), large).unwrap().missing, gone(&folder));
        damage(&backup.path().join(&name));
        let verified = verify(&RealDisk, &backup.path(), &mut knowing()).unwrap();
        assert_eq!((verified.missing, verified.problems), (gone(&backup), vec![]));
        let copied = restore(&RealDisk, &backup.path(), &restored.path(), knowing).unwrap();
        assert_eq!((copied.missing, copied.last), (gone(&backup), 450));
        assert_eq!(restored.open().2.entries.len(), 100);
    }
}

#[test]
fn a_damaged_large_message_is_not_copied() {
    let (folder, backup) = (Folder::new(), Folder::new());
    let (log, _, id) = filled(&folder);
    let file = folder.path().join("large").join(format!("message-{id:012}"));
    flip(&file, 100_000);
    let Err(OpenError::Corrupt { file: found, .. }) = log.backup(&backup.path(), Vec::new) else { panic!("copied") };
    assert_eq!(found, file);
}

#[test]
fn a_directory_in_the_place_of_a_file_keeps_the_store_closed_and_is_a_problem() {
    for name in ["log/segment-000000000002", "log/free-000000000001", "snapshot-00000000000000000350", "store"] {
        let folder = Folder::new();
        drop(filled(&folder));
        let path = folder.path().join(name);
        let _ = fs::remove_file(&path);
        fs::create_dir(&path).unwrap();
        let error = folder.try_open(folder.settings()).map(drop).unwrap_err().to_string();
        assert!(error.contains(&path.display().to_string()) && error.contains("move it away"), "{error}");
        let verified = verify(&RealDisk, &folder.path(), &mut Knowing::default()).unwrap();
        let found: Vec<_> = verified.problems.iter().map(|problem| &problem.file).collect();
        assert!(found.contains(&&path), "{verified:?}");
    }
}
