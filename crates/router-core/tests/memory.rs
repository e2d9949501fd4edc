//! Memory is short: who must wait, and for how long.

mod support;

use support::*;

fn held_up(world: &mut World) -> Vec<Call> {
    let mut calls = world.calls();
    calls.retain(|call| matches!(call, Call::HoldUp(..) | Call::Credit(..)));
    calls
}

#[test]
fn a_sender_whose_deliveries_wait_is_held_up_and_gets_no_credit() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 1);
    let sender = world.sender("foo");
    world.memory_is_short(true);
    world.send_times(sender, 2);
    assert_eq!(held_up(&mut world).last(), Some(&Call::HoldUp(sender.id, true)));
    world.accept(0);
    assert_eq!(held_up(&mut world), []);
    world.credit(receiver, 1);
    assert_eq!(held_up(&mut world), [Call::HoldUp(sender.id, false), Call::Credit(sender.id, 1)]);
    world.accept(1);
    assert_eq!(world.link(sender).credit_available, 250);
}

#[test]
fn a_sender_whose_deliveries_leave_at_once_goes_on() {
    let mut world = World::new();
    world.receiver("dead", 0);
    world.receiver("alive", 10);
    let (stuck, busy) = (world.sender("dead"), world.sender("alive"));
    world.memory_is_short(true);
    world.send(stuck);
    world.calls();
    world.send(busy);
    world.accept(0);
    assert_eq!(held_up(&mut world), [Call::Credit(busy.id, 1)]);
}

#[test]
fn when_there_is_memory_again_everybody_goes_on_whatever_waits() {
    let mut world = World::new();
    world.receiver("foo", 0);
    let senders = [world.sender("foo"), world.sender("foo")];
    world.memory_is_short(true);
    senders.iter().for_each(|sender| world.send_times(*sender, 3));
    world.calls();
    world.memory_is_short(false);
    assert_eq!(held_up(&mut world), senders.map(|sender| Call::HoldUp(sender.id, false)));
    senders.iter().for_each(|sender| assert_eq!(world.link(*sender).credit_available, 247));
}

#[test]
fn what_was_queued_while_there_was_memory_holds_up_nobody() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.send(sender);
    world.memory_is_short(true);
    world.calls();
    world.credit(receiver, 1);
    world.accept(0);
    assert_eq!(held_up(&mut world), [Call::Credit(sender.id, 1)]);
}

#[test]
fn settled_deliveries_without_credit_are_dropped_earlier_and_hold_up_nobody() {
    let mut world = World::new();
    world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.memory_is_short(true);
    world.send_settled(sender, 5);
    assert!(!world.calls().iter().any(|call| matches!(call, Call::HoldUp(..))));
    assert_eq!(world.statistics().dropped_presettled_deliveries, 3);
    assert_eq!(world.link(sender).credit_available, 250);
}

#[test]
fn a_link_that_is_held_up_and_lost_is_forgotten() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.memory_is_short(true);
    world.send(sender);
    world.lose(sender);
    world.calls();
    world.memory_is_short(false);
    world.credit(receiver, 1);
    world.accept(0);
    assert_eq!(held_up(&mut world), []);
    assert_eq!(world.core.object_counts().deliveries, 0);
}
