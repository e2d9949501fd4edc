//! Dead letters and expired messages of durable queues that go to one in memory, and the other way round.

use std::sync::Arc;

use amqp::condition::names;
use amqp::message::{Body, Message};
use amqp::terminus::{ExpiryPolicy, Source};
use amqp::{DeliveryState, ErrorCondition, Map, Value};
use amqp_endpoint::NewLink;
use queue_core::{Overflow, QueueSettings};

use super::stalling::StallingDisk;
use super::surface::{attach, filtered, receiver};
use super::{Directory, Stored, in_memory, volatile};
use crate::shard::tests::client::{Client, Happened, encoded, message};
use crate::shard::tests::router::Router;
use crate::store::links::Side;
use crate::store::{StoreError, StoreHandle, StoreSettings, TopicSpec};

/// Bytes of a message that is kept in a file.
const LARGE: usize = 3 * 1024 * 1024;

/// A queue whose dead letters and expired messages go to `dead`.
fn mortal(settings: QueueSettings) -> QueueSettings {
    QueueSettings { dead_letter_address: Some("dead".into()), expiry_address: Some("dead".into()), ..settings }
}

/// With the two queues on different sides, one way and the other.
fn both_ways() -> [(QueueSettings, QueueSettings); 2] {
    [(mortal(QueueSettings::new("orders")), volatile("dead")), (mortal(volatile("orders")), QueueSettings::new("dead"))]
}

