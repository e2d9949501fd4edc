//! What is counted, and what time alone brings about.

mod support;

use amqp::DeliveryState;
use amqp::ErrorCondition;
use router_core::*;
use support::*;

#[test]
fn a_delivery_is_counted_on_its_links_its_address_and_the_router() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send(sender);
    world.accept(0);
    for link in [sender, receiver] {
        let link = world.link(link);
        assert_eq!((link.delivery_count, link.accepted_count, link.unsettled_count), (1, 1, 0));
    }
    let address = world.address("M0foo");
    assert_eq!((address.deliveries_ingress, address.deliveries_egress, address.subscriber_count), (1, 1, 1));
    let router = world.statistics();
    assert_eq!((router.deliveries_ingress, router.deliveries_egress, router.accepted_deliveries), (1, 1, 1));
}

#[test]
fn each_outcome_has_its_counter_and_the_router_counts_it_once() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send_times(sender, 5);
    let states =
        [Some(DeliveryState::Accepted), Some(rejected("x", "y")), Some(DeliveryState::Released), Some(failed()), None];
    for (at, state) in states.into_iter().enumerate() {
        world.outcome(at, state, true);
    }
    for link in [sender, receiver] {
        let link = world.link(link);
        let counts = [link.accepted_count, link.rejected_count, link.released_count, link.modified_count];
        assert_eq!(counts, [1; 4]);
    }
    let router = world.statistics();
    let counts = [
        router.accepted_deliveries,
        router.rejected_deliveries,
        router.released_deliveries,
        router.modified_deliveries,
    ];
    assert_eq!(counts, [1; 4]);
}

#[test]
fn unsettled_and_undelivered_are_told_apart() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 1);
    let sender = world.sender("foo");
    world.send_times(sender, 3);
    let (out, into) = (world.link(receiver), world.link(sender));
    assert_eq!((out.unsettled_count, out.undelivered_count, out.delivery_count), (1, 2, 1));
    assert_eq!((into.unsettled_count, into.undelivered_count), (3, 0));
}

#[test]
fn a_receiver_that_drops_off_counts_as_modified_on_the_senders_side() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send_times(sender, 2);
    world.lose(receiver);
    assert_eq!((world.link(sender).modified_count, world.statistics().modified_deliveries), (2, 2));
}

#[test]
fn presettled_deliveries_are_counted_on_both_sides_and_once_by_the_router() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send_settled(sender, 3);
    let links = [world.link(sender), world.link(receiver)].map(|link| (link.presettled_count, link.accepted_count));
    assert_eq!((links, world.statistics().presettled_deliveries), ([(3, 0), (3, 0)], 3));
}

#[test]
fn a_multicast_counts_each_copy_on_its_link_and_the_combined_outcome_on_the_senders() {
    let mut world = World::distributing("m", Treatment::Multicast);
    let receivers = [world.receiver("m", 10), world.receiver("m", 10)];
    let sender = world.sender("m");
    world.send(sender);
    world.accept(0);
    world.outcome(1, Some(DeliveryState::Released), true);
    assert_eq!(receivers.map(|link| world.link(link).accepted_count), [1, 0]);
    assert_eq!(receivers.map(|link| world.link(link).released_count), [0, 1]);
    assert_eq!((world.link(sender).accepted_count, world.statistics().accepted_deliveries), (1, 1));
    let address = world.address("M0m");
    assert_eq!((address.deliveries_ingress, address.deliveries_egress), (1, 2));
}

#[test]
fn route_containers_are_counted_apart_as_well() {
    let mut world = World::new();
    let conn = world.connect_with(|info| info.role = Role::RouteContainer);
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 10);
    let sender = world.sender_on(conn, "foo");
    world.send(sender);
    let (router, address) = (world.statistics(), world.address("M0foo"));
    assert_eq!((router.deliveries_ingress_route_container, router.deliveries_egress_route_container), (1, 1));
    assert_eq!((address.deliveries_ingress_route_container, address.deliveries_egress_route_container), (1, 1));
}

#[test]
fn the_ingress_histogram_of_a_receiver_counts_what_came_in_here() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send_times(sender, 3);
    world.accept(0);
    world.accept(1);
    let counts: Vec<_> = world.link(receiver).ingress_histogram.unwrap().counts().collect();
    assert_eq!((counts.len(), counts[0], counts.iter().sum()), (128, 2, 2));
    assert!(world.link(sender).ingress_histogram.is_none());
}

