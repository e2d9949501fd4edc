//! Connections on several shards.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use amqp::DeliveryState;

use super::client::{Client, Happened, Received, message};
use super::router::Router;
use crate::shard::ConnectionSettings;

/// A client on some shard: every other one is likely to be on another than the one before.
fn client_anywhere(router: &Router) -> Client {
    router.shards.spread();
    router.client()
}

/// Sizes from nothing to what is streamed, most of them small.
fn size(number: usize) -> usize {
    match number % 20 {
        7 => 300_000,
        13 => 60_000,
        other => other * 37,
    }
}

/// Sends to an address and waits for every outcome.
fn send_all(mut sender: Client, address: &str) {
    let link = sender.sender(Some(address));
    let keys: Vec<u64> = (0..100).map(|number| sender.send(link, false, &message(size(number)))).collect();
    for key in keys {
        sender.outcome(key);
    }
}

/// Accepts whatever comes, and checks that it is whole.
fn accept_all(mut receiver: Client, address: &str, stop: &AtomicBool) {
    let link = receiver.receiver(address, 50);
    while !stop.load(Ordering::Relaxed) {
        receiver.turn(Duration::from_millis(5));
        while let Some(received) = receiver.take_message() {
            assert!(received.bytes == message(received.bytes.len() - overhead(&received)), "the message is whole");
            receiver.settle(&received, DeliveryState::Accepted);
            receiver.endpoint.add_credit(link, 1);
        }
    }
}

/// What a message has beside its body: as much as the message without one, with a longer length if it needs it.
fn overhead(received: &Received) -> usize {
    if received.bytes.len() > 255 + message(0).len() { message(256).len() - 256 } else { message(0).len() }
}

/// Receives a little and dies, again and again.
fn die_often(router: &Router, address: &str, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let mut receiver = client_anywhere(router);
        receiver.receiver(address, 5);
        receiver.turn(Duration::from_millis(20));
    }
}

#[test]
fn every_message_has_its_outcome_though_receivers_die_and_everything_is_freed() {
    let router = Router::with(4, ConnectionSettings::default());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (0..3)
            .flat_map(|index| {
                let address = format!("a/{index}");
                let receiver = client_anywhere(&router);
                let (stop, router, other) = (&stop, &router, address.clone());
                [
                    scope.spawn(move || accept_all(receiver, &address, stop)),
                    scope.spawn(move || die_often(router, &other, stop)),
                ]
            })
            .collect();
        let senders: Vec<_> = (0..6)
            .map(|index| {
                let sender = client_anywhere(&router);
                scope.spawn(move || send_all(sender, &format!("a/{}", index % 3)))
            })
            .collect();
        let sent = senders.into_iter().map(|sender| sender.join()).all(|result| result.is_ok());
        stop.store(true, Ordering::Relaxed);
        assert!(helpers.into_iter().map(|helper| helper.join()).all(|result| result.is_ok()), "all was whole");
        assert!(sent, "all senders have their outcomes");
    });
    router.wait_until("nothing is kept", |shards| shards.counts().messages == 0);
    router.wait_until("all are gone", |shards| shards.with_core(|core, _, now| core.connections(now).is_empty()));
}

#[test]
fn a_large_message_streams_from_one_shard_to_another() {
    let router = Router::with(2, ConnectionSettings::default());
    let mut receiver = router.client();
    receiver.receiver("a", 1);
    let mut sender = router.client();
    while router.shards.running() < 2 {
        sender = client_anywhere(&router);
    }
    let link = sender.sender(Some("a"));
    let reading = std::thread::spawn(move || {
        let received = receiver.receive();
        receiver.settle(&received, DeliveryState::Accepted);
        (receiver, received.bytes.len())
    });
    let key = sender.send(link, false, &message(20_000_000));
    let (receiver, size) = reading.join().expect("the receiver reads");
    assert_eq!(size, message(20_000_000).len());
    assert_eq!(sender.outcome(key), Some(DeliveryState::Accepted));
    drop(receiver);
}

#[test]
fn an_abort_follows_its_message_to_another_shard() {
    let router = Router::with(2, ConnectionSettings::default());
    let mut receiver = router.client();
    receiver.receiver("a", 10);
    let mut sender = router.client();
    while router.shards.running() < 2 {
        sender = client_anywhere(&router);
    }
    let link = sender.sender(Some("a"));
    sender.begin(link, false);
    sender.send_part(link, &message(1_000_000)[..200_000], true);
    while receiver.bytes_received == 0 {
        receiver.turn(Duration::from_millis(20));
    }
    sender.endpoint.abort_delivery(link);
    sender.write();
    let ended = receiver.expect("the end", |happened| matches!(happened, Happened::Message(_)));
    assert!(matches!(ended, Happened::Message(Received { aborted: true, .. })));
    router.wait_until("nothing is kept", |shards| shards.counts().messages == 0);
}

#[test]
fn a_state_that_a_message_is_sent_with_follows_it_to_another_shard() {
    let router = Router::with(2, ConnectionSettings::default());
    let mut receiver = router.client();
    receiver.receiver("a", 1);
    let mut sender = router.client();
    while router.shards.running() < 2 {
        sender = client_anywhere(&router);
    }
    let link = sender.sender(Some("a"));
    let state = DeliveryState::Other(Box::new([0, 0x53, 0x99, 0x45]));
    sender.begin_with(link, false, Some(&state));
    sender.send_part(link, &message(10), false);
    assert_eq!(receiver.receive().state, Some(state));
}
