//! How much of a processor's time nobody else is served while many messages are dropped, moved, or deleted with their queue: as one command, and in
//! slices, as the host does it.
//!
//! `cargo run --release -p queue-core --example stalls 1000000`

#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used, reason = "a measurement")]

use queue_core::*;

/// Messages of a slice.
const SLICE: usize = 1024;

/// Nanoseconds of a processor that this thread has used.
fn used() -> u64 {
    let read = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    read.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

struct Bench {
    broker: Broker,
    out: Output,
    entry: u64,
    /// Nanoseconds.
    longest: u64,
}

impl Bench {
    /// A broker with a queue of so many messages, and an empty one.
    fn new(messages: u64) -> (Self, QueueId, QueueId) {
        let mut bench = Self { broker: Broker::new(), out: Output::default(), entry: 0, longest: 0 };
        let mut make = |address: &str| {
            bench.apply(&[Command::CreateQueue(Box::new(QueueSettings::new(address)))]);
            let Some(Node::Queue(queue)) = bench.broker.node(address) else { panic!("it was made") };
            queue
        };
        let (from, to) = (make("from"), make("to"));
        for _ in 0..messages {
            let to = [Target::Queue(from)].into_iter().collect();
            bench.apply(&[Command::Enqueue(Box::new(Enqueue { to, facts: Facts::plain(1024), body: Body::Here }))]);
        }
        bench.longest = 0;
        (bench, from, to)
    }

    fn apply(&mut self, batch: &[Command]) {
        self.out.clear();
        self.entry += 1;
        let start = used();
        self.broker.apply(EntryIndex(self.entry), self.entry, batch, &mut self.out);
        self.longest = self.longest.max(used() - start);
    }

    fn in_slices(&mut self, queue: QueueId, command: impl Fn(Selection) -> Command) {
        let extent = self.broker.extent(queue).unwrap();
        let mut from = Some(Seq::FIRST);
        while let Some(place) = from {
            let start = used();
            let (items, next) = self.broker.slice(queue, &extent, place, SLICE);
            self.longest = self.longest.max(used() - start);
            self.apply(&[command(Selection::These(items))]);
            from = next;
        }
    }
}

fn main() {
    let messages = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let told = |what: &str, bench: &Bench| println!("{what}: {} µs at most", bench.longest / 1000);
    let (mut bench, from, _) = Bench::new(messages);
    bench.apply(&[Command::Purge { queue: from, what: Selection::All }]);
    told("purge as one command", &bench);
    let (mut bench, from, _) = Bench::new(messages);
    bench.in_slices(from, |what| Command::Purge { queue: from, what });
    told("purge in slices", &bench);
    let (mut bench, from, to) = Bench::new(messages);
    bench.apply(&[Command::Move { from, to, what: Selection::All }]);
    told("move as one command", &bench);
    let (mut bench, from, to) = Bench::new(messages);
    bench.in_slices(from, |what| Command::Move { from, to, what });
    told("move in slices", &bench);
    let (mut bench, from, _) = Bench::new(messages);
    bench.apply(&[Command::DeleteQueue { queue: from, if_empty: false, orphans: Orphans::Drop }]);
    told("delete", &bench);
    let mut commands = Vec::new();
    while bench.broker.node("from").is_none() {
        bench.broker.handle_timeout(u64::MAX, &mut commands);
        if commands.is_empty() {
            break;
        }
        bench.apply(&std::mem::take(&mut commands));
    }
    told("delete, and what is left goes", &bench);
}
