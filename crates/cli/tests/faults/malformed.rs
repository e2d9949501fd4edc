//! Messages that are none, and messages that are given up.

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};

use crate::support::CAPACITY;
use crate::support::codec::{data, head_of_data, message, text_of};
use crate::support::router::Router;

/// What a message without sense is rejected with.
fn malformed() -> DeliveryState {
    DeliveryState::Rejected(Some(Box::new(ErrorCondition::new(names::DECODE_ERROR, "invalid message format"))))
}

/// The outcome of sending these bytes to a receiver, and what the receiver gets next: the message behind them.
fn outcome_of(bytes: &[u8]) -> Option<DeliveryState> {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    let delivery = sender.send_message(to, false, bytes);
    let outcome = sender.outcome(delivery);
    sender.send_message(to, false, &message("behind it"));
    assert_eq!(text_of(&receiver.receive().bytes), "behind it");
    outcome
}

// DISPATCH-1394
#[test]
fn a_body_that_is_cut_short_is_rejected() {
    assert_eq!(outcome_of(&message("a text")[..7]), Some(malformed()));
}

// DISPATCH-1394
#[test]
fn a_body_of_an_unknown_type_is_rejected() {
    assert_eq!(outcome_of(b"\x00\x53\x77\x99"), Some(malformed()));
}

// DISPATCH-1394
#[test]
fn a_body_that_ends_in_the_middle_of_a_list_is_rejected() {
    assert_eq!(outcome_of(b"\x00\x53\x77\xc0\x09\x03\x40\x40"), Some(malformed()));
}

// DISPATCH-1394
#[test]
fn a_data_section_that_is_a_text_is_rejected() {
    assert_eq!(outcome_of(b"\x00\x53\x75\xa1\x01x"), Some(malformed()));
}

// DISPATCH-1394
#[test]
fn bytes_behind_the_message_are_rejected() {
    let mut bytes = message("a text");
    bytes.extend_from_slice(b"junk");
    assert_eq!(outcome_of(&bytes), Some(malformed()));
}

// DISPATCH-2309
#[test]
fn a_sound_beginning_does_not_hide_a_broken_body() {
    // A header, properties, and a body that is no section.
    assert_eq!(outcome_of(b"\x00\x53\x70\xc0\x02\x01\x41\x00\x53\x73\x45\x00\x53\x77\xa1\x20x"), Some(malformed()));
}

// DISPATCH-2309
#[test]
fn a_broken_body_is_found_also_when_it_comes_in_several_frames() {
    let whole = data(60_000);
    assert_eq!(outcome_of(&whole[..whole.len() - 1]), Some(malformed()));
}

// DISPATCH-2309
#[test]
fn application_properties_that_are_no_map_are_rejected() {
    assert_eq!(outcome_of(b"\x00\x53\x74\xa1\x01x\x00\x53\x77\x40"), Some(malformed()));
}

// skupper-router#1412
#[test]
fn a_message_that_is_aborted_while_it_streams_ends_at_the_receiver_and_leaves_the_router_at_rest() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    let delivery = sender.next_delivery();
    sender.send_part(to, delivery, false, &head_of_data(10_000_000), true);
    sender.send_part(to, delivery, false, &vec![b'x'; 500_000], true);
    receiver.wait_for_bytes(from, 100_000);

    sender.abort(to, delivery);

    assert!(receiver.receive().aborted);
    router.wait_until_idle();
    sender.send_message(to, false, &message("next"));
    assert_eq!(text_of(&receiver.receive().bytes), "next");
}

// skupper-router#1412
#[test]
fn a_message_that_is_aborted_before_its_receiver_had_credit_leaves_nothing_behind() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 0);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    let delivery = sender.next_delivery();
    sender.send_part(to, delivery, false, &head_of_data(10_000_000), true);
    sender.send_part(to, delivery, false, &vec![b'x'; 200_000], true);
    sender.sync();

    sender.abort(to, delivery);

    sender.sync();
    router.wait_until_idle();
    let mut management = router.management();
    let kept = management.query("allocator");
    let kept = kept.iter().find(|row| row.text("typeName") == Some("qd_message_t")).expect("it is accounted for");
    assert_eq!(kept.integer("heldByThreads"), Some(0));
    receiver.credit(from, 0, 1);
    sender.send_message(to, false, &message("next"));
    assert_eq!(text_of(&receiver.receive().bytes), "next");
}
