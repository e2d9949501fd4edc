//! Outcomes and settlement, from the receiver to the sender and the other way.

mod support;

use amqp::state::Modified;
use amqp::{DeliveryState, ErrorCondition, Map, Value};
use router_core::*;
use support::*;

/// One receiver with credit, one sender, one unsettled delivery; and the key that the sender's endpoint keeps.
fn one_delivery() -> (World, Link, Link, InKey) {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    let Offered::Tracked(key) = world.send(sender) else { panic!("not tracked") };
    world.calls();
    (world, sender, receiver, key)
}

/// What the sender is told when the receiver says this and settles.
fn told(state: Option<DeliveryState>) -> Option<DeliveryState> {
    let (mut world, sender, _, _) = one_delivery();
    world.outcome(0, state, true);
    match world.calls_but_credit().as_slice() {
        [Call::Incoming(link, 0, state, true)] if *link == sender.id => state.clone(),
        other => panic!("not one settlement: {other:?}"),
    }
}

#[test]
fn every_outcome_reaches_the_sender_with_all_its_fields() {
    let info = Map(vec![(Value::symbol("k"), Value::Uint(1))]);
    let error = ErrorCondition { info: Some(info.clone()), ..ErrorCondition::new("amqp:internal-error", "no luck") };
    let modified = Modified { delivery_failed: true, undeliverable_here: true, message_annotations: Some(info) };
    for state in [
        DeliveryState::Accepted,
        DeliveryState::Released,
        DeliveryState::Rejected(Some(Box::new(error))),
        DeliveryState::Rejected(None),
        DeliveryState::Modified(Box::new(modified)),
        DeliveryState::Other(Box::new([0, 0x53, 0x34, 0x45])),
    ] {
        assert_eq!(told(Some(state.clone())), Some(state));
    }
}

#[test]
fn what_is_modified_counts_as_an_attempt_that_failed_whatever_the_receiver_says() {
    let modified = |delivery_failed| {
        DeliveryState::Modified(Box::new(Modified { delivery_failed, undeliverable_here: true, ..Modified::default() }))
    };
    assert_eq!(told(Some(modified(false))), Some(modified(true)));
}

/// Some state that is no outcome.
fn own_state(number: u8) -> DeliveryState {
    DeliveryState::Other(Box::new([0, 0x53, number, 0x45]))
}

#[test]
fn a_state_that_the_sender_sends_a_message_with_goes_with_it() {
    let mut world = World::new();
    world.receiver("foo", 1);
    let sender = world.sender("foo");
    world.offer(sender, |offer| offer.state = Some(own_state(99)));
    assert_eq!(world.host.sent[0].state, Some(own_state(99)));
}

#[test]
fn a_message_that_waits_goes_with_the_last_state_that_the_sender_told() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.offer(sender, |offer| offer.state = Some(own_state(1)));
    let Offered::Tracked(key) = world.offer(sender, |offer| offer.state = Some(own_state(2))) else {
        panic!("not tracked")
    };
    world.core.sender_outcome(world.now, &mut world.host, key, Some(own_state(3)), false);
    world.credit(receiver, 2);
    let states: Vec<_> = world.host.sent.iter().map(|sent| sent.state.clone()).collect();
    assert_eq!(states, [Some(own_state(1)), Some(own_state(3))]);
}

#[test]
fn a_receiver_that_settles_without_a_state_settles_without_a_state() {
    assert_eq!(told(None), None);
}

#[test]
fn a_state_without_settlement_is_passed_on_as_such_and_again_with_the_settlement() {
    let (mut world, sender, _, _) = one_delivery();
    world.outcome(0, Some(DeliveryState::Accepted), false);
    world.outcome(0, None, true);
    let accepted = Some(DeliveryState::Accepted);
    let expected = [false, true].map(|settled| Call::Incoming(sender.id, 0, accepted.clone(), settled));
    assert_eq!(world.calls_but_credit(), expected);
}

