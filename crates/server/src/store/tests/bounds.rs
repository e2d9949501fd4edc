//! What clients cannot make grow without end.

use amqp::condition::names;
use amqp::message::Message;
use amqp::state::Modified;
use amqp::{DeliveryState, Value};
use queue_core::MAX_ANNOTATIONS;

use super::transactions::{coordinator, declare, discharge, post};
use super::{in_memory, volatile};
use crate::shard::tests::client::{Happened, message};
use crate::store::{TemplateSpec, TopicSpec};

#[test]
fn senders_to_queues_in_memory_wait_while_there_is_too_much_in_it() {
    let (router, store) = in_memory([volatile("orders")]);
    store.with(|node| node.most_transient = 100_000);
    let mut client = router.client();
    let link = client.sender(Some("orders"));
    client.wait_for_credit(link);
    let credit =
        |client: &crate::shard::tests::client::Client| client.endpoint.link(link).map_or(0, |info| info.credit);
    let mut sent = 0;
    while credit(&client) > 0 {
        let key = client.send(link, false, &message(1000));
        client.outcome(key);
        sent += 1;
        assert!(sent < 10_000, "there is no end to it");
    }
    client.settle_down();
    assert_eq!(credit(&client), 0);
    let mut other = router.client();
    other.receiver("orders", sent);
    (0..sent).for_each(|_| other.accept_last());
    client.wait_for_credit(link);
}

#[test]
fn addresses_that_mean_something_else_are_none_of_queues() {
    let (router, store) = in_memory([]);
    store.create_template(TemplateSpec { pattern: "tmp/#".to_owned(), queue: volatile("any") }).expect("it is new");
    let mut client = router.client();
    for address in ["tmp/#", "tmp/*", "tmp/a/#/b", "tmp/..", "tmp///"] {
        client.begin_link(false, address);
        let end = client.expect("an end", |happened| matches!(happened, Happened::Detached { .. }));
        let Happened::Detached { error: Some(error), .. } = end else { panic!("{end:?}") };
        assert_eq!(error.condition.as_str(), names::INVALID_FIELD, "{address}");
    }
    assert!(store.queues().is_empty());
    // The template's own ways are still there.
    let link = client.sender(Some("tmp/a"));
    client.wait_for_credit(link);
}

#[test]
fn open_transactions_share_a_bound_and_the_one_that_is_too_much_is_refused() {
    let (router, store) = in_memory([volatile("orders")]);
    store.with(|node| node.most_in_transactions = 10_000);
    let mut client = router.client();
    let (link, orders) = (coordinator(&mut client), client.sender(Some("orders")));
    let (small, large) = (declare(&mut client, link), declare(&mut client, link));
    for (txn, times) in [(&small, 8), (&large, 30)] {
        (0..times).for_each(|_| post(&mut client, orders, txn));
    }
    // A message counts for some bytes of its own.
    assert_eq!(discharge(&mut client, link, &small, false), Some(DeliveryState::Accepted));
    let Some(DeliveryState::Rejected(Some(error))) = discharge(&mut client, link, &large, false) else {
        panic!("it is not refused");
    };
    assert_eq!(error.condition.as_str(), names::RESOURCE_LIMIT_EXCEEDED);
    assert!(error.description.is_some_and(|text| text.contains("10000 bytes")), "no bound");
    // What it held is free for others.
    let another = declare(&mut client, link);
    post(&mut client, orders, &another);
    assert_eq!(discharge(&mut client, link, &another, false), Some(DeliveryState::Accepted));
    assert_eq!(store.queue("orders").map(|queue| queue.messages), Some(9));
}

#[test]
fn clients_have_so_many_queues_made_and_no_more() {
    let (router, store) = in_memory([volatile("orders")]);
    store.create_template(TemplateSpec { pattern: "tmp.#".to_owned(), queue: volatile("any") }).expect("it is new");
    store.create_topic(TopicSpec { address: "news".to_owned(), subscription: volatile("") }).expect("it is new");
    store.with(|node| node.most_queues = 2);
    let mut client = router.client();
    let link = client.sender(Some("tmp.a"));
    client.wait_for_credit(link);
    // One of a template, and a subscription.
    for address in ["tmp.b", "news"] {
        client.begin_link(false, address);
        let end = client.expect("an end", |happened| matches!(happened, Happened::Detached { .. }));
        let Happened::Detached { error: Some(error), .. } = end else { panic!("{end:?}") };
        assert_eq!(error.condition.as_str(), names::RESOURCE_LIMIT_EXCEEDED, "{address}");
    }
    // What is there is there, and whoever manages the router makes more.
    client.receiver("tmp.a", 1);
    store.create_queue(volatile("more")).expect("it is new");
    store.delete_queue("orders", true, true).expect("it is empty");
    store.delete_queue("more", true, true).expect("it is empty");
    let link = client.sender(Some("tmp.b"));
    client.wait_for_credit(link);
}

/// Failed, with an annotation of so many bytes.
fn annotated(bytes: usize) -> DeliveryState {
    let annotations = [(Value::symbol("x-opt-note"), Value::Binary(vec![7; bytes]))].into_iter().collect();
    DeliveryState::Modified(Box::new(Modified {
        delivery_failed: true,
        undeliverable_here: false,
        message_annotations: Some(annotations),
    }))
}

#[test]
fn what_receivers_write_to_messages_has_a_bound_and_their_outcomes_count_without_it() {
    let (router, store) = in_memory([volatile("orders")]);
    store.with(|node| node.most_written = 1000);
    let mut client = router.client();
    let link = client.sender(Some("orders"));
    for _ in 0..3 {
        client.send(link, false, &message(10));
    }
    client.receiver("orders", 6);
    // Enough for one, too much for the second beside it, too much for any message.
    for bytes in [800, 800, MAX_ANNOTATIONS + 1] {
        let received = client.receive();
        client.settle(&received, annotated(bytes));
    }
    let again: Vec<_> = (0..3).map(|_| Message::decode(&client.receive().bytes).expect("a message")).collect();
    let notes = again.iter().filter(|message| !message.message_annotations.is_empty()).count();
    assert_eq!(notes, 1);
    assert!(again.iter().all(|message| message.header.delivery_count == 1));
    assert!(store.with(|node| node.brokers.iter().map(queue_core::Broker::written).sum::<u64>()) <= 1000);
}
