//! Links and sessions: how they are refused, what they are called, and what ends with them.

use amqp::condition::names;
use amqp::performative::{Attach, Begin, End, Role};
use amqp::state::Modified;
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Performative, Symbol};

use crate::support::CAPACITY;
use crate::support::codec::{head_of_data, message, text_of};
use crate::support::router::Router;
use crate::support::wire::Wire;

const UNAVAILABLE: &str = "address {\n prefix: closed\n distribution: unavailable\n}";

fn source(address: &str) -> Source {
    Source { address: Some(address.to_owned()), ..Source::default() }
}

fn target(address: &str) -> TargetTerminus {
    Target { address: Some(address.to_owned()), ..Target::default() }.into()
}

/// The answer to an attach that is refused, and the reason that follows it.
fn refusal(client: &mut Wire, attach: Attach) -> (Attach, ErrorCondition) {
    let (link, answer) = client.attach(attach);
    let (closed, error) = client.expect_detach(link);
    assert!(closed);
    (answer, error.expect("a refusal has a reason"))
}

// DISPATCH-802
#[test]
fn a_sender_that_is_refused_is_attached_without_a_target_and_detached_with_the_reason() {
    let router = Router::start(UNAVAILABLE);
    let mut client = router.client();
    let attach = client.new_attach(Role::Sender);
    let attach = Attach { source: Some(source("mine")), target: Some(target("closed/door")), ..attach };

    let (answer, reason) = refusal(&mut client, attach);

    assert_eq!((answer.target, reason.condition.as_str()), (None, names::NOT_FOUND));
    assert_eq!(reason.description.as_deref(), Some("Node not found"));
}

// DISPATCH-802
#[test]
fn a_receiver_that_is_refused_is_attached_without_a_source_and_detached_with_the_reason() {
    let router = Router::start(UNAVAILABLE);
    let mut client = router.client();
    let attach = client.new_attach(Role::Receiver);
    let attach = Attach { source: Some(source("closed/door")), target: Some(target("mine")), ..attach };

    let (answer, reason) = refusal(&mut client, attach);

    assert_eq!((answer.source, reason.condition.as_str()), (None, names::NOT_FOUND));
}

// DISPATCH-802
#[test]
fn a_refused_link_does_not_disturb_the_others_of_its_session() {
    let router = Router::start(UNAVAILABLE);
    let mut client = router.client();
    client.receiver("open", 10);
    let to = client.sender("open");
    client.expect_credit(to, CAPACITY);
    let attach = client.new_attach(Role::Sender);

    refusal(&mut client, Attach { source: Some(source("mine")), target: Some(target("closed/door")), ..attach });

    client.send_message(to, true, &message("still here"));
    assert_eq!(text_of(&client.receive().bytes), "still here");
}

// DISPATCH-1453
#[test]
fn a_transaction_coordinator_without_a_link_route_is_refused_with_what_is_missing() {
    let router = Router::start("");
    let mut client = router.client();
    let capabilities = vec![Symbol::from("amqp:local-transactions")];
    let coordinator = TargetTerminus::Coordinator { capabilities };
    let attach = client.new_attach(Role::Sender);

    let (answer, reason) =
        refusal(&mut client, Attach { source: Some(source("mine")), target: Some(coordinator), ..attach });

    assert_eq!((answer.target, reason.condition.as_str()), (None, names::PRECONDITION_FAILED));
    let description = reason.description.unwrap_or_default();
    assert!(description.contains("linkRoute to a coordinator must be configured"), "{description}");
}

// skupper-router#1698
#[test]
fn the_end_of_a_receivers_session_hands_its_deliveries_back() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 1);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    let seen = sender.send_message(to, false, &message("seen"));
    let unseen = sender.send_message(to, false, &message("unseen"));
    sender.sync();
    receiver.receive();

    receiver.send(Performative::End(End::default()));

    let failed = Modified { delivery_failed: true, ..Modified::default() };
    assert_eq!(sender.outcome(seen), Some(DeliveryState::Modified(Box::new(failed))));
    assert_eq!(sender.outcome(unseen), Some(DeliveryState::Released));
}

// skupper-router#1698
#[test]
fn the_end_of_a_senders_session_aborts_what_it_had_begun_and_keeps_what_it_had_sent() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 1);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    sender.send_message(to, false, &message("whole"));
    assert_eq!(text_of(&receiver.receive().bytes), "whole");
    receiver.credit(from, 1, 1);
    let begun = sender.next_delivery();
    sender.send_part(to, begun, false, &head_of_data(10_000_000), true);
    sender.send_part(to, begun, false, &vec![b'x'; 500_000], true);
    receiver.wait_for_bytes(from, 1);

    sender.send(Performative::End(End::default()));

    assert!(receiver.receive().aborted);
    receiver.settle(0, Some(DeliveryState::Accepted), true);
    receiver.sync();
    router.wait_until_idle();
}

// skupper-router#1698
#[test]
fn a_connection_goes_on_after_the_end_of_a_session_with_links_and_deliveries() {
    let router = Router::start("");
    let mut client = router.client();
    client.receiver("a", 5);
    let to = client.sender("a");
    client.expect_credit(to, CAPACITY);
    for _ in 0..10 {
        client.send_message(to, false, &message("x"));
    }
    client.receive();

    client.send(Performative::End(End::default()));
    client.expect("the answer to the end", |frame| matches!(frame, Performative::End(_)).then_some(()));
    client.send(Performative::Begin(Begin { incoming_window: 100, outgoing_window: 100, ..Begin::default() }));

    client.receiver("b", 5);
    let to = client.sender("b");
    client.expect_credit(to, CAPACITY);
}

// DISPATCH-112
#[test]
fn link_names_of_different_connections_and_directions_do_not_clash() {
    let router = Router::start("");
    let mut clients = [router.client(), router.client()];
    for (index, client) in clients.iter_mut().enumerate() {
        let address = format!("a/{index}");
        let receiver = client.new_attach(Role::Receiver);
        let sender = client.new_attach(Role::Sender);
        let (source, target) = (source(&address), target(&address));
        let name = "the same".to_owned();
        let (from, _) = client.attach(Attach { name: name.clone(), source: Some(source), ..receiver });
        client.credit(from, 0, 1);
        let (to, _) = client.attach(Attach { name, target: Some(target), ..sender });
        client.expect_credit(to, CAPACITY);
        client.send_message(to, true, &message(&address));
    }
    for (index, client) in clients.iter_mut().enumerate() {
        assert_eq!(text_of(&client.receive().bytes), format!("a/{index}"));
    }
}

// DISPATCH-112
#[test]
fn a_link_whose_name_is_in_use_is_refused_and_the_one_that_has_it_goes_on() {
    let router = Router::start("");
    let mut client = router.client();
    let from = client.receiver("a", 10);
    let to = client.sender("a");
    client.expect_credit(to, CAPACITY);
    let attach = client.new_attach(Role::Sender);
    let name = format!("link {}", to.handle);

    let attach = Attach { name, source: Some(source("mine")), target: Some(target("b")), ..attach };
    let (_, reason) = refusal(&mut client, attach);

    assert_eq!(reason.condition.as_str(), names::NOT_ALLOWED);
    client.send_message(to, true, &message("still here"));
    assert_eq!(client.receive().theirs, from.theirs);
}
