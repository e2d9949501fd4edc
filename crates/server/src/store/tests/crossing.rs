//! Messages that management moves between a durable queue and one in memory, or sends back.

use amqp::DeliveryState;
use amqp::message::{Body, Message};
use amqp::{Map, Value};
use queue_core::QueueSettings;

use super::{Directory, Stored, volatile};
use crate::shard::tests::client::{Client, encoded, message};
use crate::store::{StoreError, Which};

/// A message with a number as its body and as an application property.
fn numbered(number: u32) -> Vec<u8> {
    let properties = Map::from_iter([(Value::from("number"), Value::Uint(number))]);
    encoded(&Message { application_properties: properties, ..Message::new(Body::Value(Value::Uint(number))) })
}

fn number_of(bytes: &[u8]) -> u32 {
    match Message::decode(bytes).expect("a message").body {
        Body::Value(Value::Uint(number)) => number,
        other => panic!("{other:?}"),
    }
}

fn send(client: &mut Client, address: &str, messages: impl IntoIterator<Item = Vec<u8>>) {
    let link = client.sender(Some(address));
    for message in messages {
        let key = client.send(link, false, &message);
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
}

fn depths(stored: &Stored) -> [u64; 2] {
    ["disk", "memory"].map(|address| stored.store.queue(address).map_or(0, |queue| queue.messages))
}

/// A durable queue `disk` and one that is not, `memory`.
fn stored(directory: &Directory) -> Stored {
    let stored = Stored::at(directory);
    for settings in [QueueSettings::new("disk"), volatile("memory")] {
        stored.store.declare_queue(settings).expect("it can be");
    }
    stored
}

#[test]
fn messages_move_to_the_other_side_and_back_in_order_and_those_that_are_held_stay() {
    const COUNT: u32 = 1500;
    let directory = Directory::new("crossing");
    let there = stored(&directory);
    let mut client = there.router.client();
    send(&mut client, "disk", (0..COUNT).map(numbered));
    // The first is with somebody.
    let mut holder = there.router.client();
    holder.receiver("disk", 1);
    assert_eq!(number_of(&holder.receive().bytes), 0);
    let moved = there.store.move_messages("disk", "memory", &Which::default()).expect("it can be");
    assert_eq!((moved.done, moved.held, moved.next), (u64::from(COUNT) - 1, 1, None));
    assert_eq!(depths(&there), [1, u64::from(COUNT) - 1]);
    let some = Which { most: Some(700), ..Which::default() };
    let back = there.store.move_messages("memory", "disk", &some).expect("it can be");
    assert_eq!((back.done, back.next.is_some()), (700, true));
    assert_eq!(depths(&there), [701, u64::from(COUNT) - 701]);
    drop(holder);
    drop(there);
    // What is in memory is lost, and nothing else.
    let there = stored(&directory);
    assert_eq!(depths(&there), [701, 0]);
    let mut client = there.router.client();
    client.receiver("disk", COUNT);
    for number in 0..=700 {
        let received = client.receive();
        assert_eq!(number_of(&received.bytes), number);
        client.settle(&received, DeliveryState::Accepted);
    }
}

#[test]
fn a_selector_says_which_go_to_the_other_side() {
    let directory = Directory::new("crossing-selector");
    let stored = stored(&directory);
    let mut client = stored.router.client();
    send(&mut client, "memory", (0..10).map(numbered));
    let which = Which { selector: Some("number > 6".to_owned()), ..Which::default() };
    assert_eq!(stored.store.move_messages("memory", "disk", &which).map(|moved| moved.done), Ok(3));
    assert_eq!(depths(&stored), [3, 7]);
}

#[test]
fn large_messages_move_with_their_files() {
    const LARGE: usize = 3 * 1024 * 1024;
    let directory = Directory::new("crossing-large");
    let there = stored(&directory);
    let mut client = there.router.client();
    send(&mut client, "disk", [message(LARGE)]);
    for (from, to) in [("disk", "memory"), ("memory", "disk")] {
        assert_eq!(there.store.move_messages(from, to, &Which::default()).map(|moved| moved.done), Ok(1));
    }
    drop(there);
    let there = stored(&directory);
    let mut client = there.router.client();
    client.receiver("disk", 1);
    assert!(client.receive().bytes.ends_with(&message(LARGE)[LARGE / 2..]), "other bytes");
}

#[test]
fn what_has_left_memory_is_read_before_it_moves() {
    let directory = Directory::new("crossing-read");
    let there = stored(&directory);
    let mut client = there.router.client();
    send(&mut client, "disk", (0..300).map(numbered));
    drop(there);
    // After a start nothing is in memory.
    let there = stored(&directory);
    assert_eq!(there.store.move_messages("disk", "memory", &Which::default()).map(|moved| moved.done), Ok(300));
    let mut client = there.router.client();
    client.receiver("memory", 300);
    for number in 0..300 {
        assert_eq!(number_of(&client.receive().bytes), number);
    }
}

#[test]
fn nothing_moves_into_memory_that_has_no_room_there_and_it_is_said() {
    let directory = Directory::new("crossing-memory");
    let stored = stored(&directory);
    let mut client = stored.router.client();
    send(&mut client, "disk", (0..300).map(|_| message(10_000)));
    stored.store.with(|node| node.most_transient = 100_000);
    let moved = stored.store.move_messages("disk", "memory", &Which::default()).expect("some can be");
    assert!(moved.done > 0 && moved.done < 300 && moved.next.is_some(), "{moved:?}");
    assert_eq!(depths(&stored), [300 - moved.done, moved.done]);
    let again = stored.store.move_messages("disk", "memory", &Which::default());
    assert!(matches!(again, Err(StoreError::Unavailable(text)) if text.contains("have some taken")));
}

#[test]
fn dead_letters_go_back_to_the_side_that_they_came_from() {
    let directory = Directory::new("crossing-retry");
    let stored = Stored::at(&directory);
    let mortal = |settings| QueueSettings { dead_letter_address: Some("dead".into()), ..settings };
    for settings in [QueueSettings::new("dead"), mortal(QueueSettings::new("disk")), mortal(volatile("memory"))] {
        stored.store.create_queue(settings).expect("it is new");
    }
    let mut client = stored.router.client();
    for address in ["disk", "memory"] {
        send(&mut client, address, (0..20).map(numbered));
        client.receiver(address, 20);
        for _ in 0..20 {
            let received = client.receive();
            client.settle(&received, DeliveryState::Rejected(None));
        }
    }
    stored.router.wait_until("all are dead", |_| stored.store.queue("dead").is_some_and(|it| it.messages == 40));
    let some = Which { most: Some(30), ..Which::default() };
    let first = stored.store.retry("dead", &some).expect("it can be");
    assert_eq!((first.done, first.next.is_some()), (30, true));
    let rest = stored.store.retry("dead", &Which::default()).expect("it can be");
    assert_eq!((rest.done, rest.next), (10, None));
    assert_eq!(depths(&stored), [20, 20]);
    let mut client = stored.router.client();
    client.receiver("memory", 20);
    for number in 0..20 {
        let received = client.receive();
        assert_eq!(number_of(&received.bytes), number);
        let said = Message::decode(&received.bytes).expect("a message").message_annotations;
        assert!(said.is_empty(), "{said:?}");
    }
}
