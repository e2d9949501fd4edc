//! Deliveries of many frames, `more` and `aborted` (part 2, sections 2.6.14 and 2.7.5).

use amqp::DeliveryState;
use amqp::performative::{Begin, Flow, Performative, Role, Transfer};
use amqp_endpoint::{ConnectionConfig, Event, IncomingTransfer, LinkId, NewDelivery, SessionId};

use crate::pair::{Both, Pair, config, presettled, unsettled};
use crate::scripted::{Scripted, attach, begin, credit, whole};

/// A link of which the receiving end accepts frames of 512 bytes.
fn small_frames() -> (Pair, Both) {
    let mut pair = Pair::open_with(config("client"), ConnectionConfig { max_frame_size: 512, ..config("server") });
    let link = pair.sending(10);
    (pair, link)
}

/// A link on which the peer sends, with enough credit.
fn receiving() -> (Scripted, LinkId) {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, 100);
    (peer, link)
}

/// A link on which this end sends, with ten credits, and a window of that many frames.
fn sending(incoming_window: u32) -> (Scripted, LinkId) {
    let mut peer = Scripted::open();
    peer.frame(0, Performative::Begin(Begin { incoming_window, ..begin() }));
    peer.take_output();
    let link = {
        peer.end.take();
        peer.attach(attach("link", 0, Role::Receiver))
    };
    peer.flow(Flow { incoming_window, ..credit(0, 10) });
    peer.end.take();
    (peer, link)
}

fn transfers(peer: &mut Scripted) -> Vec<Transfer<'static>> {
    let transfer = |answer: crate::scripted::Answer| match answer.performative {
        Performative::Transfer(transfer) => Some(transfer),
        _ => None,
    };
    peer.answers().into_iter().filter_map(transfer).collect()
}

fn flows(peer: &mut Scripted) -> Vec<(Option<u32>, Option<u32>)> {
    let flow = |answer: crate::scripted::Answer| match answer.performative {
        Performative::Flow(flow) => Some((flow.delivery_count, flow.link_credit)),
        _ => None,
    };
    peer.answers().into_iter().filter_map(flow).collect()
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|at| at as u8).collect()
}

#[test]
fn a_large_delivery_is_cut_into_frames_and_arrives_whole() {
    let (mut pair, link) = small_frames();
    let payload = bytes(10_000);
    assert!(pair.client.connection.begin_delivery(link.client, &unsettled(1)));
    assert_eq!(pair.client.connection.send_payload(link.client, &payload, false), 10_000);
    pair.run();
    let arrived: Vec<u8> = pair.server.take_transfers().iter().flat_map(|transfer| transfer.payload.to_vec()).collect();
    assert_eq!(arrived, payload);
}

#[test]
fn frames_are_as_large_as_the_peer_accepts() {
    let (mut pair, link) = small_frames();
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    pair.client.connection.send_payload(link.client, &bytes(5000), true);
    let mut output = &pair.client.take_output(pair.now)[..];
    let mut sizes = Vec::new();
    while let Some(size) = output.first_chunk::<4>() {
        sizes.push(u32::from_be_bytes(*size));
        output = &output[u32::from_be_bytes(*size) as usize..];
    }
    let last = sizes.pop();
    assert!(sizes.iter().all(|&size| size == 512) && last.is_some_and(|last| last <= 512), "{sizes:?} {last:?}");
}

#[test]
fn all_frames_but_the_last_say_that_more_follows() {
    let (mut pair, link) = small_frames();
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    pair.client.connection.send_payload(link.client, &bytes(1200), false);
    pair.run();
    let frames: Vec<_> = pair.server.take_transfers().iter().map(|frame| (frame.first, frame.more)).collect();
    assert_eq!(frames, [(true, true), (false, true), (false, false)]);
}

#[test]
fn parts_of_a_payload_are_sent_as_one() {
    let (mut pair, link) = small_frames();
    let payload = bytes(2000);
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    let parts: Vec<&[u8]> = payload.chunks(7).collect();
    assert_eq!(pair.client.connection.send_payload_parts(link.client, &parts, false), 2000);
    pair.run();
    let arrived: Vec<u8> = pair.server.take_transfers().iter().flat_map(|transfer| transfer.payload.to_vec()).collect();
    assert_eq!(arrived, payload);
}

#[test]
fn a_payload_that_fits_exactly_is_the_last_frame() {
    for size in 400..520 {
        let (mut pair, link) = small_frames();
        pair.client.connection.begin_delivery(link.client, &unsettled(1));
        pair.client.connection.send_payload(link.client, &bytes(size), false);
        pair.run();
        let frames = pair.server.take_transfers();
        let total: usize = frames.iter().map(|frame| frame.payload.len()).sum();
        assert!(total == size && !frames[frames.len() - 1].more, "{size} bytes: {frames:?}");
    }
}