fn send(client: &mut Client, address: &str, messages: impl IntoIterator<Item = Vec<u8>>) {
    let link = client.sender(Some(address));
    for message in messages {
        let key = client.send(link, false, &message);
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
}

/// Takes so many messages, and rejects them.
fn reject(client: &mut Client, address: &str, count: u32) {
    client.receiver(address, count);
    for _ in 0..count {
        let received = client.receive();
        let error = ErrorCondition::new("app:bad", "no such customer");
        client.settle(&received, DeliveryState::Rejected(Some(Box::new(error))));
    }
}

fn numbered(number: u32) -> Vec<u8> {
    encoded(&Message::new(Body::Value(Value::Uint(number))))
}

fn number_of(bytes: &[u8]) -> u32 {
    match Message::decode(bytes).expect("a message").body {
        Body::Value(Value::Uint(number)) => number,
        other => panic!("{other:?}"),
    }
}

/// Messages of both sides at an address, shadows among them.
fn on_sides(store: &StoreHandle, address: &str) -> [Option<u64>; 2] {
    store.with(|node| {
        Side::BOTH.map(|side| match node.broker(side).node(address) {
            Some(queue_core::Node::Queue(queue)) => node.broker(side).statistics(queue).map(|found| found.depth),
            _ => None,
        })
    })
}

fn depth(store: &StoreHandle, address: &str) -> u64 {
    store.queue(address).map_or(0, |queue| queue.messages)
}

/// What says where a message comes from, but for the time; as it is received.
fn said_of(received: &[u8]) -> (Vec<(Value, Value)>, Message) {
    let message = Message::decode(received).expect("a message");
    let mut said: Vec<_> = message.message_annotations.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    said.retain(|(key, _)| key.as_text() != Some("x-opt-dead-letter-time"));
    (said, message)
}

#[test]
fn a_dead_letter_is_what_it_would_be_on_the_same_side_and_leaves_nothing_behind() {
    let of_one_side = (mortal(QueueSettings::new("orders")), QueueSettings::new("dead"));
    let mut all = Vec::new();
    for (number, (orders, dead)) in [of_one_side].into_iter().chain(both_ways()).enumerate() {
        let directory = Directory::new(&format!("shadows-{number}"));
        let stored = Stored::at(&directory);
        for settings in [dead, orders] {
            stored.store.create_queue(settings).expect("it is new");
        }
        let mut client = stored.router.client();
        client.receiver("dead", 1);
        let mut other = stored.router.client();
        let mut sent = Message::new(Body::Value(Value::Uint(7)));
        (sent.header.priority, sent.header.durable) = (9, true);
        sent.message_annotations = [(Value::symbol("x-opt-mine"), Value::from("stays"))].into_iter().collect();
        send(&mut other, "orders", [encoded(&sent)]);
        reject(&mut other, "orders", 1);
        let received = client.receive();
        client.settle(&received, DeliveryState::Released);
        all.push(said_of(&received.bytes));
        stored.router.wait_until("the shadow is gone", |_| on_sides(&stored.store, "dead").contains(&None));
        assert_eq!(stored.store.queues().len(), 2);
    }
    assert_eq!(all[0].0.len(), 7, "{:?}", all[0].0);
    assert_eq!(all[1].0, all[0].0);
    assert_eq!(all[2].0, all[0].0);
    assert!(all.iter().all(|(_, message)| message.header == all[0].1.header && message.body == all[0].1.body));
}

#[test]
fn expired_messages_go_to_the_other_side_too() {
    for (number, (orders, dead)) in both_ways().into_iter().enumerate() {
        let directory = Directory::new(&format!("shadows-expired-{number}"));
        let stored = Stored::at(&directory);
        for settings in [QueueSettings { default_ttl: Some(1), ..orders }, dead] {
            stored.store.declare_queue(settings).expect("it can be");
        }
        let mut client = stored.router.client();
        send(&mut client, "orders", [numbered(1)]);
        client.receiver("dead", 1);
        let received = client.receive();
        let (said, message) = said_of(&received.bytes);
        assert!(said.contains(&(Value::symbol("x-opt-dead-letter-reason"), Value::from("expired"))), "{said:?}");
        assert_eq!(message.header.ttl, None);
    }
}

#[test]
fn what_has_come_to_the_durable_side_outlives_a_restart() {
    let directory = Directory::new("shadows-durable");
    let stored = Stored::at(&directory);
    let (orders, dead) = both_ways()[1].clone();
    for settings in [dead, orders] {
        stored.store.create_queue(settings).expect("it is new");
    }
    let mut client = stored.router.client();
    send(&mut client, "orders", [message(LARGE), numbered(1)]);
    reject(&mut client, "orders", 2);
    stored.router.wait_until("they are there", |_| on_sides(&stored.store, "dead") == [Some(2), None]);
    drop(stored);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    client.receiver("dead", 2);
    let mut both = [client.receive(), client.receive()];
    both.sort_by_key(|received| received.bytes.len());
    assert_eq!(number_of(&both[0].bytes), 1);
    assert!(both[1].bytes.ends_with(&message(LARGE)[LARGE / 2..]), "other bytes");
    for received in both {
        let (said, _) = said_of(&received.bytes);
        assert!(said.contains(&(Value::symbol("x-opt-dead-letter-origin"), Value::from("orders"))), "{said:?}");
        client.settle(&received, DeliveryState::Accepted);
    }
    stored.router.wait_until("its file is gone", |_| files(&directory) == 0);
}

/// Files of large messages.
fn files(directory: &Directory) -> usize {
    std::fs::read_dir(directory.path().join("large")).map_or(0, Iterator::count)
}

#[test]
fn a_large_dead_letter_of_a_durable_queue_is_received_in_memory_and_its_file_goes() {
    let directory = Directory::new("shadows-large");
    let stored = Stored::at(&directory);
    let (orders, dead) = both_ways()[0].clone();
    for settings in [dead, orders] {
        stored.store.create_queue(settings).expect("it is new");
    }
    let mut client = stored.router.client();
    send(&mut client, "orders", [message(LARGE)]);
    reject(&mut client, "orders", 1);
    stored.router.wait_until("the shadow is gone", |_| on_sides(&stored.store, "dead") == [None, Some(1)]);
    client.receiver("dead", 1);
    let received = client.receive();
    assert!(received.bytes.ends_with(&message(LARGE)[LARGE / 2..]), "other bytes");
    client.settle(&received, DeliveryState::Accepted);
    stored.router.wait_until("its file is gone", |_| files(&directory) == 0);
}

#[test]
fn what_an_earlier_version_has_left_in_a_shadow_is_carried_over_in_order() {
    const COUNT: u32 = 1000;
    let directory = Directory::new("shadows-left");
    let stored = Stored::at(&directory);
    // As it was: a queue that was made by itself, and nobody carries anything.
    stored.store.create_queue(mortal(QueueSettings::new("orders"))).expect("it is new");
    let mut client = stored.router.client();
    send(&mut client, "orders", (0..COUNT).map(numbered));
    reject(&mut client, "orders", COUNT);
    stored.router.wait_until("they are there", |_| depth(&stored.store, "dead") == u64::from(COUNT));
    drop(stored);
    let stored = Stored::at(&directory);
    // What the configuration declares.
    assert_eq!(stored.store.declare_queue(volatile("dead")), Ok(None));
    let mut client = stored.router.client();
    client.receiver("dead", COUNT);
    for number in 0..COUNT {
        let received = client.receive();
        assert_eq!(number_of(&received.bytes), number);
        client.settle(&received, DeliveryState::Accepted);
    }
    stored.router.wait_until("the shadow is gone", |_| on_sides(&stored.store, "dead") == [None, Some(0)]);
    drop(stored);
    // None of them comes again.
    let stored = Stored::at(&directory);
    assert_eq!(stored.store.declare_queue(volatile("dead")), Ok(None));
    stored.router.wait_until("the shadow is gone", |_| on_sides(&stored.store, "dead") == [None, Some(0)]);
}

#[test]
fn who_receives_from_a_queue_that_becomes_a_shadow_is_told_to_attach_again() {
    let directory = Directory::new("shadows-links");
    let stored = Stored::at(&directory);
    stored.store.create_queue(mortal(QueueSettings::new("orders"))).expect("it is new");
    let mut client = stored.router.client();
    send(&mut client, "dead", [numbered(1), numbered(2)]);
    client.receiver("dead", 1);
    // It holds one of the messages.
    client.receive();
    stored.store.create_queue(volatile("dead")).expect("nobody has asked for it yet");
    let end = client.expect("an end", |happened| matches!(happened, Happened::Detached { .. }));
    let Happened::Detached { error: Some(error), .. } = end else { panic!("{end:?}") };
    assert_eq!(error.condition.as_str(), names::RESOURCE_DELETED);
    assert!(error.description.is_some_and(|text| text.contains("attach again")), "no remedy");
    // Both links lead to the other one, and so does the router's own.
    let mut client = stored.router.client();
    client.receiver("dead", 3);
    let anonymous = client.sender(None);
    let mut third = Message::decode(&numbered(3)).expect("a message");
    third.properties.to = Some("dead".to_owned());
    client.wait_for_credit(anonymous);
    let key = client.send(anonymous, false, &encoded(&third));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    let mut numbers: Vec<_> = (0..3).map(|_| number_of(&client.receive().bytes)).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3]);
    stored.router.wait_until("the shadow is gone", |_| on_sides(&stored.store, "dead")[0].is_none());
}