#[test]
fn how_far_the_receiver_has_come_is_passed_on_and_is_no_outcome() {
    let (mut world, sender, _, _) = one_delivery();
    let received = DeliveryState::Received { section_number: 1, section_offset: 2 };
    world.outcome(0, Some(received.clone()), false);
    world.outcome(0, None, true);
    let expected = [Call::Incoming(sender.id, 0, Some(received), false), Call::Incoming(sender.id, 0, None, true)];
    assert_eq!(world.calls_but_credit(), expected);
}

#[test]
fn the_first_terminal_state_is_final() {
    let (mut world, sender, _, _) = one_delivery();
    world.outcome(0, Some(DeliveryState::Accepted), false);
    world.calls();
    world.outcome(0, Some(DeliveryState::Released), false);
    assert_eq!(world.calls(), []);
    world.outcome(0, Some(DeliveryState::Released), true);
    assert_eq!(world.calls_but_credit(), [settled(sender, 0, DeliveryState::Accepted)]);
}

#[test]
fn a_transactional_state_that_changes_is_passed_on_each_time() {
    let (mut world, sender, _, _) = one_delivery();
    let states = [1, 2].map(|txn| DeliveryState::Other(Box::new([0, 0x53, 0x34, txn])));
    for state in states.clone() {
        world.outcome(0, Some(state), false);
    }
    assert_eq!(world.calls(), states.map(|state| Call::Incoming(sender.id, 0, Some(state), false)));
}

#[test]
fn what_is_settled_is_settled_once() {
    let (mut world, _, _, key) = one_delivery();
    world.accept(0);
    world.calls();
    world.accept(0);
    world.core.sender_outcome(world.now, &mut world.host, key, None, true);
    assert_eq!(world.calls(), []);
}

#[test]
fn a_sender_that_settles_first_settles_for_the_receiver() {
    let (mut world, sender, receiver, key) = one_delivery();
    world.core.sender_outcome(world.now, &mut world.host, key, None, true);
    assert_eq!(world.calls(), [Call::Outgoing(receiver.id, 0, None, true), Call::Credit(sender.id, 1)]);
    world.accept(0);
    assert_eq!(world.calls(), []);
}

#[test]
fn three_way_settlement_passes_each_step_on_once() {
    let (mut world, sender, receiver, key) = one_delivery();
    world.outcome(0, Some(DeliveryState::Accepted), false);
    world.core.sender_outcome(world.now, &mut world.host, key, None, true);
    assert_eq!(
        world.calls_but_credit(),
        [
            Call::Incoming(sender.id, 0, Some(DeliveryState::Accepted), false),
            Call::Outgoing(receiver.id, 0, None, true)
        ]
    );
    assert_eq!((world.link(sender).accepted_count, world.link(receiver).accepted_count), (1, 1));
}

#[test]
fn a_state_of_the_sender_reaches_the_receiver() {
    let (mut world, _, receiver, key) = one_delivery();
    let state = DeliveryState::Other(Box::new([0, 0x53, 0x34]));
    world.core.sender_outcome(world.now, &mut world.host, key, Some(state.clone()), false);
    assert_eq!(world.calls(), [Call::Outgoing(receiver.id, 0, Some(state), false)]);
}

#[test]
fn a_delivery_settled_by_its_sender_while_it_waits_goes_out_settled() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    let Offered::Tracked(key) = world.send(sender) else { panic!("not tracked") };
    world.core.sender_outcome(world.now, &mut world.host, key, None, true);
    assert_eq!(world.link(sender).credit_available, 250);
    world.calls();
    world.credit(receiver, 1);
    assert_eq!(world.calls(), [Call::Transmit { link: receiver.id, message: 0, settled: true }]);
}

#[test]
fn a_receiver_that_wants_settled_deliveries_gets_them_and_the_sender_sees_them_accepted() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.attach(conn, AttachInfo { send_settled: true, ..receiver_from("foo") });
    world.credit(receiver, 10);
    let sender = world.sender("foo");
    world.calls();
    assert_eq!(world.send(sender), Offered::Done);
    assert_eq!(
        world.calls_but_credit(),
        [Call::Transmit { link: receiver.id, message: 0, settled: true }, settled(sender, 0, DeliveryState::Accepted)]
    );
    let links = [world.link(sender), world.link(receiver)];
    assert_eq!(links.map(|link| (link.accepted_count, link.presettled_count)), [(1, 0), (1, 0)]);
}

