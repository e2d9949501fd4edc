//! Messages that go out while they still come in.

mod support;

use amqp::DeliveryState;
use router_core::*;
use support::*;

/// A sender whose message is being streamed to a receiver.
fn streaming() -> (World, Link, Link, InKey) {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.host.slow.push(receiver.id);
    let key = world.begin(sender);
    world.calls();
    (world, sender, receiver, key)
}

#[test]
fn a_message_that_is_not_complete_is_transmitted_at_once() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.host.slow.push(receiver.id);
    world.begin(sender);
    assert_eq!(world.calls().last(), Some(&transmit(receiver, 0)));
}

#[test]
fn an_outcome_that_comes_before_the_rest_of_the_message_waits_for_it() {
    let (mut world, sender, _, key) = streaming();
    world.accept(0);
    assert_eq!(world.calls(), []);
    world.received(key);
    assert_eq!(world.calls(), [settled(sender, 0, DeliveryState::Accepted), Call::Credit(sender.id, 1)]);
}

#[test]
fn a_state_that_comes_before_the_rest_of_the_message_waits_too() {
    let (mut world, sender, _, key) = streaming();
    world.outcome(0, Some(DeliveryState::Accepted), false);
    assert_eq!(world.calls(), []);
    world.received(key);
    assert_eq!(world.calls(), [Call::Incoming(sender.id, 0, Some(DeliveryState::Accepted), false)]);
}

#[test]
fn how_far_the_receiver_has_come_is_told_in_mid_message() {
    let (mut world, sender, _, _) = streaming();
    let received = DeliveryState::Received { section_number: 0, section_offset: 100 };
    world.outcome(0, Some(received.clone()), false);
    assert_eq!(world.calls(), [Call::Incoming(sender.id, 0, Some(received), false)]);
}

#[test]
fn after_the_end_of_the_message_the_outcome_is_told_as_usual() {
    let (mut world, sender, _, key) = streaming();
    world.received(key);
    world.transmitted(0);
    world.accept(0);
    assert_eq!(world.calls_but_credit(), [settled(sender, 0, DeliveryState::Accepted)]);
}

#[test]
fn a_receiver_that_settles_early_still_gets_the_rest_before_the_next_message() {
    let (mut world, sender, _, key) = streaming();
    world.accept(0);
    world.received(key);
    world.send(sender);
    assert_eq!(world.messages(), [0]);
    world.transmitted(0);
    assert_eq!(world.messages(), [0, 1]);
}

#[test]
fn an_aborted_message_is_aborted_for_whom_it_was_begun_and_dropped_for_whom_it_was_not() {
    let mut world = World::distributing("m", Treatment::Multicast);
    let (begun, waiting) = (world.receiver("m", 10), world.receiver("m", 0));
    let sender = world.sender("m");
    world.host.slow.push(begun.id);
    let key = world.begin(sender);
    world.calls();
    world.aborted(key);
    assert_eq!(world.calls(), [Call::Abort(begun.id), Call::Credit(sender.id, 1)]);
    assert_eq!(world.link(waiting).undelivered_count, 0);
    assert_eq!(world.core.object_counts().deliveries, 0);
}

#[test]
fn after_an_aborted_message_the_link_goes_on_with_the_next() {
    let (mut world, _, receiver, key) = streaming();
    let other = world.sender("foo");
    world.send(other);
    world.calls();
    world.aborted(key);
    assert_eq!(world.calls()[..2], [Call::Abort(receiver.id), transmit(receiver, 1)]);
}

#[test]
fn a_message_aborted_after_its_receiver_settled_is_aborted_all_the_same() {
    let (mut world, sender, receiver, key) = streaming();
    world.accept(0);
    world.aborted(key);
    assert_eq!(world.calls(), [Call::Abort(receiver.id), Call::Credit(sender.id, 1)]);
    assert_eq!(world.link(receiver).unsettled_count, 0);
}

#[test]
fn a_lost_sender_aborts_what_it_had_begun() {
    let (mut world, sender, receiver, _) = streaming();
    world.lose(sender);
    assert_eq!(world.calls(), [Call::Abort(receiver.id)]);
    assert_eq!(world.core.object_counts().deliveries, 0);
}

#[test]
fn a_receiver_lost_in_mid_message_may_have_failed_which_is_told_at_the_end() {
    let (mut world, sender, receiver, key) = streaming();
    world.lose(receiver);
    assert_eq!(world.calls(), []);
    world.received(key);
    assert_eq!(world.calls(), [settled(sender, 0, failed())]);
}

