//! What does the log cost on this disk? `cargo run --release -p queue-log --example measure -- DIR [appends|latency|recovery]`
//!
//! Appends: entries of 1 KiB by 1, 8 and 64 threads, each of which waits until its entry is durable before it appends the
//! next. Latency: from append to durable at 1,000 entries a second, beside the latency of fdatasync itself after a write of
//! the same size. Recovery: how long it takes to open a store with a million entries of 1 KiB and no checkpoint.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for people who measure")]

use parking_lot::{Condvar, Mutex};
use queue_log::{Entry, HostError, Log, Need, Notice, RealDisk, Recover, Settings, Watcher};
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const SIZE: usize = 1024;

#[derive(Default)]
struct Ear {
    durable: Mutex<(u64, Vec<(u64, Instant)>)>,
    changed: Condvar,
}

impl Watcher for Ear {
    fn durable(&self, up_to: u64) {
        let mut durable = self.durable.lock();
        durable.0 = up_to;
        durable.1.push((up_to, Instant::now()));
        drop(durable);
        self.changed.notify_all();
    }

    fn notice(&self, notice: Notice) {
        eprintln!("{notice}");
    }
}

impl Ear {
    fn wait(&self, index: u64) {
        let mut durable = self.durable.lock();
        while durable.0 < index {
            self.changed.wait(&mut durable);
        }
    }
}

#[derive(Default)]
struct Count {
    entries: u64,
    bytes: u64,
}

impl Recover for Count {
    fn snapshot(&mut self, _: u64, _: &mut dyn Read) -> Result<(), HostError> {
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), HostError> {
        self.entries += 1;
        self.bytes += entry.parts().map(|part| part.len() as u64).sum::<u64>();
        Ok(())
    }
}

fn open(dir: &Path) -> (Log, Arc<Ear>, Count) {
    let (ear, mut count) = (Arc::new(Ear::default()), Count::default());
    let log = Log::open(Arc::new(RealDisk), Settings::new(dir), Arc::<Ear>::clone(&ear), &mut count).unwrap();
    (log, ear, count)
}

fn append(log: &Log, body: &Arc<Vec<u8>>) -> u64 {
    log.append(vec![Arc::clone(body).into()], SIZE as u64, Need::Ordinary).unwrap()
}

fn fresh(dir: &Path, name: &str) -> PathBuf {
    let dir = dir.join(name);
    let _ = fs::remove_dir_all(&dir);
    dir
}

fn appends(dir: &Path) {
    let body = Arc::new(vec![7_u8; SIZE]);
    for threads in [1_u64, 8, 64] {
        let (log, ear, _) = open(&fresh(dir, "appends"));
        let began = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while began.elapsed() < Duration::from_secs(5) {
                        ear.wait(append(&log, &body));
                    }
                });
            }
        });
        let (stats, seconds) = (log.stats(), began.elapsed().as_secs_f64());
        println!(
            "{threads:3} appenders: {:8.0} appends/s, {:6.0} syncs/s, {:5.1} entries a sync, sync {:4.0} µs in the mean",
            stats.entries as f64 / seconds,
            stats.syncs as f64 / seconds,
            stats.entries as f64 / stats.syncs as f64,
            stats.sync_micros as f64 / stats.syncs as f64,
        );
    }
    let (log, ear, _) = open(&fresh(dir, "appends"));
    let began = Instant::now();
    let mut last = 0;
    while began.elapsed() < Duration::from_secs(5) {
        if log.queued_bytes() > 16 << 20 {
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        last = append(&log, &body);
    }
    ear.wait(last);
    let seconds = began.elapsed().as_secs_f64();
    println!("as fast as it goes: {:8.0} appends/s, {:.0} MB/s", last as f64 / seconds, last as f64 / seconds / 1e3);
}

fn percentiles(name: &str, mut micros: Vec<u128>) {
    micros.sort_unstable();
    let at = |share: f64| micros[((micros.len() - 1) as f64 * share) as usize];
    println!("{name}: p50 {} µs, p90 {} µs, p99 {} µs, p99.9 {} µs", at(0.5), at(0.9), at(0.99), at(0.999));
}

/// In turns, so that both meet the same disk.
fn latency(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    let path = fresh(dir, "raw");
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path).unwrap();
    file.write_all_at(&vec![1; 16 << 20], 0).unwrap();
    file.sync_all().unwrap();
    let (log, ear, _) = open(&fresh(dir, "latency"));
    let body = Arc::new(vec![7_u8; SIZE]);
    let (mut raw, mut appended) = (Vec::new(), Vec::new());
    for round in 0..20_u32 {
        paced(|number| {
            let before = Instant::now();
            file.write_all_at(&body, u64::from(round * ROUND + number) * SIZE as u64).unwrap();
            file.sync_data().unwrap();
            raw.push(before.elapsed().as_micros());
        });
        paced(|_| appended.push((Instant::now(), append(&log, &body))));
        ear.wait(u64::from((round + 1) * ROUND));
    }
    fs::remove_file(path).unwrap();
    percentiles("write of 1 KiB and fdatasync, file written before", raw);
    let durable = ear.durable.lock().1.clone();
    let mut times = durable.iter().peekable();
    let waited = appended.into_iter().map(|(at, index)| {
        while times.next_if(|(up_to, _)| *up_to < index).is_some() {}
        times.peek().unwrap().1.duration_since(at).as_micros()
    });
    percentiles("append to durable at 1,000/s", waited.collect());
}

/// Entries of one turn.
const ROUND: u32 = 500;

/// One each millisecond.
fn paced(mut act: impl FnMut(u32)) {
    let began = Instant::now();
    for number in 0..ROUND {
        let due = began + Duration::from_millis(number.into());
        thread::sleep(due.saturating_duration_since(Instant::now()));
        act(number);
    }
}

fn recovery(dir: &Path) {
    let (log, ear, _) = open(&fresh(dir, "recovery"));
    let body = Arc::new(vec![7_u8; SIZE]);
    for number in 1..=1_000_000_u64 {
        append(&log, &body);
        if number.is_multiple_of(8192) {
            ear.wait(number);
        }
    }
    ear.wait(1_000_000);
    drop(log);
    for way in ["from the disk", "from memory"] {
        if way == "from the disk" {
            let _ = fs::write("/proc/sys/vm/drop_caches", "3");
        }
        let began = Instant::now();
        let (_, _, count) = open(&dir.join("recovery"));
        println!(
            "recovery of {} entries, {} MB, {way}: {:.2} s",
            count.entries,
            count.bytes / 1_000_000,
            began.elapsed().as_secs_f64()
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = PathBuf::from(arguments.next().expect("a directory on the disk to measure"));
    let what = arguments.next();
    let wanted = |name: &str| what.as_deref().is_none_or(|what| what == name);
    if wanted("appends") {
        appends(&dir);
    }
    if wanted("latency") {
        latency(&dir);
    }
    if wanted("recovery") {
        recovery(&dir);
    }
    for name in ["appends", "latency", "recovery"] {
        let _ = fs::remove_dir_all(dir.join(name));
    }
}
