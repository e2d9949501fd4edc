//! Outcomes and settlements that get lost, are told twice, or are told without their content.

use amqp::performative::{Attach, ReceiverSettleMode, Role};
use amqp::state::Modified;
use amqp::terminus::{Source, Target};
use amqp::{DeliveryState, ErrorCondition};

use crate::support::codec::{data, message};
use crate::support::links::Link;
use crate::support::router::Router;
use crate::support::wire::Wire;
use crate::support::{CAPACITY, wait_for};

/// A sender and a receiver of which the receivers settle after the senders.
fn pair_that_settles_second(router: &Router) -> (Wire, Link, Wire) {
    let (mut sender, mut receiver) = (router.client(), router.client());
    let attach = Attach { rcv_settle_mode: ReceiverSettleMode::Second, ..receiver.new_attach(Role::Receiver) };
    let source = Source { address: Some("a".to_owned()), ..Source::default() };
    let (from, _) = receiver.attach(Attach { source: Some(source), target: Some(Target::default().into()), ..attach });
    receiver.credit(from, 0, 100);
    let attach = Attach { rcv_settle_mode: ReceiverSettleMode::Second, ..sender.new_attach(Role::Sender) };
    let target = Target { address: Some("a".to_owned()), ..Target::default() };
    let (to, _) = sender.attach(Attach { source: Some(Source::default()), target: Some(target.into()), ..attach });
    sender.expect_credit(to, CAPACITY);
    (sender, to, receiver)
}

// DISPATCH-1302
#[test]
fn a_settlement_after_the_outcome_reaches_the_far_end_once() {
    let router = Router::start("");
    let (mut sender, to, mut receiver) = pair_that_settles_second(&router);
    let sent = sender.send_message(to, false, &message("x"));
    let received = receiver.receive();
    receiver.settle(received.delivery, Some(DeliveryState::Accepted), false);
    sender.expect_state(sent, &DeliveryState::Accepted);

    sender.settle_sent(sent, None);
    receiver.expect_settled_by_sender(received.delivery);

    sender.sync();
    receiver.sync();
    let settlements = receiver.told(false, received.delivery).iter().filter(|told| told.settled).count();
    assert_eq!(settlements, 1);
    assert!(sender.told(true, sent).iter().all(|told| !told.settled));
}

// DISPATCH-1302
#[test]
fn both_ends_may_settle_at_the_same_time() {
    let router = Router::start("");
    let (mut sender, to, mut receiver) = pair_that_settles_second(&router);

    for _ in 0..50 {
        let sent = sender.send_message(to, false, &message("x"));
        let received = receiver.receive();
        receiver.settle(received.delivery, Some(DeliveryState::Accepted), false);
        sender.expect_state(sent, &DeliveryState::Accepted);
        sender.settle_sent(sent, None);
        receiver.accept(&received);
        sender.sync();
        receiver.sync();
        assert!(sender.told(true, sent).iter().filter(|told| told.settled).count() <= 1);
        assert!(receiver.told(false, received.delivery).iter().filter(|told| told.settled).count() <= 1);
    }

    let mut management = router.management();
    let links = management.query("router.link");
    let unsettled = links.iter().filter(|link| link.text("owningAddr") == Some("M0a"));
    assert!(unsettled.clone().all(|link| link.integer("unsettledCount") == Some(0)), "{links:?}");
    assert_eq!(unsettled.count(), 2);
}

// skupper-router#263
#[test]
fn every_outcome_ends_its_delivery() {
    let failed = Modified { delivery_failed: true, undeliverable_here: true, message_annotations: None };
    let error = ErrorCondition::new("test:no", "not that");
    let outcomes = [
        DeliveryState::Accepted,
        DeliveryState::Rejected(Some(Box::new(error))),
        DeliveryState::Rejected(None),
        DeliveryState::Released,
        DeliveryState::Modified(Box::new(failed)),
    ];
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);

    for outcome in outcomes {
        let sent = sender.send_message(to, false, &message("x"));
        let received = receiver.receive();
        receiver.settle(received.delivery, Some(outcome.clone()), true);
        assert_eq!(sender.outcome(sent), Some(outcome));
    }
}

// skupper-router#263
#[test]
fn credit_comes_back_whatever_the_outcome() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 0);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    let outcomes = [DeliveryState::Rejected(None), DeliveryState::Released, DeliveryState::Accepted];

    // Without it the sender would come to a halt after as many deliveries as it has credit at first.
    for number in 0..2 * CAPACITY {
        let sent = sender.send_message(to, false, &message("x"));
        receiver.credit(from, number, 1);
        let received = receiver.receive();
        receiver.settle(received.delivery, Some(outcomes[number as usize % 3].clone()), true);
        sender.outcome(sent);
    }

    wait_for("the full credit", || {
        let flows = sender.flows(to);
        let limit = flows.last().map(|flow| flow.delivery_count.unwrap_or(0) + flow.link_credit.unwrap_or(0));
        (limit == Some(3 * CAPACITY)).then_some(())
    });
}

// DISPATCH-2040
#[test]
fn a_state_of_the_same_kind_as_before_is_told_with_its_new_content() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    let sent = sender.next_delivery();
    sender.send_part(to, sent, false, &data(400_000)[..200_000], true);
    receiver.wait_for_bytes(from, 1000);

    for section_offset in [100, 200, 300] {
        let state = DeliveryState::Received { section_number: 0, section_offset };
        receiver.settle(0, Some(state.clone()), false);
        sender.expect_state(sent, &state);
    }
}
