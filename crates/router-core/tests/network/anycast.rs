//! Deliveries to one receiver, wherever it is.

use amqp::state::Modified;
use amqp::{DeliveryState, ErrorCondition};
use router_core::*;

use crate::mesh::{Client, Mesh};

const RING: [(usize, usize); 4] = [(0, 1), (1, 2), (2, 3), (3, 0)];

fn send_times(mesh: &mut Mesh, sender: Client, count: usize) {
    for _ in 0..count {
        mesh.send(sender);
    }
}

fn ring(distribution: Treatment) -> Mesh {
    let mut mesh = Mesh::distributing(&["A", "B", "C", "D"], "x", distribution);
    RING.iter().for_each(|(from, to)| mesh.join(*from, *to));
    mesh.converge();
    mesh
}

#[test]
fn a_message_crosses_two_routers_and_its_outcome_comes_back() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    let receiver = mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.send(sender);
    assert_eq!(mesh.counts([receiver]), [1]);
    assert_eq!(mesh.told(message), None);
    mesh.accept(message);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
}

#[test]
fn each_outcome_comes_back_over_two_hops_as_it_was_given() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    let modified = Modified { delivery_failed: true, undeliverable_here: true, ..Modified::default() };
    for state in [
        DeliveryState::Accepted,
        DeliveryState::Released,
        DeliveryState::Rejected(Some(Box::new(ErrorCondition::new("test:no", "because")))),
        DeliveryState::Modified(Box::new(modified)),
        DeliveryState::Other(Box::from([0x00, 0x53, 0x34, 0x45])),
    ] {
        let message = mesh.send(sender);
        mesh.outcome(message, state.clone());
        assert_eq!(mesh.told[&message], (Some(state), true));
    }
}

#[test]
fn deliveries_are_counted_by_the_router_where_they_came_to_the_network() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let receiver = mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.send(sender);
    mesh.accept(message);
    let counts: Vec<_> = mesh.link(receiver).ingress_histogram.expect("outgoing").counts().collect();
    let index = usize::from(mesh.index(2, 0).0);
    assert_eq!((counts[index], counts.iter().sum::<u64>()), (1, 1));
}

#[test]
fn a_sender_has_no_credit_before_a_receiver_is_anywhere_and_all_of_it_then() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let sender = mesh.sender(0, "q");
    assert_eq!(mesh.link(sender).credit_available, 0);
    let receiver = mesh.receiver(2, "q", 0);
    assert_eq!(mesh.link(sender).credit_available, 250);
    mesh.lose(receiver);
    let message = mesh.send(sender);
    assert_eq!(mesh.told(message), Some(DeliveryState::Released));
    assert_eq!(mesh.link(sender).credit_available, 249);
}

#[test]
fn a_senders_credit_comes_back_when_the_delivery_is_settled_at_the_end() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.send(sender);
    assert_eq!(mesh.link(sender).credit_available, 249);
    mesh.accept(message);
    assert_eq!(mesh.link(sender).credit_available, 250);
}

#[test]
fn more_messages_than_credit_between_routers_wait_at_the_receiver_only() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    let receiver = mesh.receiver(1, "q", 0);
    for _ in 0..2 {
        let sender = mesh.sender(0, "q");
        send_times(&mut mesh, sender, 250);
    }
    assert_eq!(mesh.link(receiver).undelivered_count, 500);
    mesh.credit(receiver, 500);
    assert_eq!(mesh.counts([receiver]), [500]);
}

#[test]
fn messages_of_one_sender_keep_their_order() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    mesh.receiver(2, "q", 100);
    let sender = mesh.sender(0, "q");
    let sent: Vec<_> = (0..100).map(|_| mesh.send(sender)).collect();
    assert_eq!(mesh.received.iter().map(|got| got.message.number).collect::<Vec<_>>(), sent);
}

#[test]
fn an_anonymous_sender_reaches_other_routers() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let receivers = [mesh.receiver(1, "q", 10), mesh.receiver(2, "r", 10)];
    let sender = mesh.sender(0, "");
    for to in ["q", "r", "amqp:/r"] {
        mesh.send_to(sender, to);
    }
    assert_eq!(mesh.counts(receivers), [1, 2]);
}

