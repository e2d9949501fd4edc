//! Messages of the routing protocol between routers.

use router_core::*;

use crate::mesh::Mesh;

const KEYS: [&str; 5] = ["Lqdhello", "Lqdrouter", "Tqdrouter", "Lqdrouter.ma", "Tqdrouter.ma"];

/// Routers joined so, which listen to the routing protocol.
fn listening(ids: &[&str], joined: &[(usize, usize)]) -> Mesh {
    let mut mesh = Mesh::of(ids);
    KEYS.iter().for_each(|key| mesh.subscribe_control(key));
    joined.iter().for_each(|(from, to)| mesh.join(*from, *to));
    mesh.converge();
    mesh
}

const LINE: [(usize, usize); 2] = [(0, 1), (1, 2)];
const RING: [(usize, usize); 4] = [(0, 1), (1, 2), (2, 3), (3, 0)];
const FULL: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

#[test]
fn a_hello_goes_to_the_neighbour_on_that_connection_and_no_further() {
    let mut mesh = listening(&["A", "B", "C"], &LINE);
    let conn = mesh.connection(1, 0);
    let hello = mesh.send_control(1, "amqp:/_local/qdhello", Some(conn));
    assert_eq!(mesh.subscribed(hello), [1, 0, 0]);
    let hello = mesh.send_control(0, "amqp:/_local/qdhello", None);
    assert_eq!(mesh.subscribed(hello), [0, 1, 0]);
}

#[test]
fn a_flooded_message_comes_to_all_routers_even_before_routes_are_known() {
    let mut mesh = Mesh::of(&["A", "B", "C"]);
    KEYS.iter().for_each(|key| mesh.subscribe_control(key));
    LINE.iter().for_each(|(from, to)| mesh.join(*from, *to));
    let flooded = mesh.send_control(0, "amqp:/_topo/0/all/qdrouter", None);
    assert_eq!(mesh.subscribed(flooded), [0, 1, 1]);
}

#[test]
fn a_flood_ends_in_a_ring_and_does_not_come_back() {
    let mut mesh = listening(&["A", "B", "C", "D"], &RING);
    let flooded = mesh.send_control(0, "amqp:/_topo/0/all/qdrouter", None);
    let came = mesh.subscribed(flooded);
    assert!(came[0] == 0 && came[1..].iter().all(|count| *count >= 1), "{came:?}");
}

/// The trace of a message from a namesake looks like that of a message which has been here; only the routing protocol
/// can tell them apart.
#[test]
fn what_a_router_of_the_same_id_says_is_heard_by_its_namesake() {
    let mut mesh = Mesh::of(&["A", "A"]);
    KEYS.iter().for_each(|key| mesh.subscribe_control(key));
    mesh.join(0, 1);
    let hello = mesh.send_control(0, "amqp:/_local/qdhello", None);
    assert_eq!(mesh.subscribed(hello), [0, 1]);
}

#[test]
fn what_goes_along_the_tree_comes_to_each_router_once() {
    for joined in [RING.as_slice(), FULL.as_slice()] {
        let mut mesh = listening(&["A", "B", "C", "D"], joined);
        let message = mesh.send_control(0, "amqp:/_topo/0/all/qdrouter.ma", None);
        assert_eq!(mesh.subscribed(message), [0, 1, 1, 1]);
    }
}

#[test]
fn a_message_to_one_router_goes_over_control_links_to_it() {
    let mut mesh = listening(&["A", "B", "C"], &LINE);
    let message = mesh.send_control(0, "amqp:/_topo/0/C/qdrouter", None);
    assert_eq!(mesh.subscribed(message), [0, 0, 1]);
    for router in 0..3 {
        let links = mesh.routers[router].core.links(mesh.now);
        let data = links.iter().filter(|link| link.link_type == LinkType::InterRouter);
        assert_eq!(data.map(|link| link.delivery_count).sum::<u64>(), 0);
    }
}

