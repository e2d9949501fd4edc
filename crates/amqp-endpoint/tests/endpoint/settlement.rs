//! Settlement and outcomes (part 2, sections 2.6.12 and 2.7.6; part 3, section 3.4).

use amqp::performative::{Disposition, Performative, ReceiverSettleMode, Role, SenderSettleMode};
use amqp::state::Modified;
use amqp::{DeliveryState, ErrorCondition, Map, Symbol, Value};
use amqp_endpoint::{Event, LinkId, NewLink};

use crate::pair::{Both, Pair, sender, unsettled};
use crate::scripted::{Scripted, attach, credit, whole};

const ACCEPTED: Option<DeliveryState> = Some(DeliveryState::Accepted);
const RELEASED: Option<DeliveryState> = Some(DeliveryState::Released);

/// An endpoint that has received this many deliveries, with ids from 0.
fn received(count: u32) -> (Scripted, LinkId) {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, count);
    (0..count).for_each(|id| peer.transfer(&whole(id)));
    peer.take_output();
    peer.end.take();
    (peer, link)
}

/// An endpoint that has sent this many deliveries, whose keys are their ids.
fn sent(count: u32) -> (Scripted, LinkId) {
    let (mut peer, link) = Scripted::attached(Role::Receiver);
    peer.flow(credit(0, count));
    peer.end.take();
    for id in 0..count {
        assert!(peer.end.connection.try_send(link, &unsettled(id.into()), &[b"x"]));
    }
    peer.take_output();
    (peer, link)
}

fn says(role: Role, first: u32, last: impl Into<Option<u32>>, state: Option<DeliveryState>) -> Disposition {
    Disposition { role, first, last: last.into(), settled: true, state, batchable: false }
}

/// A disposition of the receiving peer's.
fn receiver_says(first: u32, last: impl Into<Option<u32>>, state: Option<DeliveryState>) -> Disposition {
    says(Role::Receiver, first, last, state)
}

/// The dispositions among the answers.
fn dispositions(peer: &mut Scripted) -> Vec<Disposition> {
    let disposition = |answer: crate::scripted::Answer| match answer.performative {
        Performative::Disposition(disposition) => Some(disposition),
        _ => None,
    };
    peer.answers().into_iter().filter_map(disposition).collect()
}

/// A delivery has been sent and has arrived, on a link with these modes.
fn delivered(snd_settle_mode: SenderSettleMode, rcv_settle_mode: ReceiverSettleMode) -> (Pair, Both) {
    let mut pair = Pair::open();
    let link = pair.attach(NewLink { snd_settle_mode, rcv_settle_mode, ..sender("a") });
    pair.server.connection.add_credit(link.server, 10);
    pair.run();
    pair.send(link, [7]);
    pair.forget_events();
    (pair, link)
}

fn annotations() -> Map {
    Map::from_iter([(Value::Symbol(Symbol::from("x-opt-k")), Value::Int(1))])
}

#[test]
fn every_outcome_arrives_with_all_its_fields() {
    let info = Map::from_iter([(Value::Symbol(Symbol::from("i")), Value::Int(1))]);
    let error = ErrorCondition { info: Some(info), ..ErrorCondition::new("amqp:decode-error", "bad") };
    let message_annotations = Some(annotations());
    let modified = Modified { delivery_failed: true, undeliverable_here: true, message_annotations };
    let states = [
        DeliveryState::Accepted,
        DeliveryState::Released,
        DeliveryState::Rejected(None),
        DeliveryState::Rejected(Some(Box::new(error))),
        DeliveryState::Modified(Box::new(modified)),
        DeliveryState::Modified(Box::default()),
        DeliveryState::Received { section_number: 1, section_offset: u64::MAX },
        // A transactional state passes bit for bit.
        DeliveryState::Other([0, 0x53, 0x34, 0xc0, 4, 1, 0xa0, 1, 9][..].into()),
    ];
    for state in states {
        let (mut pair, link) = delivered(SenderSettleMode::Mixed, ReceiverSettleMode::First);
        pair.server.connection.update_incoming(link.server, 0, Some(state.clone()), true);
        pair.run();
        assert_eq!(pair.client.take_outcomes(), [(7, Some(state), true)]);
    }
}

