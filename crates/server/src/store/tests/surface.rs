//! What AMQP lets a client ask of a queue.

use amqp::message::{Body, Message};
use amqp::performative::{Attach, ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{ExpiryPolicy, Source, Target, TargetTerminus};
use amqp::{DeliveryState, Described, ErrorCondition, Map, Value};
use amqp_endpoint::{ConnectionConfig, LinkId, NewLink};
use queue_core::{Overflow, QueueSettings};

use super::{Directory, Stored, in_memory, volatile};
use crate::shard::tests::client::{Client, Happened, encoded, message};
use crate::store::TopicSpec;

/// A receiver's link.
pub(super) fn receiver(address: &str) -> NewLink {
    NewLink {
        name: format!("receiver of {address}"),
        sender: false,
        snd_settle_mode: SenderSettleMode::Mixed,
        rcv_settle_mode: ReceiverSettleMode::First,
        source: Some(Source { address: Some(address.to_owned()), ..Source::default() }),
        target: Some(TargetTerminus::Target(Target::default())),
        max_message_size: None,
        offered_capabilities: Vec::new(),
        desired_capabilities: Vec::new(),
        properties: None,
    }
}

/// Attaches, and gives the answer.
pub(super) fn attach(client: &mut Client, link: NewLink, credit: u32) -> (LinkId, Attach) {
    let session = client.session();
    let link = client.endpoint.attach(session, link).expect("the name is free");
    client.write();
    let answered = client.expect("the answer", |happened| matches!(happened, Happened::Attached(of, _) if *of == link));
    client.endpoint.add_credit(link, credit);
    client.write();
    let Happened::Attached(_, attach) = answered else { unreachable!("it was looked for") };
    (link, *attach)
}

/// Why a link is refused.
fn refusal(client: &mut Client, link: NewLink) -> ErrorCondition {
    let (link, _) = attach(client, link, 0);
    let end =
        client.expect("the end", |happened| matches!(happened, Happened::Detached { link: of, .. } if *of == link));
    let Happened::Detached { error: Some(error), .. } = end else { panic!("{end:?}") };
    error
}

/// A message with an application property.
fn coloured(colour: &str) -> Vec<u8> {
    let properties = Map::from_iter([(Value::from("colour"), Value::from(colour))]);
    encoded(&Message { application_properties: properties, ..Message::new(Body::Data(vec![b"x".to_vec()])) })
}

fn send(client: &mut Client, address: &str, messages: impl IntoIterator<Item = Vec<u8>>) {
    let link = client.sender(Some(address));
    for message in messages {
        let key = client.send(link, false, &message);
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
}

pub(super) fn filtered(address: &str, descriptor: Value, text: &str) -> NewLink {
    let value = Value::Described(Box::new(Described { descriptor, value: Value::from(text) }));
    let mut link = receiver(address);
    let filter = Map::from_iter([(Value::Symbol("s".into()), value), (Value::Symbol("unknown".into()), Value::Null)]);
    link.source = link.source.map(|source| Source { filter: Some(filter), ..source });
    link
}

#[test]
fn a_selector_lets_through_what_it_fits_by_name_and_by_number_and_only_it_is_in_the_answer() {
    let (router, _store) = in_memory([volatile("orders")]);
    for descriptor in [Value::Symbol("apache.org:selector-filter:string".into()), Value::Ulong(0x0000_468C_0000_0004)] {
        let mut client = router.client();
        send(&mut client, "orders", [coloured("red"), coloured("blue")]);
        let (_, answer) = attach(&mut client, filtered("orders", descriptor, "colour = 'blue'"), 2);
        let applied = answer.source.and_then(|source| source.filter).unwrap_or_default();
        assert_eq!(applied.0.len(), 1);
        let received = client.receive();
        assert_eq!(received.bytes, coloured("blue"));
        client.settle(&received, DeliveryState::Accepted);
    }
}

#[test]
fn a_selector_that_is_none_is_refused_with_the_place() {
    let (router, _store) = in_memory([volatile("orders")]);
    let name = Value::Symbol("apache.org:selector-filter:string".into());
    let error = refusal(&mut router.client(), filtered("orders", name, "colour = = 'blue'"));
    assert_eq!(error.condition.as_str(), "amqp:invalid-field");
    assert!(error.description.is_some_and(|text| text.contains("character 10")), "no place");
}

#[test]
fn whoever_browses_sees_all_and_takes_nothing() {
    let (router, store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    send(&mut client, "orders", [message(1), message(2)]);
    let mut link = receiver("orders");
    link.source = link.source.map(|source| Source { distribution_mode: Some("copy".into()), ..source });
    let (_, answer) = attach(&mut client, link, 10);
    let mode = answer.source.and_then(|source| source.distribution_mode);
    assert_eq!(mode.map(|mode| mode.as_str().to_owned()).as_deref(), Some("copy"));
    for size in [1, 2] {
        let received = client.receive();
        assert_eq!(received.bytes, message(size));
        client.settle(&received, DeliveryState::Accepted);
    }
    send(&mut client, "orders", [message(3)]);
    assert_eq!(client.receive().bytes, message(3));
    assert_eq!(store.queue("orders").map(|queue| queue.messages), Some(3));
}

#[test]
fn an_exclusive_receiver_keeps_others_out() {
    let (router, _store) = in_memory([volatile("orders")]);
    let mut first = router.client();
    let mut link = receiver("orders");
    link.source = link.source.map(|source| Source { capabilities: vec!["exclusive".into()], ..source });
    attach(&mut first, link, 1);
    let error = refusal(&mut router.client(), receiver("orders"));
    assert_eq!(error.condition.as_str(), "amqp:resource-locked");
}

#[test]
fn a_receiver_of_higher_priority_gets_messages_first() {
    let (router, _store) = in_memory([volatile("orders")]);
    let (mut low, mut high) = (router.client(), router.client());
    attach(&mut low, receiver("orders"), 10);
    let properties = Map::from_iter([(Value::Symbol("priority".into()), Value::Int(5))]);
    attach(&mut high, NewLink { properties: Some(properties), ..receiver("orders") }, 10);
    send(&mut low, "orders", [message(1), message(2)]);
    assert_eq!(high.receive().bytes, message(1));
    assert_eq!(high.receive().bytes, message(2));
}

#[test]
fn what_is_sent_and_received_settled_is_gone_at_once() {
    let (router, store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    let link = client.sender(Some("orders"));
    client.send(link, true, &message(1));
    attach(&mut client, NewLink { snd_settle_mode: SenderSettleMode::Settled, ..receiver("orders") }, 10);
    let received = client.receive();
    assert!(received.settled);
    router.wait_until("it is gone", |_| store.queue("orders").is_some_and(|queue| queue.messages == 0));
}

#[test]
fn a_settlement_without_a_state_is_what_the_source_says() {
    let (router, store) = in_memory([volatile("orders")]);
    let mut client = router.client();
    send(&mut client, "orders", [message(1)]);
    let mut link = receiver("orders");
    let released = Value::Described(Box::new(Described { descriptor: Value::Ulong(0x26), value: Value::List(vec![]) }));
    link.source = link.source.map(|source| Source { default_outcome: Some(released), ..source });
    let (link, _) = attach(&mut client, link, 1);
    let received = client.receive();
    client.endpoint.update_incoming(link, received.delivery_id, None, true);
    client.write();
    router.wait_until("it is back", |_| store.queue("orders").is_some_and(|queue| queue.acquired == 0));
    assert_eq!(store.queue("orders").map(|queue| queue.messages), Some(1));
}

#[test]
fn a_rejected_message_goes_to_the_dead_letter_address_and_says_why() {
    let orders = QueueSettings { dead_letter_address: Some("dead".into()), ..volatile("orders") };
    let (router, _store) = in_memory([orders, volatile("dead")]);
    let mut client = router.client();
    send(&mut client, "orders", [message(1)]);
    client.receiver("orders", 1);
    let received = client.receive();
    let error = ErrorCondition::new("app:bad", "no such customer");
    client.settle(&received, DeliveryState::Rejected(Some(Box::new(error))));
    client.receiver("dead", 1);
    let dead = Message::decode(&client.receive().bytes).expect("well-formed");
    let said = |key: &str| dead.message_annotations.get(key).and_then(|value| value.as_text().map(str::to_owned));
    assert_eq!(said("x-opt-dead-letter-reason").as_deref(), Some("rejected"));
    assert_eq!(said("x-opt-dead-letter-origin").as_deref(), Some("orders"));
    assert_eq!(said("x-opt-dead-letter-error").as_deref(), Some("no such customer"));
}

#[test]
fn senders_of_a_full_queue_wait_until_there_is_room() {
    let (router, _store) = in_memory([QueueSettings { max_messages: Some(2), ..volatile("orders") }]);
    let mut client = router.client();
    let link = client.sender(Some("orders"));
    client.wait_for_credit(link);
    assert_eq!(client.endpoint.link(link).map(|info| info.credit), Some(2));
    for _ in 0..2 {
        let key = client.send(link, false, &message(1));
        client.outcome(key);
    }
    client.settle_down();
    assert_eq!(client.endpoint.link(link).map(|info| info.credit), Some(0));
    client.receiver("orders", 1);
    client.accept_last();
    client.wait_for_credit(link);
}

#[test]
fn a_full_queue_that_is_to_refuse_says_so() {
    let full = QueueSettings { max_messages: Some(1), overflow: Overflow::Reject, ..volatile("orders") };
    let (router, _store) = in_memory([full]);
    let mut client = router.client();
    send(&mut client, "orders", [message(1)]);
    let link = client.sender(Some("orders"));
    let key = client.send(link, false, &message(1));
    let Some(DeliveryState::Rejected(Some(error))) = client.outcome(key) else { panic!("it was not rejected") };
    assert_eq!(error.condition.as_str(), "amqp:resource-limit-exceeded");
}

#[test]
fn each_subscription_of_a_topic_gets_its_own_copies() {
    let (router, store) = in_memory([]);
    let subscription = volatile("");
    store.create_topic(TopicSpec { address: "news".to_owned(), subscription }).expect("it is new");
    let (mut one, mut two) = (router.client(), router.client());
    attach(&mut one, NewLink { name: "one".to_owned(), ..receiver("news") }, 10);
    attach(&mut two, NewLink { name: "two".to_owned(), ..receiver("news") }, 10);
    send(&mut one, "news", [message(1)]);
    assert_eq!((one.receive().bytes, two.receive().bytes), (message(1), message(1)));
    drop(two);
    router.wait_until("its queue is gone", |_| store.queues().len() == 1);
}

#[test]
fn a_durable_subscription_keeps_messages_while_nobody_is_there_through_a_restart() {
    let directory = Directory::new("subscription");
    let stored = Stored::at(&directory);
    let subscription = QueueSettings::new("");
    stored.store.create_topic(TopicSpec { address: "news".to_owned(), subscription }).expect("it is new");
    let subscriber = || {
        let mut link = receiver("news");
        link.source = link.source.map(|source| Source { durable: 2, expiry_policy: ExpiryPolicy::Never, ..source });
        link
    };
    let mut client = stored.router.client();
    attach(&mut client, subscriber(), 0);
    drop(client);
    let mut client = stored.router.client();
    send(&mut client, "news", [message(1)]);
    drop(stored);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    let (link, _) = attach(&mut client, subscriber(), 1);
    assert_eq!(client.receive().bytes, message(1));
    client.endpoint.detach(link, true, None);
    client.write();
    stored.router.wait_until("it is given up", |_| stored.store.queues().is_empty());
}

/// A receiver's link to a topic for messages of other clients than its own that are red.
fn picky(topic: &str) -> NewLink {
    let mut link = filtered(topic, Value::Symbol("apache.org:selector-filter:string".into()), "colour = 'red'");
    let descriptor = Value::Symbol("apache.org:no-local-filter:list".into());
    let no_local = Value::Described(Box::new(Described { descriptor, value: Value::List(vec![]) }));
    if let Some(filter) = link.source.as_mut().and_then(|source| source.filter.as_mut()) {
        filter.0.push((Value::Symbol("n".into()), no_local));
    }
    link
}

#[test]
fn a_subscription_that_is_updated_stays_what_its_receiver_has_asked_for() {
    let (router, store) = in_memory([]);
    store.create_topic(TopicSpec { address: "news".to_owned(), subscription: volatile("") }).expect("it is new");
    let mut receiving = router.client();
    attach(&mut receiving, picky("news"), 10);
    let before = store.queues().remove(0).settings;
    // Who manages it can say neither whose it is, nor what it is to be kept from.
    let update = QueueSettings { max_messages: Some(5), topic: None, no_local: None, ..before.clone() };
    store.change_queue(update).expect("it is there");
    let after = store.queues().remove(0).settings;
    assert_eq!(after, QueueSettings { max_messages: Some(5), ..before });
    send(&mut receiving, "news", [coloured("red")]);
    let other = ConnectionConfig { container_id: "other".to_owned(), ..ConnectionConfig::default() };
    let mut other = Client::connect_with(router.address, other);
    send(&mut other, "news", [coloured("blue"), coloured("red")]);
    assert_eq!(receiving.receive().bytes, coloured("red"));
    receiving.settle_down();
    assert!(receiving.take_message().is_none());
}

#[test]
fn a_dynamic_node_with_a_lifetime_policy_is_a_queue_that_goes_with_its_link() {
    let (router, store) = in_memory([]);
    let mut client = router.client();
    let policy = Value::Described(Box::new(Described { descriptor: Value::Ulong(0x2b), value: Value::List(vec![]) }));
    let mut link = receiver("");
    link.source = Some(Source {
        dynamic: true,
        dynamic_node_properties: Some(Map::from_iter([(Value::Symbol("lifetime-policy".into()), policy)])),
        ..Source::default()
    });
    let (link, answer) = attach(&mut client, link, 1);
    let address = answer.source.and_then(|source| source.address).expect("it has an address");
    send(&mut client, &address, [message(1)]);
    assert_eq!(client.receive().bytes, message(1));
    assert_eq!(store.queues().len(), 1);
    client.endpoint.detach(link, true, None);
    client.write();
    router.wait_until("it is gone", |_| store.queues().is_empty());
}
