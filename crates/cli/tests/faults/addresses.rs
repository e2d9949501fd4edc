//! Addresses: odd names, many of them, the same one twice, and who gets what is sent to them.

use amqp::message::{Body, Message};
use amqp::terminus::Source;
use amqp::{DeliveryState, Map, Symbol, Value};

use crate::support::CAPACITY;
use crate::support::codec::{message, text_of};
use crate::support::router::{ConfigFile, Router, Setup};
use crate::support::wire::Wire;

/// Sends a text to an address with its own link, and waits for the outcome.
fn send(sender: &mut Wire, address: &str, text: &str) -> Option<DeliveryState> {
    let to = sender.sender(address);
    sender.expect_credit(to, CAPACITY);
    let delivery = sender.send_message(to, false, &message(text));
    let outcome = sender.outcome(delivery);
    sender.detach(to);
    outcome
}

/// The text of the next message, which is accepted.
fn next(receiver: &mut Wire) -> String {
    let received = receiver.receive();
    receiver.accept(&received);
    text_of(&received.bytes)
}

// DISPATCH-1249
#[test]
fn an_address_of_one_character_is_like_any_other() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 1);
    receiver.receiver("b", 1);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);

    sender.send_message(to, true, &message("for a"));

    let received = receiver.receive();
    assert_eq!((text_of(&received.bytes), received.theirs), ("for a".to_owned(), 0));
}

// DISPATCH-1249
#[test]
fn an_annotation_of_one_character_passes() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 1);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    let annotations = Map(vec![(Value::Symbol(Symbol::from("k")), Value::from("v"))]);
    let body = Body::Value(Value::from("x"));
    let sent = Message { message_annotations: annotations.clone(), body, ..Message::default() };

    sender.send_message(to, true, &sent.to_bytes());

    let received = Message::decode(&receiver.receive().bytes).expect("it is a message");
    assert_eq!(received.message_annotations, annotations);
}

// DISPATCH-2308
#[test]
fn a_router_with_the_longest_id_gives_out_dynamic_addresses_that_work() {
    let id = "x".repeat(127);
    let router = Setup { router: &format!("id: {id}"), ..Setup::default() }.start();
    let (mut sender, mut receiver) = (router.client(), router.client());

    let (_, source) = receiver.receiver_from(Source { dynamic: true, ..Source::default() }, 1);

    let address = source.and_then(|source| source.address).expect("a dynamic source gets an address");
    assert!(address.starts_with(&format!("amqp:/_topo/0/{id}/temp.")), "{address}");
    let to = sender.sender(&address);
    sender.expect_credit(to, CAPACITY);
    sender.send_message(to, true, &message("found"));
    assert_eq!(next(&mut receiver), "found");
}

// DISPATCH-2308
#[test]
fn a_router_whose_id_is_too_long_does_not_start() {
    for length in [128, 201, 100_000] {
        let id = "x".repeat(length);
        let output = ConfigFile::new(&format!("router {{\n id: {id}\n}}\n")).program().output();
        let output = output.expect("the program can be started");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1));
        assert!(text.contains("exceeds the maximum allowed length (127 characters)"), "{text}");
    }
}

// DISPATCH-1637, DISPATCH-1682
#[test]
fn among_ten_thousand_configured_addresses_each_message_finds_its_own() {
    let sections: String = (0..10_000)
        .map(|number| format!("address {{\n pattern: area/{number}/*/end\n distribution: multicast\n}}\n"))
        .collect();
    let router = Router::start(&sections);
    let mut receivers = [router.client(), router.client()];
    for receiver in &mut receivers {
        receiver.receiver("area/9999/x/end", 1);
    }

    assert_eq!(send_accepted_by_all(&router, &mut receivers), Some(DeliveryState::Accepted));
}

fn send_accepted_by_all(router: &Router, receivers: &mut [Wire]) -> Option<DeliveryState> {
    let mut sender = router.client();
    let to = sender.sender("area/9999/x/end");
    sender.expect_credit(to, CAPACITY);
    let delivery = sender.send_message(to, false, &message("to all"));
    for receiver in receivers {
        assert_eq!(next(receiver), "to all");
    }
    sender.outcome(delivery)
}

// DISPATCH-1637, DISPATCH-1682
#[test]
fn ten_thousand_addresses_in_use_do_not_mix() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let links: Vec<_> = (0..10_000).map(|number| receiver.receiver(&format!("a/{number}"), 1)).collect();
    let to = sender.anonymous_sender();
    sender.expect_credit(to, CAPACITY);

    for number in (0..10_000).step_by(99) {
        let properties = amqp::message::Properties { to: Some(format!("a/{number}")), ..Default::default() };
        sender.send_message(to, true, &Message { properties, ..Message::default() }.to_bytes());
        assert_eq!(receiver.receive().theirs, links[number].theirs);
    }
}