#[test]
fn a_settlement_may_come_without_a_state() {
    let (mut pair, link) = delivered(SenderSettleMode::Mixed, ReceiverSettleMode::First);
    pair.server.connection.update_incoming(link.server, 0, None, true);
    pair.run();
    assert_eq!(pair.client.take_outcomes(), [(7, None, true)]);
}

#[test]
fn a_state_may_come_before_the_settlement() {
    let (mut pair, link) = delivered(SenderSettleMode::Mixed, ReceiverSettleMode::First);
    let state = DeliveryState::Received { section_number: 0, section_offset: 5 };
    pair.server.connection.update_incoming(link.server, 0, Some(state.clone()), false);
    pair.run();
    pair.server.connection.update_incoming(link.server, 0, ACCEPTED, true);
    pair.run();
    assert_eq!(pair.client.take_outcomes(), [(7, Some(state), false), (7, ACCEPTED, true)]);
}

#[test]
fn where_the_receiver_settles_second_the_sender_settles_first() {
    let (mut pair, link) = delivered(SenderSettleMode::Unsettled, ReceiverSettleMode::Second);
    pair.server.connection.set_incoming_key(link.server, 0, 70);
    pair.server.connection.update_incoming(link.server, 0, ACCEPTED, false);
    pair.run();
    assert_eq!(pair.client.take_outcomes(), [(7, ACCEPTED, false)]);
    pair.client.connection.update_outgoing(link.client, 7, ACCEPTED, true);
    pair.run();
    assert_eq!(pair.server.take_outcomes(), [(70, ACCEPTED, true)]);
}

