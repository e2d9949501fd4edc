//! The links between two routers, and what the routing protocol is told of them.

use router_core::*;

use crate::host::{Call, Event};
use crate::mesh::Mesh;

fn router_links(mesh: &Mesh, router: usize) -> Vec<(LinkType, bool, u8)> {
    let links = mesh.routers[router].core.links(mesh.now);
    links.iter().map(|link| (link.link_type, link.incoming, link.priority)).collect()
}

/// The order in which the side that connects attaches its links: type, the peer sends, priority.
fn order() -> Vec<(LinkType, bool, u8)> {
    let control = [true, false].map(|incoming| (LinkType::RouterControl, incoming, 9));
    let data = (0..10).flat_map(|priority| [true, false].map(|incoming| (LinkType::InterRouter, incoming, priority)));
    control.into_iter().chain(data).collect()
}

#[test]
fn the_side_that_connects_attaches_control_links_and_data_links_by_priority() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join(0, 1);
    assert_eq!(router_links(&mesh, 0), order());
}

#[test]
fn the_side_that_accepts_tells_priorities_by_the_order_of_attach() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join(0, 1);
    let mirrored: Vec<_> = order().into_iter().map(|(kind, incoming, priority)| (kind, !incoming, priority)).collect();
    assert_eq!(router_links(&mesh, 1), mirrored);
}

#[test]
fn links_between_routers_have_generated_names_a_capability_and_no_address() {
    let mut mesh = Mesh::of(&["A"]);
    let record = &mut mesh.routers[0];
    let info = ConnectionInfo { id: 1, role: Role::InterRouter, link_capacity: 250, ..Default::default() };
    record.core.open_connection(mesh.now, &mut record.host, 0, info);
    assert_eq!(record.host.calls.len(), 22);
    for (at, call) in record.host.calls.iter().enumerate() {
        let Call::Open(_, _, open) = call else { panic!("{call:?}") };
        let capability = if at < 2 { "qd.router" } else { "qd.router-data" };
        let source = open.source.as_ref().unwrap();
        let Some(amqp::terminus::TargetTerminus::Target(target)) = &open.target else { panic!("no target") };
        assert!(open.name.starts_with("qdlink.") && open.name.len() == 22, "{}", open.name);
        assert_eq!((source.address.as_ref(), target.address.as_ref()), (None, None));
        assert_eq!((source.capabilities[0].as_str(), target.capabilities[0].as_str()), (capability, capability));
        let class = if at < 2 { LinkClass::Control } else { LinkClass::Data((at as u8 - 2) / 2) };
        assert_eq!(open.class, class);
    }
}

#[test]
fn both_sides_have_250_credits_on_each_link() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join(0, 1);
    for router in 0..2 {
        let credits = mesh.routers[router].core.links(mesh.now).iter().map(|link| link.credit_available).max();
        assert_eq!(credits, Some(250));
        assert!(mesh.routers[router].core.links(mesh.now).iter().all(|link| link.credit_available == 250));
    }
}

#[test]
fn the_routing_protocol_learns_of_a_neighbour_and_its_cost() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join_at(0, 1, 7);
    for router in 0..2 {
        let conn = mesh.connection(router, 1 - router);
        assert_eq!(mesh.routers[router].host.events, [Event::Up(conn, 7)]);
    }
}

#[test]
fn the_routing_protocol_learns_of_a_lost_neighbour() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join(0, 1);
    let conn = mesh.connection(0, 1);
    mesh.cut(0, 1);
    assert_eq!(mesh.routers[0].host.events, [Event::Up(conn, 1), Event::Lost(conn)]);
}

#[test]
fn a_lost_control_link_is_a_lost_neighbour_though_the_connection_stays() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join(0, 1);
    let conn = mesh.connection(0, 1);
    let record = &mut mesh.routers[0];
    let control = record.core.links(mesh.now)[0].key;
    record.core.detach(mesh.now, &mut record.host, control, true, None);
    assert_eq!(record.host.events.last(), Some(&Event::Lost(conn)));
}

#[test]
fn a_standalone_router_attaches_nothing_by_itself() {
    let mut mesh = Mesh::of(&["A"]);
    let record = &mut mesh.routers[0];
    let info = ConnectionInfo { id: 1, link_capacity: 250, ..Default::default() };
    record.core.open_connection(mesh.now, &mut record.host, 0, info);
    assert!(record.host.calls.is_empty());
}

#[test]
fn both_sides_log_that_links_are_attached() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join(0, 1);
    let caps = "{<none> expire:sess caps::\"qd.router\"}";
    let line = |link: u64, dir: &str| format!("[C1][L{link}] Link attached: dir={dir} source={caps} target={caps}");
    for (router, dirs) in [["in", "out"], ["out", "in"]].into_iter().enumerate() {
        let logs = &mesh.routers[router].host.logs;
        let attached: Vec<_> = logs.iter().filter(|line| line.contains("Link attached")).collect();
        assert_eq!(attached.len(), 22);
        assert_eq!(attached[..2], [&line(1, dirs[0]), &line(2, dirs[1])]);
    }
}

#[test]
fn an_address_that_is_closed_here_is_refused_though_it_has_a_consumer_elsewhere() {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join(0, 1);
    mesh.receiver(1, "closed", 10);
    let record = &mut mesh.routers[0];
    let new =
        NewAddressConfig { prefix: Some("closed".into()), distribution: Treatment::Unavailable, ..Default::default() };
    record.core.create_address_config(&mut record.host, new).expect("valid");
    mesh.sender(0, "closed");
    let links = mesh.routers[0].core.links(mesh.now);
    assert!(links.iter().all(|link| link.link_type != LinkType::Endpoint));
}
