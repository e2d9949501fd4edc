//! What becomes of the queues' time when the system's clock is set.

use amqp::Value;
use amqp::message::{Body, Message};
use queue_core::QueueSettings;

use super::{Directory, Stored, in_memory, volatile};
use crate::shard::tests::client::{Client, encoded};
use crate::store::StoreHandle;

const HOUR: i64 = 3_600_000;

/// Sets the system's clock, as far as the store is concerned. Returned is what it shows.
fn set_clock(store: &StoreHandle, by: i64) -> i64 {
    store.with(|node| node.clock.set_system(by));
    let unix = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_millis();
    i64::try_from(unix).unwrap_or(i64::MAX) + by
}

/// A message that is not to be delivered before, by the system's clock.
fn for_later(time: i64) -> Vec<u8> {
    let mut message = Message::new(Body::Value("later".into()));
    message.message_annotations.insert("x-opt-delivery-time", Value::Timestamp(time));
    encoded(&message)
}

fn send(client: &mut Client, bytes: &[u8]) {
    let link = client.sender(Some("orders"));
    let key = client.send(link, false, bytes);
    assert_eq!(client.outcome(key), Some(amqp::DeliveryState::Accepted));
}

#[test]
fn a_message_is_delivered_when_the_system_says_so_also_if_its_clock_was_set_forward_meanwhile() {
    let (router, store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    let now = set_clock(&store, 0);
    send(&mut client, &for_later(now + HOUR));
    client.receiver("orders", 1);
    router.wait_until("it waits", |_| store.queue("orders").is_some_and(|queue| queue.delayed == 1));
    set_clock(&store, HOUR);
    client.receive();
}

#[test]
fn after_the_clock_was_set_back_times_in_messages_are_by_it_and_a_ttl_takes_as_long_as_ever() {
    let (router, store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    let now = set_clock(&store, -HOUR);
    router.wait_until("it was looked at", |_| store.with(|node| node.clock.ahead() > 0));
    let mut lasting = Message::new(Body::Value("lasting".into()));
    lasting.properties.absolute_expiry_time = Some(now + HOUR / 2);
    send(&mut client, &encoded(&lasting));
    let mut short = Message::new(Body::Value("short".into()));
    short.header.ttl = Some(1);
    send(&mut client, &encoded(&short));
    send(&mut client, &for_later(now + HOUR / 2));
    router.wait_until("the short one is gone", |_| {
        store.queue("orders").is_some_and(|queue| (queue.messages, queue.delayed, queue.expired) == (2, 1, 1))
    });
    client.receiver("orders", 3);
    assert!(client.receive().bytes.ends_with(b"lasting"));
}

#[test]
fn time_does_not_go_back_over_a_restart() {
    let directory = Directory::new("clock");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    set_clock(&stored.store, HOUR);
    send(&mut stored.router.client(), b"\x00\x53\x77\x40");
    let last = stored.store.with(|node| node.clock());
    drop(stored);
    let stored = Stored::at(&directory);
    assert!(stored.store.with(|node| node.clock()) + 60_000 > last, "it went back");
    assert!(stored.store.with(|node| node.clock.ahead()) > 0);
    stored.store.create_queue(QueueSettings::new("more")).expect("it can be made");
}
