//! Messages that pass a queue in memory, because a receiver waits for them.

use amqp::DeliveryState;
use amqp::message::{Body, Message};

use super::{in_memory, volatile};
use crate::shard::tests::client::{Happened, encoded};

/// A message that says this.
fn text(text: &str) -> Vec<u8> {
    encoded(&Message::new(Body::Data(vec![text.as_bytes().to_vec()])))
}

#[test]
fn a_message_that_passed_comes_again_if_its_receiver_is_lost() {
    let (router, store) = in_memory([volatile("orders")]);
    let (mut first, mut sender) = (router.client(), router.client());
    first.receiver("orders", 10);
    let link = sender.sender(Some("orders"));
    let key = sender.send(link, false, &text("one"));
    assert_eq!(first.receive().bytes, text("one"));
    assert_eq!(sender.outcome(key), Some(DeliveryState::Accepted));
    assert_eq!(store.queue("orders").map(|queue| (queue.messages, queue.acquired)), Some((1, 1)));
    drop(first);
    let mut second = router.client();
    second.receiver("orders", 10);
    let again = second.receive();
    assert!(again.bytes.ends_with(&text("one")) && again.bytes.len() > text("one").len(), "its header says so");
    second.settle(&again, DeliveryState::Accepted);
    router.wait_until("it is gone", |_| store.queue("orders").is_some_and(|queue| queue.messages == 0));
    let seen = store.queue("orders").map(|queue| (queue.enqueued, queue.dequeued, queue.delivered, queue.redelivered));
    assert_eq!(seen, Some((1, 1, 2, 1)));
}

#[test]
fn no_message_passes_those_that_wait_for_a_receiver() {
    let (router, _store) = in_memory([volatile("orders")]);
    let (mut receiver, mut sender) = (router.client(), router.client());
    let from = receiver.receiver("orders", 3);
    let link = sender.sender(Some("orders"));
    let all: Vec<Vec<u8>> = (0..50).map(|number| text(&number.to_string())).collect();
    // Some pass, others wait; then there is credit while more of them come.
    let mut keys: Vec<u64> = all[..10].iter().map(|message| sender.send(link, false, message)).collect();
    receiver.endpoint.add_credit(from, 100);
    receiver.write();
    keys.extend(all[10..].iter().map(|message| sender.send(link, false, message)));
    for message in &all {
        let received = receiver.receive();
        assert_eq!(&received.bytes, message);
        receiver.settle(&received, DeliveryState::Accepted);
    }
    keys.into_iter().for_each(|key| assert_eq!(sender.outcome(key), Some(DeliveryState::Accepted)));
}

#[test]
fn whoever_accepts_a_message_that_passed_without_settling_it_hears_that_it_is_settled() {
    let (router, store) = in_memory([volatile("orders")]);
    let (mut receiver, mut sender) = (router.client(), router.client());
    receiver.receiver("orders", 10);
    let link = sender.sender(Some("orders"));
    for _ in 0..3 {
        sender.send(link, false, &text("one"));
        let received = receiver.receive();
        let (link, id) = (received.link, received.delivery_id);
        receiver.endpoint.set_incoming_key(link, id, id.into());
        receiver.endpoint.update_incoming(link, id, Some(DeliveryState::Accepted), false);
        receiver.write();
        let is_it = |happened: &Happened| matches!(happened, Happened::SenderOutcome { key, settled: true, .. } if *key == u64::from(id));
        receiver.expect("that it is settled", is_it);
    }
    assert_eq!(store.queue("orders").map(|queue| (queue.messages, queue.dequeued)), Some((0, 3)));
}
