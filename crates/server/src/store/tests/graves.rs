//! Queues for dead letters and expired messages are there before the first of these.

use amqp::DeliveryState;
use amqp::message::Message;
use queue_core::QueueSettings;

use super::{Directory, Stored, in_memory, volatile};
use crate::shard::tests::client::{Client, message};
use crate::shard::tests::router::Router;
use crate::store::{StoreError, StoreHandle, TemplateSpec};

/// A durable queue that names another for its dead letters, and a third for what has expired.
fn orders() -> QueueSettings {
    QueueSettings {
        dead_letter_address: Some("dead".into()),
        expiry_address: Some("late".into()),
        ..QueueSettings::new("orders")
    }
}

fn addresses(store: &StoreHandle) -> Vec<String> {
    store.queues().iter().map(|queue| queue.settings.address.to_string()).collect()
}

/// Sends a message to a queue, and rejects it there.
fn send_and_reject(client: &mut Client, address: &str) {
    let link = client.sender(Some(address));
    let key = client.send(link, false, &message(1));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    client.receiver(address, 1);
    let received = client.receive();
    client.settle(&received, DeliveryState::Rejected(None));
}

/// Somebody waits at the address of dead letters before there are any, and gets the first.
fn waits_for_a_dead_letter_of(router: &Router, address: &str) {
    let mut waiting = router.client();
    waiting.receiver("dead", 1);
    send_and_reject(&mut router.client(), address);
    let dead = Message::decode(&waiting.receive().bytes).expect("well-formed");
    let origin = dead.message_annotations.get("x-opt-dead-letter-origin").and_then(|origin| origin.as_text());
    assert_eq!(origin, Some(address));
}

#[test]
fn a_receiver_that_waits_for_the_first_dead_letter_gets_it() {
    let directory = Directory::new("graves");
    let stored = Stored::at(&directory);
    stored.store.create_queue(orders()).expect("it is new");
    assert_eq!(addresses(&stored.store), ["dead", "late", "orders"]);
    waits_for_a_dead_letter_of(&stored.router, "orders");
}

#[test]
fn what_a_template_names_is_there_before_any_queue_of_it() {
    let (router, store) = in_memory([]);
    let queue = QueueSettings { dead_letter_address: Some("dead".into()), ..volatile("any") };
    store.create_template(TemplateSpec { pattern: "tmp.#".to_owned(), queue }).expect("it is new");
    assert_eq!(addresses(&store), ["dead"]);
    waits_for_a_dead_letter_of(&router, "tmp.a");
}

#[test]
fn what_a_queue_names_from_now_on_is_there() {
    let (_router, store) = in_memory([volatile("orders")]);
    let settings = QueueSettings { dead_letter_address: Some("dead".into()), ..volatile("orders") };
    store.change_queue(settings).expect("it is there");
    assert_eq!(addresses(&store), ["dead", "orders"]);
}

#[test]
fn whoever_declares_it_says_what_it_is_like_before_or_after_it_is_named() {
    let directory = Directory::new("graves-declared");
    let dead = || QueueSettings { max_messages: Some(7), ..QueueSettings::new("dead") };
    {
        let stored = Stored::at(&directory);
        for settings in [orders(), dead(), QueueSettings::new("late")] {
            // Nobody had said that it was to be different.
            assert_eq!(stored.store.declare_queue(settings), Ok(None));
        }
    }
    let stored = Stored::at(&directory);
    let limit = || stored.store.queue("dead").and_then(|queue| queue.settings.max_messages);
    for settings in [dead(), orders(), QueueSettings::new("late")] {
        assert_eq!(stored.store.declare_queue(settings), Ok(None));
        assert_eq!(limit(), Some(7));
    }
}

#[test]
fn a_creation_takes_it_over_once() {
    let (_router, store) =
        in_memory([QueueSettings { dead_letter_address: Some("dead".into()), ..volatile("orders") }]);
    let dead = || QueueSettings { max_messages: Some(7), ..volatile("dead") };
    assert_eq!(store.create_queue(dead()), Ok(()));
    assert_eq!(store.queue("dead").and_then(|queue| queue.settings.max_messages), Some(7));
    assert!(matches!(store.create_queue(dead()), Err(StoreError::Exists(..))));
}

#[test]
fn an_empty_one_becomes_durable_if_it_is_declared_so() {
    let directory = Directory::new("graves-durable");
    let stored = Stored::at(&directory);
    let orders = QueueSettings { dead_letter_address: Some("dead".into()), ..volatile("orders") };
    stored.store.create_queue(orders).expect("it is new");
    assert_eq!(stored.store.queue("dead").map(|queue| queue.settings.durable), Some(false));
    assert_eq!(stored.store.declare_queue(QueueSettings::new("dead")), Ok(None));
    assert_eq!(stored.store.queue("dead").map(|queue| queue.settings.durable), Some(true));
}

#[test]
fn a_store_in_which_it_was_deleted_has_it_again_after_a_start() {
    let directory = Directory::new("graves-again");
    let stored = Stored::at(&directory);
    stored.store.create_queue(orders()).expect("it is new");
    stored.store.delete_queue("dead", false, false).expect("it is there");
    assert_eq!(addresses(&stored.store), ["late", "orders"]);
    drop(stored);
    let stored = Stored::at(&directory);
    stored.router.wait_until("it is there", |_| addresses(&stored.store) == ["dead", "late", "orders"]);
}