#[test]
fn a_queue_that_nobody_has_asked_for_is_durable_once_a_durable_queue_names_it() {
    let directory = Directory::new("shadows-undeclared");
    let stored = Stored::at(&directory);
    stored.store.create_queue(QueueSettings { address: "quick".into(), ..mortal(volatile("any")) }).expect("it is new");
    let mut client = stored.router.client();
    send(&mut client, "quick", [numbered(1)]);
    reject(&mut client, "quick", 1);
    stored.router.wait_until("it is there", |_| on_sides(&stored.store, "dead") == [None, Some(1)]);
    stored.store.create_queue(mortal(QueueSettings::new("orders"))).expect("it is new");
    stored.router.wait_until("it is durable", |_| on_sides(&stored.store, "dead") == [Some(1), None]);
    send(&mut client, "quick", [numbered(2)]);
    reject(&mut client, "quick", 1);
    stored.router.wait_until("so is the next", |_| on_sides(&stored.store, "dead") == [Some(2), None]);
}

#[test]
fn dead_letters_of_plain_subscriptions_are_durable_in_a_queue_that_is_there_from_the_start() {
    let directory = Directory::new("shadows-topic");
    let stored = Stored::at(&directory);
    let subscription = mortal(QueueSettings::new(""));
    stored.store.create_topic(TopicSpec { address: "news".to_owned(), subscription }).expect("it is new");
    let mut waiting = stored.router.client();
    waiting.receiver("dead", 1);
    let mut client = stored.router.client();
    client.receiver("news", 1);
    send(&mut client, "news", [numbered(5)]);
    let received = client.receive();
    client.settle(&received, DeliveryState::Rejected(None));
    assert_eq!(number_of(&waiting.receive().bytes), 5);
    assert_eq!(stored.store.queue("dead").map(|queue| queue.settings.durable), Some(true));
}

