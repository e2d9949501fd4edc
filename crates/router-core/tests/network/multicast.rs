//! Deliveries to everyone, each of whom gets one copy.

use std::time::Duration;

use amqp::DeliveryState;
use router_core::*;

use crate::mesh::Mesh;

const RING: [(usize, usize); 4] = [(0, 1), (1, 2), (2, 3), (3, 0)];
const FULL: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

fn joined(joined: &[(usize, usize)]) -> Mesh {
    let mut mesh = Mesh::distributing(&["A", "B", "C", "D"], "m", Treatment::Multicast);
    joined.iter().for_each(|(from, to)| mesh.join(*from, *to));
    mesh.converge();
    mesh
}

#[test]
fn every_subscriber_gets_each_message_once_in_any_mesh() {
    for shape in [RING.as_slice(), FULL.as_slice(), &[(0, 1), (1, 2), (2, 3)], &[(0, 1), (0, 2), (0, 3), (1, 2)]] {
        for from in 0..4 {
            let mut mesh = joined(shape);
            let receivers = [0, 1, 2, 3].map(|router| mesh.receiver(router, "m", 10));
            let sender = mesh.sender(from, "m");
            mesh.send(sender);
            assert_eq!(mesh.counts(receivers), [1; 4], "from {from} in {shape:?}");
        }
    }
}

#[test]
fn one_copy_crosses_a_connection_however_many_are_behind_it() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "m", Treatment::Multicast);
    for router in [1, 1, 2, 2] {
        mesh.receiver(router, "m", 10);
    }
    let sender = mesh.sender(0, "m");
    mesh.send(sender);
    assert_eq!(mesh.received.len(), 4);
    assert_eq!([0, 1].map(|router| mesh.address(router, "M0m").deliveries_transit), [1, 1]);
}

#[test]
fn a_multicast_does_not_go_where_nobody_listens() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "m", Treatment::Multicast);
    mesh.receiver(1, "m", 10);
    let sender = mesh.sender(0, "m");
    mesh.send(sender);
    assert_eq!(mesh.address(1, "M0m").deliveries_transit, 0);
}

#[test]
fn the_sender_learns_the_combined_outcome_when_all_have_settled() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "m", Treatment::Multicast);
    for router in [0, 1, 2] {
        mesh.receiver(router, "m", 10);
    }
    let sender = mesh.sender(0, "m");
    let message = mesh.send(sender);
    let copies = mesh.received.clone();
    for (got, state) in copies.iter().zip([DeliveryState::Released, DeliveryState::Accepted, DeliveryState::Released]) {
        assert_eq!(mesh.told(message), None);
        mesh.outcome_of(got, state);
    }
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
}

#[test]
fn one_rejection_far_away_is_told_to_the_sender() {
    let mut mesh = joined(&FULL);
    for router in [1, 2, 3] {
        mesh.receiver(router, "m", 10);
    }
    let sender = mesh.sender(0, "m");
    let message = mesh.send(sender);
    let copies = mesh.received.clone();
    for (at, got) in copies.iter().enumerate() {
        mesh.outcome_of(got, if at == 1 { DeliveryState::Rejected(None) } else { DeliveryState::Accepted });
    }
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Rejected(None)), true));
}

#[test]
fn presettled_copies_stay_settled_on_all_hops() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "m", Treatment::Multicast);
    let receivers = [0, 1, 2].map(|router| mesh.receiver(router, "m", 10));
    let sender = mesh.sender(1, "m");
    mesh.send_settled(sender);
    assert_eq!(mesh.counts(receivers), [1; 3]);
    assert!(mesh.received.iter().all(|got| got.settled));
}

#[test]
fn a_copy_that_can_go_no_further_is_released() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "m", Treatment::Multicast);
    mesh.receiver(2, "m", 10);
    let sender = mesh.sender(0, "m");
    // B does not know yet that messages from A to C pass there.
    let (c, next_hop) = (mesh.index(1, 2), mesh.connection(1, 2));
    let valid_origins = [RouterIndex::SELF].into_iter().collect();
    let record = &mut mesh.routers[1];
    record.core.set_route(
        mesh.now,
        &mut record.host,
        c,
        Some(Route { next_hop, cost: 1, comes_by: None, valid_origins }),
    );
    let message = mesh.send(sender);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Released), true));
}

