//! Open and close (part 2, section 2.4).

use std::time::Duration;

use amqp::frame::AMQP_HEADER;
use amqp::performative::{Attach, Begin, Close, Open, Performative, Role};
use amqp::{ErrorCondition, Map, Symbol, Value};
use amqp_endpoint::{BeginError, ConnectionConfig, Event};

use crate::pair::{Pair, acceptor, config, initiator, receiver, seconds, sender};
use crate::scripted::{Scripted, begin, open};

/// A configuration in which nothing has its default.
fn full() -> ConnectionConfig {
    ConnectionConfig {
        container_id: "router".to_owned(),
        hostname: Some("example.org".to_owned()),
        max_frame_size: 4096,
        channel_max: 9,
        handle_max: 99,
        idle_time_out: Some(seconds(20)),
        session_window: 100,
        credit_tolerance: 0,
        offered_capabilities: vec![Symbol::from("ANONYMOUS-RELAY")],
        desired_capabilities: vec![Symbol::from("A"), Symbol::from("B")],
        properties: Some(Map::from_iter([(Value::Symbol(Symbol::from("product")), Value::from("waystation"))])),
        handshake_time_out: Some(seconds(3)),
        security_layer_required: false,
    }
}

/// An acceptor whose peer has sent a header and its open, which is not answered yet.
fn asked() -> Scripted {
    let mut peer = Scripted::silent(full(), acceptor());
    peer.end.answers_open = false;
    peer.bytes(&AMQP_HEADER);
    peer.take_output();
    peer.frame(0, Performative::Open(Box::new(open())));
    peer
}

fn error() -> ErrorCondition {
    let info = Map::from_iter([(Value::Symbol(Symbol::from("k")), Value::Int(1))]);
    ErrorCondition { info: Some(info), ..ErrorCondition::new("amqp:connection:forced", "go away") }
}

