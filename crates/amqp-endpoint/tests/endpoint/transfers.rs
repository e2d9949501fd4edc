//! Deliveries of one frame, as they are sent and as they come (part 2, sections 2.6.12 and 2.7.5).

use amqp::DeliveryState;
use amqp::performative::{Manner, Performative, ReceiverSettleMode, Role, Transfer};
use amqp_endpoint::{ConnectionConfig, IncomingTransfer, LinkId, NewDelivery, SessionId};

use crate::pair::{Pair, config, presettled, sender, unsettled};
use crate::scripted::{Scripted, attach, credit, whole};

/// A link on which the peer sends, with enough credit.
fn receiving() -> (Scripted, LinkId) {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, 100);
    (peer, link)
}

/// A link on which this end sends, with enough credit.
fn sending() -> (Scripted, LinkId) {
    let (mut peer, link) = Scripted::attached(Role::Receiver);
    peer.flow(credit(0, 100));
    peer.end.take();
    (peer, link)
}

/// The transfers among the answers, with their payloads.
fn sent(peer: &mut Scripted) -> Vec<(Transfer<'static>, &'static [u8])> {
    let transfer = |answer: crate::scripted::Answer| match answer.performative {
        Performative::Transfer(transfer) => Some((transfer, answer.payload)),
        _ => None,
    };
    peer.answers().into_iter().filter_map(transfer).collect()
}

#[test]
fn a_delivery_arrives_as_it_was_sent() {
    let mut pair = Pair::open();
    let link = pair.sending(1);
    let state = DeliveryState::Received { section_number: 1, section_offset: 2 };
    let new = NewDelivery {
        key: 1,
        tag: b"a tag",
        message_format: 77,
        settled: false,
        state: Some(&state),
        manner: Manner::default(),
    };
    assert!(pair.client.connection.try_send(link.client, &new, &[b"one", b"", b"two"]));
    pair.run();
    let transfers = pair.server.take_transfers();
    let [IncomingTransfer { tag: b"a tag", message_format: 77, payload: b"onetwo", state: told, .. }] = &transfers[..]
    else {
        panic!("{transfers:?}")
    };
    assert_eq!(*told, Some(state));
}

#[test]
fn how_a_delivery_is_to_be_dealt_with_is_told_with_its_first_frame() {
    let manner = Manner { rcv_settle_mode: Some(ReceiverSettleMode::First), batchable: true, resume: false };
    let new = NewDelivery { manner, ..unsettled(1) };
    let mut pair = Pair::open();
    let link = pair.sending(2);
    assert!(pair.client.connection.try_send(link.client, &new, &[b"one"]));
    assert!(pair.client.connection.begin_delivery(link.client, &new));
    pair.client.connection.send_payload(link.client, b"two", false);
    pair.run();
    let told: Vec<_> = pair.server.take_transfers().iter().map(|transfer| transfer.manner).collect();
    assert_eq!(told, [manner, manner]);
}

#[test]
fn a_delivery_of_one_frame_is_first_and_last() {
    let mut pair = Pair::open();
    let link = pair.sending(1);
    pair.send(link, [1]);
    let transfers = pair.server.take_transfers();
    assert!(matches!(
        transfers[..],
        [IncomingTransfer { first: true, more: false, aborted: false, settled: false, delivery_id: 0, .. }]
    ));
}

#[test]
fn deliveries_are_numbered_over_the_links_of_a_session() {
    let mut pair = Pair::open();
    let (session, _) = pair.begin();
    let links = [pair.attach_in(session, sender("a")), pair.attach_in(session, sender("b"))];
    for link in links {
        pair.server.connection.add_credit(link.server, 10);
    }
    pair.run();
    pair.forget_events();
    for at in [0, 1, 1, 0] {
        pair.send(links[at], [at as u64]);
    }
    let ids: Vec<_> = pair.server.take_transfers().iter().map(|transfer| transfer.delivery_id).collect();
    assert_eq!(ids, [0, 1, 2, 3]);
}

