//! What is too large for the peer's frames is said in fewer words, and what cannot be said closes the connection.

use amqp::condition::names;
use amqp::state::Modified;
use amqp::terminus::{Target, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Map, Symbol, Value};
use amqp_endpoint::{ConnectionConfig, Event, NewLink};

use crate::pair::{Pair, config, sender, unsettled};

/// The client accepts frames of 512 bytes.
fn small_frames() -> Pair {
    Pair::open_with(ConnectionConfig { max_frame_size: 512, ..config("client") }, config("server"))
}

/// An error with more to it than fits 512 bytes.
fn long() -> ErrorCondition {
    ErrorCondition::new("amqp:internal-error", "long ".repeat(200))
}

/// The same error without its text.
fn bare() -> ErrorCondition {
    ErrorCondition { condition: Symbol::from("amqp:internal-error"), description: None, info: None }
}

fn large() -> Map {
    Map::from_iter([(Value::Symbol(Symbol::from("k")), Value::Binary(vec![0; 1000]))])
}

/// A delivery of the client's gets this state.
fn answered_with(state: DeliveryState) -> Pair {
    let mut pair = small_frames();
    let link = pair.sending(1);
    pair.send(link, [7]);
    pair.server.connection.update_incoming(link.server, 0, Some(state), true);
    pair.run();
    pair
}

fn closed_with(events: &[Event<'_>]) -> Option<ErrorCondition> {
    events.iter().find_map(|event| match event {
        Event::Closed(error) => error.clone(),
        _ => None,
    })
}

#[test]
fn the_text_of_a_close_is_left_out() {
    let mut pair = small_frames();
    pair.server.connection.close(Some(long()));
    pair.run();
    assert_eq!(closed_with(&pair.client.events), Some(bare()));
}

#[test]
fn the_text_of_an_end_is_left_out() {
    let mut pair = small_frames();
    let (_, session) = pair.begin();
    pair.server.connection.end_session(session, Some(long()));
    pair.run();
    let events = pair.client.take();
    let [Event::SessionEnded(_, Some(error))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*error, bare());
}

#[test]
fn the_text_of_a_detach_is_left_out() {
    let mut pair = small_frames();
    let link = pair.attach(sender("a"));
    pair.server.connection.detach(link.server, true, Some(long()));
    pair.run();
    let events = pair.client.take();
    let [Event::Detached { error: Some(error), .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*error, bare());
}

#[test]
fn what_is_said_for_programs_goes_before_the_text() {
    let mut pair = small_frames();
    let error = ErrorCondition { info: Some(large()), ..ErrorCondition::new("amqp:internal-error", "short") };
    pair.server.connection.close(Some(error));
    pair.run();
    assert_eq!(closed_with(&pair.client.events), Some(ErrorCondition::new("amqp:internal-error", "short")));
}

#[test]
fn the_reason_of_a_rejection_is_left_out() {
    let mut pair = answered_with(DeliveryState::Rejected(Some(Box::new(long()))));
    let expected = DeliveryState::Rejected(Some(Box::new(bare())));
    assert_eq!(pair.client.take_outcomes(), [(7, Some(expected), true)]);
}

#[test]
fn the_annotations_of_a_modification_are_left_out() {
    let modified = Modified { delivery_failed: true, undeliverable_here: true, message_annotations: Some(large()) };
    let expected = Modified { message_annotations: None, ..modified.clone() };
    let mut pair = answered_with(DeliveryState::Modified(Box::new(modified)));
    assert_eq!(pair.client.take_outcomes(), [(7, Some(DeliveryState::Modified(Box::new(expected))), true)]);
}

#[test]
fn a_state_that_cannot_be_shortened_closes_the_connection() {
    let state = [&[0, 0xa1, 1, b'x', 0xb0, 0, 0, 4, 0][..], &[1; 1024]].concat();
    let pair = answered_with(DeliveryState::Other(state.into()));
    assert_eq!(closed_with(&pair.client.events).unwrap().condition.as_str(), names::FRAME_SIZE_TOO_SMALL);
}

#[test]
fn an_attach_that_cannot_be_shortened_closes_the_connection() {
    let mut pair = small_frames();
    let (_, session) = pair.begin();
    let target = Target { address: Some("a".repeat(600)), ..Target::default() };
    let link = NewLink { target: Some(TargetTerminus::Target(target)), ..sender("a") };
    pair.server.connection.attach(session, link).unwrap();
    pair.run();
    assert_eq!(closed_with(&pair.client.events).unwrap().condition.as_str(), names::FRAME_SIZE_TOO_SMALL);
}

#[test]
fn what_cannot_be_said_is_told_to_the_owner() {
    let mut pair = small_frames();
    let (_, session) = pair.begin();
    pair.server.connection.attach(session, sender(&"a".repeat(600))).unwrap();
    pair.run();
    assert!(pair.server.failure().unwrap().contains("larger than the max-frame-size of 512 bytes"));
}

#[test]
fn an_open_is_never_too_large() {
    let properties = Some(large());
    let server = ConnectionConfig { properties: properties.clone(), ..config("server") };
    let client = ConnectionConfig { max_frame_size: 512, ..config("client") };
    let mut pair = Pair::with(client, crate::pair::initiator(), server, crate::pair::acceptor());
    pair.run();
    // The client refuses it, as it said: what it does not do is to leave the server without an answer.
    assert!(pair.client.failure().unwrap().contains("larger than the maximum of 512"));
}

#[test]
fn frames_that_fit_exactly_are_sent() {
    let mut pair = small_frames();
    let link = pair.attach(crate::pair::receiver("a"));
    pair.client.connection.add_credit(link.client, 1000);
    pair.run();
    let sent = (0..600)
        .filter(|&size| pair.server.connection.try_send(link.server, &unsettled(size as u64), &[&vec![0; size]]))
        .map(|size| (size, false));
    let sent: Vec<_> = sent.collect();
    pair.run();
    let arrived: Vec<_> = pair.client.take_transfers().iter().map(|frame| (frame.payload.len(), frame.more)).collect();
    assert!(arrived == sent && sent.len() > 400, "{} sizes", sent.len());
}
