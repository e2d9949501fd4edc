//! Routers and connections that go.

use amqp::DeliveryState;
use amqp::state::Modified;
use router_core::*;

use crate::mesh::Mesh;

fn failed() -> DeliveryState {
    DeliveryState::Modified(Box::new(Modified { delivery_failed: true, ..Modified::default() }))
}

#[test]
fn what_was_unsettled_on_a_lost_connection_is_modified() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.send(sender);
    mesh.cut(1, 2);
    assert_eq!(mesh.told[&message], (Some(failed()), true));
}

#[test]
fn what_was_settled_before_the_loss_stays_as_it_is() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.send(sender);
    mesh.accept(message);
    mesh.cut(0, 1);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
}

#[test]
fn what_waited_for_a_lost_connection_is_released() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    let conn = mesh.connection(0, 1);
    let record = &mut mesh.routers[0];
    record.core.set_writable(mesh.now, &mut record.host, conn, false);
    let message = mesh.send(sender);
    assert_eq!((mesh.received.len(), mesh.told(message)), (0, None));
    mesh.cut(0, 1);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Released), true));
}

#[test]
fn a_message_before_new_routes_are_known_is_released_and_not_lost() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    mesh.cut(0, 1);
    let message = mesh.send(sender);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Released), true));
    assert_eq!(mesh.link(sender).credit_available, 250);
}

#[test]
fn the_middle_router_of_a_line_is_lost() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.send(sender);
    mesh.cut(0, 1);
    mesh.cut(1, 2);
    mesh.converge();
    assert_eq!(mesh.told[&message], (Some(failed()), true));
    // Nobody is there any more: the sender gets no credit for its next one.
    let message = mesh.send(sender);
    assert_eq!(mesh.told(message), Some(DeliveryState::Released));
    assert_eq!(mesh.link(sender).credit_available, 249);
}

#[test]
fn messages_take_the_other_way_round_a_ring() {
    let mut mesh = Mesh::distributing(&["A", "B", "C", "D"], "m", Treatment::Multicast);
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        mesh.join(from, to);
    }
    mesh.receiver(1, "q", 10);
    mesh.receiver(1, "m", 10);
    let sender = mesh.sender(0, "q");
    let multicast = mesh.sender(0, "m");
    mesh.cut(0, 1);
    mesh.converge();
    mesh.send(sender);
    mesh.send(multicast);
    assert_eq!(mesh.received.len(), 2);
    assert_eq!(mesh.address(3, "M0q").deliveries_transit, 1);
}

#[test]
fn a_connection_that_comes_back_is_used_again() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    mesh.cut(0, 1);
    mesh.converge();
    mesh.join(1, 0);
    mesh.converge();
    assert_eq!(mesh.link(sender).credit_available, 250);
    mesh.send(sender);
    assert_eq!(mesh.received.len(), 1);
}

#[test]
fn a_lost_control_link_ends_the_use_of_its_connection() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    let record = &mut mesh.routers[0];
    let control = record.core.links(mesh.now)[0].key;
    record.core.link_lost(mesh.now, &mut record.host, control);
    let message = mesh.send(sender);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Released), true));
}

#[test]
fn addresses_of_a_flushed_router_are_gone_until_it_tells_them_anew() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 10);
    mesh.receiver(1, "r", 10);
    let sender = mesh.sender(0, "q");
    let (index, now) = (mesh.index(0, 1), mesh.now);
    let record = &mut mesh.routers[0];
    record.core.flush_remote_addresses(now, &mut record.host, index);
    // One is kept by its sender, the other goes; the router's own address stays.
    assert_eq!(record.core.address("M0q").map(|address| address.remote_count), Some(0));
    assert!(record.core.address("M0r").is_none() && record.core.address("RB").is_some());
    record.core.add_remote_address(now, &mut record.host, index, "M0q", None);
    mesh.settle();
    mesh.send(sender);
    assert_eq!(mesh.received.len(), 1);
}

#[test]
fn a_lost_sender_does_not_take_its_messages_along() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let receiver = mesh.receiver(2, "q", 0);
    let sender = mesh.sender(0, "q");
    mesh.send(sender);
    mesh.cut(0, 1);
    mesh.credit(receiver, 10);
    assert_eq!(mesh.counts([receiver]), [1]);
}

#[test]
fn nothing_is_left_when_everything_is_gone() {
    let mut mesh = Mesh::line(&["A", "B"], "m", Treatment::Multicast);
    let before = mesh.routers[0].core.object_counts();
    let receivers = [mesh.receiver(1, "q", 1), mesh.receiver(1, "m", 1)];
    let senders = [mesh.sender(0, "q"), mesh.sender(0, "m")];
    for sender in senders.into_iter().cycle().take(6) {
        mesh.send(sender);
    }
    receivers.into_iter().chain(senders).for_each(|link| mesh.lose(link));
    let after = mesh.routers[0].core.object_counts();
    assert_eq!((after.deliveries, after.addresses), (0, before.addresses));
}

#[test]
fn a_large_network_with_many_addresses_costs_what_is_in_it() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join(0, 1);
    mesh.converge();
    let next_hop = mesh.connection(0, 1);
    let (now, record) = (mesh.now, &mut mesh.routers[0]);
    let before = record.core.object_counts().addresses;
    for number in 2..1_000 {
        let index = RouterIndex(number);
        record.core.add_router(now, &mut record.host, index, &format!("router{number}"));
        let valid_origins = [RouterIndex::SELF].into_iter().collect();
        record.core.set_route(
            now,
            &mut record.host,
            index,
            Some(Route { next_hop, cost: 2, comes_by: None, valid_origins }),
        );
        for address in 0..20 {
            // Some are everywhere, most are in one place.
            let key = if address == 0 { "M0everywhere".into() } else { format!("M0{number}/{address}") };
            record.core.add_remote_address(now, &mut record.host, index, &key, None);
        }
    }
    assert_eq!(record.core.object_counts().addresses, before + 998 * 20 + 1);
    assert_eq!(mesh.address(0, "M0everywhere").remote_count, 998);
    let sender = mesh.sender(0, "everywhere");
    mesh.send(sender);
    assert_eq!(mesh.address(0, "M0everywhere").deliveries_transit, 1);
    let record = &mut mesh.routers[0];
    for number in 2..1_000 {
        record.core.remove_router(now, &mut record.host, RouterIndex(number));
    }
    // The sender keeps its address.
    assert_eq!(record.core.object_counts().addresses, before + 1);
}