/// A receiver's link to a topic, named so; what the subscription lets in.
fn subscriber(name: &str, durable: bool, selector: Option<&str>) -> NewLink {
    let mut link = match selector {
        Some(selector) => filtered("news", Value::Symbol("apache.org:selector-filter:string".into()), selector),
        None => receiver("news"),
    };
    link.name = name.to_owned();
    if durable {
        link.source = link.source.map(|source| Source { durable: 2, expiry_policy: ExpiryPolicy::Never, ..source });
    }
    link
}

/// A message with a colour, so many bytes large.
fn coloured(colour: &str, bytes: usize) -> Vec<u8> {
    let properties = Map::from_iter([(Value::from("colour"), Value::from(colour))]);
    let body = Body::Data(vec![vec![7; bytes]]);
    encoded(&Message { application_properties: properties, ..Message::new(body) })
}

fn body_of(bytes: &[u8]) -> usize {
    match Message::decode(bytes).expect("a message").body {
        Body::Data(parts) => parts.iter().map(Vec::len).sum(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn dead_letters_for_a_topic_go_to_all_subscriptions_that_let_them_in_on_both_sides() {
    let of_side = |durable| if durable { QueueSettings::new("orders") } else { volatile("orders") };
    // Named before there is the topic, or after.
    for (number, (durable, first)) in
        [(true, true), (true, false), (false, true), (false, false)].into_iter().enumerate()
    {
        let directory = Directory::new(&format!("shadows-to-topic-{number}"));
        let stored = Stored::at(&directory);
        let orders = QueueSettings { dead_letter_address: Some("news".into()), ..of_side(durable) };
        let topic = TopicSpec { address: "news".to_owned(), subscription: QueueSettings::new("") };
        if first {
            stored.store.create_queue(orders.clone()).expect("it is new");
        }
        stored.store.create_topic(topic).expect("nobody has asked for the queue there");
        if !first {
            stored.store.create_queue(orders).expect("it is new");
        }
        let kinds = [(true, None), (true, Some("colour = 'red'")), (false, None), (false, Some("colour = 'red'"))];
        let mut all: Vec<_> = kinds.iter().map(|_| stored.router.client()).collect();
        for (kind, ((durable, selector), client)) in kinds.iter().zip(&mut all).enumerate() {
            attach(client, subscriber(&format!("subscriber {kind}"), *durable, *selector), 10);
        }
        let mut client = stored.router.client();
        send(
            &mut client,
            "orders",
            [coloured("blue", 1), coloured("red", 2), coloured("blue", LARGE), coloured("red", LARGE + 1)],
        );
        reject(&mut client, "orders", 4);
        for ((_, selector), client) in kinds.iter().zip(&mut all) {
            let expected: &[usize] = if selector.is_some() { &[2, LARGE + 1] } else { &[1, 2, LARGE, LARGE + 1] };
            let mut bodies: Vec<_> = expected.iter().map(|_| client.receive().bytes).collect();
            assert!(bodies.iter().all(|bytes| !said_of(bytes).0.is_empty()));
            bodies.sort_by_key(|bytes| body_of(bytes));
            assert_eq!(bodies.iter().map(|bytes| body_of(bytes)).collect::<Vec<_>>(), expected);
            client.settle_down();
            assert!(client.take_message().is_none());
        }
        // Nobody sees where they have been in between.
        let addresses: Vec<_> = stored.store.queues().iter().map(|queue| queue.settings.address.to_string()).collect();
        assert_eq!(addresses.len(), 5, "{addresses:?}");
        drop(all);
        stored.store.delete_topic("news", true).expect("it goes with all that is part of it");
        stored.router.wait_until("the files are gone", |_| files(&directory) == 0);
        assert_eq!(stored.store.queues().len(), 1);
    }
}

#[test]
fn a_dead_letter_of_a_subscription_for_its_own_topic_goes_to_the_others() {
    let directory = Directory::new("shadows-own-topic");
    let stored = Stored::at(&directory);
    let subscription = QueueSettings { dead_letter_address: Some("news".into()), ..QueueSettings::new("") };
    stored.store.create_topic(TopicSpec { address: "news".to_owned(), subscription }).expect("it is new");
    for refuses_durably in [true, false] {
        let (mut refusing, mut other) = (stored.router.client(), stored.router.client());
        attach(&mut refusing, subscriber(&format!("refusing {refuses_durably}"), refuses_durably, None), 10);
        attach(&mut other, subscriber(&format!("other {refuses_durably}"), !refuses_durably, None), 10);
        let mut sending = stored.router.client();
        send(&mut sending, "news", [numbered(1)]);
        let received = refusing.receive();
        refusing.settle(&received, DeliveryState::Rejected(None));
        for is_first in [true, false] {
            let received = other.receive();
            assert_eq!(said_of(&received.bytes).0.is_empty(), is_first);
            other.settle(&received, DeliveryState::Accepted);
        }
        other.settle_down();
        refusing.settle_down();
        assert!(refusing.take_message().is_none());
    }
}

#[test]
fn dead_letters_for_a_topic_that_were_not_published_before_a_restart_are_after_it_in_order() {
    const COUNT: usize = 600;
    let directory = Directory::new("shadows-collector");
    let stored = Stored::at(&directory);
    stored
        .store
        .create_topic(TopicSpec { address: "news".to_owned(), subscription: QueueSettings::new("") })
        .expect("new");
    let orders = QueueSettings { dead_letter_address: Some("news".into()), ..QueueSettings::new("orders") };
    stored.store.create_queue(orders).expect("it is new");
    let mut client = stored.router.client();
    attach(&mut client, subscriber("mine", true, Some("colour = 'red'")), 0);
    // There is no memory for the other subscription, so they wait.
    stored.store.with(|node| node.most_transient = 0);
    let mut other = stored.router.client();
    attach(&mut other, subscriber("fleeting", false, None), 0);
    send(&mut other, "orders", std::iter::once(coloured("blue", 1)).chain((0..COUNT).map(|n| coloured("red", n))));
    reject(&mut other, "orders", COUNT as u32 + 1);
    stored.router.wait_until("they are dead", |_| depth(&stored.store, "orders") == 0);
    other.settle_down();
    drop(stored);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    attach(&mut client, subscriber("mine", true, Some("colour = 'red'")), 1000);
    for number in 0..COUNT {
        assert_eq!(body_of(&client.receive().bytes), number);
    }
    client.settle_down();
    assert!(client.take_message().is_none());
}

#[test]
fn a_large_message_that_was_on_both_sides_and_is_twice_on_the_disk_now_is_there_until_both_are_gone() {
    let directory = Directory::new("shadows-twice");
    let stored = Stored::at(&directory);
    let subscription = mortal(QueueSettings::new(""));
    stored.store.create_topic(TopicSpec { address: "news".to_owned(), subscription }).expect("it is new");
    let mut kept = stored.router.client();
    attach(&mut kept, subscriber("kept", true, None), 0);
    drop(kept);
    let mut client = stored.router.client();
    client.receiver("news", 1);
    send(&mut client, "news", [message(LARGE)]);
    let received = client.receive();
    client.settle(&received, DeliveryState::Rejected(None));
    stored.router.wait_until("it is there", |_| on_sides(&stored.store, "dead") == [Some(1), None]);
    drop(stored);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    client.receiver("dead", 1);
    let received = client.receive();
    assert!(received.bytes.ends_with(&message(LARGE)[LARGE / 2..]), "other bytes");
    client.settle(&received, DeliveryState::Accepted);
    stored.router.wait_until("it is gone", |_| depth(&stored.store, "dead") == 0);
    drop(stored);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    attach(&mut client, subscriber("kept", true, None), 1);
    let received = client.receive();
    assert!(received.bytes.ends_with(&message(LARGE)[LARGE / 2..]), "other bytes");
    client.settle(&received, DeliveryState::Accepted);
    stored.router.wait_until("its file is gone", |_| files(&directory) == 0);
}

#[test]
fn a_topic_takes_the_place_of_an_empty_queue_that_nobody_has_asked_for() {
    let (router, store) = in_memory([mortal(volatile("orders"))]);
    let topic = || TopicSpec { address: "dead".to_owned(), subscription: volatile("") };
    let mut client = router.client();
    send(&mut client, "dead", [numbered(1)]);
    assert!(matches!(store.create_topic(topic()), Err(StoreError::InUse(_, "it has messages"))));
    client.receiver("dead", 1);
    client.accept_last();
    router.wait_until("it is empty", |_| depth(&store, "dead") == 0);
    assert_eq!(store.create_topic(topic()), Ok(()));
}

#[test]
fn a_full_queue_passes_dead_letters_on_from_side_to_side_and_drops_them_at_the_end() {
    let directory = Directory::new("shadows-full");
    let stored = Stored::at(&directory);
    let full = |next: &str, settings| QueueSettings {
        dead_letter_address: Some(next.into()),
        max_messages: Some(2),
        overflow: Overflow::Reject,
        ..settings
    };
    // `dead` and `more` name each other.
    let queues = [
        mortal(QueueSettings::new("orders")),
        full("more", volatile("dead")),
        full("dead", QueueSettings::new("more")),
    ];
    for settings in queues {
        stored.store.declare_queue(settings).expect("it can be");
    }
    let mut client = stored.router.client();
    send(&mut client, "orders", (0..10).map(numbered));
    reject(&mut client, "orders", 10);
    let all = || ["orders", "dead", "more"].map(|address| on_sides(&stored.store, address));
    let end = [[Some(0), None], [None, Some(2)], [Some(2), None]];
    stored.router.wait_until("all are somewhere", |_| all() == end);
}

#[test]
fn an_id_that_is_known_where_they_go_keeps_no_dead_letter_out() {
    for (number, (orders, dead)) in both_ways().into_iter().enumerate() {
        let directory = Directory::new(&format!("shadows-duplicates-{number}"));
        let stored = Stored::at(&directory);
        for settings in [QueueSettings { duplicate_count: 10, ..dead }, orders] {
            stored.store.create_queue(settings).expect("it is new");
        }
        let mut client = stored.router.client();
        let mut sent = Message::new(Body::Value(Value::Uint(7)));
        sent.properties.message_id = Some(Value::Ulong(1));
        send(&mut client, "dead", [encoded(&sent)]);
        send(&mut client, "orders", [encoded(&sent)]);
        reject(&mut client, "orders", 1);
        stored.router.wait_until("both are there", |_| depth(&stored.store, "dead") == 2);
    }
}

#[test]
fn dead_letters_wait_on_the_disk_while_there_is_no_memory_for_them() {
    let directory = Directory::new("shadows-memory");
    let stored = Stored::at(&directory);
    let (orders, dead) = both_ways()[0].clone();
    for settings in [dead, orders] {
        stored.store.create_queue(settings).expect("it is new");
    }
    stored.store.with(|node| node.most_transient = 2_000_000);
    let mut client = stored.router.client();
    send(&mut client, "orders", (0..100).map(|_| message(100_000)));
    reject(&mut client, "orders", 100);
    stored.router.wait_until("memory is full", |_| depth(&stored.store, "dead") >= 20);
    // What is taken makes room for others.
    client.receiver("dead", 100);
    for _ in 0..100 {
        assert!(stored.store.with(|node| node.bodies.transient_bytes()) < 4_000_000);
        client.accept_last();
    }
    stored.router.wait_until("the shadow is gone", |_| on_sides(&stored.store, "dead") == [None, Some(0)]);
}

/// A router on a disk that stalls when it is told to.
struct Site {
    router: Router,
    store: StoreHandle,
    disk: StallingDisk,
}

impl Site {
    fn at(directory: &Directory) -> Self {
        let (router, disk) = (Router::start(), StallingDisk::default());
        let settings = StoreSettings::at(directory.path());
        let store = StoreHandle::open_on(&router.shards, &settings, Arc::new(disk.clone())).expect("it can be used");
        Self { router, store, disk }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.disk.go_on();
        self.router.shards.shutdown();
        self.store.close();
    }
}

/// Copies a directory.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).expect("it can be made");
    for entry in std::fs::read_dir(from).expect("it is there").flatten() {
        let to = to.join(entry.file_name());
        match entry.file_type().expect("it is there").is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).expect("it can be copied")),
        }
    }
}