#[test]
fn closest_prefers_a_receiver_here_then_the_cheapest_router() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let receivers = [0, 1, 2].map(|router| mesh.receiver(router, "x", 10));
    let sender = mesh.sender(0, "x");
    send_times(&mut mesh, sender, 2);
    mesh.lose(receivers[0]);
    send_times(&mut mesh, sender, 3);
    mesh.lose(receivers[1]);
    send_times(&mut mesh, sender, 4);
    assert_eq!(mesh.counts(receivers), [2, 3, 4]);
}

#[test]
fn closest_takes_turns_among_routers_at_the_same_cost() {
    let mut mesh = ring(Treatment::Closest);
    let receivers = [1, 2, 3].map(|router| mesh.receiver(router, "x", 10));
    let sender = mesh.sender(0, "x");
    send_times(&mut mesh, sender, 6);
    assert_eq!(mesh.counts(receivers), [3, 0, 3]);
}

#[test]
fn the_cheaper_way_is_taken_though_it_has_more_hops() {
    let mut mesh = Mesh::of(&["A", "B", "C"]);
    mesh.join_at(0, 1, 1);
    mesh.join_at(1, 2, 1);
    mesh.join_at(0, 2, 5);
    mesh.converge();
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    mesh.send(sender);
    assert_eq!(mesh.address(1, "M0q").deliveries_transit, 1);
}

#[test]
fn balanced_goes_elsewhere_when_what_is_outstanding_here_exceeds_the_cost() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join_at(0, 1, 3);
    let receivers = [mesh.receiver(0, "q", 100), mesh.receiver(1, "q", 100)];
    let sender = mesh.sender(0, "q");
    send_times(&mut mesh, sender, 4);
    // Three stay, for the fourth both have the value 3, and here is first.
    assert_eq!(mesh.counts(receivers), [4, 0]);
    send_times(&mut mesh, sender, 2);
    // Elsewhere has now 3, then 4, here has 4.
    assert_eq!(mesh.counts(receivers), [5, 1]);
}

#[test]
fn what_is_outstanding_with_a_neighbour_is_counted_until_it_is_settled() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    let outstanding = |mesh: &Mesh| {
        let counts: Vec<_> = mesh.address(0, "M0q").transit_outstanding.expect("balanced").counts().collect();
        (counts.len(), counts[0])
    };
    let message = mesh.send(sender);
    assert_eq!(outstanding(&mesh), (128, 1));
    mesh.accept(message);
    assert_eq!(outstanding(&mesh), (128, 0));
    mesh.send_settled(sender);
    assert_eq!(outstanding(&mesh), (128, 0));
    mesh.send(sender);
    mesh.cut(0, 1);
    assert_eq!(mesh.address(0, "M0q").transit_outstanding.expect("balanced").counts().sum::<u64>(), 0);
}

#[test]
fn balanced_spreads_over_routers_by_what_they_have_not_settled() {
    let mut mesh = ring(Treatment::Balanced);
    let receivers = [1, 3].map(|router| mesh.receiver(router, "x", 100));
    let sender = mesh.sender(0, "x");
    send_times(&mut mesh, sender, 10);
    assert_eq!(mesh.counts(receivers), [5, 5]);
}

#[test]
fn balanced_messages_do_not_turn_back() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Balanced);
    let receivers = [0, 1].map(|router| mesh.receiver(router, "q", 100));
    // Many deliveries outstanding at B, none at A: what came from C and A goes on, and not back.
    let sender = mesh.sender(0, "q");
    send_times(&mut mesh, sender, 20);
    let [here, there] = mesh.counts(receivers);
    assert_eq!(here + there, 20);
    assert!(mesh.address(1, "M0q").deliveries_transit == 0, "a message went back");
}