/// Has a router of the full mesh believe that everything for everyone passes there.
fn everything_passes(mesh: &mut Mesh, router: usize) {
    let all: RouterSet = (0..4).map(RouterIndex).collect();
    for other in (0..4).filter(|other| *other != router) {
        let (index, next_hop) = (mesh.index(router, other), mesh.connection(router, other));
        let record = &mut mesh.routers[router];
        let route = Route { next_hop, cost: 1, comes_by: None, valid_origins: all.clone() };
        record.core.set_route(mesh.now, &mut record.host, index, Some(route));
    }
}

#[test]
fn a_message_does_not_go_to_a_router_that_it_has_passed() {
    let mut mesh = joined(&FULL);
    let receivers = [1, 2, 3].map(|router| mesh.receiver(router, "m", 10));
    let sender = mesh.sender(0, "m");
    // While routes change B believes so.
    everything_passes(&mut mesh, 1);
    mesh.send(sender);
    let counts = mesh.counts(receivers);
    assert_eq!(counts[0], 1, "it came back to B");
    assert!(mesh.received.len() <= 5);
}

#[test]
fn a_copy_that_a_neighbor_should_not_have_sent_on_is_not_taken() {
    let mut mesh = joined(&FULL);
    let receivers = [1, 2, 3].map(|router| mesh.receiver(router, "m", 10));
    let sender = mesh.sender(0, "m");
    // An old router sends messages on like that, in a full mesh.
    everything_passes(&mut mesh, 1);
    mesh.now += Duration::from_secs(60);
    mesh.send(sender);
    assert_eq!(mesh.counts(receivers), [1, 1, 1]);
}

#[test]
fn while_routes_change_the_first_copy_is_taken_and_no_other() {
    for sends_all in [[1].as_slice(), &[1, 2], &[1, 2, 3], &[0, 1, 2, 3]] {
        let mut mesh = joined(&FULL);
        let receivers = [0, 1, 2, 3].map(|router| mesh.receiver(router, "m", 10));
        // As old routers do at all times.
        sends_all.iter().for_each(|router| everything_passes(&mut mesh, *router));
        let sender = mesh.sender(0, "m");
        mesh.send(sender);
        assert_eq!(mesh.counts(receivers), [1, 1, 1, 1], "{sends_all:?}");
    }
}

#[test]
fn while_routes_change_the_same_may_be_sent_again() {
    let mut mesh = joined(&FULL);
    let receivers = [1, 2, 3].map(|router| mesh.receiver(router, "m", 10));
    (1..4).for_each(|router| everything_passes(&mut mesh, router));
    let sender = mesh.sender(0, "m");
    for _ in 0..5 {
        mesh.send_with(sender, |message| message.body = 7, false);
    }
    assert_eq!(mesh.counts(receivers), [5, 5, 5]);
}

#[test]
fn everything_is_over_when_all_copies_are_settled() {
    let mut mesh = joined(&RING);
    for router in [0, 1, 2, 3] {
        mesh.receiver(router, "m", 10);
    }
    let sender = mesh.sender(2, "m");
    let message = mesh.send(sender);
    mesh.accept(message);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
    for router in &mesh.routers {
        assert_eq!(router.core.object_counts().deliveries, 0);
    }
}

#[test]
fn two_connections_between_the_same_routers_carry_one_copy() {
    let mut mesh = Mesh::distributing(&["A", "B", "C"], "m", Treatment::Multicast);
    for (from, to) in [(0, 1), (1, 0), (1, 2), (0, 1)] {
        mesh.join(from, to);
    }
    mesh.converge();
    let receivers = [0, 1, 2].map(|router| mesh.receiver(router, "m", 10));
    for router in 0..3 {
        let sender = mesh.sender(router, "m");
        mesh.send(sender);
    }
    assert_eq!(mesh.counts(receivers), [3; 3]);
}
