//! Session windows, both ways (part 2, section 2.5.6).

use amqp::performative::{Begin, Flow, Performative, Role, Transfer};
use amqp_endpoint::{ConnectionConfig, Event, Hold, LinkId, SessionId};

use crate::pair::{Pair, config, presettled, sender, unsettled};
use crate::scripted::{Answer, Scripted, attach, begin, credit, whole};

/// An endpoint that announces this window, to a peer that may send a hundred deliveries on one link.
fn announcing(session_window: u32) -> (Scripted, LinkId) {
    let config = ConnectionConfig { session_window, ..config("acceptor") };
    let (mut peer, link) = Scripted::attached_with(config, Role::Sender);
    peer.grant(link, 100);
    (peer, link)
}

/// A peer that announces this window, and gives a hundred credits on one link.
fn announced(incoming_window: u32) -> (Scripted, LinkId) {
    let mut peer = Scripted::open();
    peer.frame(0, Performative::Begin(Begin { incoming_window, ..begin() }));
    peer.take_output();
    peer.end.take();
    let link = peer.attach(attach("link", 0, Role::Receiver));
    peer.flow(Flow { incoming_window, ..credit(0, 100) });
    peer.end.take();
    (peer, link)
}

/// A flow of the peer's session: the ids it expects and how many it takes.
fn window(next_incoming_id: u32, incoming_window: u32) -> Flow {
    Flow { next_incoming_id: Some(next_incoming_id), incoming_window, outgoing_window: 1000, ..Flow::default() }
}

/// Incoming windows among the answers, with the id they count from.
fn windows(answers: Vec<Answer>) -> Vec<(Option<u32>, u32)> {
    let flow = |answer: Answer| match answer.performative {
        Performative::Flow(flow) => Some((flow.next_incoming_id, flow.incoming_window)),
        _ => None,
    };
    answers.into_iter().filter_map(flow).collect()
}

fn sends(peer: &mut Scripted, link: LinkId, count: u64) -> usize {
    (0..count).filter(|&key| peer.end.connection.try_send(link, &unsettled(key), &[b"x"])).count()
}

#[test]
fn as_many_frames_are_sent_as_the_peers_window_allows() {
    let (mut peer, link) = announced(3);
    assert_eq!(sends(&mut peer, link, 10), 3);
}

#[test]
fn a_closed_window_holds_back_the_frames_of_a_large_delivery() {
    let (mut peer, link) = announced(2);
    peer.end.connection.begin_delivery(link, &unsettled(1));
    let payload = vec![7; 200_000];
    let max = peer.end.connection.remote_max_frame_size();
    assert_eq!(max, u32::MAX, "so that one frame holds it all");
    assert_eq!(peer.end.connection.send_payload(link, &payload[..100], true), 100);
    assert_eq!(peer.end.connection.send_payload(link, &payload[100..200], true), 100);
    assert_eq!(peer.end.connection.send_payload(link, &payload[200..], false), 0);
}

#[test]
fn an_owner_is_told_when_the_window_opens_again() {
    let (mut peer, link) = announced(3);
    sends(&mut peer, link, 10);
    peer.flow(window(3, 3));
    assert!(matches!(peer.end.take()[..], [Event::SessionWritable(SessionId(0))]));
    assert_eq!(sends(&mut peer, link, 10), 3);
}

#[test]
fn an_owner_that_was_not_refused_is_told_nothing() {
    let (mut peer, link) = announced(3);
    sends(&mut peer, link, 3);
    peer.flow(window(3, 3));
    assert!(peer.end.take().is_empty());
}

#[test]
fn an_owner_is_not_told_while_the_window_stays_closed() {
    let (mut peer, link) = announced(3);
    sends(&mut peer, link, 10);
    peer.flow(window(3, 0));
    assert!(peer.end.take().is_empty());
}

#[test]
fn frames_on_their_way_are_taken_off_a_new_window() {
    let (mut peer, link) = announced(3);
    sends(&mut peer, link, 3);
    peer.flow(window(1, 4));
    assert_eq!(sends(&mut peer, link, 10), 2);
}

