//! SASL on both sides (part 5, section 5.3).

use amqp::Symbol;
use amqp::frame::{AMQP_HEADER, SASL_HEADER, write_empty, write_sasl};
use amqp::sasl::{SaslCode, SaslFrame};
use amqp_endpoint::{Event, Readiness, SaslClient, SaslServer, SaslStep};

use crate::mechanisms::{Anonymous, Chatty, chatty, done};
use crate::pair::{Pair, config, sasl_acceptor, sasl_initiator, seconds};
use crate::scripted::Scripted;

/// Lets a client and a server have it out.
fn exchange(client: impl SaslClient + 'static, server: impl SaslServer + 'static) -> Pair {
    let mut pair = Pair::silent(sasl_initiator(client), sasl_acceptor(server));
    pair.run();
    pair
}

fn authenticated(events: &[Event<'_>]) -> Option<(String, Option<String>)> {
    events.iter().find_map(|event| match event {
        Event::Authenticated { mechanism: Some(mechanism), user } => Some((mechanism.0.clone(), user.clone())),
        _ => None,
    })
}

fn is_open(events: &[Event<'_>]) -> bool {
    events.iter().any(|event| matches!(event, Event::Opened(_)))
}

/// A server whose peer, the test, has sent its SASL header and these frames.
fn told(server: impl SaslServer + 'static, frames: &[SaslFrame]) -> Scripted {
    let mut peer = Scripted::silent(config("server"), sasl_acceptor(server));
    peer.bytes(&SASL_HEADER);
    for frame in frames {
        peer.bytes(&sasl_bytes(frame));
    }
    peer
}

/// A client whose peer, the test, has sent its SASL header and these frames.
fn answered(client: impl SaslClient + 'static, frames: &[SaslFrame]) -> Scripted {
    let mut peer = Scripted::silent(config("client"), sasl_initiator(client));
    peer.bytes(&SASL_HEADER);
    for frame in frames {
        peer.bytes(&sasl_bytes(frame));
    }
    peer
}

fn sasl_bytes(frame: &SaslFrame) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_sasl(&mut bytes, frame);
    bytes
}

fn init(mechanism: &str) -> SaslFrame {
    SaslFrame::Init { mechanism: Symbol::from(mechanism), initial_response: None, hostname: None }
}

fn outcome(code: SaslCode) -> SaslFrame {
    SaslFrame::Outcome { code, additional_data: None }
}

#[test]
fn the_server_learns_mechanism_and_user() {
    let pair = exchange(Anonymous, Anonymous);
    let expected = ("ANONYMOUS".to_owned(), Some("anonymous".to_owned()));
    assert_eq!(authenticated(&pair.server.events), Some(expected));
}

#[test]
fn the_client_learns_the_mechanism() {
    let pair = exchange(Anonymous, Anonymous);
    assert_eq!(authenticated(&pair.client.events), Some(("ANONYMOUS".to_owned(), None)));
}

#[test]
fn amqp_follows_a_successful_exchange() {
    let pair = exchange(Anonymous, Anonymous);
    assert!(is_open(&pair.client.events) && is_open(&pair.server.events));
}

#[test]
fn an_exchange_may_take_several_challenges() {
    let pair = exchange(chatty(5), chatty(5));
    assert_eq!(authenticated(&pair.server.events), Some(("CHATTY".to_owned(), Some("joe".to_owned()))));
}

#[test]
fn an_exchange_may_come_byte_by_byte() {
    let mut pair = Pair::silent(sasl_initiator(chatty(3)), sasl_acceptor(chatty(3)));
    pair.piece = 1;
    pair.run();
    assert!(is_open(&pair.client.events) && is_open(&pair.server.events));
}

#[test]
fn a_client_may_say_all_of_it_without_waiting() {
    let mut peer = Scripted::silent(config("server"), sasl_acceptor(Anonymous));
    let mut bytes = SASL_HEADER.to_vec();
    write_sasl(&mut bytes, &init("ANONYMOUS"));
    bytes.extend_from_slice(&AMQP_HEADER);
    write_empty(&mut bytes);
    peer.bytes(&bytes);
    assert_eq!(authenticated(&peer.end.events), Some(("ANONYMOUS".to_owned(), Some("anonymous".to_owned()))));
    assert!(peer.take_output().ends_with(&AMQP_HEADER));
}

#[test]
fn an_absent_initial_response_is_not_an_empty_one() {
    struct Strict;
    impl SaslServer for Strict {
        fn mechanisms(&self) -> Vec<Symbol> {
            Anonymous.mechanisms()
        }
        fn init(&mut self, _: &str, initial_response: Option<&[u8]>, hostname: Option<&str>) -> SaslStep {
            done(&format!("{initial_response:?} {hostname:?}"))
        }
        fn response(&mut self, _: &[u8]) -> SaslStep {
            SaslStep::Failed(SaslCode::Sys)
        }
    }
    let user = |initial_response| {
        let mechanism = Symbol::from("ANONYMOUS");
        let init = SaslFrame::Init { mechanism, initial_response, hostname: Some("host".to_owned()) };
        authenticated(&told(Strict, &[init]).end.events).unwrap().1.unwrap()
    };
    assert_eq!(user(None), r#"None Some("host")"#);
    assert_eq!(user(Some(Vec::new())), r#"Some([]) Some("host")"#);
}

#[test]
fn a_refused_client_is_told_the_code() {
    let refusing = Chatty { end: SaslStep::Failed(SaslCode::SysTemp), ..chatty(0) };
    let mut peer = told(refusing, &[init("CHATTY")]);
    assert!(peer.take_output().ends_with(&sasl_bytes(&outcome(SaslCode::SysTemp))));
}

#[test]
fn both_ends_learn_that_authentication_failed() {
    let pair = exchange(chatty(1), Chatty { end: SaslStep::Failed(SaslCode::Auth), ..chatty(1) });
    let expected = Some("amqp:unauthorized-access Authentication failed [mech=CHATTY]".to_owned());
    assert_eq!((pair.client.failure(), pair.server.failure()), (expected.clone(), expected));
}

#[test]
fn a_mechanism_that_fails_with_ok_does_not_let_the_peer_in() {
    let mut peer = told(Chatty { end: SaslStep::Failed(SaslCode::Ok), ..chatty(0) }, &[init("CHATTY")]);
    assert!(peer.take_output().ends_with(&sasl_bytes(&outcome(SaslCode::Auth))));
}

#[test]
fn a_mechanism_that_is_not_offered_is_refused() {
    let mut peer = told(Anonymous, &[init("CHATTY")]);
    assert!(peer.take_output().ends_with(&sasl_bytes(&outcome(SaslCode::Auth))));
}

#[test]
fn a_client_that_can_use_none_of_the_mechanisms_says_what_is_offered() {
    let pair = exchange(Anonymous, chatty(1));
    assert!(pair.client.failure().unwrap().contains("the peer offers \"OTHER CHATTY\""));
}

#[test]
fn a_client_that_cannot_answer_a_challenge_gives_up() {
    let pair = exchange(Chatty { says: b"", ..chatty(1) }, chatty(1));
    assert!(pair.client.failure().is_some());
}

#[test]
fn a_client_that_does_not_trust_the_server_gives_up() {
    let pair = exchange(Chatty { trusts: false, ..chatty(0) }, chatty(0));
    let expected = "amqp:unauthorized-access the server's signature is wrong";
    assert_eq!(pair.client.failure().unwrap(), expected);
}

#[test]
fn a_client_does_not_believe_in_success_before_it_has_chosen_a_mechanism() {
    let peer = answered(Anonymous, &[outcome(SaslCode::Ok)]);
    assert!(peer.end.failure().unwrap().starts_with("amqp:not-allowed"));
}

#[test]
fn a_client_takes_a_failure_at_any_time() {
    let peer = answered(Anonymous, &[outcome(SaslCode::SysPerm)]);
    assert_eq!(peer.end.failure().unwrap(), "amqp:unauthorized-access Authentication failed [mech=none]");
}

#[test]
fn the_mechanism_may_take_its_time() {
    let mut pair = exchange(chatty(0), Chatty { end: SaslStep::Pending, ..chatty(0) });
    assert_eq!(authenticated(&pair.server.events), None);
    pair.server.connection.poke_sasl();
    pair.server.receive(pair.now, &[]);
    pair.run();
    assert_eq!(authenticated(&pair.server.events), Some(("CHATTY".to_owned(), Some("late".to_owned()))));
}

#[test]
fn what_comes_while_the_mechanism_takes_its_time_is_not_read() {
    let pending = Chatty { end: SaslStep::Pending, ..chatty(0) };
    let peer = told(pending, &[init("CHATTY"), SaslFrame::Response(b"hurry".to_vec())]);
    assert_eq!(peer.end.failure(), None);
    assert!(peer.end.connection.awaits_owner());
}

#[test]
fn what_is_offered_may_be_known_late() {
    let mut pair = exchange(chatty(0), Chatty { ready: Readiness::Pending, ..chatty(0) });
    assert_eq!(authenticated(&pair.server.events), None);
    pair.server.connection.poke_sasl();
    pair.server.receive(pair.now, &[]);
    pair.run();
    assert_eq!(authenticated(&pair.server.events), Some(("CHATTY".to_owned(), Some("joe".to_owned()))));
}

#[test]
fn a_server_that_cannot_know_what_it_offers_says_so() {
    let mut peer = told(Chatty { ready: Readiness::Failed(SaslCode::SysTemp), ..chatty(0) }, &[]);
    assert!(peer.take_output().ends_with(&sasl_bytes(&outcome(SaslCode::SysTemp))));
    assert!(peer.end.failure().is_some());
}

#[test]
fn the_clients_mechanism_may_take_its_time() {
    let mut pair = exchange(Chatty { slow: true, ..chatty(1) }, chatty(1));
    for _ in 0..2 {
        assert_eq!(authenticated(&pair.client.events), None);
        pair.client.connection.poke_sasl();
        pair.client.receive(pair.now, &[]);
        pair.run();
    }
    assert_eq!(authenticated(&pair.client.events), Some(("CHATTY".to_owned(), None)));
}

#[test]
fn where_a_security_layer_is_required_a_client_without_one_is_refused() {
    let config = || amqp_endpoint::ConnectionConfig { security_layer_required: true, ..config("server") };
    let mut peer = Scripted::silent(config(), sasl_acceptor(Anonymous));
    peer.bytes(&SASL_HEADER);
    peer.bytes(&sasl_bytes(&init("ANONYMOUS")));
    peer.bytes(&AMQP_HEADER);
    let expected = "amqp:connection:policy-error Client connection unencrypted - forbidden";
    assert_eq!(peer.end.failure().unwrap(), expected);
    let mut peer = Scripted::silent(config(), sasl_acceptor(Chatty { layer: true, ..chatty(0) }));
    peer.bytes(&SASL_HEADER);
    peer.bytes(&sasl_bytes(&init("CHATTY")));
    peer.end.connection.take_security_layer();
    peer.bytes(&AMQP_HEADER);
    assert_eq!(peer.end.failure(), None);
}

#[test]
fn poking_is_harmless_when_no_mechanism_is_pending() {
    let mut pair = exchange(Anonymous, Anonymous);
    pair.server.connection.poke_sasl();
    pair.run();
    assert_eq!(pair.server.failure(), None);
}

#[test]
fn amqp_waits_until_the_security_layer_is_taken() {
    let mut pair = exchange(Chatty { layer: true, ..chatty(1) }, Chatty { layer: true, ..chatty(1) });
    assert!(authenticated(&pair.client.events).is_some() && !is_open(&pair.client.events));
    assert!(pair.client.connection.take_security_layer().is_some());
    assert!(pair.server.connection.take_security_layer().is_some());
    pair.client.receive(pair.now, &[]);
    pair.run();
    assert!(is_open(&pair.client.events) && is_open(&pair.server.events));
}

#[test]
fn a_security_layer_is_taken_once() {
    let mut pair = exchange(Chatty { layer: true, ..chatty(0) }, chatty(0));
    pair.client.connection.take_security_layer();
    assert!(pair.client.connection.take_security_layer().is_none());
}

#[test]
fn an_exchange_without_end_is_ended() {
    let pair = exchange(chatty(0), chatty(usize::MAX));
    assert!(pair.server.failure().unwrap().contains("did not end after"));
}

#[test]
fn a_server_without_end_is_left_by_its_client() {
    let challenge = SaslFrame::Challenge(Vec::new());
    let mut frames = vec![SaslFrame::Mechanisms(vec![Symbol::from("CHATTY")])];
    frames.extend(std::iter::repeat_n(challenge, 20));
    assert!(answered(chatty(0), &frames).end.failure().unwrap().contains("did not end after"));
}

#[test]
fn a_frame_at_the_wrong_time_is_refused() {
    let mut peer = told(Anonymous, &[SaslFrame::Response(Vec::new())]);
    assert!(peer.end.failure().unwrap().starts_with("amqp:not-allowed SASL frame sasl-response"));
    assert!(peer.take_output().ends_with(&sasl_bytes(&outcome(SaslCode::Sys))));
}

#[test]
fn frames_that_only_a_server_sends_are_refused_by_a_server() {
    let mechanisms = SaslFrame::Mechanisms(Vec::new());
    let frames = [
        ("mechanisms", mechanisms),
        ("challenge", SaslFrame::Challenge(Vec::new())),
        ("outcome", outcome(SaslCode::Ok)),
    ];
    for (name, frame) in frames {
        let failure = told(Anonymous, &[frame]).end.failure().unwrap();
        assert!(failure.starts_with(&format!("amqp:not-allowed SASL frame sasl-{name} came")), "{failure}");
    }
}

#[test]
fn a_client_that_begins_twice_is_refused() {
    let peer = told(chatty(1), &[init("CHATTY"), init("CHATTY")]);
    assert!(peer.end.failure().unwrap().starts_with("amqp:not-allowed SASL frame sasl-init came"));
}

#[test]
fn an_amqp_frame_before_sasl_is_done_is_refused() {
    let mut peer = told(Anonymous, &[]);
    let mut frame = Vec::new();
    write_empty(&mut frame);
    peer.bytes(&frame);
    assert!(peer.end.failure().unwrap().starts_with("amqp:connection:framing-error"));
}

#[test]
fn a_sasl_frame_after_sasl_is_done_is_refused() {
    let mut pair = exchange(Anonymous, Anonymous);
    pair.server.receive(pair.now, &sasl_bytes(&init("ANONYMOUS")));
    assert!(pair.server.failure().unwrap().starts_with("amqp:connection:framing-error"));
}

#[test]
fn a_malformed_sasl_frame_is_refused() {
    let mut peer = told(Anonymous, &[]);
    peer.bytes(b"\x00\x00\x00\x0c\x02\x01\x00\x00\xff\xff\xff\xff");
    assert!(peer.end.failure().unwrap().starts_with("amqp:decode-error"));
}

#[test]
fn a_huge_sasl_frame_is_refused_at_its_size() {
    let mut peer = told(Anonymous, &[]);
    peer.bytes(b"\x00\x10\x00\x00");
    assert!(peer.end.failure().unwrap().starts_with("amqp:connection:framing-error"));
}

#[test]
fn a_client_that_does_not_go_on_is_dropped_in_time() {
    let config = amqp_endpoint::ConnectionConfig { handshake_time_out: Some(seconds(5)), ..config("server") };
    let mut peer = Scripted::silent(config, sasl_acceptor(Anonymous));
    peer.bytes(&SASL_HEADER);
    peer.pass(seconds(5));
    assert!(peer.take_output().ends_with(&sasl_bytes(&outcome(SaslCode::Sys))));
    assert_eq!(peer.end.failure().unwrap(), "amqp:not-allowed Timeout waiting for initial handshake");
}