#[test]
fn a_power_cut_before_the_disk_knows_that_a_dead_letter_is_in_memory_brings_it_again() {
    let directory = Directory::new("shadows-killed");
    let killed = Directory::new("shadows-killed-copy");
    let site = Site::at(&directory);
    site.store.create_queue(QueueSettings::new("dead")).expect("it is new");
    site.store.create_queue(mortal(QueueSettings::new("orders"))).expect("it is new");
    let mut client = site.router.client();
    send(&mut client, "orders", [numbered(1), message(LARGE)]);
    reject(&mut client, "orders", 2);
    site.router.wait_until("they are dead", |_| depth(&site.store, "dead") == 2);
    // As if nobody had asked for it, so that it is the shadow of one that comes while the disk stalls.
    let settings = QueueSettings { auto_created: true, ..QueueSettings::new("dead") };
    site.store.change_queue(settings).expect("it can be so");
    // Nothing more comes onto the disk: this is what is left if the power fails while they are on both sides.
    site.disk.stall();
    copy(directory.path(), killed.path());
    site.store.create_queue(volatile("dead")).expect("nobody has asked for it");
    site.router.wait_until("they are on both sides", |_| on_sides(&site.store, "dead") == [Some(2), Some(2)]);
    let other = Stored::at(&killed);
    assert_eq!(on_sides(&other.store, "dead"), [Some(2), None]);
    assert_eq!(other.store.declare_queue(volatile("dead")), Ok(None));
    other.router.wait_until("they are in memory", |_| on_sides(&other.store, "dead") == [None, Some(2)]);
    let mut client = other.router.client();
    client.receiver("dead", 2);
    let mut both = [client.receive().bytes, client.receive().bytes];
    both.sort_by_key(Vec::len);
    assert_eq!(number_of(&both[0]), 1);
    assert!(both[1].ends_with(&message(LARGE)[LARGE / 2..]), "other bytes");
}

