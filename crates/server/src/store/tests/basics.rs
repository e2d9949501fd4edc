//! A message in, a message out.

use amqp::message::{Body, Message};
use amqp::state::Modified;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::QueueSettings;

use super::{Directory, Stored, in_memory, volatile};
use crate::shard::tests::client::{Client, Happened, encoded};
use crate::store::TemplateSpec;

/// A message that says this.
fn text(text: &str) -> Vec<u8> {
    encoded(&Message::new(Body::Data(vec![text.as_bytes().to_vec()])))
}

/// Sends and waits for the outcome.
fn send(client: &mut Client, address: &str, messages: &[&str]) {
    let link = client.sender(Some(address));
    for message in messages {
        let key = client.send(link, false, &text(message));
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted), "{message}");
    }
}

#[test]
fn a_message_sent_before_there_is_a_receiver_is_there_when_one_comes() {
    let (router, _store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    send(&mut client, "orders", &["one", "two"]);
    let mut other = router.client();
    other.receiver("orders", 10);
    assert_eq!(other.receive().bytes, text("one"));
    assert_eq!(other.receive().bytes, text("two"));
}

#[test]
fn what_was_accepted_is_gone_and_what_was_not_comes_again() {
    let (router, store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    send(&mut client, "orders", &["one", "two", "three"]);
    let mut first = router.client();
    first.receiver("orders", 10);
    let (one, two) = (first.receive(), first.receive());
    first.settle(&one, DeliveryState::Accepted);
    first.settle(&two, DeliveryState::Released);
    router.wait_until("one is gone", |_| store.queue("orders").is_some_and(|queue| queue.messages == 2));
    drop(first);
    let mut second = router.client();
    second.receiver("orders", 10);
    assert!(second.receive().bytes.ends_with(&text("two")));
}

#[test]
fn a_failed_delivery_counts_and_tells_so_when_it_comes_again() {
    let (router, _store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    send(&mut client, "orders", &["one"]);
    client.receiver("orders", 10);
    let received = client.receive();
    let failed = Modified { delivery_failed: true, ..Modified::default() };
    client.settle(&received, DeliveryState::Modified(Box::new(failed)));
    let again = Message::decode(&client.receive().bytes).expect("well-formed");
    assert_eq!(again.header.delivery_count, 1);
}

#[test]
fn what_a_router_rejects_because_it_has_lost_the_receiver_stays_and_the_link_is_ended() {
    let orders = QueueSettings { dead_letter_address: Some("dead".into()), ..volatile("orders") };
    let (router, store) = in_memory([orders]);
    let mut client = router.client();
    send(&mut client, "orders", &["one", "two"]);
    let mut lost = router.client();
    let link = lost.receiver("orders", 10);
    let one = lost.receive();
    let error = ErrorCondition::new("amqp:precondition-failed", "Routing failure: no address present");
    lost.settle(&one, DeliveryState::Rejected(Some(Box::new(error))));
    lost.expect("the end", |happened| matches!(happened, Happened::Detached { link: of, .. } if *of == link));
    let mut other = router.client();
    other.receiver("orders", 10);
    for expected in ["one", "two"] {
        let received = other.receive();
        assert!(received.bytes.ends_with(&text(expected)), "{expected}");
        other.settle(&received, DeliveryState::Accepted);
    }
    assert_eq!(store.queue("dead").map(|queue| queue.messages), Some(0));
}

#[test]
fn a_receiver_that_drains_gets_what_there_is_and_then_its_credit_back() {
    let (router, _store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    send(&mut client, "orders", &["one"]);
    let link = client.receiver("orders", 0);
    client.endpoint.add_credit(link, 10);
    client.endpoint.drain(link, true);
    client.write();
    client.expect("the message", |happened| matches!(happened, Happened::Message(_)));
    client.expect("the credit", |happened| matches!(happened, Happened::Drained { returned: 9, .. }));
}

#[test]
fn a_receiver_of_a_queue_that_is_not_there_is_told_what_to_do() {
    let (router, store) = in_memory([volatile("orders")]);
    store.delete_queue("orders", false, false).expect("it is there");
    store.create_template(TemplateSpec { pattern: "orders/#".to_owned(), queue: volatile("any") }).expect("it is new");
    store.delete_template("orders/#").expect("it is there");
    let mut client = router.client();
    client.begin_link(true, "$dynamic");
    let end = client.expect("an end", |happened| matches!(happened, Happened::Detached { .. }));
    let Happened::Detached { error: Some(error), .. } = end else { panic!("{end:?}") };
    assert_eq!(error.condition.as_str(), "amqp:not-found");
    assert!(error.description.is_some_and(|text| text.contains("declare it")));
}

#[test]
fn a_queue_is_made_by_a_template_when_somebody_first_sends_to_it() {
    let (router, store) = in_memory([]);
    store.create_template(TemplateSpec { pattern: "tmp.#".to_owned(), queue: volatile("any") }).expect("it is new");
    let mut client = router.client();
    send(&mut client, "tmp.a", &["one"]);
    assert_eq!(store.queue("tmp.a").map(|queue| queue.messages), Some(1));
    client.receiver("tmp.a", 1);
    assert_eq!(client.receive().bytes, text("one"));
}

#[test]
fn a_queue_deleted_under_its_links_says_so() {
    let (router, store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    client.receiver("orders", 1);
    store.delete_queue("orders", false, false).expect("it is there");
    let end = client.expect("the end", |happened| matches!(happened, Happened::Detached { .. }));
    let Happened::Detached { error: Some(error), closed: true, .. } = end else { panic!("{end:?}") };
    assert_eq!(error.condition.as_str(), "amqp:resource-deleted");
}

#[test]
fn an_anonymous_sender_reaches_a_queue() {
    let (router, store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    let link = client.sender(None);
    let mut message = Message::new(Body::Data(vec![b"x".to_vec()]));
    message.properties.to = Some("orders".to_owned());
    let key = client.send(link, false, &encoded(&message));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    assert_eq!(store.queue("orders").map(|queue| queue.messages), Some(1));
}

#[test]
fn a_durable_queue_and_its_messages_are_there_after_a_restart() {
    let directory = Directory::new("restart");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    let mut client = stored.router.client();
    send(&mut client, "orders", &["one", "two", "three"]);
    client.receiver("orders", 1);
    let one = client.receive();
    client.settle(&one, DeliveryState::Accepted);
    stored.router.wait_until("one is gone", |_| stored.store.queue("orders").is_some_and(|queue| queue.messages == 2));
    drop(stored);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    client.receiver("orders", 10);
    assert_eq!(client.receive().bytes, text("two"));
    assert_eq!(client.receive().bytes, text("three"));
}

#[test]
fn messages_that_have_left_memory_are_read_back_in_order() {
    let directory = Directory::new("backlog");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    let mut client = stored.router.client();
    let link = client.sender(Some("orders"));
    let body = "x".repeat(1000);
    let all: Vec<_> = (0..300).map(|number| text(&format!("{number} {body}"))).collect();
    let keys: Vec<_> = all.iter().map(|message| client.send(link, false, message)).collect();
    keys.into_iter().for_each(|key| assert_eq!(client.outcome(key), Some(DeliveryState::Accepted)));
    drop(stored);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    client.receiver("orders", 1000);
    for message in &all {
        let received = client.receive();
        assert!(received.bytes == *message, "another message");
        client.settle(&received, DeliveryState::Accepted);
    }
}