#[test]
fn the_first_frame_carries_all_that_the_specification_asks_for() {
    let (mut peer, link) = sending();
    assert!(peer.end.connection.try_send(link, &unsettled(1), &[b"x"]));
    let expected = Transfer {
        delivery_id: Some(0),
        delivery_tag: Some(b"tag"),
        message_format: Some(0),
        settled: Some(false),
        ..Transfer::default()
    };
    assert_eq!(sent(&mut peer), [(expected, &b"x"[..])]);
}

#[test]
fn an_empty_delivery_is_a_delivery() {
    let mut pair = Pair::open();
    let link = pair.sending(1);
    assert!(pair.client.connection.try_send(link.client, &unsettled(1), &[]));
    pair.run();
    assert!(matches!(pair.server.take_transfers()[..], [IncomingTransfer { payload: b"", more: false, .. }]));
}

#[test]
fn a_tag_may_have_32_bytes() {
    let mut pair = Pair::open();
    let link = pair.sending(1);
    let new = NewDelivery { tag: &[1; 32], ..unsettled(1) };
    assert!(pair.client.connection.try_send(link.client, &new, &[b"x"]));
}

#[test]
fn a_longer_tag_is_not_sent() {
    let (mut peer, link) = sending();
    let new = NewDelivery { tag: &[1; 33], ..unsettled(1) };
    assert!(!peer.end.connection.try_send(link, &new, &[b"x"]));
    assert!(!peer.end.connection.begin_delivery(link, &new));
}

#[test]
fn what_does_not_fit_one_frame_is_not_sent_as_one() {
    let small = ConnectionConfig { max_frame_size: 512, ..config("server") };
    let mut pair = Pair::open_with(config("client"), small);
    let link = pair.sending(1);
    let fits = (400..512).rev().find(|&size| {
        let payload = vec![0; size];
        pair.client.connection.try_send(link.client, &presettled(), &[&payload])
    });
    let frame = pair.client.take_output(pair.now);
    assert!(fits.is_some() && frame.len() == 512, "{fits:?}, {} bytes", frame.len());
}

#[test]
fn a_delivery_that_was_refused_used_nothing() {
    let small = ConnectionConfig { max_frame_size: 512, ..config("server") };
    let mut pair = Pair::open_with(config("client"), small);
    let link = pair.sending(1);
    assert!(!pair.client.connection.try_send(link.client, &unsettled(1), &[&[0; 512]]));
    assert_eq!(pair.client.take_output(pair.now), b"");
    pair.send(link, [1]);
    assert_eq!(pair.server.take_transfers().len(), 1);
}

#[test]
fn nothing_is_sent_on_a_receiving_link() {
    let (mut peer, link) = receiving();
    assert!(!peer.end.connection.try_send(link, &unsettled(1), &[b"x"]));
    assert!(!peer.end.connection.begin_delivery(link, &unsettled(1)));
}

#[test]
fn nothing_is_sent_before_the_peers_attach_is_answered() {
    let mut peer = Scripted::begun();
    peer.frame(0, Performative::Attach(Box::new(attach("a", 0, Role::Receiver))));
    peer.flow(credit(0, 10));
    assert!(!peer.end.connection.try_send(LinkId(0), &unsettled(1), &[b"x"]));
}

#[test]
fn a_presettled_delivery_says_so() {
    let mut pair = Pair::open();
    let link = pair.sending(1);
    assert!(pair.client.connection.try_send(link.client, &presettled(), &[b"x"]));
    pair.run();
    assert!(matches!(pair.server.take_transfers()[..], [IncomingTransfer { settled: true, .. }]));
}

