//! Deliveries to and from within the router.

mod support;

use std::sync::Arc;

use amqp::DeliveryState;
use router_core::*;
use support::*;

#[test]
fn a_message_for_a_subscriber_is_accepted_and_settled() {
    let mut world = World::new();
    let subscriber = world.core.subscribe(world.now, &mut world.host, "M0$management");
    let sender = world.sender("$management");
    world.calls();
    assert_eq!(world.send(sender), Offered::Done);
    let expected =
        [Call::Subscriber(subscriber, 0), settled(sender, 0, DeliveryState::Accepted), Call::Credit(sender.id, 1)];
    assert_eq!(world.calls(), expected);
}

#[test]
fn a_subscriber_learns_where_a_message_came_from() {
    let mut world = World::new();
    world.core.subscribe(world.now, &mut world.host, "M0$management");
    let conn = world.connect();
    let sender = world.sender_on(conn, "$management");
    world.send(sender);
    assert_eq!(world.host.from, [SubscriberDelivery { conn: Some(conn), conn_id: 1 }]);
}

#[test]
fn a_message_that_a_subscriber_cannot_read_is_rejected() {
    let mut world = World::new();
    world.core.subscribe(world.now, &mut world.host, "M0$management");
    let sender = world.sender("$management");
    world.host.unreadable.push(0);
    world.calls();
    world.send(sender);
    let expected = rejected("amqp:decode-error", "Parse error in message content");
    assert!(world.calls().contains(&settled(sender, 0, expected)));
}

#[test]
fn a_message_that_is_streamed_to_a_subscriber_is_rejected_at_its_end() {
    let mut world = World::new();
    world.core.subscribe(world.now, &mut world.host, "M0$management");
    let sender = world.sender("$management");
    world.calls();
    let key = world.begin(sender);
    assert_eq!(world.calls(), []);
    world.received(key);
    let calls = world.calls();
    let [Call::Incoming(_, 0, Some(DeliveryState::Rejected(Some(error))), true), Call::Credit(..)] = calls.as_slice()
    else {
        panic!("not a rejection: {calls:?}");
    };
    assert_eq!(error.condition.as_str(), "amqp:link:message-size-exceeded");
}

#[test]
fn subscribers_take_turns_and_come_before_links() {
    let mut world = World::new();
    let subscribers = [0, 1].map(|_| world.core.subscribe(world.now, &mut world.host, "M0foo"));
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.calls();
    world.send_times(sender, 3);
    let taken: Vec<_> = world
        .calls()
        .into_iter()
        .filter_map(|call| match call {
            Call::Subscriber(subscriber, _) => Some(subscriber),
            _ => None,
        })
        .collect();
    assert_eq!(taken, [subscribers[0], subscribers[1], subscribers[0]]);
    assert_eq!(world.counts([receiver]), [0]);
}

#[test]
fn a_multicast_reaches_subscribers_and_links() {
    let mut world = World::distributing("m", Treatment::Multicast);
    let receiver = world.receiver("m", 10);
    let subscriber = world.core.subscribe(world.now, &mut world.host, "M0m");
    let sender = world.sender("m");
    world.calls();
    world.send(sender);
    assert_eq!(world.calls(), [transmit(receiver, 0), Call::Subscriber(subscriber, 0)]);
    world.outcome(0, Some(DeliveryState::Released), true);
    assert!(world.calls().contains(&settled(sender, 0, DeliveryState::Accepted)));
}

#[test]
fn deliveries_to_a_subscriber_count_as_ingress_and_to_container() {
    let mut world = World::new();
    world.core.subscribe(world.now, &mut world.host, "M0$management");
    let sender = world.sender("$management");
    world.send(sender);
    let address = world.address("M0$management");
    let counts =
        (address.in_process, address.deliveries_ingress, address.deliveries_to_container, address.deliveries_egress);
    assert_eq!(counts, (1, 1, 1, 0));
    assert_eq!(address.distribution, Treatment::Closest);
    let router = world.statistics();
    assert_eq!((router.deliveries_ingress, router.deliveries_egress, router.accepted_deliveries), (1, 0, 1));
}

#[test]
fn a_local_message_goes_out_settled_and_is_counted_as_from_container() {
    let mut world = World::new();
    let receiver = world.receiver("_local/temp.x", 10);
    world.calls();
    assert!(world.core.send_local(world.now, &mut world.host, "amqp:/_topo/0/QDR/temp.x", Arc::new(42)));
    assert_eq!(world.calls(), [Call::Transmit { link: receiver.id, message: 42, settled: true }]);
    let address = world.address("Ltemp.x");
    let counts = (address.deliveries_from_container, address.deliveries_ingress, address.deliveries_egress);
    assert_eq!(counts, (1, 0, 1));
    let counts: Vec<_> = world.link(receiver).ingress_histogram.unwrap().counts().collect();
    assert_eq!((world.link(receiver).presettled_count, counts[0]), (1, 0));
}

#[test]
fn a_local_message_waits_for_credit() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    assert!(world.core.send_local(world.now, &mut world.host, "foo", Arc::new(42)));
    world.credit(receiver, 1);
    assert_eq!(world.messages(), [42]);
}

#[test]
fn a_local_message_to_nobody_is_dropped() {
    let mut world = World::new();
    let sender = world.sender("foo");
    assert!(!world.core.send_local(world.now, &mut world.host, "nowhere", Arc::new(42)));
    assert!(!world.core.send_local(world.now, &mut world.host, "foo", Arc::new(42)));
    let _ = sender;
}

#[test]
fn a_local_message_may_be_for_a_subscriber() {
    let mut world = World::new();
    let subscriber = world.core.subscribe(world.now, &mut world.host, "L$_management_internal");
    assert!(world.core.send_local(world.now, &mut world.host, "_local/$_management_internal", Arc::new(42)));
    assert_eq!(world.calls(), [Call::Subscriber(subscriber, 42)]);
    assert_eq!(world.host.from, [SubscriberDelivery { conn: None, conn_id: 0 }]);
}

#[test]
fn subscriptions_are_logged() {
    let mut world = World::new();
    world.core.subscribe(world.now, &mut world.host, "M0$management");
    world.core.subscribe(world.now, &mut world.host, "L$management");
    assert_eq!(world.host.logs, ["In-process subscription M/$management", "In-process subscription L/$management"]);
}

#[test]
fn an_address_goes_with_its_last_subscriber() {
    let mut world = World::new();
    let subscriber = world.core.subscribe(world.now, &mut world.host, "Lx");
    world.core.unsubscribe(world.now, &mut world.host, subscriber);
    assert!(world.core.address("Lx").is_none());
    world.core.unsubscribe(world.now, &mut world.host, subscriber);
}
