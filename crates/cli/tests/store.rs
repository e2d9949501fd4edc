//! `waystation log`, `backup` and `restore` on stores that no router has open.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use queue_log::{Entry, HostError, Log, Need, Notice, RealDisk, Recover, Settings, Watcher};
use std::fs;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::{WAYSTATION, run};

struct Host;

impl Recover for Host {
    fn snapshot(&mut self, _: u64, _: &mut dyn Read) -> Result<(), HostError> {
        Ok(())
    }

    fn entry(&mut self, _: &Entry<'_>) -> Result<(), HostError> {
        Ok(())
    }
}

impl Watcher for Host {
    fn durable(&self, _: u64) {}
    fn notice(&self, _: Notice) {}
}

/// A directory with a store in it, `store`, and room for more.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Folder(std::env::temp_dir().join(format!("waystation-store-{}-{name}", std::process::id())));
        let log = folder.open("store");
        for number in 0..200_u8 {
            // Of the first version, from the beginning of 1970, and without commands of the first version.
            let head = vec![1, number, 0, 0, 0, 0, 0, 0, 0, 1, 0];
            log.append(vec![head.into(), vec![number; 500].into()], 500, Need::Ordinary).unwrap();
        }
        log.close();
        folder
    }

    fn open(&self, name: &str) -> Log {
        let settings = Settings { segment_bytes: 64 * 1024, ..Settings::new(self.0.join(name)) };
        Log::open(Arc::new(RealDisk), settings, Arc::new(Host), &mut Host).unwrap()
    }

    fn at(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn flip(file: &Path, at: u64) {
    let file = fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[!byte[0]], at).unwrap();
}

#[test]
fn a_whole_store_is_called_whole() {
    let folder = Folder::new("whole");
    let done = run(WAYSTATION, &format!("log verify {}", folder.at("store")));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains("200 entries") && done.out.contains("nothing is wrong"), "{}", done.out);
}

#[test]
fn damage_is_told_by_file_and_byte_and_what_is_behind_it_is_shown() {
    let folder = Folder::new("damaged");
    let segment = folder.0.join("store/log/segment-000000000001");
    let dumped = run(WAYSTATION, &format!("log dump {} --from 50 --count 1", folder.at("store"))).out;
    let line = dumped.lines().find(|line| line.contains("entry 50:")).unwrap();
    let offset: u64 = line.split_whitespace().next().unwrap().parse().unwrap();
    flip(&segment, offset + 70);
    let done = run(WAYSTATION, &format!("log verify {}", folder.at("store")));
    assert_eq!(done.status, 1, "{}", done.out);
    assert!(done.out.contains(&format!("{}: byte {offset}: ", segment.display())), "{}", done.out);
    let dumped = run(WAYSTATION, &format!("log dump {} --contents 4", folder.at("store")));
    assert!(dumped.out.contains("DAMAGED") && dumped.out.contains("entry 51:"), "{}", dumped.out);
    assert!(dumped.out.contains("01 0a 00 00"), "{}", dumped.out);
    let json = run(WAYSTATION, &format!("log verify {} --json", folder.at("store"))).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["whole"], &json["problems"][0]["offset"]), (&false.into(), &offset.into()));
}

#[test]
fn a_store_that_is_open_gives_no_answer() {
    let folder = Folder::new("open");
    let _log = folder.open("store");
    let done = run(WAYSTATION, &format!("log verify {}", folder.at("store")));
    assert_eq!(done.status, 2, "{}", done.out);
    assert!(done.err.contains("open in another process"), "{}", done.err);
}

#[test]
fn a_backup_of_a_stopped_store_is_restored() {
    let folder = Folder::new("copies");
    let (store, backup, again) = (folder.at("store"), folder.at("backup"), folder.at("again"));
    let done = run(WAYSTATION, &format!("backup {backup} --store {store}"));
    assert_eq!(done.status, 0, "{}", done.err);
    let done = run(WAYSTATION, &format!("restore {backup} {again}"));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains("up to entry 200"), "{}", done.out);
    assert_eq!(folder.open("again").read_part(77, 1).unwrap(), [76; 500]);
    let done = run(WAYSTATION, &format!("restore {backup} {again}"));
    assert_eq!(done.status, 1);
    assert!(done.err.contains("is not empty"), "{}", done.err);
}

#[test]
fn a_damaged_backup_is_not_restored() {
    let folder = Folder::new("rotten");
    let (store, again) = (folder.at("store"), folder.at("again"));
    flip(&folder.0.join("store/log/segment-000000000001"), 20_000);
    let done = run(WAYSTATION, &format!("restore {store} {again}"));
    assert_eq!(done.status, 1, "{}", done.out);
    assert!(done.err.contains("corrupt at byte") && !Path::new(&again).exists(), "{}", done.err);
}
