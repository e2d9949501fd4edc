//! Errors end what they concern and no more: link, session or connection (part 2, sections 2.8.15 to 2.8.18). What is
//! particular to a behaviour is tested with it; here are malformed input, input without end, and peers that do not read.

use amqp::condition::names;
use amqp::frame::{FrameKind, write_frame, write_performative};
use amqp::performative::{Attach, Begin, Flow, Performative, Role};
use amqp_endpoint::{Event, SessionId};

use crate::pair::{Pair, sender};
use crate::scripted::{Scripted, attach, begin, condition, credit, raw_frame, whole};

/// What the peer is told of, and the owner, when these bytes come on an open connection.
fn closes_with(bytes: &[u8]) -> String {
    let mut peer = Scripted::open();
    peer.bytes(bytes);
    let told = peer.end.failure();
    let said = peer.close_error();
    assert_eq!(told.as_deref(), Some(&*said), "owner and peer are told the same");
    said
}

#[test]
fn a_frame_that_is_too_large_is_refused_at_its_size() {
    let expected = "amqp:connection:framing-error frame of 16385 bytes is larger than the maximum of 16384";
    assert_eq!(closes_with(&[0, 0, 0x40, 1]), expected);
}

#[test]
fn the_largest_frame_is_allowed() {
    let mut peer = Scripted::open();
    let mut body = Vec::new();
    Performative::Begin(begin()).encode(&mut body);
    body.resize(16384 - 8, 0);
    peer.bytes(&raw_frame(0, &body));
    assert!(matches!(peer.end.take()[..], [Event::SessionBegun(..)]));
}

#[test]
fn malformed_frame_headers_close_the_connection() {
    for header in
        [[0, 0, 0, 7, 2, 0, 0, 0], [0, 0, 0, 8, 1, 0, 0, 0], [0, 0, 0, 8, 3, 0, 0, 0], [0, 0, 0, 8, 2, 9, 0, 0]]
    {
        assert!(closes_with(&header).starts_with(names::FRAMING_ERROR), "{header:?}");
    }
}

#[test]
fn an_extended_header_is_skipped() {
    let mut peer = Scripted::open();
    let mut body = Vec::new();
    Performative::Begin(begin()).encode(&mut body);
    let size = (12 + body.len()) as u32;
    peer.bytes(&[&size.to_be_bytes()[..], &[3, 0, 0, 0], b"skip", &body].concat());
    assert!(matches!(peer.end.take()[..], [Event::SessionBegun(..)]));
}

#[test]
fn a_performative_that_cannot_be_decoded_closes_the_connection() {
    for body in [&b"\x00\x53\x11"[..], b"\x00\x53\x11\x45", b"\x00\x53\x99\x45", b"\x45", b"\xff"] {
        assert!(closes_with(&raw_frame(0, body)).starts_with(names::DECODE_ERROR), "{body:?}");
    }
}

#[test]
fn a_sasl_frame_on_an_open_connection_closes_it() {
    let mut frame = Vec::new();
    write_frame(&mut frame, FrameKind::Sasl, 0, |_| {});
    assert!(closes_with(&frame).starts_with(names::FRAMING_ERROR));
}

#[test]
fn a_failed_connection_loses_its_links_first() {
    let mut pair = Pair::open();
    pair.attach(sender("a"));
    pair.server.receive(pair.now, &[0, 0, 0, 0]);
    assert!(matches!(pair.server.take()[..], [Event::LinkLost { .. }, Event::Failed(_)]));
}

