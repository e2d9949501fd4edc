//! How deliveries begin: header and annotations say what has happened to the message.

use crate::support::Host;
use amqp::Value;
use amqp::message::{Body, Header, Message, Properties};
use queue_core::*;

fn message() -> Message {
    Message {
        header: Header { durable: true, ttl: Some(500), delivery_count: 2, ..Header::default() },
        message_annotations: [(Value::symbol("x-opt-a"), Value::from("old"))].into_iter().collect(),
        properties: Properties { subject: Some("s".into()), ..Properties::default() },
        body: Body::Value(Value::from("body")),
        ..Message::default()
    }
}

/// The message as it is delivered.
fn delivered(assignment: &Assignment, now: Millis) -> Message {
    let bytes = message().to_bytes();
    let mut out = Vec::new();
    let from = assignment.write_head(&bytes, now, &mut out).unwrap();
    out.extend_from_slice(&bytes[from..]);
    Message::decode(&out).unwrap()
}

fn annotation(message: &Message, key: &str) -> Option<Value> {
    message.message_annotations.iter().find(|(name, _)| **name == Value::symbol(key)).map(|(_, value)| value.clone())
}

#[test]
fn a_first_delivery_says_so_and_how_long_the_message_still_lives() {
    let (mut host, queue) = Host::with(|_| {});
    let facts = Facts::of(&message().to_bytes(), host.now, &Wanted::nothing()).unwrap();
    assert_eq!(facts.expires_at, Some(host.now + 500));
    host.send_facts(queue, facts).unwrap();
    host.consumer(queue, 1);
    host.now += 100;
    let assignment = host.next().unwrap();
    let sent = delivered(&assignment, host.now);
    let header = Header { durable: true, ttl: Some(400), first_acquirer: true, delivery_count: 2, ..Header::default() };
    assert_eq!(sent, Message { header, ..message() });
}

#[test]
fn what_a_consumer_merged_in_replaces_annotations_of_the_same_key() {
    let (mut host, queue) = Host::with(|_| {});
    host.send(queue, 1).unwrap();
    host.consumer(queue, 2);
    let first = host.next().unwrap();
    let mut annotations = Vec::new();
    for (key, value) in [("x-opt-a", "new"), ("x-opt-b", "more")] {
        Value::symbol(key).encode(&mut annotations);
        Value::from(value).encode(&mut annotations);
    }
    let outcome = Outcome::Modified { failed: true, undeliverable_here: false, annotations: Some(annotations.into()) };
    host.settle(&first, outcome);
    let again = host.next().unwrap();
    let sent = delivered(&again, host.now);
    assert_eq!(annotation(&sent, "x-opt-a"), Some("new".into()));
    assert_eq!(annotation(&sent, "x-opt-b"), Some("more".into()));
    let header = sent.header;
    assert_eq!((header.delivery_count, header.first_acquirer, header.ttl), (3, false, None));
}

// ARTEMIS-3163
#[test]
fn a_dead_letter_says_why_where_when_and_how_often() {
    let (mut host, queue) = Host::with(|settings| settings.dead_letter_address = Some("dead".into()));
    host.send(queue, 1).unwrap();
    host.consumer(queue, 1);
    let first = host.next().unwrap();
    host.settle(&first, Outcome::Rejected { error: Some("no".into()) });
    let dead = host.queue("dead");
    host.consumer(dead, 1);
    let letter = host.next().unwrap();
    let sent = delivered(&letter, host.now);
    let said = [DEAD_LETTER_REASON, DEAD_LETTER_ORIGIN, DEAD_LETTER_ERROR, ORIGINAL_QUEUE, "x-opt-a"];
    assert_eq!(said.map(|key| annotation(&sent, key)), ["rejected", "q", "no", "q", "old"].map(|t| Some(t.into())));
    assert_eq!(annotation(&sent, DEAD_LETTER_TIME), Some(Value::Timestamp(host.now as i64)));
    assert_eq!(annotation(&sent, DEAD_LETTER_COUNT), Some(Value::Uint(1)));
}
