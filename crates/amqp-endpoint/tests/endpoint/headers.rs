//! Protocol headers (part 2, section 2.2; part 5, sections 5.2.1 and 5.3.1).

use amqp::frame::{AMQP_HEADER, SASL_HEADER, TLS_HEADER};
use amqp_endpoint::{Event, Side};

use crate::mechanisms::Anonymous;
use crate::pair::{Pair, acceptor, config, initiator, sasl_acceptor};
use crate::scripted::Scripted;

/// An acceptor that takes SASL, but does not insist on it.
fn lenient() -> Side {
    Side::Acceptor { sasl: Some(Box::new(Anonymous)), sasl_required: false }
}

fn silent(side: Side) -> Scripted {
    Scripted::silent(config("acceptor"), side)
}

#[test]
fn an_acceptor_says_nothing_before_it_has_heard_something() {
    assert_eq!(silent(acceptor()).take_output(), b"");
}

#[test]
fn an_initiator_sends_its_header_and_its_open_at_once() {
    let mut pair = Pair::silent(initiator(), acceptor());
    let said = pair.client.take_output(pair.now);
    assert!(said.starts_with(&AMQP_HEADER) && said.len() > 8);
}

#[test]
fn the_amqp_header_is_answered_with_the_same() {
    let mut peer = silent(acceptor());
    peer.bytes(&AMQP_HEADER);
    assert_eq!(peer.take_output(), AMQP_HEADER);
}

#[test]
fn the_sasl_header_is_answered_with_the_same_and_the_mechanisms() {
    let mut peer = silent(lenient());
    peer.bytes(&SASL_HEADER);
    let said = peer.take_output();
    assert!(said.starts_with(&SASL_HEADER) && said.ends_with(b"ANONYMOUS"));
}

#[test]
fn a_header_may_come_byte_by_byte() {
    let mut peer = silent(acceptor());
    AMQP_HEADER.chunks(1).for_each(|byte| peer.bytes(byte));
    assert_eq!(peer.take_output(), AMQP_HEADER);
}

#[test]
fn half_a_header_is_not_answered() {
    let mut peer = silent(acceptor());
    peer.bytes(&AMQP_HEADER[..7]);
    assert_eq!((peer.take_output(), peer.end.failure()), (Vec::new(), None));
}

#[test]
fn a_peer_that_skips_sasl_is_told_of_as_not_authenticated() {
    let mut peer = silent(lenient());
    peer.bytes(&AMQP_HEADER);
    assert!(matches!(peer.end.take()[..], [Event::Authenticated { mechanism: None, user: None }]));
}

#[test]
fn a_peer_that_skips_sasl_where_it_is_required_is_told_to_use_it() {
    let mut peer = silent(sasl_acceptor(Anonymous));
    peer.bytes(&AMQP_HEADER);
    assert_eq!(peer.take_output(), SASL_HEADER);
}

#[test]
fn a_peer_that_skips_sasl_where_it_is_required_is_refused() {
    let mut peer = silent(sasl_acceptor(Anonymous));
    peer.bytes(&AMQP_HEADER);
    let failure = peer.end.failure().unwrap();
    assert_eq!(failure, "amqp:connection:policy-error Client skipped authentication - forbidden");
}

#[test]
fn a_peer_that_wants_sasl_where_there_is_none_is_told_to_skip_it() {
    let mut peer = silent(acceptor());
    peer.bytes(&SASL_HEADER);
    assert_eq!(peer.take_output(), AMQP_HEADER);
    assert!(peer.end.failure().unwrap().starts_with("amqp:connection:framing-error"));
}

#[test]
fn a_peer_that_wants_tls_where_there_is_none_is_refused() {
    let mut peer = silent(acceptor());
    peer.bytes(&TLS_HEADER);
    assert_eq!(peer.take_output(), AMQP_HEADER);
    assert!(peer.end.connection.is_finished());
}

#[test]
fn a_peer_that_wants_tls_gets_it_where_it_is_allowed() {
    let mut peer = silent(acceptor());
    peer.end.connection.allow_tls();
    peer.bytes(&TLS_HEADER);
    assert!(matches!(peer.end.take()[..], [Event::StartTls]));
    assert_eq!(peer.take_output(), TLS_HEADER);
}

#[test]
fn sasl_and_amqp_go_on_inside_tls() {
    let mut peer = silent(sasl_acceptor(Anonymous));
    peer.end.connection.allow_tls();
    peer.bytes(&TLS_HEADER);
    peer.take_output();
    peer.bytes(&SASL_HEADER);
    assert!(peer.take_output().starts_with(&SASL_HEADER));
}

#[test]
fn tls_inside_tls_is_refused() {
    let mut peer = silent(acceptor());
    peer.end.connection.allow_tls();
    peer.bytes(&TLS_HEADER);
    peer.bytes(&TLS_HEADER);
    assert!(peer.end.failure().is_some());
}

#[test]
fn another_version_of_amqp_is_answered_with_the_one_that_is_spoken_here() {
    let mut peer = silent(acceptor());
    peer.bytes(b"AMQP\x00\x00\x09\x01");
    assert_eq!(peer.take_output(), AMQP_HEADER);
}

#[test]
fn another_protocol_is_refused_at_its_first_byte() {
    let mut peer = silent(acceptor());
    peer.bytes(b"G");
    let failure = peer.end.failure().unwrap();
    let expected = "amqp:connection:framing-error expected the protocol header of AMQP 1.0, found 'G'";
    assert_eq!(failure, expected);
}

#[test]
fn nothing_is_read_after_a_refusal() {
    let mut peer = silent(acceptor());
    peer.bytes(b"GET / HTTP/1.1\r\n\r\n");
    peer.take_output();
    peer.bytes(&AMQP_HEADER);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn an_initiator_gives_up_when_the_acceptor_insists_on_sasl() {
    let mut pair = Pair::silent(initiator(), sasl_acceptor(Anonymous));
    pair.run();
    assert!(pair.client.failure().unwrap().contains("the peer asks for SASL"));
}

#[test]
fn an_initiator_gives_up_when_the_acceptor_knows_no_sasl() {
    let mut pair = Pair::silent(crate::pair::sasl_initiator(Anonymous), acceptor());
    pair.run();
    assert!(pair.client.failure().unwrap().contains("the peer asks for AMQP"));
}