#[test]
fn a_peer_may_close_its_window() {
    let (mut peer, link) = announced(3);
    peer.flow(window(0, 0));
    assert_eq!(sends(&mut peer, link, 10), 0);
}

#[test]
fn a_peer_that_has_seen_nothing_counts_from_the_start() {
    let (mut peer, link) = announced(3);
    sends(&mut peer, link, 1);
    peer.flow(Flow { next_incoming_id: None, ..window(0, 3) });
    assert_eq!(sends(&mut peer, link, 10), 2);
}

#[test]
fn a_peer_that_has_seen_what_was_not_sent_loses_its_session() {
    let (mut peer, _) = announced(3);
    peer.flow(window(1, 3));
    assert_eq!(peer.end_error(), "amqp:invalid-field next-incoming-id 1 is beyond the 0 transfer frames sent");
}

#[test]
fn more_frames_than_our_window_end_the_session() {
    let (mut peer, _) = announcing(2);
    (0..3).for_each(|id| peer.transfer(&whole(id)));
    assert!(peer.end_error().starts_with("amqp:session:window-violation"));
}

#[test]
fn frames_of_one_delivery_count_each() {
    let (mut peer, _) = announcing(2);
    peer.transfer(&Transfer { more: true, ..whole(0) });
    (0..2).for_each(|_| peer.transfer(&Transfer { more: true, ..Transfer::default() }));
    assert!(peer.end_error().starts_with("amqp:session:window-violation"));
}

#[test]
fn the_window_is_opened_again_when_half_of_it_is_used() {
    let (mut peer, _) = announcing(10);
    (0..4).for_each(|id| peer.transfer(&whole(id)));
    assert_eq!(windows(peer.answers()), []);
    peer.transfer(&whole(4));
    assert_eq!(windows(peer.answers()), [(Some(5), 10)]);
}

#[test]
fn a_window_of_one_frame_still_lets_everything_through() {
    let mut pair = Pair::open_with(config("client"), ConnectionConfig { session_window: 1, ..config("server") });
    let link = pair.sending(100);
    for key in 0..10 {
        pair.send(link, [key]);
    }
    assert_eq!(pair.server.take_transfers().len(), 10);
}

#[test]
fn a_window_of_nothing_is_one_of_a_frame() {
    let (mut peer, _) = announcing(0);
    peer.transfer(&whole(0));
    assert_eq!(peer.end.take_transfers().len(), 1);
}

#[test]
fn frames_for_a_detached_link_use_the_window_and_open_it_again() {
    let (mut peer, link) = announcing(2);
    peer.end.connection.detach(link, true, None);
    peer.take_output();
    (0..10).for_each(|id| {
        peer.transfer(&whole(id));
        peer.take_output();
    });
    assert_eq!(peer.end.failure(), None);
    assert!(peer.end.take().is_empty());
}

#[test]
fn a_held_session_announces_no_window() {
    let (mut peer, _) = announcing(10);
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, true);
    assert_eq!(windows(peer.answers()), [(Some(0), 0)]);
}

#[test]
fn a_held_session_takes_what_was_allowed_before() {
    let (mut peer, _) = announcing(10);
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, true);
    (0..10).for_each(|id| peer.transfer(&whole(id)));
    assert_eq!(peer.end.take_transfers().len(), 10);
}

#[test]
fn a_held_session_does_not_open_its_window_for_what_it_takes() {
    let (mut peer, _) = announcing(10);
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, true);
    peer.take_output();
    (0..10).for_each(|id| peer.transfer(&whole(id)));
    assert_eq!(windows(peer.answers()), []);
}

#[test]
fn credit_of_a_held_session_does_not_open_its_window() {
    let (mut peer, link) = announcing(10);
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, true);
    peer.take_output();
    peer.end.connection.add_credit(link, 1);
    assert_eq!(windows(peer.answers()), [(Some(0), 0)]);
}