#[test]
fn a_rejected_message_that_could_not_be_read_is_counted_and_gives_its_credit_back() {
    let mut world = World::new();
    world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.calls();
    let error = ErrorCondition::new("amqp:decode-error", "invalid message format");
    world.core.reject(world.now, &mut world.host, sender.key, 7, false, error);
    let expected = rejected("amqp:decode-error", "invalid message format");
    assert_eq!(world.calls(), [settled(sender, 7, expected), Call::Credit(sender.id, 1)]);
    assert_eq!((world.link(sender).rejected_count, world.statistics().rejected_deliveries), (1, 1));
}

#[test]
fn the_time_to_pass_and_the_time_to_settle_are_counted_by_size() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.send(sender);
    world.pass(100);
    world.credit(receiver, 1);
    world.pass(1_000);
    world.accept(0);
    let router = world.statistics();
    let within = |delays: Delays, millis| {
        let bound = Some(std::time::Duration::from_millis(millis));
        delays.cumulative().find(|(upper, _)| *upper == bound).map(|(_, count)| count)
    };
    let (transit, settlement) = (router.transit_delays, router.settlement_delays);
    assert_eq!((within(transit, 64), within(transit, 128), transit.sum().as_millis()), (Some(0), Some(1), 100));
    assert_eq!(
        (within(settlement, 1_024), within(settlement, 2_048), settlement.sum().as_millis()),
        (Some(0), Some(1), 1_100)
    );
}

#[test]
fn settlement_after_one_and_after_ten_seconds_counts_as_delayed() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    for (at, delay) in [1_000, 1_001, 10_000, 10_001].into_iter().enumerate() {
        world.send(sender);
        world.pass(delay);
        world.accept(at);
    }
    for link in [sender, receiver] {
        let link = world.link(link);
        assert_eq!((link.deliveries_delayed_1sec, link.deliveries_delayed_10sec), (2, 1));
    }
    let router = world.statistics();
    assert_eq!((router.deliveries_delayed_1sec, router.deliveries_delayed_10sec), (2, 1));
}

#[test]
fn the_settle_rate_is_per_second_over_five_seconds() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 100);
    let sender = world.sender("foo");
    for at in 0..50 {
        world.pass(100 * u64::from(at > 0));
        world.send(sender);
        world.accept(at);
    }
    assert_eq!([world.link(sender).settle_rate, world.link(receiver).settle_rate], [10, 10]);
    world.pass(10_000);
    assert_eq!(world.link(sender).settle_rate, 0);
}

#[test]
fn a_stuck_delivery_is_counted_on_both_links_until_it_is_settled() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send(sender);
    world.pass_and_scan(30);
    assert_eq!(world.statistics().deliveries_stuck, 2);
    assert_eq!([world.link(sender).deliveries_stuck, world.link(receiver).deliveries_stuck], [1, 1]);
    world.accept(0);
    assert_eq!(world.statistics().deliveries_stuck, 0);
    assert_eq!([world.link(sender).deliveries_stuck, world.link(receiver).deliveries_stuck], [0, 0]);
}

#[test]
fn a_stuck_delivery_is_no_longer_stuck_when_its_receiver_leaves() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let sender = world.sender("foo");
    world.send(sender);
    world.pass_and_scan(30);
    world.lose(receiver);
    assert_eq!(world.statistics().deliveries_stuck, 0);
}

#[test]
fn a_young_delivery_is_not_stuck() {
    let mut world = World::new();
    world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.pass(29_000);
    world.send(sender);
    world.pass_and_scan(1);
    assert_eq!(world.statistics().deliveries_stuck, 0);
}

#[test]
fn only_the_first_stuck_delivery_of_a_link_is_logged() {
    let mut world = World::new();
    world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send_times(sender, 2);
    world.pass_and_scan(30);
    world.send(sender);
    world.pass_and_scan(30);
    let stuck: Vec<_> = world.host.logs.iter().filter(|line| line.contains("Stuck delivery")).collect();
    let text = |link| {
        format!(
            "[C{link}][L{link}] Stuck delivery: At least one delivery on this link has been undelivered/unsettled for more \
             than 10 seconds"
        )
    };
    assert_eq!(stuck, [&text(2), &text(1)]);
}

#[test]
fn the_test_hooks_look_for_stuck_deliveries_every_five_seconds() {
    let mut world = World::with(|settings| settings.test_hooks = true);
    world.receiver("foo", 10);
    let sender = world.sender("foo");
    world.send(sender);
    assert_eq!(world.core.next_timeout(), Some(world.now + std::time::Duration::from_secs(5)));
    world.pass_and_scan(5);
    assert_eq!(world.statistics().deliveries_stuck, 2);
}