#[test]
fn a_message_goes_over_the_data_link_of_its_priority() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 100);
    let sender = mesh.sender(0, "q");
    for priority in 0..10 {
        mesh.send_with(sender, |message| message.priority = priority, false);
    }
    let links = mesh.routers[0].core.links(mesh.now);
    let data = links.iter().filter(|link| link.link_type == LinkType::InterRouter && !link.incoming);
    assert!(data.clone().all(|link| link.delivery_count == 1));
    assert_eq!(data.map(|link| link.priority).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

#[test]
fn the_priority_of_the_address_goes_before_that_of_the_message() {
    let mut mesh = Mesh::with(&["A", "B"], |router| {
        let new = NewAddressConfig { prefix: Some("x".into()), priority: Some(7), ..Default::default() };
        router.core.create_address_config(&mut router.host, new).expect("valid");
    });
    mesh.join(0, 1);
    mesh.receiver(1, "x", 10);
    let sender = mesh.sender(0, "x");
    mesh.send_with(sender, |message| message.priority = 2, false);
    let links = mesh.routers[0].core.links(mesh.now);
    assert_eq!(links.iter().find(|link| link.delivery_count > 0).map(|link| link.priority), Some(7));
}

#[test]
fn without_the_link_of_its_priority_a_message_takes_the_next_lower_one() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    let record = &mut mesh.routers[0];
    let of_priority = |link: &&LinkSnapshot<'_>| {
        !link.incoming && link.link_type == LinkType::InterRouter && (3..=4).contains(&link.priority)
    };
    let lost: Vec<_> = record.core.links(mesh.now).iter().filter(of_priority).map(|link| link.key).collect();
    lost.into_iter().for_each(|link| record.core.link_lost(mesh.now, &mut record.host, link));
    mesh.send(sender);
    let links = mesh.routers[0].core.links(mesh.now);
    let used = links.iter().find(|link| link.link_type == LinkType::InterRouter && link.delivery_count > 0);
    assert_eq!(used.map(|link| link.priority), Some(2));
}

#[test]
fn a_message_that_passed_more_routers_than_there_are_on_the_longest_way_is_released() {
    let mut mesh = Mesh::line(&["A", "B", "C", "D"], "x", Treatment::Closest);
    mesh.receiver(3, "q", 10);
    let sender = mesh.sender(0, "q");
    // To C it comes with a trace of two; C believes that the farthest router is a neighbour.
    mesh.routers[2].core.set_radius(0);
    let message = mesh.send(sender);
    assert_eq!(mesh.told(message), Some(DeliveryState::Released));
    mesh.routers[2].core.set_radius(1);
    mesh.send(sender);
    assert_eq!(mesh.received.len(), 1);
}

#[test]
fn the_phase_of_an_address_goes_along() {
    let mut mesh = Mesh::with(&["A", "B"], |router| {
        let new = NewAddressConfig {
            prefix: Some("w".into()),
            ingress_phase: Some(3),
            egress_phase: Some(3),
            ..Default::default()
        };
        router.core.create_address_config(&mut router.host, new).expect("valid");
    });
    mesh.join(0, 1);
    let receiver = mesh.receiver(1, "w", 10);
    let sender = mesh.sender(0, "w");
    mesh.send(sender);
    assert_eq!(mesh.counts([receiver]), [1]);
    assert_eq!(mesh.address(1, "M3w").deliveries_egress, 1);
}

#[test]
fn presettled_messages_cross_and_are_counted() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let receiver = mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    for _ in 0..5 {
        mesh.send_settled(sender);
    }
    assert_eq!(mesh.counts([receiver]), [5]);
    assert!(mesh.received.iter().all(|got| got.settled));
    assert_eq!((mesh.link(sender).presettled_count, mesh.link(sender).credit_available), (5, 250));
}

#[test]
fn counters_tell_ingress_transit_and_egress_apart() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    mesh.send(sender);
    let counts = |router: usize| {
        let address = mesh.address(router, "M0q");
        (address.deliveries_ingress, address.deliveries_transit, address.deliveries_egress)
    };
    assert_eq!([counts(0), counts(1), counts(2)], [(1, 1, 0), (0, 1, 0), (0, 0, 1)]);
    let of_router = |router: usize| {
        let router = mesh.routers[router].core.statistics();
        (router.deliveries_ingress, router.deliveries_transit, router.deliveries_egress)
    };
    assert_eq!([of_router(0), of_router(1), of_router(2)], [(1, 1, 0), (0, 1, 0), (0, 0, 1)]);
}

#[test]
fn each_router_on_the_way_counts_the_outcome_once() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.send(sender);
    mesh.accept(message);
    for router in &mesh.routers {
        assert_eq!(router.core.statistics().accepted_deliveries, 1);
    }
}

#[test]
fn a_reply_from_within_a_router_finds_its_way_to_another() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let receiver = mesh.receiver(2, "_topo/0/C/temp.x", 10);
    assert!(mesh.send_local(0, "amqp:/_topo/0/C/temp.x"));
    assert_eq!(mesh.counts([receiver]), [1]);
    assert!(!mesh.send_local(0, "amqp:/_topo/0/nobody/temp.x"));
}