#[test]
fn a_session_no_longer_held_announces_its_whole_window() {
    let (mut peer, _) = announcing(10);
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, true);
    (0..7).for_each(|id| peer.transfer(&whole(id)));
    peer.take_output();
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, false);
    assert_eq!(windows(peer.answers()), [(Some(7), 10)]);
}

#[test]
fn holding_what_is_held_says_nothing() {
    let (mut peer, _) = announcing(10);
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, true);
    peer.take_output();
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, true);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn a_held_session_makes_its_peer_wait_and_loses_nothing() {
    let mut pair = Pair::open_with(config("client"), ConnectionConfig { session_window: 4, ..config("server") });
    let link = pair.sending(100);
    let session = pair.server.connection.link(link.server).unwrap().session;
    pair.server.connection.hold_session(session, Hold::Lag, true);
    pair.run();
    assert!(!pair.client.connection.try_send(link.client, &presettled(), &[b"x"]));
    pair.server.connection.hold_session(session, Hold::Lag, false);
    pair.run();
    pair.send(link, [1]);
    assert_eq!(pair.server.take_transfers().len(), 1);
}

#[test]
fn a_session_held_before_it_is_answered_says_so_when_it_is() {
    let mut peer = Scripted::open();
    let session = peer.end.connection.begin_session().unwrap();
    peer.end.connection.hold_session(session, Hold::Lag, true);
    peer.take_output();
    peer.frame(0, Performative::Begin(Begin { remote_channel: Some(0), next_outgoing_id: 9, ..begin() }));
    assert_eq!(windows(peer.answers()), [(Some(9), 0)]);
}

#[test]
fn windows_count_from_where_the_peer_begins() {
    let mut peer = Scripted::open_with(ConnectionConfig { session_window: 2, ..config("acceptor") });
    peer.frame(0, Performative::Begin(Begin { next_outgoing_id: u32::MAX, ..begin() }));
    peer.end.take();
    let link = peer.attach(attach("link", 0, Role::Sender));
    peer.grant(link, 10);
    peer.transfer(&whole(0));
    assert_eq!(windows(peer.answers()), [(Some(0), 2)]);
}

#[test]
fn the_peer_says_where_its_next_frame_counts_from() {
    let (mut peer, _) = announcing(10);
    peer.flow(Flow { next_outgoing_id: 5, echo: true, ..window(0, 100) });
    assert_eq!(windows(peer.answers()), [(Some(5), 10)]);
}

#[test]
fn a_flow_of_a_link_says_what_there_is_to_say_of_its_session() {
    let (mut peer, link) = announcing(10);
    peer.flow(Flow { echo: true, ..window(0, 100) });
    peer.end.connection.add_credit(link, 1);
    assert_eq!(windows(peer.answers()).len(), 1);
}

#[test]
fn windows_of_sessions_are_their_own() {
    let mut pair = Pair::open_with(config("client"), ConnectionConfig { session_window: 2, ..config("server") });
    let first = pair.sending(10);
    let second = pair.attach(sender("b"));
    pair.server.connection.add_credit(second.server, 10);
    let session = pair.server.connection.link(first.server).unwrap().session;
    pair.server.connection.hold_session(session, Hold::Lag, true);
    pair.run();
    pair.forget_events();
    pair.send(second, [1]);
    assert_eq!(pair.server.take_transfers().len(), 1);
}

#[test]
fn a_session_held_for_two_reasons_opens_when_both_are_over() {
    let (mut peer, _) = announcing(10);
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, true);
    peer.end.connection.hold_session(SessionId(0), Hold::Memory, true);
    peer.take_output();
    peer.end.connection.hold_session(SessionId(0), Hold::Lag, false);
    assert_eq!(windows(peer.answers()), []);
    peer.end.connection.hold_session(SessionId(0), Hold::Memory, false);
    assert_eq!(windows(peer.answers()), [(Some(0), 10)]);
}