#[test]
fn deliveries_settled_in_any_order_are_told_in_that_order() {
    let mut world = World::new();
    world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send_times(sender, 3);
    world.calls();
    [2, 0, 1].into_iter().for_each(|at| world.accept(at));
    let expected = [2, 0, 1].map(|delivery| settled(sender, delivery, DeliveryState::Accepted));
    assert_eq!(world.calls_but_credit(), expected);
}

mod multicast {
    use super::*;

    /// Three receivers with credit and an unsettled delivery to each, in the order of the receivers.
    fn three_copies() -> (World, Link, InKey) {
        let mut world = World::distributing("m", Treatment::Multicast);
        for _ in 0..3 {
            world.receiver("m", 10);
        }
        let sender = world.sender("m");
        let Offered::Tracked(key) = world.send(sender) else { panic!("not tracked") };
        world.calls();
        (world, sender, key)
    }

    /// The combined outcome of these.
    fn combined(states: [Option<DeliveryState>; 3]) -> Option<DeliveryState> {
        let (mut world, sender, _) = three_copies();
        for (at, state) in states.into_iter().enumerate() {
            assert_eq!(world.calls(), [], "nothing is told before all copies are settled");
            world.outcome(at, state, true);
        }
        match world.calls_but_credit().as_slice() {
            [Call::Incoming(link, 0, state, true)] if *link == sender.id => state.clone(),
            other => panic!("not one settlement: {other:?}"),
        }
    }

    #[test]
    fn rejected_comes_before_accepted_before_modified_before_released() {
        let (accepted, released) = (Some(DeliveryState::Accepted), Some(DeliveryState::Released));
        let no = Some(rejected("amqp:internal-error", "no"));
        let modified = Some(failed());
        assert_eq!(combined([accepted.clone(), no.clone(), released.clone()]), no);
        assert_eq!(combined([released.clone(), modified.clone(), accepted.clone()]), accepted);
        assert_eq!(combined([released.clone(), modified.clone(), released.clone()]), modified);
        assert_eq!(combined([released.clone(), released.clone(), released.clone()]), released);
        assert_eq!(combined([None, released.clone(), None]), released);
        assert_eq!(combined([None, None, None]), None);
    }

    #[test]
    fn of_several_rejections_the_first_is_told() {
        let first = Some(rejected("a", "first"));
        assert_eq!(combined([first.clone(), Some(rejected("b", "second")), None]), first);
    }

    #[test]
    fn the_outcome_is_told_when_all_are_decided_and_the_settlement_when_all_are_settled() {
        let (mut world, sender, _) = three_copies();
        (0..3).for_each(|at| world.outcome(at, Some(DeliveryState::Accepted), false));
        assert_eq!(world.calls(), [Call::Incoming(sender.id, 0, Some(DeliveryState::Accepted), false)]);
        (0..3).for_each(|at| world.outcome(at, None, true));
        assert_eq!(world.calls_but_credit(), [settled(sender, 0, DeliveryState::Accepted)]);
    }

    #[test]
    fn how_far_one_receiver_has_come_is_not_told() {
        let (mut world, _, _) = three_copies();
        world.outcome(0, Some(DeliveryState::Received { section_number: 0, section_offset: 0 }), false);
        assert_eq!(world.calls(), []);
    }

    #[test]
    fn declared_counts_as_rejected_with_a_warning() {
        let declared = Some(DeliveryState::Other(Box::new([0x00, 0x53, 0x33, 0xc0])));
        let accepted = Some(DeliveryState::Accepted);
        assert_eq!(combined([accepted.clone(), declared.clone(), accepted]), Some(DeliveryState::Rejected(None)));
        let (mut world, _, _) = three_copies();
        world.outcome(0, declared, false);
        let expected = "Transactions are not supported for multicast messages";
        assert!(world.host.logs.last().is_some_and(|line| line.ends_with(expected)), "{:?}", world.host.logs);
    }

