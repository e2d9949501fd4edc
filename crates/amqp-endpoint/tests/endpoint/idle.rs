//! Idle time-outs, both ways (part 2, section 2.4.5).

use std::time::Duration;

use amqp::frame::{AMQP_HEADER, write_empty, write_performative};
use amqp::performative::{Open, Performative};
use amqp_endpoint::ConnectionConfig;

use crate::pair::{Pair, acceptor, config, seconds};
use crate::scripted::{Scripted, begin, open};

/// An endpoint that bears a silence of `bears`, of a peer that bears one of `milliseconds`.
fn idling(bears: Option<Duration>, milliseconds: Option<u32>) -> Scripted {
    let config = ConnectionConfig { idle_time_out: bears, ..config("acceptor") };
    let mut peer = Scripted::silent(config, acceptor());
    peer.bytes(&AMQP_HEADER);
    peer.frame(0, Performative::Open(Box::new(Open { idle_time_out: milliseconds, ..open() })));
    peer.take_output();
    peer
}

fn empty() -> Vec<u8> {
    let mut bytes = Vec::new();
    write_empty(&mut bytes);
    bytes
}

#[test]
fn without_time_outs_nothing_is_ever_due() {
    assert_eq!(idling(None, None).end.connection.next_timeout(), None);
}

#[test]
fn an_idle_time_out_of_zero_means_none() {
    assert_eq!(idling(None, Some(0)).end.connection.next_timeout(), None);
}

#[test]
fn a_peer_gets_an_empty_frame_after_half_of_its_time_out() {
    let mut peer = idling(None, Some(8000));
    peer.pass(seconds(4));
    assert_eq!(peer.take_output(), empty());
}

#[test]
fn a_peer_that_hears_something_else_needs_no_empty_frame() {
    let mut peer = idling(None, Some(8000));
    peer.pass(seconds(3));
    peer.end.connection.begin_session().unwrap();
    peer.take_output();
    peer.pass(seconds(3));
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn a_peer_that_does_not_read_gets_no_more_empty_frames() {
    let mut peer = idling(None, Some(8000));
    peer.pass(seconds(100));
    assert_eq!(peer.take_output(), empty());
}

#[test]
fn a_peer_with_a_tiny_time_out_does_not_get_a_flood() {
    let mut peer = idling(None, Some(1));
    assert_eq!(peer.end.connection.next_timeout(), Some(Duration::from_millis(50)));
    peer.pass(Duration::from_millis(49));
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn a_silent_peer_is_dropped() {
    let mut peer = idling(Some(seconds(16)), None);
    peer.pass(seconds(16));
    let error = "amqp:resource-limit-exceeded local-idle-timeout expired: nothing came from the peer for 16.0s";
    assert_eq!(peer.close_error(), error);
}

#[test]
fn an_end_that_was_itself_held_up_says_so_when_it_drops_its_peer() {
    let mut peer = idling(Some(seconds(16)), None);
    peer.now = seconds(19);
    peer.end.connection.handle_timeout(peer.now);
    peer.bytes(&[]);
    let error = peer.close_error();
    assert!(error.ends_with("for 19.0s, of which this end was itself held up for 3.0s"), "{error}");
}

#[test]
fn a_peer_is_overdue_from_the_end_of_its_time_until_something_comes() {
    let mut peer = idling(Some(seconds(16)), Some(4000));
    assert!(!peer.end.connection.is_overdue(seconds(15)));
    assert!(peer.end.connection.is_overdue(seconds(16)));
    peer.now = seconds(16);
    peer.bytes(&empty());
    assert!(!peer.end.connection.is_overdue(seconds(16)));
}

#[test]
fn a_silent_peer_is_not_dropped_too_early() {
    let mut peer = idling(Some(seconds(16)), None);
    peer.pass(seconds(16) - Duration::from_nanos(1));
    assert_eq!(peer.end.failure(), None);
}

#[test]
fn an_empty_frame_is_a_sign_of_life() {
    let mut peer = idling(Some(seconds(16)), None);
    for _ in 0..10 {
        peer.pass(seconds(15));
        peer.bytes(&empty());
    }
    assert_eq!(peer.end.failure(), None);
}

#[test]
fn a_frame_that_comes_in_slowly_is_a_sign_of_life() {
    let mut peer = idling(Some(seconds(16)), None);
    let mut frame = Vec::new();
    write_performative(&mut frame, 0, &Performative::Begin(begin()));
    for byte in frame.chunks(1) {
        peer.pass(seconds(15));
        peer.bytes(byte);
    }
    assert_eq!(peer.end.failure(), None);
}

#[test]
fn half_a_frame_that_stays_half_a_frame_is_silence() {
    let mut peer = idling(Some(seconds(16)), Some(2000));
    peer.bytes(&[0, 0, 0, 20]);
    peer.pass(seconds(16));
    assert!(peer.end.failure().is_some());
}

#[test]
fn a_peer_that_is_not_read_is_not_dropped_for_its_silence() {
    let mut peer = idling(Some(seconds(16)), None);
    peer.end.connection.hold_idle_time_out(peer.now, true);
    peer.pass(seconds(1000));
    assert_eq!(peer.end.failure(), None);
}

#[test]
fn a_peer_that_is_read_again_has_its_whole_time_out() {
    let mut peer = idling(Some(seconds(16)), None);
    peer.end.connection.hold_idle_time_out(peer.now, true);
    peer.pass(seconds(1000));
    peer.end.connection.hold_idle_time_out(peer.now, false);
    assert_eq!(peer.end.connection.next_timeout(), Some(seconds(1016)));
}

#[test]
fn a_peer_that_is_not_read_still_gets_empty_frames() {
    let mut peer = idling(Some(seconds(16)), Some(8000));
    peer.end.connection.hold_idle_time_out(peer.now, true);
    peer.pass(seconds(100));
    assert_eq!(peer.take_output(), empty());
}

#[test]
fn two_idle_ends_keep_each_other_alive() {
    let mut pair = Pair::open();
    pair.pass(seconds(3600));
    assert_eq!((pair.client.failure(), pair.server.failure()), (None, None));
}

#[test]
fn it_is_known_when_the_peer_was_last_heard() {
    let mut peer = idling(Some(seconds(16)), None);
    peer.pass(seconds(5));
    peer.bytes(&empty());
    peer.pass(seconds(5));
    assert_eq!(peer.end.connection.last_heard(), seconds(5));
}

#[test]
fn an_initiator_does_not_wait_for_ever_for_the_peers_open() {
    let mut peer = Scripted::silent(config("client"), crate::pair::initiator());
    peer.pass(seconds(16));
    let failure = peer.end.failure().unwrap();
    assert!(failure.starts_with("amqp:resource-limit-exceeded local-idle-timeout expired"), "{failure}");
}
