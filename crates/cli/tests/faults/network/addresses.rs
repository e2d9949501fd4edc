//! Addresses: odd ones, and those that come and go on other routers.

use amqp::condition::names;
use amqp::message::{Body, Message};
use amqp::performative::{Attach, Role};
use amqp::terminus::{Source, Target};
use amqp::{Map, Symbol, Value};

use super::{next, outcome_of, pass, receiver, sender, three, two, two_with};
use crate::support::CAPACITY;
use crate::support::codec::message;
use crate::support::interior::Interior;
use crate::support::wire::Wire;

// DISPATCH-1249
#[test]
fn an_address_of_one_character_is_reached_on_another_router() {
    let [a, b] = two();
    let (mut receiver, _) = receiver(&b, "a", 10);
    a.knows("a", 0, 1);
    let (mut sender, to) = sender(&a, "a");

    pass(&mut sender, to, &mut receiver, "x");
}

// DISPATCH-1249
#[test]
fn an_annotation_of_one_character_passes_to_another_router() {
    let [a, b] = two();
    let (mut receiver, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");
    let annotations = Map(vec![(Value::Symbol(Symbol::from("k")), Value::from("v"))]);
    let body = Body::Value(Value::from("x"));
    let sent = Message { message_annotations: annotations.clone(), body, ..Message::default() };

    sender.send_message(to, true, &sent.to_bytes());

    let received = Message::decode(&receiver.receive().bytes).expect("it is a message");
    assert_eq!(received.message_annotations, annotations);
}

// DISPATCH-2308
#[test]
fn dynamic_addresses_of_routers_with_the_longest_ids_are_reached_from_other_routers() {
    let [here, there] = ["x".repeat(127), "y".repeat(127)];
    let a = Interior::start(&here, &[]);
    let b = Interior::start(&there, &[(&a, 1)]);
    a.reaches(&[&there]);
    let mut receiver = b.client();
    let (_, source) = receiver.receiver_from(Source { dynamic: true, ..Source::default() }, 1);
    let address = source.and_then(|source| source.address).expect("a dynamic source gets an address");

    let (mut sender, to) = sender(&a, &address);

    pass(&mut sender, to, &mut receiver, "found");
}

// DISPATCH-802
#[test]
fn an_address_that_is_closed_here_is_refused_here_though_another_router_has_a_receiver_for_it() {
    let a = Interior::configured("A", "address {\n prefix: closed\n distribution: unavailable\n}\n", &[]);
    let b = Interior::start("B", &[(&a, 1)]);
    let (_receiver, _) = receiver(&b, "closed/door", 10);
    a.reaches(&["B"]);
    a.knows("closed/door", 0, 1);
    let mut client = a.client();
    let attach = client.new_attach(Role::Sender);
    let target = Target { address: Some("closed/door".to_owned()), ..Target::default() };

    let attach = Attach { source: Some(Source::default()), target: Some(target.into()), ..attach };
    let (link, answer) = client.attach(attach);

    let (closed, error) = client.expect_detach(link);
    assert_eq!((closed, answer.target), (true, None));
    assert_eq!(error.expect("a refusal has a reason").condition.as_str(), names::NOT_FOUND);
}

const FALLBACK: &str = "address {\n prefix: orders\n distribution: balanced\n enableFallback: yes\n}\n";

/// A receiver that gets only what nobody else is there for.
fn fallback_receiver(router: &Interior) -> Wire {
    let mut receiver = router.client();
    let capabilities = vec![Symbol::from("qd.fallback")];
    let source = Source { address: Some("orders".to_owned()), capabilities, ..Source::default() };
    receiver.receiver_from(source, 10);
    receiver
}

// DISPATCH-1724
#[test]
fn a_fallback_on_another_router_gets_messages_only_while_no_router_has_another_receiver() {
    let a = Interior::configured("A", FALLBACK, &[]);
    let b = Interior::configured("B", FALLBACK, &[(&a, 1)]);
    let c = Interior::configured("C", FALLBACK, &[(&b, 1)]);
    a.reaches(&["B", "C"]);
    c.reaches(&["A", "B"]);
    let mut fallback = fallback_receiver(&b);
    let (mut primary, from) = receiver(&c, "orders", 10);
    a.knows("orders", 0, 1);
    b.knows("orders", 0, 1);
    let (mut sender, to) = sender(&a, "orders");
    pass(&mut sender, to, &mut primary, "first");

    primary.detach(from);
    a.knows("orders", 0, 0);
    b.knows("orders", 0, 0);
    pass(&mut sender, to, &mut fallback, "second");

    let (mut primary, _) = receiver(&c, "orders", 10);
    a.knows("orders", 0, 1);
    b.knows("orders", 0, 1);
    pass(&mut sender, to, &mut primary, "third");
}

// DISPATCH-1724
#[test]
fn a_fallback_here_is_not_used_while_another_router_has_a_receiver() {
    let [a, b] = two_with(FALLBACK);
    let mut fallback = fallback_receiver(&a);
    let (mut primary, _) = receiver(&b, "orders", 10);
    a.knows("orders", 0, 1);
    let (mut sender, to) = sender(&a, "orders");

    pass(&mut sender, to, &mut primary, "first");

    fallback.sync();
    assert_eq!(fallback.waiting(), 0);
}

// skupper-router#1852
#[test]
fn addresses_of_a_router_that_has_gone_are_withdrawn_and_what_is_sent_there_is_released() {
    let [a, mut b, mut c] = three();
    let (_near, _) = receiver(&b, "near", 10);
    let (_far, _) = receiver(&c, "far", 10);
    a.knows("near", 0, 1);
    a.knows("far", 0, 1);

    c.kill();
    a.knows("far", 0, 0);
    assert_eq!(outcome_of(&a, "far", "x"), Some(amqp::DeliveryState::Released));
    a.knows("near", 0, 1);

    b.kill();
    a.knows("near", 0, 0);
    assert_eq!(outcome_of(&a, "near", "x"), Some(amqp::DeliveryState::Released));
}

// skupper-router#1852
#[test]
fn a_sender_goes_on_when_the_router_of_its_receiver_is_back() {
    let [a, mut b] = two();
    let (_receiver, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");

    b.restart();
    a.knows("a", 0, 0);
    let (mut receiver, _) = receiver(&b, "a", 10);
    a.knows("a", 0, 1);

    sender.send_message(to, true, &message("again"));
    assert_eq!(next(&mut receiver), "again");
}

// DISPATCH-1145
#[test]
fn each_subscriber_in_a_mesh_of_four_gets_one_copy_of_a_multicast() {
    let mut routers = vec![Interior::start("R0", &[])];
    for number in 1..4 {
        let others: Vec<_> = routers.iter().map(|other| (other, 1)).collect();
        routers.push(Interior::start(&format!("R{number}"), &others));
    }
    let ids: Vec<_> = (0..4).map(|number| format!("R{number}")).collect();
    for (at, router) in routers.iter().enumerate() {
        let others: Vec<_> = ids.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, id)| &**id).collect();
        router.reaches(&others);
    }
    let mut receivers: Vec<_> = routers.iter().map(|router| receiver(router, "multicast/news", 100).0).collect();
    routers.iter().for_each(|router| router.knows("multicast/news", 1, 3));

    let mut client = routers[0].client();
    let to = client.sender("multicast/news");
    client.expect_credit(to, CAPACITY);
    for number in 0..20 {
        client.send_message(to, false, &message(&number.to_string()));
    }

    for receiver in &mut receivers {
        let texts: Vec<_> = (0..20).map(|_| next(receiver)).collect();
        assert_eq!(texts, (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
    }
    (0..20).for_each(|delivery| assert_eq!(client.outcome(delivery), Some(amqp::DeliveryState::Accepted)));
    receivers.iter_mut().for_each(Wire::sync);
    assert!(receivers.iter().all(|receiver| receiver.waiting() == 0));
}