    #[test]
    fn a_sender_that_settles_first_settles_for_all() {
        let (mut world, sender, key) = three_copies();
        world.core.sender_outcome(world.now, &mut world.host, key, None, true);
        let calls = world.calls();
        assert_eq!(calls.iter().filter(|call| matches!(call, Call::Outgoing(_, 0, None, true))).count(), 3);
        assert_eq!(calls.last(), Some(&Call::Credit(sender.id, 1)));
        assert_eq!(world.core.object_counts().deliveries, 0);
    }

    #[test]
    fn a_receiver_that_leaves_has_not_seen_or_may_have_failed() {
        let mut world = World::distributing("m", Treatment::Multicast);
        let receivers = [world.receiver("m", 10), world.receiver("m", 0)];
        let sender = world.sender("m");
        world.send(sender);
        world.calls();
        world.lose(receivers[1]);
        world.lose(receivers[0]);
        let expected = settled(sender, 0, failed());
        assert!(world.calls().contains(&expected));
    }

    #[test]
    fn without_anyone_there_a_multicast_is_released() {
        let mut world = World::distributing("m", Treatment::Multicast);
        let receiver = world.receiver("m", 0);
        let sender = world.sender("m");
        world.lose(receiver);
        world.calls();
        world.send(sender);
        assert_eq!(world.calls_but_credit().last(), Some(&settled(sender, 0, DeliveryState::Released)));
    }

    #[test]
    fn receivers_that_want_settled_deliveries_have_accepted() {
        let mut world = World::distributing("m", Treatment::Multicast);
        let conn = world.connect();
        let settled_mode = world.attach(conn, AttachInfo { send_settled: true, ..receiver_from("m") });
        world.credit(settled_mode, 10);
        let sender = world.sender("m");
        world.calls();
        assert_eq!(world.send(sender), Offered::Done);
        assert!(world.calls().contains(&settled(sender, 0, DeliveryState::Accepted)));
    }
}

#[test]
fn a_router_that_stops_takes_credit_back_and_hands_back_what_is_not_settled() {
    let mut world = World::new();
    world.receiver("foo", 1);
    let sender = world.sender("foo");
    world.send_times(sender, 2);
    world.calls();
    world.core.stop_senders(world.now, &mut world.host);
    assert!(world.calls().contains(&Call::Drain(sender.id, true)));
    world.core.hand_back(world.now, &mut world.host);
    let router = world.statistics();
    // One was with the receiver, which may have seen it; the other had not been sent.
    assert_eq!((router.modified_deliveries, router.released_deliveries), (1, 1));
    assert_eq!(world.core.object_counts().deliveries, 0);
}

/// What is seen of deliveries to these receivers that are accepted, at once or after they were sent, once they are over.
fn accepted(prefix: &str, receivers: usize, at_once: bool) -> (Vec<Call>, String) {
    let mut world = World::distributing(prefix, Treatment::Multicast);
    let all: Vec<Link> = (0..receivers).map(|_| world.receiver("foo", 10)).collect();
    let sender = world.sender("foo");
    if at_once {
        world.host.eager.extend(all.iter().map(|link| link.id));
    }
    world.calls();
    for _ in 0..3 {
        let at = world.host.sent.len();
        let offered = world.send(sender);
        assert_eq!(offered == Offered::Done, at_once);
        if !at_once {
            (at..at + receivers).for_each(|at| world.accept(at));
        }
    }
    let seen = std::iter::once(sender).chain(all).map(|link| format!("{:?}", world.link(link)));
    let seen: Vec<_> = seen.chain([format!("{:?} {:?}", world.statistics(), world.core.object_counts())]).collect();
    (world.calls(), seen.join("\n"))
}

#[test]
fn what_a_receiver_accepts_as_it_comes_is_as_what_it_accepts_later() {
    // To one receiver, and copies to several.
    for (prefix, receivers) in [("bar", 1), ("foo", 3)] {
        assert_eq!(accepted(prefix, receivers, true), accepted(prefix, receivers, false));
    }
}