#[test]
fn a_delivery_may_be_sent_as_it_grows() {
    let (mut pair, link) = small_frames();
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    for piece in [&b"one"[..], b"two"] {
        pair.client.connection.send_payload(link.client, piece, true);
        pair.run();
    }
    assert!(pair.client.connection.is_sending(link.client));
    pair.client.connection.send_payload(link.client, b"three", false);
    pair.run();
    let pieces: Vec<_> = pair.server.take_transfers().iter().map(|transfer| transfer.payload).collect();
    assert_eq!(pieces, [&b"one"[..], b"two", b"three"]);
}

#[test]
fn an_end_that_comes_late_is_an_empty_frame() {
    let (mut pair, link) = small_frames();
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    pair.client.connection.send_payload(link.client, b"all", true);
    assert_eq!(pair.client.connection.send_payload(link.client, b"", false), 0);
    assert!(!pair.client.connection.is_sending(link.client));
    pair.run();
    assert!(matches!(pair.server.take_transfers()[1], IncomingTransfer { more: false, payload: b"", .. }));
}

#[test]
fn a_delivery_that_cannot_end_yet_is_still_being_sent() {
    let (mut peer, link) = sending(1);
    peer.end.connection.begin_delivery(link, &unsettled(1));
    peer.end.connection.send_payload(link, b"all", true);
    peer.end.connection.send_payload(link, b"", false);
    assert!(peer.end.connection.is_sending(link));
}

#[test]
fn nothing_else_is_sent_on_the_link_before_a_delivery_is_complete() {
    let (mut pair, link) = small_frames();
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    assert!(!pair.client.connection.try_send(link.client, &unsettled(2), &[b"x"]));
    assert!(!pair.client.connection.begin_delivery(link.client, &unsettled(2)));
}

#[test]
fn deliveries_of_different_links_are_interleaved() {
    let (mut peer, link) = receiving();
    let other = peer.attach(attach("other", 1, Role::Sender));
    peer.grant(other, 10);
    peer.transfer(&Transfer { more: true, ..whole(0) });
    peer.transfer(&Transfer { handle: 1, more: true, ..whole(1) });
    peer.transfer(&Transfer::default());
    peer.transfer(&Transfer { handle: 1, ..Transfer::default() });
    let frames: Vec<_> = peer.end.take_transfers().iter().map(|frame| (frame.link, frame.delivery_id)).collect();
    assert_eq!(frames, [(link, 0), (other, 1), (link, 0), (other, 1)]);
}

#[test]
fn later_frames_may_repeat_the_delivery_id() {
    let (mut peer, _) = receiving();
    peer.transfer(&Transfer { more: true, ..whole(0) });
    peer.transfer(&whole(0));
    assert_eq!(peer.end.take_transfers().len(), 2);
}

#[test]
fn a_delivery_that_begins_in_the_middle_of_another_ends_the_session() {
    let (mut peer, _) = receiving();
    peer.transfer(&Transfer { more: true, ..whole(0) });
    peer.transfer(&whole(1));
    let expected = "amqp:invalid-field delivery 1 began before delivery 0 of its link was complete";
    assert_eq!(peer.end_error(), expected);
}

