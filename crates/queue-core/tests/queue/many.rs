//! Queues with many messages: chunks are packed, opened again, thinned out, and shared with snapshots.

use crate::support::{Host, enqueue};
use queue_core::*;

/// More than are kept unpacked.
const MANY: u64 = 100_000;

/// A queue with so many messages of sizes 1, 2, 3, ...
fn filled(many: u64) -> (Host, QueueId) {
    let (mut host, queue) = Host::with(|_| {});
    for first in (1..=many).step_by(1000) {
        let sizes = first..(first + 1000).min(many + 1);
        host.apply_all(sizes.map(|size| enqueue(Target::Queue(queue), Facts::plain(size))).collect());
    }
    (host, queue)
}

fn purge(host: &mut Host, queue: QueueId, keep: impl Fn(u64) -> bool) -> Vec<u64> {
    let (gone, left): (Vec<_>, Vec<_>) =
        host.broker.peek(queue, Seq::FIRST, usize::MAX).into_iter().partition(|message| !keep(message.size));
    let items = gone.iter().map(|message| message.seq).collect();
    host.apply(Command::Purge { queue, what: Selection::These(items) }).unwrap();
    left.iter().map(|message| message.size).collect()
}

fn sizes(broker: &mut Broker, queue: QueueId) -> Vec<u64> {
    broker.peek(queue, Seq::FIRST, usize::MAX).iter().map(|message| message.size).collect()
}

#[test]
fn what_is_left_of_many_messages_is_what_was_not_taken() {
    let (mut host, queue) = filled(MANY);
    assert_eq!(sizes(&mut host.broker, queue), (1..=MANY).collect::<Vec<_>>());
    // A part everywhere, most of a part, all of a part.
    let left = purge(&mut host, queue, |size| size % 3 > 0 && (size < 20_000 || size % 50 == 1 || size > 70_000));
    assert_eq!(sizes(&mut host.broker, queue), left);
    let mut restored = host.restored();
    assert_eq!(sizes(&mut restored, queue), left);
    host.consumer(queue, u32::MAX);
    assert_eq!(host.sizes(), left);
}

#[test]
fn a_snapshot_stays_what_it_was_while_messages_change_and_leave() {
    let (mut host, queue) = filled(10_000);
    let at = EntryIndex(host.log.len() as u64);
    let snapshot = host.broker.snapshot(at);
    let bytes = snapshot.to_bytes();
    host.consumer(queue, 3000);
    for message in host.deliver() {
        let outcome = if message.size.is_multiple_of(2) { Outcome::Accepted } else { Outcome::lost() };
        let command = host.broker.outcome(message.acquisition.unwrap(), outcome, host.now);
        host.apply(command.unwrap()).unwrap();
    }
    purge(&mut host, queue, |size| size < 9000);
    host.send(queue, 1).unwrap();
    assert_eq!(snapshot.to_bytes(), bytes);
}

#[test]
fn a_queue_that_is_nearly_empty_all_the_time_goes_on_for_ever() {
    let (mut host, queue) = Host::with(|settings| settings.default_ttl = Some(1_000));
    let consumer = host.consumer(queue, 0);
    for size in 1..=5000 {
        host.send_facts(queue, Facts { priority: (size % 10) as u8, ..Facts::plain(size) }).unwrap();
        host.broker.set_credit(consumer, 1, false);
        let message = host.next().unwrap();
        assert_eq!(message.size, size);
        host.settle(&message, Outcome::Accepted);
    }
    assert_eq!(host.next(), None);
    assert_eq!(host.broker.next_timeout(), None);
    host.restored();
}

#[test]
fn what_is_left_of_a_deleted_queue_is_in_a_snapshot_though_a_topic_has_its_address() {
    let (mut host, queue) = filled(3000);
    let settings = host.broker.settings(queue).cloned().unwrap();
    host.apply(Command::DeleteQueue { queue, if_empty: false, orphans: Orphans::Drop }).unwrap();
    let topic = match host.apply(Command::CreateTopic(Box::new(QueueSettings::clone(&settings)))) {
        Ok(Done::TopicCreated(topic)) => topic,
        other => panic!("{other:?}"),
    };
    host.broker = host.restored();
    assert_eq!(host.broker.node(&settings.address), Some(Node::Topic(topic)));
    (0..10).for_each(|_| host.wait(1));
    assert_eq!(host.apply(Command::Sweep { queue, most: 1 }), Err(Refused::NoQueue), "all of it is gone");
}