#[test]
fn after_a_settlement_nothing_more_is_said() {
    let (mut peer, link) = received(1);
    peer.end.connection.update_incoming(link, 0, ACCEPTED, true);
    peer.take_output();
    peer.end.connection.update_incoming(link, 0, RELEASED, true);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn after_the_peers_settlement_nothing_more_is_told() {
    let (mut peer, _) = sent(1);
    peer.disposition(receiver_says(0, None, ACCEPTED));
    peer.disposition(receiver_says(0, None, RELEASED));
    assert_eq!(peer.end.take_outcomes(), [(0, ACCEPTED, true)]);
}

#[test]
fn after_the_senders_settlement_nothing_of_the_receiver_is_told() {
    let (mut peer, link) = sent(1);
    peer.end.connection.update_outgoing(link, 0, None, true);
    assert_eq!(dispositions(&mut peer), [says(Role::Sender, 0, None, None)]);
    peer.disposition(receiver_says(0, None, ACCEPTED));
    assert_eq!(peer.end.take_outcomes(), []);
}

#[test]
fn a_range_settles_each_delivery_in_it() {
    let (mut peer, _) = sent(5);
    peer.disposition(receiver_says(1, 3, ACCEPTED));
    let outcomes = peer.end.take_outcomes();
    assert_eq!(outcomes, [(1, ACCEPTED, true), (2, ACCEPTED, true), (3, ACCEPTED, true)]);
}

#[test]
fn a_range_leaves_out_what_is_settled_already() {
    let (mut peer, _) = sent(5);
    peer.disposition(receiver_says(2, None, RELEASED));
    peer.end.take();
    peer.disposition(receiver_says(0, 4, ACCEPTED));
    let keys: Vec<_> = peer.end.take_outcomes().iter().map(|(key, ..)| *key).collect();
    assert_eq!(keys, [0, 1, 3, 4]);
}

#[test]
fn a_hostile_range_is_clamped_to_what_is_there() {
    let (mut peer, _) = sent(3);
    peer.disposition(receiver_says(0, i32::MAX as u32, ACCEPTED));
    assert_eq!(peer.end.take_outcomes().len(), 3);
}

#[test]
fn a_hostile_range_of_what_never_was_settles_nothing() {
    let (mut peer, _) = sent(3);
    peer.disposition(receiver_says(1000, 1000 + i32::MAX as u32, ACCEPTED));
    assert_eq!((peer.end.take_outcomes(), peer.end.failure()), (Vec::new(), None));
}

#[test]
fn a_range_that_ends_before_it_begins_ends_the_session() {
    let (mut peer, _) = sent(3);
    peer.disposition(receiver_says(2, 0, ACCEPTED));
    let expected = "amqp:invalid-field the last delivery-id of a disposition, 0, is before its first, 2";
    assert_eq!(peer.end_error(), expected);
}

#[test]
fn batchable_is_only_a_hint() {
    let (mut peer, _) = sent(1);
    peer.disposition(Disposition { batchable: true, ..receiver_says(0, None, ACCEPTED) });
    assert_eq!(peer.end.take_outcomes(), [(0, ACCEPTED, true)]);
}

#[test]
fn a_role_settles_only_what_it_received() {
    let (mut peer, _) = sent(1);
    peer.disposition(says(Role::Sender, 0, None, ACCEPTED));
    assert_eq!(peer.end.take_outcomes(), []);
}

#[test]
fn consecutive_settlements_of_a_turn_are_one_frame() {
    let (mut peer, link) = received(5);
    (0..5).for_each(|id| peer.end.connection.update_incoming(link, id, ACCEPTED, true));
    assert_eq!(dispositions(&mut peer), [receiver_says(0, 4, ACCEPTED)]);
}

#[test]
fn settlements_in_any_order_are_one_frame() {
    let (mut peer, link) = received(5);
    [3, 0, 4, 1, 2].into_iter().for_each(|id| peer.end.connection.update_incoming(link, id, ACCEPTED, true));
    assert_eq!(dispositions(&mut peer), [receiver_says(0, 4, ACCEPTED)]);
}

#[test]
fn settlements_with_gaps_are_a_frame_for_each_range() {
    let (mut peer, link) = received(6);
    [0, 1, 3, 5].into_iter().for_each(|id| peer.end.connection.update_incoming(link, id, ACCEPTED, true));
    let expected = [receiver_says(0, 1, ACCEPTED), receiver_says(3, None, ACCEPTED), receiver_says(5, None, ACCEPTED)];
    assert_eq!(dispositions(&mut peer), expected);
}

#[test]
fn different_states_are_different_frames_in_order() {
    let (mut peer, link) = received(3);
    peer.end.connection.update_incoming(link, 0, ACCEPTED, true);
    peer.end.connection.update_incoming(link, 1, RELEASED, true);
    peer.end.connection.update_incoming(link, 2, RELEASED, true);
    assert_eq!(dispositions(&mut peer), [receiver_says(0, None, ACCEPTED), receiver_says(1, 2, RELEASED)]);
}

#[test]
fn a_state_and_its_settlement_are_different_frames_in_order() {
    let (mut peer, link) = received(1);
    peer.end.connection.update_incoming(link, 0, ACCEPTED, false);
    peer.end.connection.update_incoming(link, 0, ACCEPTED, true);
    let first = Disposition { settled: false, ..receiver_says(0, None, ACCEPTED) };
    assert_eq!(dispositions(&mut peer), [first, receiver_says(0, None, ACCEPTED)]);
}

#[test]
fn settlements_of_different_links_share_a_frame() {
    let (mut peer, link) = received(1);
    let other = peer.attach(attach("other", 1, Role::Sender));
    peer.grant(other, 1);
    peer.transfer(&amqp::performative::Transfer { handle: 1, ..whole(1) });
    peer.end.connection.update_incoming(link, 0, ACCEPTED, true);
    peer.end.connection.update_incoming(other, 1, ACCEPTED, true);
    assert_eq!(dispositions(&mut peer), [receiver_says(0, 1, ACCEPTED)]);
}

#[test]
fn a_delivery_is_settled_only_through_its_own_link() {
    let (mut peer, _) = received(1);
    let other = peer.attach(attach("other", 1, Role::Sender));
    peer.end.connection.update_incoming(other, 0, ACCEPTED, true);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn a_senders_settlement_is_told_with_the_owners_key() {
    let (mut peer, link) = received(2);
    peer.end.connection.set_incoming_key(link, 0, 50);
    peer.end.connection.set_incoming_key(link, 1, 51);
    peer.disposition(says(Role::Sender, 0, 1, None));
    assert_eq!(peer.end.take_outcomes(), [(50, None, true), (51, None, true)]);
}

#[test]
fn a_senders_settlement_before_the_key_is_known_is_told_after() {
    let (mut peer, link) = received(1);
    peer.disposition(says(Role::Sender, 0, None, None));
    assert_eq!(peer.end.take_outcomes(), []);
    peer.end.connection.set_incoming_key(link, 0, 50);
    peer.bytes(&[]);
    assert_eq!(peer.end.take_outcomes(), [(50, None, true)]);
}

#[test]
fn nothing_is_said_of_a_delivery_that_its_sender_has_settled() {
    let (mut peer, link) = received(1);
    peer.disposition(says(Role::Sender, 0, None, None));
    peer.end.connection.update_incoming(link, 0, ACCEPTED, true);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn deliveries_settle_in_any_order_and_number() {
    let (mut peer, link) = sent(1000);
    // Newest first, so that each is far from the oldest.
    (0..1000).rev().for_each(|key| peer.end.connection.update_outgoing(link, key, None, true));
    assert_eq!(dispositions(&mut peer), [says(Role::Sender, 0, 999, None)]);
}

#[test]
fn outcomes_of_a_lost_link_are_not_told() {
    let (mut peer, link) = sent(1);
    peer.detach(0);
    peer.end.connection.detach(link, true, None);
    peer.end.take();
    peer.disposition(receiver_says(0, None, ACCEPTED));
    assert_eq!(peer.end.take_outcomes(), []);
}

#[test]
fn an_owner_may_settle_between_the_outcomes_of_a_range() {
    let (mut peer, link) = sent(3);
    let mut bytes = Vec::new();
    let range = receiver_says(0, 2, Some(DeliveryState::Received { section_number: 0, section_offset: 0 }));
    let range = Performative::Disposition(Disposition { settled: false, ..range });
    amqp::frame::write_performative(&mut bytes, 0, &range);
    let mut input = amqp_endpoint::Input::new(&bytes);
    let mut keys = Vec::new();
    while let Some(Event::Outcome { key, .. }) = peer.end.connection.poll(peer.now, &mut input) {
        keys.push(key);
        // All are settled at the first.
        (0..3).for_each(|key| peer.end.connection.update_outgoing(link, key, None, true));
    }
    assert_eq!(keys, [0]);
}

#[test]
fn no_transfer_overtakes_a_disposition_that_is_part_of_a_transaction() {
    let (mut peer, incoming) = received(1);
    let outgoing = peer.attach(attach("other", 1, Role::Receiver));
    peer.flow(amqp::performative::Flow { handle: Some(1), ..credit(0, 1) });
    peer.end.take();
    let state = DeliveryState::Other([0, 0x53, 0x34, 0xc0, 4, 1, 0xa0, 1, 9][..].into());
    peer.end.connection.update_incoming(incoming, 0, Some(state), false);
    // It may be the transaction's end.
    assert!(peer.end.connection.try_send(outgoing, &unsettled(1), &[b"x"]));
    let said: Vec<_> = peer.answers().into_iter().map(|answer| answer.performative).collect();
    assert!(matches!(said[..], [Performative::Disposition(_), Performative::Transfer(_)]), "{said:?}");
}
