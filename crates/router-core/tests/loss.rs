//! Presettled deliveries that are dropped, and links and connections that end.

mod support;

use amqp::DeliveryState;
use router_core::*;
use support::*;

fn presettled(capacity: u32) -> (World, Link, Link) {
    let mut world = World::new();
    let conn = world.connect_with(|info| info.link_capacity = capacity);
    let receiver = world.receiver_on(conn, "foo");
    let sender = world.sender("foo");
    (world, sender, receiver)
}

#[test]
fn presettled_deliveries_go_out_settled_and_give_their_credit_back_at_once() {
    let (mut world, sender, receiver) = presettled(250);
    world.credit(receiver, 10);
    world.calls();
    assert_eq!(world.offer(sender, |offer| offer.settled = true), Offered::Done);
    let sent = Call::Transmit { link: receiver.id, message: 0, settled: true };
    assert_eq!(world.calls(), [sent, Call::Credit(sender.id, 1)]);
}

#[test]
fn a_full_queue_without_credit_loses_its_presettled_deliveries_but_the_first() {
    let (mut world, sender, receiver) = presettled(5);
    world.send_settled(sender, 8);
    world.credit(receiver, 100);
    assert_eq!(world.messages(), [0, 5, 6, 7]);
    let link = world.link(receiver);
    let counts = (link.delivery_count, link.presettled_count, link.dropped_presettled_count);
    assert_eq!(counts, (4, 8, 4), "delivered, presettled, dropped");
    let router = world.statistics();
    assert_eq!((router.dropped_presettled_deliveries, router.presettled_deliveries), (4, 8));
}

#[test]
fn a_queue_that_is_not_full_loses_nothing() {
    let (mut world, sender, receiver) = presettled(5);
    world.send_settled(sender, 5);
    world.credit(receiver, 100);
    assert_eq!(world.messages(), [0, 1, 2, 3, 4]);
}

#[test]
fn unsettled_deliveries_are_never_dropped() {
    let (mut world, sender, receiver) = presettled(3);
    world.send_times(sender, 3);
    world.send_settled(sender, 2);
    world.credit(receiver, 100);
    assert_eq!(world.messages(), [0, 1, 2, 4]);
}

#[test]
fn an_unsettled_delivery_drops_nothing() {
    let (mut world, sender, receiver) = presettled(3);
    world.send_settled(sender, 3);
    world.send(sender);
    world.credit(receiver, 100);
    assert_eq!(world.messages(), [0, 1, 2, 3]);
}

#[test]
fn what_the_receiver_has_credit_for_is_not_dropped_because_the_router_is_behind() {
    let mut world = World::new();
    let conn = world.connect_with(|info| info.link_capacity = 5);
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 100);
    let sender = world.sender("foo");
    world.core.set_writable(world.now, &mut world.host, conn, false);
    world.send_settled(sender, 50);
    world.core.set_writable(world.now, &mut world.host, conn, true);
    assert_eq!(world.messages(), (0..50).collect::<Vec<_>>());
}

#[test]
fn while_the_router_is_behind_presettled_senders_wait_for_their_credit() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 1_000);
    let sender = world.sender("foo");
    world.core.set_writable(world.now, &mut world.host, conn, false);
    world.send_settled(sender, 50);
    assert_eq!(world.link(sender).credit_available, 200);
    world.core.set_writable(world.now, &mut world.host, conn, true);
    assert_eq!(world.link(sender).credit_available, 250);
}

#[test]
fn a_presettled_sender_whose_receiver_leaves_while_it_waits_gets_its_credit_book_right() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 1_000);
    let sender = world.sender("foo");
    world.core.set_writable(world.now, &mut world.host, conn, false);
    world.send_settled(sender, 50);
    world.lose(receiver);
    world.receiver("foo", 0);
    assert_eq!(world.link(sender).credit_available, 250);
}

#[test]
fn beyond_the_receivers_credit_the_rule_holds_while_the_router_is_behind() {
    let mut world = World::new();
    let conn = world.connect_with(|info| info.link_capacity = 5);
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 2);
    let sender = world.sender("foo");
    world.core.set_writable(world.now, &mut world.host, conn, false);
    world.send_settled(sender, 6);
    world.credit(receiver, 100);
    world.core.set_writable(world.now, &mut world.host, conn, true);
    assert_eq!(world.messages(), [0, 1, 5]);
}

#[test]
fn a_presettled_delivery_that_has_begun_is_not_dropped() {
    let (mut world, sender, receiver) = presettled(2);
    world.host.slow.push(receiver.id);
    world.credit(receiver, 1);
    world.send_settled(sender, 6);
    world.host.slow.clear();
    world.credit(receiver, 100);
    world.transmitted(0);
    assert_eq!(world.messages(), [0, 1, 5]);
}

