//! Who may send, and how much.

mod support;

use amqp::DeliveryState;
use router_core::*;
use support::*;

#[test]
fn a_sender_has_no_credit_while_nobody_receives() {
    let mut world = World::new();
    let sender = world.sender("foo");
    assert_eq!(world.link(sender).credit_available, 0);
    assert!(!world.calls().iter().any(|call| matches!(call, Call::Credit(..))));
}

#[test]
fn a_sender_has_full_credit_at_once_where_somebody_receives() {
    let mut world = World::new();
    world.receiver("foo", 0);
    let sender = world.sender("foo");
    assert_eq!(world.calls().last(), Some(&Call::Credit(sender.id, 250)));
}

#[test]
fn the_first_receiver_brings_full_credit_for_all_senders_and_the_second_no_more() {
    let mut world = World::new();
    let senders = [world.sender("foo"), world.sender("foo")];
    world.receiver("foo", 0);
    world.receiver("foo", 0);
    let credit: Vec<_> = world.calls().into_iter().filter(|call| matches!(call, Call::Credit(..))).collect();
    assert_eq!(credit, senders.map(|sender| Call::Credit(sender.id, 250)));
}

#[test]
fn the_receivers_credit_does_not_matter_for_the_senders() {
    let mut world = World::new();
    world.receiver("foo", 0);
    let sender = world.sender("foo");
    assert_eq!(world.link(sender).credit_available, 250);
}

#[test]
fn credit_is_the_link_capacity_of_the_connection() {
    let mut world = World::new();
    world.receiver("foo", 0);
    let conn = world.connect_with(|info| info.link_capacity = 7);
    let sender = world.sender_on(conn, "foo");
    assert_eq!((world.link(sender).credit_available, world.link(sender).capacity), (7, 7));
}

#[test]
fn credit_comes_back_when_a_delivery_is_settled_and_not_before() {
    let mut world = World::new();
    world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send(sender);
    assert_eq!(world.link(sender).credit_available, 249);
    world.outcome(0, Some(DeliveryState::Accepted), false);
    assert_eq!(world.link(sender).credit_available, 249);
    world.calls();
    world.outcome(0, None, true);
    assert_eq!(world.calls(), [settled(sender, 0, DeliveryState::Accepted), Call::Credit(sender.id, 1)]);
}

#[test]
fn credit_comes_back_whatever_the_outcome() {
    for state in [rejected("amqp:internal-error", "no"), DeliveryState::Released, failed()] {
        let mut world = World::new();
        world.receiver("foo", 10);
        let sender = world.sender("foo");
        world.send(sender);
        world.outcome(0, Some(state), true);
        assert_eq!(world.link(sender).credit_available, 250);
    }
}

#[test]
fn when_the_last_receiver_is_gone_the_first_release_asks_the_sender_to_drain() {
    let mut world = World::new();
    let (one, two) = (world.receiver("foo", 0), world.receiver("foo", 0));
    let sender = world.sender("foo");
    world.lose(one);
    world.calls();
    world.lose(two);
    assert_eq!(world.calls(), []);
    world.send(sender);
    assert_eq!(world.calls(), [Call::Drain(sender.id, true), settled(sender, 0, DeliveryState::Released)]);
    world.send(sender);
    assert_eq!(world.calls(), [settled(sender, 1, DeliveryState::Released)]);
}

#[test]
fn a_drained_sender_gets_its_full_credit_when_a_receiver_comes_back() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.lose(receiver);
    world.core.drained(world.now, &mut world.host, sender.key, 250);
    assert_eq!(world.link(sender).credit_available, 0);
    world.calls();
    world.receiver("foo", 0);
    assert_eq!(world.calls().last(), Some(&Call::Credit(sender.id, 250)));
}

#[test]
fn a_receiver_that_comes_back_before_the_sender_has_drained_ends_the_drain() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.lose(receiver);
    world.send(sender);
    world.calls();
    world.receiver("foo", 0);
    assert_eq!(world.calls()[1..], [Call::Drain(sender.id, false), Call::Credit(sender.id, 1)]);
    assert_eq!(world.link(sender).credit_available, 250);
}

#[test]
fn a_sender_that_drained_while_a_receiver_came_back_is_filled_up_again() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.lose(receiver);
    world.receiver("foo", 0);
    world.calls();
    world.core.drained(world.now, &mut world.host, sender.key, 250);
    assert_eq!(world.calls(), [Call::Credit(sender.id, 250)]);
}

#[test]
fn filling_up_leaves_room_for_what_is_still_unsettled() {
    let mut world = World::new();
    world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send_times(sender, 2);
    world.core.drained(world.now, &mut world.host, sender.key, 248);
    assert_eq!(world.link(sender).credit_available, 248);
    world.accept(0);
    assert_eq!(world.link(sender).credit_available, 249);
}

