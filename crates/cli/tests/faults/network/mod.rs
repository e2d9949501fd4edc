//! Faults that it takes several routers to show.

mod addresses;
mod credit;
mod duplicates;
mod failures;
mod logs;
mod management;
mod priorities;
mod redundancy;
mod settlement;
mod silence;

use amqp::DeliveryState;

use crate::support::CAPACITY;
use crate::support::codec::{message, text_of};
use crate::support::interior::Interior;
use crate::support::links::Link;
use crate::support::wire::Wire;

/// Two routers that reach each other.
fn two() -> [Interior; 2] {
    two_with("")
}

/// Two routers with these sections in their configurations.
fn two_with(sections: &str) -> [Interior; 2] {
    let a = Interior::configured("A", sections, &[]);
    let b = Interior::configured("B", sections, &[(&a, 1)]);
    a.reaches(&["B"]);
    b.reaches(&["A"]);
    [a, b]
}

/// Three routers in a line.
fn three() -> [Interior; 3] {
    let a = Interior::start("A", &[]);
    let b = Interior::start("B", &[(&a, 1)]);
    let c = Interior::start("C", &[(&b, 1)]);
    a.reaches(&["B", "C"]);
    c.reaches(&["A", "B"]);
    [a, b, c]
}

/// A client with a sender that has credit.
fn sender(router: &Interior, address: &str) -> (Wire, Link) {
    let mut wire = router.client();
    let link = wire.sender(address);
    wire.expect_credit(link, CAPACITY);
    (wire, link)
}

/// A client with a receiver.
fn receiver(router: &Interior, address: &str, credit: u32) -> (Wire, Link) {
    let mut wire = router.client();
    let link = wire.receiver(address, credit);
    (wire, link)
}

/// The text of the next message, which is accepted.
fn next(receiver: &mut Wire) -> String {
    let received = receiver.receive();
    receiver.accept(&received);
    text_of(&received.bytes)
}

/// Sends a text, sees that it arrives, and that it is accepted.
fn pass(sender: &mut Wire, to: Link, receiver: &mut Wire, text: &str) {
    let sent = sender.send_message(to, false, &message(text));
    assert_eq!(next(receiver), text);
    assert_eq!(sender.outcome(sent), Some(DeliveryState::Accepted));
}

/// What becomes of a text that a sender without an address sends to this one.
fn outcome_of(router: &Interior, address: &str, text: &str) -> Option<DeliveryState> {
    let mut wire = router.client();
    let link = wire.anonymous_sender();
    wire.expect_credit(link, CAPACITY);
    let sent = wire.send_message(link, false, &addressed(address, text));
    wire.outcome(sent)
}

/// A message that says itself where it goes.
fn addressed(address: &str, text: &str) -> Vec<u8> {
    use amqp::Value;
    use amqp::message::{Body, Message, Properties};

    let properties = Properties { to: Some(address.to_owned()), ..Properties::default() };
    Message { properties, ..Message::new(Body::Value(Value::from(text))) }.to_bytes()
}
