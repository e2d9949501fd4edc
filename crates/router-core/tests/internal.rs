//! A connection behind which the surroundings keep queues of their own.

mod support;

use amqp::DeliveryState;
use router_core::*;
use support::*;

/// A router with an internal connection to which links for `queue` lead.
fn world() -> (World, ConnKey) {
    let mut world = World::new();
    let conn = world.connect_with(|info| {
        info.role = Role::RouteContainer;
        info.internal = true;
    });
    for direction in [RouteDirection::In, RouteDirection::Out] {
        let new = NewLinkRoute {
            name: None,
            prefix: None,
            pattern: Some("queue".into()),
            direction,
            via: RouteVia::Internal,
            add_external_prefix: None,
            del_external_prefix: None,
        };
        world.core.create_link_route(world.now, &mut world.host, new).expect("valid");
    }
    (world, conn)
}

#[test]
fn links_are_passed_on_to_it_as_to_any_container() {
    let (mut world, _) = world();
    world.receiver("queue", 3);
    let (_, _, open) = world.host.opened.last().expect("a link was asked for");
    assert!(open.incoming);
}

#[test]
fn neither_it_nor_what_leads_there_is_shown_or_counted() {
    let (mut world, conn) = world();
    let auto = NewAutoLink {
        name: None,
        address: "queue".into(),
        direction: RouteDirection::Out,
        phase: 0,
        via: RouteVia::Internal,
        external_address: None,
        fallback: false,
        on_demand: None,
    };
    world.core.create_auto_link(world.now, &mut world.host, auto).expect("valid");
    world.receiver("queue", 3);
    let (core, now) = (&world.core, world.now);
    assert_eq!((core.connections(now).len(), core.links(now).len()), (1, 1));
    assert_eq!((core.link_routes().len(), core.auto_links().len()), (0, 0));
    let counts = core.statistics();
    assert_eq!((counts.connection_count, counts.link_count), (1, 1));
    assert_eq!((counts.link_route_count, counts.auto_link_count), (0, 0));
    world.core.close_connection(now, &mut world.host, conn);
    assert_eq!(world.core.statistics().link_count, world.core.links(now).len() as u64);
}

#[test]
fn what_is_sent_there_is_held_back_until_it_would_leave_at_once() {
    let (mut world, _) = world();
    let client = world.connect();
    let receiver = world.receiver_on(client, "queue");
    let far = world.open_last();
    world.answer_last();
    world.credit(receiver, 5);
    assert!(world.core.may_send(far.key));
    world.core.set_writable(world.now, &mut world.host, client, false);
    assert!(!world.core.may_send(far.key));
    world.core.set_writable(world.now, &mut world.host, client, true);
    assert!(world.core.may_send(far.key));
}

#[test]
fn what_names_an_address_that_it_makes_on_demand_goes_there_by_a_link_for_all_of_these() {
    let (mut world, _) = world();
    let new = NewLinkRoute {
        name: None,
        prefix: None,
        pattern: Some("made/#".into()),
        direction: RouteDirection::In,
        via: RouteVia::Internal,
        add_external_prefix: None,
        del_external_prefix: None,
    };
    let route = world.core.create_link_route(world.now, &mut world.host, new).expect("valid");
    let auto = NewAutoLink {
        name: None,
        address: "made/#".into(),
        direction: RouteDirection::Out,
        phase: 0,
        via: RouteVia::Internal,
        external_address: None,
        fallback: false,
        on_demand: Some(route),
    };
    let auto = world.core.create_auto_link(world.now, &mut world.host, auto).expect("valid");
    let store = world.open_last();
    world.answer_last();
    world.credit(store, 10);
    let sender = world.anonymous_sender();
    world.calls();
    let released = |delivery| settled(sender, delivery, DeliveryState::Released);
    world.offer(sender, |offer| offer.to = Some("made/a"));
    world.offer(sender, |offer| offer.to = Some("queue"));
    let calls = world.calls_but_credit();
    assert_eq!(calls, [transmit(store, 0), released(1)], "a link route alone makes nothing");
    world.core.delete_auto_link(world.now, &mut world.host, auto);
    world.calls();
    world.offer(sender, |offer| offer.to = Some("made/a"));
    assert_eq!(world.calls_but_credit().last(), Some(&released(2)));
}

/// A router whose addresses are unavailable, where links to an address, or a pattern, are led to an internal connection, and a link
/// that takes what names it.
fn closed_world(address: &str) -> (World, Link) {
    let mut world = World::with(|settings| settings.default_treatment = Treatment::Unavailable);
    world.connect_with(|info| {
        info.role = Role::RouteContainer;
        info.internal = true;
    });
    let new = NewLinkRoute {
        name: None,
        prefix: None,
        pattern: Some(address.into()),
        direction: RouteDirection::In,
        via: RouteVia::Internal,
        add_external_prefix: None,
        del_external_prefix: None,
    };
    let route = world.core.create_link_route(world.now, &mut world.host, new).expect("valid");
    let auto = NewAutoLink {
        name: None,
        address: address.into(),
        direction: RouteDirection::Out,
        phase: 0,
        via: RouteVia::Internal,
        external_address: None,
        fallback: false,
        on_demand: address.contains('#').then_some(route),
    };
    world.core.create_auto_link(world.now, &mut world.host, auto).expect("valid");
    let store = world.open_last();
    world.answer_last();
    world.credit(store, 10);
    (world, store)
}

#[test]
fn what_names_an_address_goes_where_links_to_it_are_led_although_it_is_unavailable() {
    for (address, to) in [("queue", "queue"), ("made/#", "made/a")] {
        let (mut world, store) = closed_world(address);
        let sender = world.anonymous_sender();
        world.calls();
        world.offer(sender, |offer| offer.to = Some(to));
        assert_eq!(world.calls_but_credit(), [transmit(store, 0)], "{to}");
        world.offer(sender, |offer| offer.to = Some("elsewhere"));
        let calls = world.calls_but_credit();
        let text = "Deliveries cannot be sent to an unavailable address";
        let error = amqp::ErrorCondition::new(amqp::condition::names::NOT_FOUND, text);
        assert_eq!(calls, [settled(sender, 1, DeliveryState::Rejected(Some(Box::new(error))))]);
    }
}