#[test]
fn a_delivery_may_be_settled_with_its_last_frame() {
    let (mut peer, link) = receiving();
    peer.transfer(&Transfer { more: true, ..whole(0) });
    peer.transfer(&Transfer { settled: Some(true), ..Transfer::default() });
    let settled: Vec<_> = peer.end.take_transfers().iter().map(|frame| frame.settled).collect();
    assert_eq!(settled, [false, true]);
    peer.end.connection.update_incoming(link, 0, Some(DeliveryState::Accepted), true);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn a_delivery_settled_with_its_first_frame_stays_settled() {
    let (mut peer, _) = receiving();
    peer.transfer(&Transfer { more: true, settled: Some(true), ..whole(0) });
    peer.transfer(&Transfer { settled: Some(false), ..Transfer::default() });
    assert!(peer.end.take_transfers().iter().all(|frame| frame.settled));
}

#[test]
fn an_abort_is_told_and_ends_the_delivery() {
    let (mut peer, _) = receiving();
    peer.transfer(&Transfer { more: true, ..whole(0) });
    peer.transfer(&Transfer { aborted: true, more: true, ..Transfer::default() });
    peer.transfer(&whole(1));
    let frames = peer.end.take_transfers();
    assert!(matches!(
        frames[1..],
        [
            IncomingTransfer { aborted: true, more: false, settled: true, delivery_id: 0, .. },
            IncomingTransfer { first: true, aborted: false, delivery_id: 1, .. }
        ]
    ));
}

#[test]
fn a_delivery_may_be_aborted_with_its_only_frame() {
    let (mut peer, _) = receiving();
    peer.transfer(&Transfer { aborted: true, ..whole(0) });
    assert!(matches!(peer.end.take_transfers()[..], [IncomingTransfer { first: true, aborted: true, .. }]));
}

#[test]
fn an_aborted_delivery_has_no_state_to_be_told() {
    let (mut peer, link) = receiving();
    peer.transfer(&Transfer { more: true, ..whole(0) });
    peer.transfer(&Transfer { aborted: true, ..Transfer::default() });
    peer.end.connection.update_incoming(link, 0, Some(DeliveryState::Released), true);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn a_delivery_given_up_is_aborted() {
    let (mut pair, link) = small_frames();
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    pair.client.connection.send_payload(link.client, b"half", true);
    pair.client.connection.abort_delivery(link.client);
    pair.run();
    assert!(matches!(pair.server.take_transfers()[..], [_, IncomingTransfer { aborted: true, payload: b"", .. }]));
    assert!(!pair.client.connection.is_sending(link.client));
}

#[test]
fn a_delivery_given_up_before_its_first_frame_never_was() {
    let (mut peer, link) = sending(10);
    peer.end.connection.begin_delivery(link, &unsettled(1));
    peer.end.connection.abort_delivery(link);
    assert_eq!(peer.take_output(), b"");
    assert_eq!(peer.end.connection.link(link).unwrap().credit, 10);
    assert!(peer.end.connection.try_send(link, &unsettled(2), &[b"x"]));
    assert_eq!(transfers(&mut peer)[0].delivery_id, Some(0));
}

#[test]
fn an_abort_waits_for_the_window() {
    let (mut peer, link) = sending(1);
    peer.end.connection.begin_delivery(link, &unsettled(1));
    peer.end.connection.send_payload(link, b"half", true);
    peer.end.connection.abort_delivery(link);
    assert_eq!(transfers(&mut peer).len(), 1);
    assert!(!peer.end.connection.try_send(link, &unsettled(2), &[b"x"]), "the link is not free yet");
    peer.flow(Flow { next_incoming_id: Some(1), incoming_window: 5, ..Flow::default() });
    assert!(matches!(transfers(&mut peer)[..], [Transfer { aborted: true, .. }]));
    assert!(peer.end.connection.try_send(link, &unsettled(2), &[b"x"]));
}

#[test]
fn nothing_more_is_sent_of_a_delivery_given_up() {
    let (mut peer, link) = sending(1);
    peer.end.connection.begin_delivery(link, &unsettled(1));
    peer.end.connection.send_payload(link, b"half", true);
    peer.end.connection.abort_delivery(link);
    peer.flow(Flow { next_incoming_id: Some(1), incoming_window: 5, ..Flow::default() });
    assert_eq!(peer.end.connection.send_payload(link, b"rest", false), 0);
}

#[test]
fn no_outcome_is_told_of_a_delivery_given_up() {
    let (mut pair, link) = small_frames();
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    pair.client.connection.send_payload(link.client, b"half", true);
    pair.run();
    let id = pair.server.take_transfers()[0].delivery_id;
    pair.server.connection.update_incoming(link.server, id, Some(DeliveryState::Rejected(None)), true);
    pair.client.connection.abort_delivery(link.client);
    pair.run();
    assert_eq!(pair.client.take_outcomes(), []);
}

#[test]
fn a_receiver_may_settle_before_the_delivery_is_complete() {
    let (mut pair, link) = small_frames();
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    pair.client.connection.send_payload(link.client, b"half", true);
    pair.run();
    pair.server.connection.update_incoming(link.server, 0, Some(DeliveryState::Rejected(None)), true);
    pair.run();
    assert_eq!(pair.client.take_outcomes(), [(1, Some(DeliveryState::Rejected(None)), true)]);
    pair.client.connection.send_payload(link.client, b"rest", false);
    pair.run();
    assert_eq!((pair.client.failure(), pair.server.failure()), (None, None));
}

#[test]
fn a_delivery_whose_credit_is_taken_back_before_its_first_frame_waits_for_new_credit() {
    let (mut peer, link) = sending(0);
    peer.end.connection.begin_delivery(link, &unsettled(1));
    assert_eq!(peer.end.connection.send_payload(link, b"x", false), 0);
    peer.flow(Flow { incoming_window: 5, ..credit(0, 0) });
    peer.end.take();
    assert_eq!(peer.end.connection.send_payload(link, b"x", false), 0);
    peer.flow(Flow { incoming_window: 5, ..credit(0, 1) });
    assert!(matches!(peer.end.take()[..], [Event::Credit { credit: 0, .. }, Event::SessionWritable(SessionId(0))]));
    assert_eq!(peer.end.connection.send_payload(link, b"x", false), 1);
}

#[test]
fn a_delivery_whose_credit_was_taken_back_and_that_is_given_up_leaves_none() {
    let (mut peer, link) = sending(0);
    peer.end.connection.begin_delivery(link, &unsettled(1));
    peer.flow(Flow { incoming_window: 5, ..credit(0, 0) });
    peer.end.connection.abort_delivery(link);
    peer.flow(Flow { incoming_window: 5, echo: true, link_credit: None, ..credit(0, 0) });
    assert_eq!(flows(&mut peer), [(Some(0), Some(0))]);
}

#[test]
fn a_delivery_begun_without_a_frame_is_not_counted_in_a_drain() {
    let (mut peer, link) = sending(0);
    peer.end.connection.begin_delivery(link, &unsettled(1));
    peer.flow(Flow { drain: true, ..credit(0, 10) });
    peer.end.connection.drained(link);
    // Nine are given back; one is for the delivery to come.
    assert_eq!(flows(&mut peer), [(Some(9), Some(1))]);
}

#[test]
fn a_drain_is_complete_when_a_delivery_begun_without_a_frame_is_given_up() {
    let (mut peer, link) = sending(0);
    peer.end.connection.begin_delivery(link, &unsettled(1));
    peer.flow(Flow { drain: true, ..credit(0, 10) });
    peer.end.connection.drained(link);
    peer.take_output();
    peer.end.connection.abort_delivery(link);
    assert_eq!(flows(&mut peer), [(Some(10), Some(0))]);
}

#[test]
fn a_huge_state_is_left_out_where_the_frame_has_no_room_for_it() {
    let (mut pair, link) = small_frames();
    let state = DeliveryState::Other([&[0, 0xa1, 1, b'x', 0xb0, 0, 0, 4, 0][..], &[1; 1024]].concat().into());
    let new = NewDelivery { state: Some(&state), ..unsettled(1) };
    assert!(!pair.client.connection.try_send(link.client, &new, &[b"x"]));
    assert!(pair.client.connection.begin_delivery(link.client, &new));
    assert_eq!(pair.client.connection.send_payload(link.client, b"x", false), 1);
    pair.run();
    assert!(matches!(pair.server.take_transfers()[..], [IncomingTransfer { payload: b"x", state: None, .. }]));
}

#[test]
fn a_state_may_come_with_any_frame_of_a_delivery() {
    let mut pair = Pair::open();
    let link = pair.sending(1);
    let received = |section_offset| DeliveryState::Received { section_number: 0, section_offset };
    let [first, second] = [received(1), received(2)];
    let client = &mut pair.client.connection;
    client.begin_delivery(link.client, &unsettled(1));
    client.set_delivery_state(link.client, first.clone());
    client.send_payload(link.client, b"a", true);
    client.send_payload(link.client, b"b", true);
    client.set_delivery_state(link.client, second.clone());
    client.send_payload(link.client, b"c", false);
    client.set_delivery_state(link.client, first.clone());
    pair.run();
    let told: Vec<_> = pair.server.take_transfers().into_iter().map(|transfer| transfer.state).collect();
    assert_eq!(told, [Some(first), None, Some(second)]);
}

#[test]
fn a_settled_delivery_of_many_frames_leaves_nothing_to_settle() {
    let (mut pair, link) = small_frames();
    pair.client.connection.begin_delivery(link.client, &presettled());
    pair.client.connection.send_payload(link.client, &bytes(2000), false);
    pair.run();
    assert!(pair.server.take_transfers().iter().all(|frame| frame.settled));
}

#[test]
fn a_window_of_one_frame_carries_a_large_delivery() {
    let server = ConnectionConfig { max_frame_size: 512, session_window: 1, ..config("server") };
    let mut pair = Pair::open_with(config("client"), server);
    let link = pair.sending(1);
    let payload = bytes(20_000);
    pair.client.connection.begin_delivery(link.client, &unsettled(1));
    let mut rest = &payload[..];
    while pair.client.connection.is_sending(link.client) {
        let taken = pair.client.connection.send_payload(link.client, rest, false);
        rest = &rest[taken..];
        pair.run();
        assert!(pair.client.events.iter().any(|event| matches!(event, Event::SessionWritable(_))) || rest.is_empty());
        pair.client.take();
    }
    let arrived: Vec<u8> = pair.server.take_transfers().iter().flat_map(|transfer| transfer.payload.to_vec()).collect();
    assert_eq!(arrived, payload);
}
