//! What a queue reads of a message: any bytes are a message of which the facts are known, or an error; a delivery of it
//! begins with sections that are a message together with the rest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use queue_core::{
    Body, Broker, Command, ConsumerSettings, Enqueue, EntryIndex, Facts, MatchAll, Node, Output, QueueSettings, Target,
    Wanted,
};

fuzz_target!(|data: &[u8]| {
    let wanted = Wanted { keys: vec!["k".into(), "x-opt-k".into()], duplicates: true, ..Wanted::default() };
    let (facts, peak) = fuzz::peak(|| Facts::of(data, 1000, &wanted));
    assert!(peak < 64 * 1024 + 400 * data.len(), "{peak} bytes held for an input of {}", data.len());
    if let Ok(facts) = facts {
        deliver(data, facts);
    }
});

/// Through a queue, if it is one that can be delivered.
fn deliver(data: &[u8], facts: Facts) {
    let mut broker = Broker::new();
    let mut out = Output::default();
    let settings = QueueSettings { last_value_key: Some("k".into()), duplicate_count: 1, ..QueueSettings::new("q") };
    broker.apply(EntryIndex(1), 1000, &[Command::CreateQueue(Box::new(settings))], &mut out);
    let Some(Node::Queue(queue)) = broker.node("q") else { panic!("the queue is not there") };
    let to = [Target::Queue(queue)].into_iter().collect();
    let enqueue = Command::Enqueue(Box::new(Enqueue { to, facts, body: Body::Here }));
    broker.apply(EntryIndex(2), 1000, &[enqueue], &mut out);
    let consumer = broker.subscribe(queue, ConsumerSettings::new("c")).expect("it is the first one");
    broker.set_credit(consumer, 1, false);
    let Some(given) = broker.next_delivery(1000, &mut MatchAll) else { return };
    let mut head = Vec::new();
    let from = given.write_head(data, 1000, &mut head).expect("its facts were read");
    head.extend_from_slice(&data[from..]);
    Facts::of(&head, 1000, &Wanted::nothing()).expect("what is delivered is a message");
}
