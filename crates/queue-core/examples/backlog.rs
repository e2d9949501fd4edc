//! How much memory a message takes that waits in a queue, and what its way through costs without the host around it.
//!
//! `cargo run --release -p queue-core --example backlog 10000000`; under `valgrind --tool=callgrind` for instructions.
//! `backlog queues 10000` spreads messages over so many queues, `backlog consumers 1000` over so many consumers of one.

#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used, reason = "a measurement")]

use queue_core::*;

/// Messages in one entry of the log.
const BATCH: u64 = 50;

/// Bytes that the process has in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Nanoseconds of a processor that the process has used, in steps of ten milliseconds.
fn used() -> u64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have spaces; the 12th and 13th field behind it are what is looked for.
    let behind = status.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = behind.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum();
    ticks * 10_000_000
}

fn said(what: &str, messages: u64, since: u64) {
    println!("{what}: {} ns of CPU a message", (used() - since) / messages.max(1));
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok());
    match arguments.first().map(String::as_str) {
        Some("queues") => spread(number(1).unwrap_or(10_000), 1),
        Some("consumers") => spread(1, number(1).unwrap_or(1_000)),
        _ => backlog(number(0).unwrap_or(1_000_000)),
    }
}

/// A message to each queue in turn, which is delivered and settled before the next.
fn spread(queues: u64, consumers: u64) {
    const MESSAGES: u64 = 200_000;
    let mut broker = Broker::new();
    let mut out = Output::default();
    let mut ids = Vec::new();
    for number in 0..queues {
        let create = Command::CreateQueue(Box::new(QueueSettings::new(format!("q{number}"))));
        broker.apply(EntryIndex(0), 0, &[create], &mut out);
        let Some(Node::Queue(queue)) = broker.node(&format!("q{number}")) else { return };
        ids.push(queue);
        for _ in 0..consumers {
            let consumer = broker.subscribe(queue, ConsumerSettings::new("c")).unwrap();
            broker.set_credit(consumer, u32::MAX, false);
        }
    }
    let start = used();
    for (entry, queue) in (1..=MESSAGES).zip(ids.iter().cycle()) {
        let to = [Target::Queue(*queue)].into_iter().collect();
        let enqueue = Enqueue { to, facts: Facts::plain(1000), body: Body::Here };
        out.clear();
        broker.apply(EntryIndex(entry), 0, &[Command::Enqueue(Box::new(enqueue))], &mut out);
        while let Some(given) = broker.next_delivery(0, &mut MatchAll) {
            let Some(acquisition) = given.acquisition else { continue };
            let Some(command) = broker.outcome(acquisition, Outcome::Accepted, 0) else { continue };
            broker.apply(EntryIndex(entry), 0, &[command], &mut out);
        }
    }
    said("one at a time", MESSAGES, start);
}

/// All messages to one queue, then from there.
fn backlog(messages: u64) {
    let mut broker = Broker::new();
    let mut out = Output::default();
    let create = Command::CreateQueue(Box::new(QueueSettings::new("q")));
    broker.apply(EntryIndex(0), 0, &[create], &mut out);
    let Some(Node::Queue(queue)) = broker.node("q") else { return };
    let before = resident();
    let start = used();
    let mut batch = Vec::new();
    for entry in 1..=messages / BATCH {
        batch.clear();
        for _ in 0..BATCH {
            let to = [Target::Queue(queue)].into_iter().collect();
            let facts = Facts { durable: true, ..Facts::plain(1000 + entry % 100) };
            batch.push(Command::Enqueue(Box::new(Enqueue { to, facts, body: Body::Here })));
        }
        out.clear();
        broker.apply(EntryIndex(entry), 1_700_000_000_000 + entry / 10, &batch, &mut out);
    }
    said("enqueue", messages, start);
    println!("memory: {:.1} bytes a message", (resident() - before) as f64 / messages as f64);

    let start = used();
    let snapshot = broker.snapshot(EntryIndex(messages));
    println!("snapshot taken in {} ms of CPU", (used() - start) / 1_000_000);
    let start = used();
    let mut size = 0u64;
    let written: Result<(), ()> = snapshot.write(|piece| {
        size += piece.len() as u64;
        Ok(())
    });
    written.unwrap();
    said("snapshot written", messages, start);
    println!("snapshot: {:.1} bytes a message", size as f64 / messages as f64);
    let mut restore = Restore::new();
    let start = used();
    snapshot.write(|piece| restore.feed(piece)).unwrap();
    let mut broker = restore.finish().unwrap().0;
    said("written and restored", messages, start);
    drop(snapshot);

    let consumer = broker.subscribe(queue, ConsumerSettings::new("c")).unwrap();
    let start = used();
    let mut entry = messages;
    loop {
        broker.set_credit(consumer, BATCH as u32, false);
        batch.clear();
        while let Some(given) = broker.next_delivery(0, &mut MatchAll) {
            let Some(acquisition) = given.acquisition else { continue };
            let Some(command) = broker.outcome(acquisition, Outcome::Accepted, 0) else { continue };
            if !batch.last_mut().is_some_and(|last: &mut Command| last.absorb(&command)) {
                batch.push(command);
            }
        }
        if batch.is_empty() {
            break;
        }
        entry += 1;
        out.clear();
        broker.apply(EntryIndex(entry), 1_800_000_000_000, &batch, &mut out);
    }
    said("assign and settle", messages, start);
    println!("depth at the end: {}", broker.statistics(queue).map_or(0, |statistics| statistics.depth));
}