#[test]
fn a_delivery_that_nobody_can_take_is_released_and_its_credit_does_not_come_back() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.lose(receiver);
    world.calls();
    assert_eq!(world.send(sender), Offered::Done);
    assert_eq!(world.calls(), [Call::Drain(sender.id, true), settled(sender, 0, DeliveryState::Released)]);
    assert_eq!(world.link(sender).credit_available, 249);
}

#[test]
fn an_anonymous_sender_gets_its_credit_back_for_what_nobody_can_take() {
    let mut world = World::new();
    let sender = world.anonymous_sender();
    world.calls();
    world.offer(sender, |offer| offer.to = Some("nowhere"));
    assert_eq!(world.calls(), [settled(sender, 0, DeliveryState::Released), Call::Credit(sender.id, 1)]);
}

#[test]
fn a_delivery_that_was_never_offered_gives_its_credit_back() {
    let mut world = World::new();
    world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.calls();
    world.core.discarded(world.now, &mut world.host, sender.key);
    assert_eq!(world.calls(), [Call::Credit(sender.id, 1)]);
}

#[test]
fn a_sender_that_ignores_its_credit_is_not_rewarded_with_more() {
    let mut world = World::new();
    world.receiver("foo", 1_000);
    let conn = world.connect_with(|info| info.link_capacity = 2);
    let sender = world.sender_on(conn, "foo");
    world.send_times(sender, 5);
    (0..5).for_each(|at| world.accept(at));
    assert_eq!(world.link(sender).credit_available, 2);
}

#[test]
fn deliveries_wait_for_the_receivers_credit_and_go_out_in_order() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.send_times(sender, 5);
    assert_eq!(world.link(receiver).undelivered_count, 5);
    world.credit(receiver, 3);
    world.credit(receiver, 10);
    assert_eq!(world.messages(), [0, 1, 2, 3, 4]);
    assert_eq!(world.link(receiver).credit_available, 8);
}

#[test]
fn a_draining_receiver_gets_what_is_queued_and_then_its_credit_back() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.send(sender);
    world.calls();
    world.core.credit(world.now, &mut world.host, receiver.key, 5, true);
    assert_eq!(world.calls(), [transmit(receiver, 0), Call::Drained(receiver.id)]);
    assert_eq!(world.link(receiver).credit_available, 0);
}

#[test]
fn a_draining_receiver_whose_credit_is_used_up_is_not_told_anything() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.send_times(sender, 3);
    world.calls();
    world.core.credit(world.now, &mut world.host, receiver.key, 2, true);
    assert_eq!(world.calls(), [transmit(receiver, 0), transmit(receiver, 1)]);
}

#[test]
fn after_a_drain_new_credit_brings_new_deliveries() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.core.credit(world.now, &mut world.host, receiver.key, 5, true);
    world.send(sender);
    assert_eq!(world.messages(), []);
    world.credit(receiver, 1);
    assert_eq!(world.messages(), [0]);
}

#[test]
fn while_a_connection_takes_nothing_its_deliveries_queue() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 10);
    let sender = world.sender("foo");
    world.core.set_writable(world.now, &mut world.host, conn, false);
    world.send(sender);
    world.send(sender);
    assert_eq!(world.messages(), []);
    world.core.set_writable(world.now, &mut world.host, conn, true);
    assert_eq!(world.messages(), [0, 1]);
}

#[test]
fn credit_that_comes_while_a_connection_takes_nothing_is_used_later() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.receiver_on(conn, "foo");
    let sender = world.sender("foo");
    world.send(sender);
    world.core.set_writable(world.now, &mut world.host, conn, false);
    world.credit(receiver, 10);
    assert_eq!(world.messages(), []);
    world.core.set_writable(world.now, &mut world.host, conn, true);
    assert_eq!(world.messages(), [0]);
}

#[test]
fn while_a_delivery_is_being_transmitted_the_next_one_waits() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.host.slow.push(receiver.id);
    world.send(sender);
    world.send(sender);
    assert_eq!(world.messages(), [0]);
    world.transmitted(0);
    assert_eq!(world.messages(), [0, 1]);
}

#[test]
fn a_fallback_receiver_gives_credit_too() {
    let mut world = World::new();
    world.configure(NewAddressConfig { prefix: Some("f".into()), fallback: true, ..Default::default() });
    let sender = world.sender("f/x");
    assert_eq!(world.link(sender).credit_available, 0);
    let conn = world.connect();
    let fallback = world.attach(conn, with_capability(receiver_from("f/x"), "qd.fallback"));
    assert_eq!(world.link(sender).credit_available, 250);
    world.lose(fallback);
    world.send(sender);
    assert!(world.calls().contains(&Call::Drain(sender.id, true)));
}

#[test]
fn an_in_process_subscriber_gives_credit_until_it_leaves() {
    let mut world = World::new();
    let sender = world.sender("$management");
    let subscriber = world.core.subscribe(world.now, &mut world.host, "M0$management");
    assert_eq!(world.link(sender).credit_available, 250);
    world.core.unsubscribe(world.now, &mut world.host, subscriber);
    world.send(sender);
    assert!(world.calls().contains(&Call::Drain(sender.id, true)));
}
