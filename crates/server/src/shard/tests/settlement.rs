//! Messages and their outcomes, end to end.

use amqp::state::Modified;
use amqp::{DeliveryState, ErrorCondition};

use super::client::{Happened, message};
use super::router::Router;

/// What a sender is told when the receiver settles with this state.
fn outcome_of(state: DeliveryState) -> Option<DeliveryState> {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    let key = sender.send(link, false, &message(100));
    let received = receiver.receive();
    receiver.settle(&received, state);
    sender.outcome(key)
}

#[test]
fn an_unsettled_message_arrives_as_it_was_sent_and_its_acceptance_comes_back() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    let key = sender.send(link, false, &message(100));
    let received = receiver.receive();
    assert_eq!(received.bytes, message(100));
    assert!(!received.settled);
    receiver.settle(&received, DeliveryState::Accepted);
    assert_eq!(sender.outcome(key), Some(DeliveryState::Accepted));
}

#[test]
fn a_presettled_message_arrives_settled() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    sender.send(link, true, &message(100));
    let received = receiver.receive();
    assert!(received.settled);
    assert_eq!(received.bytes, message(100));
}

#[test]
fn a_rejection_comes_back_with_its_error() {
    let error = ErrorCondition::new("test:wrong", "not that");
    let state = DeliveryState::Rejected(Some(Box::new(error)));
    assert_eq!(outcome_of(state.clone()), Some(state));
}

#[test]
fn a_release_comes_back() {
    assert_eq!(outcome_of(DeliveryState::Released), Some(DeliveryState::Released));
}

#[test]
fn a_modification_comes_back_with_its_fields() {
    let modified = Modified { delivery_failed: true, undeliverable_here: true, message_annotations: None };
    let state = DeliveryState::Modified(Box::new(modified));
    assert_eq!(outcome_of(state.clone()), Some(state));
}

#[test]
fn a_state_that_a_message_is_sent_with_arrives_with_it_whatever_its_size() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    for size in [10, 100_000, 1_000_000] {
        let state = DeliveryState::Other(Box::new([0, 0x80, 0, 0, 0, 0, 0, 0, 2, 0x9a, 0x45]));
        sender.begin_with(link, false, Some(&state));
        sender.send_part(link, &message(size), false);
        assert_eq!(receiver.receive().state, Some(state), "{size} bytes");
    }
}

#[test]
fn outcomes_of_many_messages_in_any_order_reach_their_own() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 100);
    let link = sender.sender(Some("a"));
    let keys: Vec<u64> = (0..100).map(|size| sender.send(link, false, &message(size))).collect();
    let mut received: Vec<_> = (0..100).map(|_| receiver.receive()).collect();
    received.reverse();
    for (index, message) in received.iter().enumerate() {
        let state = if index % 2 == 0 { DeliveryState::Accepted } else { DeliveryState::Released };
        receiver.settle(message, state);
    }
    for (index, key) in keys.into_iter().enumerate() {
        let expected = if index % 2 == 1 { DeliveryState::Accepted } else { DeliveryState::Released };
        assert_eq!(sender.outcome(key), Some(expected), "of message {index}");
    }
}

#[test]
fn deliveries_carry_the_routers_own_tags() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    sender.send(link, true, &message(1));
    sender.send(link, true, &message(1));
    assert_eq!(receiver.receive().tag, 0_u64.to_le_bytes());
    assert_eq!(receiver.receive().tag, 1_u64.to_le_bytes());
}

#[test]
fn a_message_of_several_frames_arrives_in_one_piece() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    sender.send(link, false, &message(100_000));
    assert_eq!(receiver.receive().bytes, message(100_000));
}

#[test]
fn an_anonymous_sender_names_the_address_in_each_message() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("b", 10);
    let link = sender.sender(None);
    let properties = amqp::message::Properties { to: Some("b".to_owned()), ..Default::default() };
    let bytes = super::client::encoded(&amqp::message::Message { properties, ..Default::default() });
    sender.send(link, false, &bytes);
    assert_eq!(receiver.receive().bytes, bytes);
}

#[test]
fn a_message_that_is_no_message_is_rejected_and_the_link_goes_on() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    let key = sender.send(link, false, b"no sections");
    let error = ErrorCondition::new("amqp:decode-error", "invalid message format");
    assert_eq!(sender.outcome(key), Some(DeliveryState::Rejected(Some(Box::new(error)))));
    sender.send(link, false, &message(5));
    assert_eq!(receiver.receive().bytes, message(5));
}

#[test]
fn a_message_that_is_cut_short_is_rejected_also_when_it_came_in_several_frames() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    let whole = message(60_000);
    let key = sender.send(link, false, &whole[..whole.len() - 1]);
    let error = ErrorCondition::new("amqp:decode-error", "invalid message format");
    assert_eq!(sender.outcome(key), Some(DeliveryState::Rejected(Some(Box::new(error)))));
}

#[test]
fn messages_that_wait_for_credit_arrive_in_order_when_it_comes() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    let to = receiver.receiver("a", 0);
    let link = sender.sender(Some("a"));
    for size in 0..50 {
        sender.send(link, false, &message(size));
    }
    sender.settle_down();
    receiver.endpoint.add_credit(to, 50);
    for size in 0..50 {
        assert_eq!(receiver.receive().bytes, message(size));
    }
}

#[test]
fn a_receiver_that_drains_gets_its_credit_back() {
    let router = Router::start();
    let mut receiver = router.client();
    let link = receiver.receiver("a", 10);
    receiver.endpoint.drain(link, true);
    let drained = receiver.expect("the credit", |happened| matches!(happened, Happened::Drained { .. }));
    assert!(matches!(drained, Happened::Drained { returned: 10, .. }), "{drained:?}");
}

#[test]
fn a_sender_without_a_receiver_has_no_credit_until_one_comes() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    let link = sender.sender(Some("a"));
    sender.settle_down();
    assert_eq!(sender.endpoint.link(link).map(|info| info.credit), Some(0));
    receiver.receiver("a", 1);
    sender.wait_for_credit(link);
    assert_eq!(sender.endpoint.link(link).map(|info| info.credit), Some(250));
}

#[test]
fn shards_pass_messages_and_outcomes_between_them() {
    let router = Router::with(4, crate::shard::ConnectionSettings::default());
    let mut receiver = router.client();
    receiver.receiver("a", 1000);
    let mut sender = router.client();
    // A second shard is started under load only. What is said of load here holds until it is measured again.
    while router.shards.running() < 2 {
        router.shards.spread();
        sender = router.client();
    }
    let link = sender.sender(Some("a"));
    for size in (0..100).chain([5_000, 50_000, 500_000]) {
        let key = sender.send(link, false, &message(size));
        let received = receiver.receive();
        assert_eq!(received.bytes, message(size));
        receiver.settle(&received, DeliveryState::Accepted);
        assert_eq!(sender.outcome(key), Some(DeliveryState::Accepted));
    }
}