#[test]
fn the_peer_of_a_failed_connection_learns_why() {
    let mut pair = Pair::open();
    pair.server.receive(pair.now, &[0, 0, 0, 0]);
    pair.run();
    let events = pair.client.take();
    let [Event::Closed(Some(error))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(condition(error), names::FRAMING_ERROR);
}

#[test]
fn nothing_is_read_after_a_failure() {
    let mut peer = Scripted::begun();
    peer.bytes(&[0, 0, 0, 0]);
    peer.end.take();
    peer.frame(1, Performative::Begin(begin()));
    assert!(peer.end.take().is_empty() && peer.end.connection.is_finished());
}

#[test]
fn a_failed_session_leaves_the_others_alone() {
    let mut peer = Scripted::begun();
    peer.frame(1, Performative::Begin(begin()));
    peer.end.take();
    peer.flow(credit(0, 1));
    assert!(matches!(peer.end.take()[..], [Event::SessionEnded(SessionId(0), Some(_))]));
    peer.frame(1, Performative::Attach(Box::new(attach("a", 0, Role::Sender))));
    assert!(matches!(peer.end.take()[..], [Event::Attached(..)]));
}

#[test]
fn a_failed_session_loses_its_links_first() {
    let (mut peer, _) = Scripted::attached(Role::Sender);
    peer.transfer(&amqp::performative::Transfer { handle: 9, ..whole(0) });
    assert!(matches!(peer.end.take()[..], [Event::LinkLost { .. }, Event::SessionEnded(_, Some(_))]));
}

#[test]
fn a_failed_session_is_told_once() {
    let mut peer = Scripted::begun();
    peer.flow(credit(0, 1));
    peer.frame(0, Performative::End(amqp::performative::End { error: None }));
    assert_eq!(peer.end.take().len(), 1);
}

#[test]
fn the_channel_of_a_failed_session_is_free_once_the_peer_has_ended_it() {
    let mut peer = Scripted::begun();
    peer.flow(credit(0, 1));
    peer.frame(0, Performative::End(amqp::performative::End { error: None }));
    peer.frame(0, Performative::Begin(begin()));
    peer.end.take();
    assert!(peer.answers().iter().any(|answer| matches!(answer.performative, Performative::Begin(_))));
}

#[test]
fn a_failed_link_is_detached_once() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.transfer(&whole(0));
    peer.end.connection.detach(link, true, None);
    peer.detach(0);
    let detaches =
        peer.answers().iter().filter(|answer| matches!(answer.performative, Performative::Detach(_))).count();
    assert_eq!(detaches, 1);
}

#[test]
fn the_peers_detach_of_a_failed_link_is_not_told() {
    let (mut peer, _) = Scripted::attached(Role::Sender);
    peer.transfer(&whole(0));
    peer.end.take();
    peer.detach(0);
    assert!(peer.end.take().is_empty());
}

#[test]
fn a_peer_that_asks_without_end_and_does_not_read_is_dropped() {
    let mut peer = Scripted::open();
    let mut frames = Vec::new();
    write_performative(&mut frames, 0, &Performative::Begin(begin()));
    write_performative(&mut frames, 0, &Performative::End(amqp::performative::End { error: None }));
    let frames = frames.repeat(1000);
    for _ in 0..1000 {
        peer.bytes(&frames);
        if peer.end.connection.is_finished() {
            break;
        }
    }
    assert!(peer.end.failure().unwrap().starts_with("amqp:resource-limit-exceeded the peer does not read"));
    assert!(peer.end.connection.output().len() < 5 * 1024 * 1024);
}

#[test]
fn a_peer_that_asks_without_end_and_reads_is_served() {
    let mut peer = Scripted::begun();
    for _ in 0..100_000 {
        peer.flow(Flow { echo: true, handle: None, delivery_count: None, link_credit: None, ..credit(0, 0) });
        peer.take_output();
    }
    assert_eq!(peer.end.failure(), None);
}

#[test]
fn many_echoes_of_one_turn_are_answered_once() {
    let (mut peer, _) = Scripted::attached(Role::Sender);
    (0..1000).for_each(|_| peer.flow(Flow { echo: true, ..credit(0, 0) }));
    assert_eq!(peer.answers().len(), 1);
}

#[test]
fn a_link_that_failed_is_gone_when_its_session_ends() {
    let (mut peer, _) = Scripted::attached(Role::Sender);
    peer.transfer(&whole(0));
    peer.end.take();
    peer.frame(0, Performative::End(amqp::performative::End { error: None }));
    assert!(matches!(peer.end.take()[..], [Event::SessionEnded(..)]), "its loss was told already");
}

#[test]
fn a_peer_may_choose_its_channels_and_handles_without_order() {
    let mut peer = Scripted::open();
    for channel in [32767, 0, 500] {
        peer.frame(channel, Performative::Begin(Begin { ..begin() }));
        for handle in [u32::MAX, 0, 1_000_000_000] {
            let attach = Attach::new(format!("{handle}"), handle, Role::Sender);
            peer.frame(channel, Performative::Attach(Box::new(attach)));
        }
    }
    let attached = peer.end.take().into_iter().filter(|event| matches!(event, Event::Attached(..))).count();
    assert_eq!(attached, 9);
}