// DISPATCH-1642
#[test]
fn a_file_that_configures_an_address_twice_is_refused() {
    let twice = "address {\n prefix: news\n distribution: multicast\n}\naddress {\n prefix: news\n distribution: \
                 closest\n}\n";
    let output = ConfigFile::new(twice).program().output().expect("the program can be started");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("Already exists"), "{text}");
}

// DISPATCH-1642
#[test]
fn an_address_that_is_configured_already_cannot_be_created_and_keeps_its_treatment() {
    let router = Router::start("address {\n name: first\n pattern: news/#\n distribution: multicast\n}\n");
    let mut management = router.management();

    let pairs = [("pattern", Value::from("news/#")), ("distribution", Value::from("closest"))];
    let refused = management.create("address", "second", &pairs).expect_err("it is there already");

    assert_eq!((refused.class.name(), refused.description.as_str()), ("BadRequestStatus", "Already exists"));
    assert_eq!(management.only("address").text("distribution"), Some("multicast"));
}

const FALLBACK: &str = "address {\n prefix: orders\n distribution: balanced\n enableFallback: yes\n}\n";

/// A receiver that gets only what nobody else is there for.
fn fallback_receiver(router: &Router) -> Wire {
    let mut receiver = router.client();
    let capabilities = vec![Symbol::from("qd.fallback")];
    let source = Source { address: Some("orders".to_owned()), capabilities, ..Source::default() };
    receiver.receiver_from(source, 10);
    receiver
}

// DISPATCH-1724
#[test]
fn a_fallback_gets_messages_only_while_there_is_no_other_receiver() {
    let router = Router::start(FALLBACK);
    let mut sender = router.client();
    let mut fallback = fallback_receiver(&router);
    let to = sender.sender("orders");
    sender.expect_credit(to, CAPACITY);

    let mut primary = router.client();
    let from = primary.receiver("orders", 10);
    sender.send_message(to, true, &message("first"));
    assert_eq!(next(&mut primary), "first");

    primary.detach(from);
    sender.send_message(to, true, &message("second"));
    assert_eq!(next(&mut fallback), "second");

    primary.receiver("orders", 10);
    sender.send_message(to, true, &message("third"));
    assert_eq!(next(&mut primary), "third");
}

// DISPATCH-1145
#[test]
fn each_subscriber_of_a_multicast_gets_one_copy_also_the_one_who_sends() {
    let router = Router::start("address {\n prefix: news\n distribution: multicast\n}\n");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("news", 10);
    receiver.receiver("news", 10);
    sender.receiver("news", 10);
    let to = sender.sender("news");
    sender.expect_credit(to, CAPACITY);

    sender.send_message(to, true, &message("once"));

    receiver.receive();
    receiver.receive();
    sender.receive();
    sender.sync();
    receiver.sync();
    assert_eq!((sender.waiting(), receiver.waiting()), (0, 0));
}

// DISPATCH-1732
#[test]
fn a_tenant_that_names_no_host_shares_the_addresses_of_everyone() {
    let router = Setup { listener: "multiTenant: yes", ..Setup::default() }.start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    assert_eq!(router.log().iter().filter(|line| line.contains("Connection Opened")).count(), 2);

    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    sender.send_message(to, true, &message("shared"));

    assert_eq!(next(&mut receiver), "shared");
}

// DISPATCH-1732
#[test]
fn a_tenant_that_names_an_empty_host_disturbs_no_tenant_with_a_name() {
    let router = Setup { listener: "multiTenant: yes", ..Setup::default() }.start();
    let tenant = |host: &str| {
        let hostname = Some(host.to_owned());
        let open = amqp::performative::Open { container_id: "tenant".to_owned(), hostname, ..Default::default() };
        Wire::client_with(router.port, open, 100)
    };
    let (mut nobody, mut somebody, mut sender) = (tenant(""), tenant("here"), tenant("here"));
    nobody.receiver("a", 10);
    somebody.receiver("a", 10);

    std::thread::scope(|scope| {
        let answering = scope.spawn(|| next(&mut somebody));
        assert_eq!(send(&mut sender, "a", "for here"), Some(DeliveryState::Accepted));
        assert_eq!(answering.join().expect("it does not panic"), "for here");
    });

    nobody.sync();
    assert_eq!(nobody.waiting(), 0);
}
