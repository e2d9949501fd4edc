//! Credit that stalls, or that is given to a sender whose deliveries have nowhere to go.

use amqp::DeliveryState;
use amqp::Performative;
use amqp::message::{Message, Properties};
use amqp::performative::{Flow, Role};

use crate::support::CAPACITY;
use crate::support::codec::{data, message, text_of};
use crate::support::links::Link;
use crate::support::router::Router;
use crate::support::wire::Wire;

/// A sender that had its full credit when its only receiver left, and has found that out with one delivery.
fn deserted(router: &Router) -> (Wire, Link) {
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 0);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    receiver.detach(from);
    let delivery = sender.send_message(to, false, &message("too late"));
    assert_eq!(sender.outcome(delivery), Some(DeliveryState::Released));
    sender.expect_flow(to, "the request to drain", |flow| flow.drain);
    (sender, to)
}

/// Gives back all the credit that a sender has left.
fn drained(sender: &mut Wire, to: Link) {
    let flow = sender.new_flow(to);
    sender.send(Performative::Flow(Flow { delivery_count: Some(CAPACITY), link_credit: Some(0), drain: true, ..flow }));
}

// DISPATCH-1012
#[test]
fn a_sender_to_an_address_without_receivers_gets_no_credit() {
    let router = Router::start("");
    let mut sender = router.client();
    let to = sender.sender("a");

    let credit: Vec<_> = sender.flows(to).iter().map(|flow| flow.link_credit).collect();

    assert!(credit.iter().all(|credit| *credit == Some(0)), "{credit:?}");
}

// DISPATCH-1012
#[test]
fn credit_used_for_deliveries_that_are_released_does_not_come_back() {
    let router = Router::start("");
    let (mut sender, to) = deserted(&router);

    for _ in 0..10 {
        let delivery = sender.send_message(to, false, &message("too late"));
        assert_eq!(sender.outcome(delivery), Some(DeliveryState::Released));
    }

    for flow in sender.flows(to) {
        let limit = flow.delivery_count.unwrap_or(0) + flow.link_credit.unwrap_or(0);
        assert!(limit <= CAPACITY, "{flow:?}");
    }
}

// DISPATCH-1012
#[test]
fn a_sender_gets_its_full_credit_again_when_a_receiver_comes() {
    let router = Router::start("");
    let (mut sender, to) = deserted(&router);
    for _ in 0..10 {
        let delivery = sender.send_message(to, false, &message("too late"));
        sender.outcome(delivery);
    }
    drained(&mut sender, to);

    let mut receiver = router.client();
    receiver.receiver("a", 10);

    assert_eq!(sender.expect_credit(to, CAPACITY), CAPACITY);
}

// DISPATCH-1090
#[test]
fn a_sender_is_asked_to_drain_with_the_first_delivery_after_the_last_receiver_has_left() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 0);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    receiver.detach(from);

    sender.send_message(to, false, &message("too late"));

    let flow = sender.expect_flow(to, "the request to drain", |flow| flow.drain);
    assert_eq!((flow.delivery_count, flow.link_credit), (Some(1), Some(CAPACITY - 1)));
}

// DISPATCH-1090
#[test]
fn traffic_resumes_when_a_receiver_returns() {
    let router = Router::start("");
    let (mut sender, to) = deserted(&router);
    drained(&mut sender, to);
    let mut receiver = router.client();
    receiver.receiver("a", 10);
    sender.expect_credit(to, CAPACITY);

    let delivery = sender.send_message(to, false, &message("back"));

    let received = receiver.receive();
    assert_eq!(text_of(&received.bytes), "back");
    receiver.accept(&received);
    assert_eq!(sender.outcome(delivery), Some(DeliveryState::Accepted));
}

// DISPATCH-1090
#[test]
fn a_receiver_that_returns_before_the_drain_is_answered_finds_the_sender_with_credit() {
    let router = Router::start("");
    let (mut sender, to) = deserted(&router);

    let mut receiver = router.client();
    receiver.receiver("a", 10);

    sender.expect_credit(to, CAPACITY);
    sender.send_message(to, false, &message("never drained"));
    assert_eq!(text_of(&receiver.receive().bytes), "never drained");
}