#[test]
fn links_without_credit_for_ten_seconds_are_blocked_until_they_get_some() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 0);
    let lonely = world.sender("bar");
    world.pass_and_scan(30);
    assert_eq!(world.statistics().links_blocked, 2);
    assert_eq!(world.link(receiver).zero_credit_seconds, 30);
    world.credit(receiver, 1);
    assert_eq!((world.statistics().links_blocked, world.link(receiver).zero_credit_seconds), (1, 0));
    world.lose(lonely);
    assert_eq!(world.statistics().links_blocked, 0);
    let line = "[C1][L1] Link blocked with zero credit for 30 seconds";
    assert!(world.host.logs.iter().any(|logged| logged == line), "{:?}", world.host.logs);
}

#[test]
fn a_receiver_that_used_up_its_credit_is_blocked_only_if_something_waits_for_it() {
    let mut world = World::new();
    let receiver = world.receiver("foo", 1);
    let sender = world.sender("foo");
    world.send(sender);
    world.pass_and_scan(30);
    assert_eq!((world.statistics().links_blocked, world.link(receiver).zero_credit_seconds), (0, 0));
    world.send(sender);
    world.pass_and_scan(30);
    assert_eq!(world.statistics().links_blocked, 1);
}

#[test]
fn a_blocked_sender_is_no_longer_blocked_when_a_receiver_comes() {
    let mut world = World::new();
    world.sender("foo");
    world.pass_and_scan(30);
    world.receiver("foo", 1);
    assert_eq!(world.statistics().links_blocked, 0);
}

#[test]
fn a_link_that_was_blocked_says_so_when_it_ends() {
    let mut world = World::new();
    let sender = world.sender("foo");
    world.pass_and_scan(30);
    world.lose(sender);
    assert!(world.host.logs.last().is_some_and(|line| line.ends_with("delay10=0 blocked=yes")));
}

#[test]
fn without_links_there_is_nothing_to_wake_up_for() {
    let mut world = World::new();
    assert_eq!(world.core.next_timeout(), None);
    let sender = world.sender("foo");
    assert!(world.core.next_timeout().is_some());
    world.lose(sender);
    world.pass_and_scan(30);
    assert_eq!(world.core.next_timeout(), None);
}

#[test]
fn a_connection_shows_its_age_and_its_last_delivery() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 1);
    let last = |world: &World| world.core.connection(world.now, conn).and_then(|conn| conn.last_delivery_seconds);
    assert_eq!(last(&world), None);
    world.pass(5_000);
    let sender = world.sender("foo");
    world.send(sender);
    world.pass(2_000);
    assert_eq!(last(&world), Some(2));
    assert_eq!(world.core.connection(world.now, conn).map(|conn| conn.uptime_seconds), Some(7));
}

#[test]
fn connections_links_and_addresses_are_listed_in_order() {
    let mut world = World::new();
    let conn = world.connect();
    let gone = world.sender_on(conn, "gone");
    world.sender_on(conn, "one");
    world.lose(gone);
    world.sender_on(conn, "two");
    world.connect();
    let names: Vec<_> = world.core.links(world.now).iter().map(|link| (link.id, link.name)).collect();
    assert_eq!(names, [(2, "to one"), (3, "to two")]);
    let keys: Vec<_> = world.core.addresses().iter().map(|address| address.key).collect();
    assert_eq!(keys, ["M0_$qd.edge_heartbeat", "M0one", "M0two"]);
    let ids: Vec<_> = world.core.connections(world.now).iter().map(|conn| conn.id).collect();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn the_router_counts_what_there_is() {
    let mut world = World::new();
    world.sender("foo");
    world.receiver("foo", 0);
    let router = world.statistics();
    assert_eq!((router.connection_count, router.link_count, router.addr_count), (2, 2, 2));
}

#[test]
fn a_rewritten_pattern_is_announced() {
    let mut world = World::new();
    world.configure(NewAddressConfig { pattern: Some("a.#.*".into()), ..Default::default() });
    assert_eq!(world.host.logs, ["configured pattern 'a.#.*' optimized and re-written to 'a.*.#'"]);
}

#[test]
fn the_priority_of_an_address_is_shown() {
    let mut world = World::new();
    world.configure(NewAddressConfig { prefix: Some("p".into()), priority: Some(7), ..Default::default() });
    world.sender("p/x");
    world.sender("q");
    assert_eq!((world.address("M0p/x").priority, world.address("M0q").priority), (Some(7), None));
}