#[test]
fn a_router_is_reached_by_its_own_address() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let record = &mut mesh.routers[2];
    record.core.subscribe(mesh.now, &mut record.host, "L$management");
    let sender = mesh.sender(0, "_topo/0/C/$management");
    let request = mesh.send(sender);
    assert_eq!(mesh.subscribed(request), [0, 0, 1]);
    assert_eq!(mesh.told(request), Some(DeliveryState::Accepted));
}

#[test]
fn a_fallback_elsewhere_is_used_while_nobody_is_at_the_address() {
    let mut mesh = Mesh::with(&["A", "B", "C"], |router| {
        let new = NewAddressConfig { prefix: Some("f".into()), fallback: true, ..Default::default() };
        router.core.create_address_config(&mut router.host, new).expect("valid");
    });
    mesh.join(0, 1);
    mesh.join(1, 2);
    let fallback = mesh.fallback_receiver(2, "f/x", 10);
    let sender = mesh.sender(0, "f/x");
    assert_eq!(mesh.link(sender).credit_available, 250);
    mesh.send(sender);
    let primary = mesh.receiver(1, "f/x", 10);
    mesh.send(sender);
    assert_eq!(mesh.counts([fallback, primary]), [1, 1]);
    assert_eq!(mesh.address(0, "M0f/x").deliveries_redirected_to_fallback, 1);
    assert_eq!(mesh.address(1, "M0f/x").deliveries_redirected_to_fallback, 0);
}

#[test]
fn an_address_from_elsewhere_is_treated_as_configured_here_else_as_there() {
    let mut mesh = Mesh::distributing(&["A", "B"], "x", Treatment::Multicast);
    mesh.join(0, 1);
    mesh.converge();
    let (index, now) = (mesh.index(0, 1), mesh.now);
    let record = &mut mesh.routers[0];
    for (key, hint, treatment) in [
        ("M0x/1", Some(Treatment::Closest), Treatment::Multicast),
        ("M0y", Some(Treatment::Closest), Treatment::Closest),
        ("M0z", None, Treatment::Balanced),
        ("M0u", Some(Treatment::Unavailable), Treatment::Balanced),
        ("Cq", Some(Treatment::LinkBalanced), Treatment::LinkBalanced),
        ("HE1", None, Treatment::Balanced),
    ] {
        record.core.add_remote_address(now, &mut record.host, index, key, hint);
        assert_eq!(record.core.address(key).map(|address| address.distribution), Some(treatment), "{key}");
    }
    let before = record.core.object_counts().addresses;
    for key in ["", "M", "Mx", "M\u{e9}x", "Lx", "Tqdrouter", "RB", "X"] {
        record.core.add_remote_address(now, &mut record.host, index, key, None);
    }
    assert_eq!(record.core.object_counts().addresses, before);
}

#[test]
fn consumers_of_a_mobile_address_are_announced_and_others_are_not() {
    use crate::host::Event;
    let mut mesh = Mesh::of(&["A"]);
    let record = &mut mesh.routers[0];
    record.core.subscribe(mesh.now, &mut record.host, "M0$management");
    assert_eq!(record.host.events, []);
    let receiver = mesh.receiver_only(0, "q");
    let second = mesh.receiver_only(0, "q");
    mesh.receiver_only(0, "_local/x");
    mesh.sender(0, "r");
    let record = &mut mesh.routers[0];
    assert_eq!(std::mem::take(&mut record.host.events), [Event::Here("M0q".into(), Treatment::Balanced)]);
    mesh.lose_only(receiver);
    assert_eq!(mesh.routers[0].host.events, []);
    mesh.lose_only(second);
    assert_eq!(mesh.routers[0].host.events, [Event::NotHere("M0q".into())]);
}

#[test]
fn a_balanced_message_that_comes_a_way_which_is_not_its_own_any_more_goes_on_all_the_same() {
    let mut mesh = Mesh::of(&["A", "B", "C"]);
    mesh.join(0, 1);
    mesh.join(1, 2);
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    // B has not heard that what A sends to C passes here.
    let (conn, to) = (mesh.connection(1, 2), mesh.index(1, 2));
    let record = &mut mesh.routers[1];
    let route = Route { next_hop: conn, cost: 1, comes_by: None, valid_origins: RouterSet::default() };
    record.core.set_route(mesh.now, &mut record.host, to, Some(route));
    mesh.send(sender);
    let link = mesh.routers[1].core.links(mesh.now);
    let passed = link.iter().filter(|link| link.link_type == LinkType::InterRouter && !link.incoming);
    assert_eq!(passed.map(|link| link.delivery_count).sum::<u64>(), 1);
}
