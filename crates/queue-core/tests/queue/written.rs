//! What consumers write to messages is counted for as long as it is there.

use amqp::Value;

use crate::support::Host;
use queue_core::*;

fn annotations(pairs: &[(&str, Value)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in pairs {
        Value::symbol(*key).encode(&mut bytes);
        value.encode(&mut bytes);
    }
    bytes
}

fn modified(bytes: &[u8]) -> Outcome {
    Outcome::Modified { failed: true, undeliverable_here: false, annotations: Some(bytes.into()) }
}

/// A queue with messages of which each has been given annotations, and how many bytes these are.
fn annotated(messages: u64) -> (Host, QueueId, u64) {
    let (mut host, queue) = Host::with(|settings| settings.dead_letter_address = Some("dead".into()));
    (0..messages).for_each(|_| drop(host.send(queue, 1)));
    let consumer = host.consumer(queue, messages as u32);
    let bytes = annotations(&[("x-opt-why", "because".into())]);
    for delivered in host.deliver() {
        host.settle(&delivered, modified(&bytes));
    }
    host.broker.set_credit(consumer, messages as u32, false);
    (host, queue, bytes.len() as u64)
}

#[test]
fn annotations_count_until_their_message_is_gone() {
    let (mut host, _, each) = annotated(3);
    assert_eq!((host.broker.written(), host.restored().written()), (3 * each, 3 * each));
    let delivered = host.deliver();
    host.settle(&delivered[0], modified(&annotations(&[("x-opt-why", "b".into())])));
    assert_eq!(host.broker.written(), 3 * each - 6, "of the same key the last counts");
    host.settle(&delivered[1], Outcome::Accepted);
    host.settle(&delivered[2], Outcome::Accepted);
    assert_eq!(host.broker.written(), each - 6);
}

#[test]
fn reasons_of_rejections_count_where_the_message_goes() {
    let (mut host, _, each) = annotated(1);
    let delivered = host.next().unwrap();
    host.settle(&delivered, Outcome::Rejected { error: Some("no good".into()) });
    assert_eq!(host.broker.written(), each + 7);
    let dead = host.queue("dead");
    host.apply(Command::Purge { queue: dead, what: Selection::All }).unwrap();
    assert_eq!(host.broker.written(), 0);
}

#[test]
fn they_go_with_a_deleted_queue() {
    let (mut host, queue, each) = annotated(3000);
    host.apply(Command::DeleteQueue { queue, if_empty: false, orphans: Orphans::Drop }).unwrap();
    assert_eq!(host.restored().written(), host.broker.written());
    assert!(host.broker.written() <= 3000 * each);
    (0..10).for_each(|_| host.wait(1));
    assert_eq!(host.broker.written(), 0);
}

#[test]
fn what_is_not_to_be_written_is_left_out_but_for_when_to_deliver() {
    let large = Value::Binary(vec![0; 2 * MAX_ANNOTATIONS]);
    let bytes = annotations(&[("a", large), ("x-opt-delivery-delay", Value::Ulong(50))]);
    let outcome = modified(&bytes);
    assert_eq!(outcome.writes(), bytes.len());
    let delay = annotations(&[("x-opt-delivery-delay", Value::Ulong(50))]);
    assert_eq!(outcome.without_writing(), modified(&delay));
    let none = Outcome::Modified { failed: true, undeliverable_here: false, annotations: None };
    assert_eq!(modified(&annotations(&[("a", "b".into())])).without_writing(), none);
    let rejected = Outcome::Rejected { error: Some("no".into()) };
    assert_eq!(rejected.without_writing(), Outcome::Rejected { error: None });
}