fn closed(events: &[Event<'_>]) -> Option<Option<ErrorCondition>> {
    events.iter().find_map(|event| match event {
        Event::Closed(error) => Some(error.clone()),
        _ => None,
    })
}

#[test]
fn an_open_says_all_that_is_configured() {
    let mut pair = Pair::with(full(), initiator(), config("server"), acceptor());
    pair.run();
    let expected = Open {
        container_id: "router".to_owned(),
        hostname: Some("example.org".to_owned()),
        max_frame_size: 4096,
        channel_max: 9,
        // Half of what is borne.
        idle_time_out: Some(10_000),
        outgoing_locales: Vec::new(),
        incoming_locales: Vec::new(),
        offered_capabilities: full().offered_capabilities,
        desired_capabilities: full().desired_capabilities,
        properties: full().properties,
    };
    assert_eq!(**pair.server.connection.remote_open().unwrap(), expected);
}

#[test]
fn both_ends_learn_of_the_others_open() {
    let mut pair = Pair::silent(initiator(), acceptor());
    pair.run();
    for end in [&pair.client, &pair.server] {
        assert!(end.events.iter().any(|event| matches!(event, Event::Opened(_))));
    }
}

#[test]
fn an_acceptor_does_not_open_before_its_owner_has_seen_the_peers_open() {
    let mut peer = asked();
    assert_eq!(peer.take_output(), b"");
    peer.end.connection.open(None);
    assert!(matches!(peer.answers()[0].performative, Performative::Open(_)));
}

#[test]
fn nothing_is_read_until_the_owner_has_answered_the_open() {
    let mut peer = asked();
    peer.end.take();
    peer.frame(0, Performative::Begin(begin()));
    assert!(peer.end.take().is_empty());
    peer.end.connection.open(None);
    peer.bytes(&[]);
    assert!(matches!(peer.end.take()[..], [Event::SessionBegun(..)]));
}

#[test]
fn an_acceptor_may_change_its_mind_about_its_limits() {
    let mut peer = asked();
    let config = ConnectionConfig { container_id: "other".to_owned(), channel_max: 0, ..full() };
    peer.end.connection.open(Some(config));
    let answers = peer.answers();
    let Performative::Open(open) = &answers[0].performative else { panic!("{answers:?}") };
    assert_eq!((open.container_id.as_str(), open.channel_max), ("other", 0));
}

#[test]
fn limits_that_were_changed_are_enforced() {
    let mut peer = asked();
    peer.end.connection.open(Some(ConnectionConfig { channel_max: 0, ..full() }));
    peer.frame(1, Performative::Begin(begin()));
    assert!(peer.close_error().contains("channel 1 is above the channel-max of 0"));
}

#[test]
fn an_open_is_said_once() {
    let mut peer = Scripted::open();
    peer.end.connection.open(None);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn a_max_frame_size_below_the_minimum_is_raised_to_it() {
    let mut pair = Pair::open_with(ConnectionConfig { max_frame_size: 1, ..config("client") }, config("server"));
    assert_eq!(pair.server.connection.take_remote_open().unwrap().max_frame_size, 512);
}

#[test]
fn a_peer_that_claims_less_than_the_minimum_frame_size_gets_the_minimum() {
    let mut peer = Scripted::silent(config("acceptor"), acceptor());
    peer.bytes(&AMQP_HEADER);
    peer.frame(0, Performative::Open(Box::new(Open { max_frame_size: 3, ..open() })));
    assert_eq!(peer.end.connection.remote_max_frame_size(), 512);
}

#[test]
fn the_peers_open_is_kept_until_it_is_taken() {
    let mut pair = Pair::open();
    assert!(pair.server.connection.remote_open().is_some());
    assert_eq!(pair.server.connection.take_remote_open().unwrap().container_id, "client");
    assert!(pair.server.connection.remote_open().is_none());
}

#[test]
fn a_first_frame_other_than_open_closes_the_connection() {
    let mut peer = Scripted::silent(config("acceptor"), acceptor());
    peer.bytes(&AMQP_HEADER);
    peer.frame(0, Performative::Begin(begin()));
    assert_eq!(peer.close_error(), "amqp:not-allowed the first frame was not an open");
}

#[test]
fn a_close_without_an_open_is_answered_with_both() {
    let mut peer = Scripted::silent(config("acceptor"), acceptor());
    peer.bytes(&AMQP_HEADER);
    peer.frame(0, Performative::Close(Close { error: None }));
    let answers = peer.answers();
    let kinds: Vec<_> = answers.iter().map(|answer| &answer.performative).collect();
    assert!(matches!(kinds[..], [Performative::Open(_), Performative::Close(Close { error: None })]));
}

#[test]
fn a_second_open_closes_the_connection() {
    let mut peer = Scripted::open();
    peer.frame(0, Performative::Open(Box::new(open())));
    assert_eq!(peer.close_error(), "amqp:not-allowed the connection is open already");
}

#[test]
fn an_acceptor_refuses_by_closing_instead_of_opening() {
    let mut peer = asked();
    peer.end.connection.close(Some(error()));
    let answers = peer.answers();
    assert!(matches!(answers[0].performative, Performative::Open(_)));
    assert_eq!(answers[1].performative, Performative::Close(Close { error: Some(error()) }));
}

#[test]
fn a_close_is_answered_and_told_to_both_owners() {
    let mut pair = Pair::open();
    pair.client.connection.close(None);
    pair.run();
    assert_eq!((closed(&pair.client.events), closed(&pair.server.events)), (Some(None), Some(None)));
}

#[test]
fn an_error_of_a_close_reaches_the_peer_whole() {
    let mut pair = Pair::open();
    pair.client.connection.close(Some(error()));
    pair.run();
    assert_eq!(closed(&pair.server.events), Some(Some(error())));
}

#[test]
fn both_may_close_at_once() {
    let mut pair = Pair::open();
    pair.client.connection.close(None);
    pair.server.connection.close(None);
    pair.run();
    assert!(pair.client.connection.is_finished() && pair.server.connection.is_finished());
}

#[test]
fn a_close_tells_of_the_loss_of_each_link_first() {
    let mut pair = Pair::open();
    pair.attach(sender("a"));
    pair.attach(receiver("b"));
    pair.client.connection.close(None);
    pair.run();
    for end in [&mut pair.client, &mut pair.server] {
        let events = end.take();
        assert!(matches!(events[..], [Event::LinkLost { .. }, Event::LinkLost { .. }, Event::Closed(None)]));
    }
}

#[test]
fn nothing_is_said_after_a_close() {
    let mut pair = Pair::open();
    let link = pair.attach(receiver("a"));
    pair.client.connection.close(None);
    pair.client.take_output(pair.now);
    pair.client.connection.add_credit(link.client, 10);
    pair.client.connection.detach(link.client, true, None);
    pair.client.connection.close(None);
    assert_eq!(pair.client.connection.begin_session(), Err(BeginError::NotOpen));
    assert_eq!(pair.client.take_output(pair.now), b"");
}

#[test]
fn what_the_peer_says_after_our_close_does_not_matter() {
    let mut peer = Scripted::begun();
    peer.end.connection.close(None);
    peer.take_output();
    peer.frame(0, Performative::Attach(Box::new(Attach::new("late", 0, Role::Sender))));
    peer.frame(7, Performative::Begin(Begin::default()));
    assert_eq!((peer.end.take().len(), peer.take_output().len()), (0, 0));
}

#[test]
fn a_peer_that_does_not_answer_a_close_is_waited_for_ten_seconds() {
    let mut peer = Scripted::open_with(ConnectionConfig { idle_time_out: None, ..config("acceptor") });
    peer.end.connection.close(None);
    peer.pass(seconds(10) - Duration::from_millis(1));
    assert!(!peer.end.connection.is_finished());
    peer.pass(Duration::from_millis(1));
    assert_eq!(closed(&peer.end.events), Some(None));
}

#[test]
fn the_end_of_the_transport_loses_links_and_connection() {
    let mut pair = Pair::open();
    pair.attach(sender("a"));
    pair.server.connection.transport_closed();
    pair.server.receive(pair.now, &[]);
    assert!(matches!(pair.server.events[..], [Event::LinkLost { .. }, Event::Failed(_)]));
    assert_eq!(pair.server.failure().unwrap(), "amqp:connection:framing-error connection aborted");
}

#[test]
fn the_end_of_the_transport_after_our_close_is_an_answer() {
    let mut pair = Pair::open();
    pair.server.connection.close(None);
    pair.server.connection.transport_closed();
    pair.server.receive(pair.now, &[]);
    assert_eq!(closed(&pair.server.events), Some(None));
}

#[test]
fn a_connection_ends_once() {
    let mut pair = Pair::open();
    pair.server.connection.transport_closed();
    pair.server.connection.transport_closed();
    pair.server.connection.close(None);
    pair.server.connection.handle_timeout(seconds(1000));
    pair.server.receive(pair.now, &[]);
    assert_eq!(pair.server.events.len(), 1);
}

#[test]
fn closing_before_the_header_came_ends_at_once() {
    let mut peer = Scripted::silent(config("acceptor"), acceptor());
    peer.end.connection.close(None);
    peer.bytes(&[]);
    assert_eq!(peer.end.failure().unwrap(), "amqp:connection:forced closed while opening");
}

#[test]
fn a_peer_that_says_nothing_is_dropped_in_time() {
    let mut peer = Scripted::silent(full(), acceptor());
    peer.pass(seconds(3));
    assert_eq!(peer.end.failure().unwrap(), "amqp:not-allowed Timeout waiting for initial handshake");
}

#[test]
fn a_peer_that_does_not_open_in_time_is_told_so() {
    let mut peer = Scripted::silent(full(), acceptor());
    peer.bytes(&AMQP_HEADER);
    peer.pass(seconds(3));
    assert_eq!(peer.close_error(), "amqp:not-allowed Timeout waiting for initial handshake");
}

#[test]
fn the_time_for_the_handshake_does_not_count_once_the_peer_has_opened() {
    let mut peer = asked();
    peer.pass(seconds(3));
    assert_eq!(peer.end.failure(), None);
}