#[test]
fn a_message_that_nobody_can_take_is_released_when_all_of_it_is_there() {
    let mut world = World::new();
    let sender = world.anonymous_sender();
    world.calls();
    let offered = world.offer(sender, |offer| (offer.to, offer.complete) = (Some("nowhere"), false));
    let Offered::Tracked(key) = offered else { panic!("not tracked") };
    assert_eq!(world.calls(), []);
    world.received(key);
    assert_eq!(world.calls_but_credit(), [settled(sender, 0, DeliveryState::Released)]);
}

#[test]
fn a_message_that_nobody_can_take_may_be_aborted() {
    let mut world = World::new();
    let sender = world.anonymous_sender();
    world.calls();
    let offered = world.offer(sender, |offer| (offer.to, offer.complete) = (Some("nowhere"), false));
    let Offered::Tracked(key) = offered else { panic!("not tracked") };
    world.aborted(key);
    assert_eq!(world.calls(), [Call::Credit(sender.id, 1)]);
}

#[test]
fn a_queued_message_is_transmitted_as_far_as_it_has_come() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    let key = world.begin(sender);
    world.host.slow.push(receiver.id);
    world.credit(receiver, 1);
    assert_eq!(world.messages(), [0]);
    world.received(key);
    world.transmitted(0);
    world.accept(0);
    assert!(world.calls().contains(&settled(sender, 0, DeliveryState::Accepted)));
}

#[test]
fn a_settled_message_is_counted_and_its_credit_given_back_at_its_end() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.host.slow.push(receiver.id);
    let Offered::Tracked(key) = world.offer(sender, |offer| (offer.settled, offer.complete) = (true, false)) else {
        panic!("not tracked")
    };
    world.calls();
    world.received(key);
    assert_eq!(world.calls(), [Call::Credit(sender.id, 1)]);
    world.transmitted(0);
    let links = [world.link(sender), world.link(receiver)];
    assert_eq!(links.map(|link| link.presettled_count), [1, 1]);
}

#[test]
fn a_settled_flag_on_the_last_transfer_counts() {
    let (mut world, sender, receiver, key) = streaming();
    world.core.received(world.now, &mut world.host, key, true);
    assert_eq!(world.calls(), [Call::Outgoing(receiver.id, 0, None, true), Call::Credit(sender.id, 1)]);
    world.transmitted(0);
    assert_eq!(world.link(sender).presettled_count, 1);
    assert_eq!(world.core.object_counts().deliveries, 0);
}

#[test]
fn a_sender_that_settles_in_mid_message_is_not_told_anything_any_more() {
    let (mut world, sender, receiver, key) = streaming();
    world.core.sender_outcome(world.now, &mut world.host, key, None, true);
    assert_eq!(world.calls(), [Call::Outgoing(receiver.id, 0, None, true)]);
    world.received(key);
    assert_eq!(world.calls(), [Call::Credit(sender.id, 1)]);
}

#[test]
fn late_calls_about_what_is_over_do_nothing() {
    let (mut world, _, _, key) = streaming();
    world.aborted(key);
    world.calls();
    world.transmitted(0);
    world.accept(0);
    world.received(key);
    world.aborted(key);
    assert_eq!(world.calls(), []);
}

#[test]
fn one_slow_receiver_of_a_multicast_does_not_hold_the_others_back() {
    let mut world = World::distributing("m", Treatment::Multicast);
    let (slow, fast) = (world.receiver("m", 10), world.receiver("m", 10));
    let sender = world.sender("m");
    world.host.slow.push(slow.id);
    world.send_times(sender, 3);
    assert_eq!(world.counts([slow, fast]), [1, 3]);
}

/// Whether a message that is sent on one connection, and received on these, comes back to where it came from.
fn comes_back(treatment: Treatment, receivers: [bool; 2]) -> bool {
    let mut world = World::distributing("foo", treatment);
    let own = world.connect();
    for is_own in receivers {
        let conn = if is_own { own } else { world.connect() };
        world.receiver_on(conn, "foo");
    }
    let sender = world.sender_on(own, "foo");
    let key = world.begin(sender);
    world.core.comes_back(key)
}

#[test]
fn a_message_comes_back_if_it_waits_for_a_receiver_of_its_own_connection() {
    assert!(comes_back(Treatment::Balanced, [true, false]));
}

#[test]
fn a_message_does_not_come_back_if_it_goes_to_another_connection() {
    assert!(!comes_back(Treatment::Balanced, [false, true]));
}

#[test]
fn a_multicast_comes_back_if_one_of_its_copies_does() {
    assert!(comes_back(Treatment::Multicast, [false, true]));
    assert!(!comes_back(Treatment::Multicast, [false, false]));
}