#[test]
fn credit_for_control_messages_comes_back_at_once() {
    let mut mesh = listening(&["A", "B"], &[(0, 1)]);
    for _ in 0..600 {
        mesh.send_control(0, "amqp:/_local/qdhello", None);
    }
    let links = mesh.routers[1].core.links(mesh.now);
    let control = links.iter().find(|link| link.link_type == LinkType::RouterControl && link.incoming).unwrap();
    assert_eq!((control.delivery_count, control.credit_available), (600, 250));
}

#[test]
fn a_neighbour_that_takes_nothing_does_not_hold_up_what_others_have_to_say() {
    let mut mesh = listening(&["A", "B", "C"], &LINE);
    let conn = mesh.connection(1, 2);
    let record = &mut mesh.routers[1];
    record.core.set_writable(mesh.now, &mut record.host, conn, false);
    for _ in 0..1_000 {
        mesh.send_control(0, "amqp:/_topo/0/all/qdrouter", None);
    }
    let last = mesh.send_control(0, "amqp:/_topo/0/all/qdrouter", None);
    assert_eq!(mesh.subscribed(last), [0, 1, 0]);
    let waiting = mesh.routers[1].core.links(mesh.now).iter().map(|link| link.undelivered_count).sum::<u64>();
    // As many as the capacity of the link, and the one that is first.
    assert!(waiting <= 251, "{waiting} control messages wait");
}

#[test]
fn a_client_cannot_send_to_the_routing_protocol() {
    let mut mesh = listening(&["A", "B"], &[(0, 1)]);
    let anonymous = mesh.sender(0, "");
    for to in ["_local/qdhello", "_topo/0/all/qdrouter", "_topo/0/B/qdrouter", "_topo/0/all/qdrouter.ma"] {
        let message = mesh.send_to(anonymous, to);
        assert_eq!(mesh.told(message), Some(amqp::DeliveryState::Released), "{to}");
        assert_eq!(mesh.subscribed(message), [0, 0]);
    }
    let targeted = mesh.sender(0, "_local/qdhello");
    let message = mesh.send(targeted);
    assert_eq!(mesh.told(message), Some(amqp::DeliveryState::Released));
}

#[test]
fn management_sees_a_router_as_an_address_and_neighbours_at_qdhello() {
    let mesh = listening(&["A", "B", "C"], &LINE);
    let router = mesh.address(0, "RC");
    assert_eq!((router.distribution, router.remote_count), (Treatment::Closest, 1));
    assert_eq!(router.remote_host_routers, ["C"]);
    assert_eq!(mesh.address(1, "Lqdhello").subscriber_count, 2);
    assert_eq!(mesh.address(1, "Tqdrouter").remote_count, 2);
    assert_eq!(mesh.routers[1].core.statistics().node_count, 2);
}

#[test]
fn a_router_that_is_gone_leaves_nothing() {
    let mut mesh = listening(&["A", "B", "C"], &LINE);
    mesh.receiver(2, "q", 10);
    let before = mesh.routers[0].core.object_counts().addresses;
    let index = mesh.index(0, 2);
    let record = &mut mesh.routers[0];
    record.core.remove_router(mesh.now, &mut record.host, index);
    assert!(record.core.address("RC").is_none() && record.core.address("M0q").is_none());
    assert_eq!(record.core.object_counts().addresses, before - 2);
}

#[test]
fn a_control_message_that_is_refused_is_told_of_once_in_a_line_that_names_both_routers() {
    let mut mesh = listening(&["A", "B"], &[(0, 1)]);
    mesh.routers[1].host.refuses = Some("Too many messages wait");
    for _ in 0..3 {
        mesh.send_control(0, "amqp:/_topo/0/B/qdrouter.ma", None);
    }
    let told = |mesh: &Mesh| mesh.routers[1].host.logs.iter().filter(|line| line.contains("refuses")).count();
    let line = mesh.routers[1].host.logs.iter().find(|line| line.contains("refuses")).expect("it is told");
    let parts = ["Router B refuses", "_topo/0/B/qdrouter.ma", "from router A", "Too many messages wait"];
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    assert_eq!(told(&mesh), 1);
    mesh.pass_time(3_600);
    mesh.send_control(0, "amqp:/_topo/0/B/qdrouter.ma", None);
    assert_eq!(told(&mesh), 2);
}
