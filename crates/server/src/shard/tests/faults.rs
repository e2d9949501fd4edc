//! Peers that die, lie, or say nothing.

use std::io::{Read, Write};
use std::time::Duration;

use amqp::DeliveryState;
use amqp::performative::{Begin, End, Performative};
use amqp::state::Modified;

use super::client::{Happened, message};
use super::router::{PATIENCE, Router};
use crate::shard::ConnectionSettings;

#[test]
fn garbage_is_answered_with_the_protocol_header_and_the_end() {
    let router = Router::start();
    let answer = router.answer_to(b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(answer, amqp::frame::AMQP_HEADER);
}

#[test]
fn a_frame_larger_than_allowed_ends_its_connection_and_disturbs_no_other() {
    let router = Router::start();
    let mut other = router.client();
    let mut bytes = amqp::frame::AMQP_HEADER.to_vec();
    bytes.extend_from_slice(&[0x7f, 0xff, 0xff, 0xff, 2, 0, 0, 0]);
    router.answer_to(&bytes);
    other.settle_down();
    router.wait_until("one connection is left", |shards| {
        shards.with_core(|core, _, now| core.connections(now).len()) == 1
    });
}

#[test]
fn a_connection_that_never_opens_is_closed_in_time() {
    // Time enough for the header to come before, also from a busy machine.
    let settings = ConnectionSettings { initial_handshake_timeout: Duration::from_secs(2), ..Default::default() };
    let router = Router::with(1, settings);
    let mut socket = router.socket();
    socket.write_all(&amqp::frame::AMQP_HEADER).expect("the router reads");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("the router closes");
    let text = String::from_utf8_lossy(&answer);
    assert!(text.contains("Timeout waiting for initial handshake"), "{text}");
}

#[test]
fn a_connection_that_says_nothing_at_all_is_closed_in_time() {
    let settings = ConnectionSettings { initial_handshake_timeout: Duration::from_millis(50), ..Default::default() };
    let router = Router::with(1, settings);
    let mut answer = Vec::new();
    router.socket().read_to_end(&mut answer).expect("the router closes");
}

#[test]
fn a_peer_that_falls_silent_is_closed_after_its_idle_time() {
    let settings = ConnectionSettings { idle_timeout: Duration::from_secs(1), ..Default::default() };
    let router = Router::with(1, settings);
    let client = router.client();
    router.wait_until("it is gone", |shards| shards.with_core(|core, _, now| core.connections(now).is_empty()));
    drop(client);
}

#[test]
fn a_killed_receiver_hands_its_unsettled_messages_back_as_failed() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    let key = sender.send(link, false, &message(10));
    receiver.receive();
    drop(receiver);
    let failed = Modified { delivery_failed: true, undeliverable_here: false, message_annotations: None };
    assert_eq!(sender.outcome(key), Some(DeliveryState::Modified(Box::new(failed))));
}

#[test]
fn a_killed_receiver_hands_back_what_was_never_sent_to_it_as_released() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 0);
    let link = sender.sender(Some("a"));
    let key = sender.send(link, false, &message(10));
    sender.settle_down();
    drop(receiver);
    assert_eq!(sender.outcome(key), Some(DeliveryState::Released));
}

#[test]
fn messages_of_a_killed_sender_still_arrive() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    let to = receiver.receiver("a", 0);
    let link = sender.sender(Some("a"));
    sender.send(link, false, &message(10));
    sender.settle_down();
    drop(sender);
    router.wait_until("the sender is gone", |shards| shards.with_core(|core, _, now| core.connections(now).len()) == 1);
    receiver.endpoint.add_credit(to, 1);
    assert_eq!(receiver.receive().bytes, message(10));
}

#[test]
fn ending_a_session_with_links_and_deliveries_frees_them_all() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    let session = sender.endpoint.link(link).expect("it is attached").session;
    for _ in 0..10 {
        sender.send(link, false, &message(10));
    }
    receiver.receive();
    sender.endpoint.end_session(session, None);
    sender.write();
    router.wait_until("only the receiver's link is left", |shards| {
        shards.with_core(|core, _, now| core.links(now).len()) == 1
    });
}

#[test]
fn a_refused_link_is_detached_with_the_reason() {
    let router = Router::start();
    let mut client = router.client();
    client.sender(None);
    let link = client.receiver_of_nothing();
    let detached =
        client.expect("a detach", |happened| matches!(happened, Happened::Detached { link: of, .. } if *of == link));
    let Happened::Detached { closed, error, .. } = detached else { unreachable!("expected a detach") };
    assert!(closed);
    assert_eq!(error.map(|error| error.condition.0), Some("qd:no-route-to-dest".to_owned()));
}

#[test]
fn a_dropped_connection_sees_the_end_of_the_stream_without_a_close() {
    let router = Router::start();
    let mut client = router.client();
    let id = router.shards.with_core(|core, _, now| core.connections(now)[0].id);
    assert!(router.shards.drop_connection(id));
    let end = client.expect("the end", |happened| matches!(happened, Happened::Failed(_) | Happened::Closed(_)));
    assert!(matches!(end, Happened::Failed(_)), "{end:?}");
    assert!(!router.shards.drop_connection(id));
}

#[test]
fn a_peer_that_asks_much_and_reads_nothing_is_not_answered_without_bound() {
    let router = Router::start();
    let client = router.client();
    let mut questions = Vec::new();
    let begin = Performative::Begin(Begin { incoming_window: 1, outgoing_window: 1, ..Begin::default() });
    for _ in 0..1000 {
        amqp::frame::write_performative(&mut questions, 1, &begin);
        amqp::frame::write_performative(&mut questions, 1, &Performative::End(End::default()));
    }
    let mut socket = client.socket();
    socket.set_write_timeout(Some(Duration::from_millis(500))).expect("the option can be set");
    let begun = std::time::Instant::now();
    while socket.write_all(&questions).is_ok() {
        assert!(begun.elapsed() < PATIENCE, "the router reads on and on");
    }
}