#[test]
fn presettled_deliveries_without_a_destination_are_dropped_and_counted() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.lose(receiver);
    world.calls();
    world.send_settled(sender, 3);
    assert_eq!(world.calls(), [Call::Drain(sender.id, true)]);
    let link = world.link(sender);
    let counts = (link.delivery_count, link.presettled_count, link.dropped_presettled_count, link.released_count);
    assert_eq!(counts, (3, 3, 3, 0));
    assert_eq!(world.statistics().dropped_presettled_deliveries, 3);
}

#[test]
fn presettled_deliveries_queued_for_a_receiver_that_leaves_are_counted_as_dropped() {
    let (mut world, sender, receiver) = presettled(250);
    world.send_settled(sender, 4);
    world.lose(receiver);
    assert_eq!(world.statistics().dropped_presettled_deliveries, 4);
}

#[test]
fn a_receiver_that_leaves_has_not_seen_what_waited_and_may_have_seen_what_was_sent() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 2);
    let sender = world.sender("foo");
    world.send_times(sender, 4);
    world.calls();
    world.lose(receiver);
    let released = DeliveryState::Released;
    assert_eq!(
        world.calls(),
        [
            settled(sender, 0, failed()),
            settled(sender, 1, failed()),
            settled(sender, 2, released.clone()),
            settled(sender, 3, released),
        ]
    );
}

#[test]
fn what_a_leaving_receiver_had_accepted_stays_accepted() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 2);
    let sender = world.sender("foo");
    world.send(sender);
    world.outcome(0, Some(DeliveryState::Accepted), false);
    world.calls();
    world.lose(receiver);
    assert_eq!(world.calls().last(), Some(&settled(sender, 0, DeliveryState::Accepted)));
}

#[test]
fn what_a_lost_sender_sent_completely_is_still_delivered() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.send_times(sender, 2);
    world.lose(sender);
    world.calls();
    world.credit(receiver, 10);
    assert_eq!(world.messages(), [0, 1]);
    world.calls();
    world.accept(0);
    world.accept(1);
    assert_eq!(world.calls(), []);
    assert_eq!(world.core.object_counts().deliveries, 0);
}

#[test]
fn a_connection_that_ends_takes_its_links_along_and_tells_the_others() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 1);
    world.sender_on(conn, "foo");
    let other = world.sender("foo");
    world.send_times(other, 2);
    world.calls();
    world.core.close_connection(world.now, &mut world.host, conn);
    assert_eq!(world.calls(), [settled(other, 0, failed()), settled(other, 1, DeliveryState::Released)]);
    let counts = world.core.object_counts();
    assert_eq!((counts.connections, counts.links), (1, 1));
}

#[test]
fn a_connection_that_ends_is_not_told_about_its_own_deliveries() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 1);
    let sender = world.sender_on(conn, "foo");
    world.send_times(sender, 3);
    world.calls();
    world.core.close_connection(world.now, &mut world.host, conn);
    assert_eq!(world.calls(), []);
}

#[test]
fn ten_thousand_links_on_one_address_end_with_their_connection() {
    let mut world = World::new();
    let conn = world.connect();
    for _ in 0..5_000 {
        world.sender_on(conn, "foo");
        world.receiver_on(conn, "foo");
    }
    world.core.close_connection(world.now, &mut world.host, conn);
    let counts = world.core.object_counts();
    assert_eq!((counts.connections, counts.links, counts.addresses), (0, 0, 1));
}

#[test]
fn links_that_come_and_go_on_a_connection_that_takes_nothing_leave_nothing() {
    let mut world = World::new();
    let conn = world.connect();
    world.core.set_writable(world.now, &mut world.host, conn, false);
    let sender = world.sender("foo");
    for _ in 0..1_000 {
        let receiver = world.receiver_on(conn, "foo");
        world.credit(receiver, 1);
        world.send(sender);
        world.lose(receiver);
        world.core.drained(world.now, &mut world.host, sender.key, 250);
    }
    let stays = world.receiver_on(conn, "foo");
    world.credit(stays, 1);
    world.send(sender);
    world.core.set_writable(world.now, &mut world.host, conn, true);
    assert_eq!(world.messages(), [1_000]);
}

#[test]
fn a_link_name_may_be_used_again_at_once() {
    let mut world = World::new();
    let conn = world.connect();
    let first = world.receiver_on(conn, "foo");
    world.lose(first);
    assert_ne!(world.receiver_on(conn, "foo").key, first.key);
}