// DISPATCH-1287
#[test]
fn credit_that_a_drained_sender_gave_back_is_given_again_in_full() {
    let router = Router::start("");
    let (mut sender, to) = deserted(&router);
    drained(&mut sender, to);
    let mut receiver = router.client();
    receiver.receiver("a", CAPACITY);
    sender.expect_credit(to, CAPACITY);

    for number in 0..CAPACITY {
        sender.send_message(to, false, &message(&number.to_string()));
    }

    for number in 0..CAPACITY {
        assert_eq!(text_of(&receiver.receive().bytes), number.to_string());
    }
}

// DISPATCH-1287
#[test]
fn credit_that_a_sender_gave_back_unasked_is_given_again() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    let flow = sender.new_flow(to);

    sender.send(Performative::Flow(Flow { delivery_count: Some(CAPACITY), link_credit: Some(0), ..flow }));

    assert_eq!(sender.expect_credit(to, CAPACITY), CAPACITY);
}

// DISPATCH-1517
#[test]
fn a_delivery_counts_once_however_many_frames_it_has_and_also_when_it_is_aborted() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    sender.send_message(to, false, &data(100_000));
    let aborted = sender.next_delivery();
    sender.send_part(to, aborted, false, &data(100_000)[..50_000], true);
    sender.abort(to, aborted);
    sender.send_message(to, false, &message("last"));
    receiver.receive();
    assert_eq!(text_of(&receiver.receive().bytes), "last");
    let flow = sender.new_flow(to);

    sender.send(Performative::Flow(Flow { delivery_count: Some(3), link_credit: Some(247), echo: true, ..flow }));

    sender.expect_flow(to, "a flow that counts three deliveries", |flow| flow.delivery_count == Some(3));
}

// DISPATCH-1517
#[test]
fn the_router_counts_what_it_sends_by_deliveries() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    sender.send_message(to, false, &data(100_000));
    sender.send_message(to, false, &message("second"));
    receiver.receive();
    receiver.receive();
    let flow = receiver.new_flow(from);

    receiver.send(Performative::Flow(Flow { delivery_count: Some(2), link_credit: Some(8), echo: true, ..flow }));

    receiver.expect_flow(from, "a flow that counts two deliveries", |flow| flow.delivery_count == Some(2));
}

// DISPATCH-1325
#[test]
fn deliveries_that_come_before_a_receivers_first_credit_go_out_with_it() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 0);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    for number in 0..5 {
        sender.send_message(to, number % 2 == 0, &message(&number.to_string()));
    }
    sender.sync();

    receiver.credit(from, 0, 5);

    for number in 0..5 {
        assert_eq!(text_of(&receiver.receive().bytes), number.to_string());
    }
}

// EnMasse#832
#[test]
fn a_message_to_an_address_that_nobody_listens_to_yet_is_released_and_not_refused() {
    let router = Router::start("");
    let mut sender = router.client();
    let to = sender.anonymous_sender();
    sender.expect_credit(to, CAPACITY);
    let properties = Properties { to: Some("new".to_owned()), ..Properties::default() };
    let bytes = Message { properties, ..Message::default() }.to_bytes();
    let early = sender.send_message(to, false, &bytes);
    assert_eq!(sender.outcome(early), Some(DeliveryState::Released));

    let mut receiver = router.client();
    receiver.receiver("new", 1);
    sender.send_message(to, false, &bytes);

    assert_eq!(receiver.receive().bytes, bytes);
}

// EnMasse#832
#[test]
fn a_link_to_an_address_that_nobody_listens_to_yet_is_attached_and_waits() {
    let router = Router::start("");
    let mut sender = router.client();
    let attach = sender.new_attach(Role::Sender);
    let target = amqp::terminus::Target { address: Some("new".to_owned()), ..Default::default() };
    let (to, answer) = sender.attach(amqp::performative::Attach { target: Some(target.into()), ..attach });
    assert!(answer.target.is_some());

    let mut receiver = router.client();
    receiver.receiver("new", 1);

    sender.expect_credit(to, CAPACITY);
}