#[test]
fn a_dead_letter_stays_in_memory_until_the_disk_has_it() {
    let directory = Directory::new("shadows-stalled");
    let site = Site::at(&directory);
    let (orders, dead) = both_ways()[1].clone();
    for settings in [dead, orders] {
        site.store.create_queue(settings).expect("it is new");
    }
    let mut client = site.router.client();
    send(&mut client, "orders", [numbered(1)]);
    site.disk.stall();
    reject(&mut client, "orders", 1);
    site.router.wait_until("it is dead", |_| on_sides(&site.store, "dead") == [Some(0), Some(1)]);
    client.settle_down();
    assert_eq!(on_sides(&site.store, "dead"), [Some(0), Some(1)]);
    // Nobody sees it twice, nor the queue.
    assert_eq!((depth(&site.store, "dead"), site.store.queues().len()), (0, 2));
    site.disk.go_on();
    site.router.wait_until("it is on the disk", |_| on_sides(&site.store, "dead") == [Some(1), None]);
}

#[test]
fn a_dead_letter_in_memory_stays_there_when_the_disk_fails() {
    let directory = Directory::new("shadows-failed");
    let site = Site::at(&directory);
    let (orders, dead) = both_ways()[1].clone();
    for settings in [dead, orders] {
        site.store.create_queue(settings).expect("it is new");
    }
    let mut client = site.router.client();
    send(&mut client, "orders", [numbered(1)]);
    site.disk.stall();
    reject(&mut client, "orders", 1);
    site.disk.fail();
    site.disk.go_on();
    site.router.wait_until("it is known", |_| site.store.with(|node| node.is_ended));
    assert_eq!(on_sides(&site.store, "dead"), [Some(0), Some(1)]);
}
