//! Commands of queues, as they stand in the log: any bytes are commands, or an error; what was decoded says the same when it
//! is encoded again. Any commands can be applied, and leave a state that says the same after a snapshot.
#![no_main]

use libfuzzer_sys::fuzz_target;
use queue_core::{
    Broker, Command, ConsumerSettings, EntryIndex, MatchAll, Output, Restore, decode_batch, encode_batch,
};

fuzz_target!(|data: &[u8]| {
    let (decoded, peak) = fuzz::peak(|| decode_batch(data));
    assert!(peak < 16 * 1024 + 800 * data.len(), "{peak} bytes held for an input of {}", data.len());
    let Ok((commands, used)) = decoded else { return restore(data) };
    assert!(used <= data.len());
    let mut once = Vec::new();
    encode_batch(&commands, &mut once);
    assert_eq!(decode_batch(&once), Ok((commands.clone(), once.len())));
    apply(&commands);
});

/// All at once, then everything is delivered, and time passes.
fn apply(commands: &[Command]) {
    let mut broker = Broker::new();
    let mut out = Output::default();
    broker.apply(EntryIndex(1), 1000, commands, &mut out);
    assert_eq!(out.applied.len(), commands.len());
    let queues: Vec<_> = broker.queues().map(|(id, _)| id).collect();
    for queue in queues {
        if let Ok(consumer) = broker.subscribe(queue, ConsumerSettings::new("c")) {
            broker.set_credit(consumer, 100, false);
        }
    }
    while broker.next_delivery(1000, &mut MatchAll).is_some() {}
    let mut more = Vec::new();
    broker.handle_timeout(u64::MAX, &mut more);
    broker.apply(EntryIndex(2), u64::MAX, &more, &mut out);
    let bytes = broker.snapshot(EntryIndex(2)).to_bytes();
    let mut again = Restore::new();
    again.feed(&bytes).expect("what was written can be read");
    let (again, at) = again.finish().expect("what was written is all there");
    assert_eq!(again.snapshot(at).to_bytes(), bytes);
}

/// The same bytes as a snapshot.
fn restore(data: &[u8]) {
    let mut restore = Restore::new();
    if restore.feed(data).is_ok()
        && let Ok((broker, at)) = restore.finish()
    {
        broker.snapshot(at).to_bytes();
    }
}