#[test]
fn a_presettled_delivery_has_no_state_to_be_told() {
    let (mut peer, link) = receiving();
    peer.transfer(&Transfer { settled: Some(true), ..whole(0) });
    peer.end.connection.update_incoming(link, 0, Some(DeliveryState::Accepted), true);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn missing_tag_and_format_are_taken_for_empty() {
    let (mut peer, _) = receiving();
    peer.transfer(&Transfer { delivery_id: Some(0), ..Transfer::default() });
    assert!(matches!(peer.end.take_transfers()[..], [IncomingTransfer { tag: b"", message_format: 0, .. }]));
}

#[test]
fn batchable_is_only_a_hint() {
    let (mut peer, _) = receiving();
    peer.transfer(&Transfer { batchable: true, ..whole(0) });
    assert_eq!(peer.end.take_transfers().len(), 1);
}

#[test]
fn a_delivery_without_an_id_ends_the_session() {
    let (mut peer, _) = receiving();
    peer.transfer(&Transfer { delivery_tag: Some(b"t"), ..Transfer::default() });
    let expected = "amqp:invalid-field the first transfer of a delivery has no delivery-id";
    assert_eq!(peer.end_error(), expected);
}

#[test]
fn a_delivery_out_of_sequence_ends_the_session() {
    let (mut peer, _) = receiving();
    peer.transfer(&whole(7));
    peer.transfer(&whole(9));
    let expected = "amqp:invalid-field delivery-id 9 is out of sequence: 8 was expected";
    assert_eq!(peer.end_error(), expected);
}

#[test]
fn delivery_ids_begin_anywhere_and_wrap_around() {
    let (mut peer, link) = receiving();
    for id in [u32::MAX - 1, u32::MAX, 0, 1] {
        peer.transfer(&whole(id));
        peer.end.connection.update_incoming(link, id, Some(DeliveryState::Accepted), true);
    }
    let answers = peer.answers();
    let [only] = &answers[..] else { panic!("{answers:?}") };
    let Performative::Disposition(disposition) = &only.performative else { panic!("{answers:?}") };
    assert_eq!((disposition.first, disposition.last), (u32::MAX - 1, Some(1)));
}

#[test]
fn a_transfer_from_the_receiver_ends_the_session() {
    let (mut peer, _) = sending();
    peer.transfer(&whole(0));
    let expected = "amqp:invalid-field a transfer came on handle 0, where the peer is the receiver";
    assert_eq!(peer.end_error(), expected);
}

#[test]
fn a_transfer_may_not_ask_for_more_than_the_link_has_agreed() {
    let (mut peer, _) = receiving();
    peer.transfer(&Transfer { rcv_settle_mode: Some(ReceiverSettleMode::Second), ..whole(0) });
    assert!(peer.detach_error().starts_with("amqp:invalid-field a transfer asks for rcv-settle-mode second"));
}

#[test]
fn a_transfer_on_an_unanswered_link_has_no_credit() {
    let mut peer = Scripted::begun();
    peer.frame(0, Performative::Attach(Box::new(attach("a", 0, Role::Sender))));
    peer.transfer(&whole(0));
    assert!(peer.detach_error().starts_with("amqp:link:transfer-limit-exceeded"));
}

#[test]
fn deliveries_flow_both_ways_in_one_session() {
    let mut pair = Pair::open();
    let (client, _) = pair.begin();
    let to = pair.attach_in(client, sender("to"));
    let from = pair.attach_in(client, crate::pair::receiver("from"));
    pair.server.connection.add_credit(to.server, 1);
    pair.client.connection.add_credit(from.client, 1);
    pair.run();
    pair.forget_events();
    assert!(pair.client.connection.try_send(to.client, &unsettled(1), &[b"there"]));
    assert!(pair.server.connection.try_send(from.server, &unsettled(1), &[b"back"]));
    pair.run();
    assert_eq!(pair.server.take_transfers()[0].payload, b"there");
    assert_eq!(pair.client.take_transfers()[0].payload, b"back");
}

#[test]
fn sessions_number_their_deliveries_each_for_itself() {
    let mut pair = Pair::open();
    let (first, second) = (pair.sending(1), pair.sending(1));
    pair.send(first, [1]);
    pair.send(second, [2]);
    let ids: Vec<_> = pair.server.take_transfers().iter().map(|transfer| transfer.delivery_id).collect();
    assert_eq!(ids, [0, 0]);
    assert_ne!(pair.client.connection.link(first.client).unwrap().session, SessionId(1));
}
