//! Links that are passed on to a container, over real sockets.

use std::net::SocketAddr;
use std::time::Duration;

use amqp::performative::Manner;
use amqp::{DeliveryState, Map, Value};
use amqp_endpoint::{LinkId, NewDelivery};
use router_core::{NewLinkRoute, RouteDirection, RouteVia};

use super::client::{Client, Happened, message};
use super::router::{PATIENCE, Router};
use crate::shard::{ConnectionSettings, Role};

/// A router that passes links for `queue` on to the container `test`, and that container.
fn routed(workers: usize) -> (Router, Client) {
    let router = Router::with(workers, ConnectionSettings::default());
    for direction in [RouteDirection::In, RouteDirection::Out] {
        let new = NewLinkRoute {
            name: None,
            prefix: Some("queue".to_owned()),
            pattern: None,
            direction,
            via: RouteVia::Container("test".to_owned()),
            add_external_prefix: None,
            del_external_prefix: None,
        };
        router.shards.with_core(|core, host, now| core.create_link_route(now, host, new)).expect("valid");
    }
    let containers = router.listen(ConnectionSettings { role: Role::RouteContainer, ..ConnectionSettings::default() });
    let container = container_at(&router, containers);
    (router, container)
}

fn container_at(router: &Router, containers: SocketAddr) -> Client {
    let container = Client::connect(containers);
    router.wait_until("the link routes are active", |shards| {
        shards.with_core(|core, _, _| core.link_routes().iter().all(|route| route.active))
    });
    container
}

/// Attaches while the container answers: the client's link and the container's.
fn attached(client: &mut Client, container: &mut Client, sender: bool, address: &str) -> (LinkId, LinkId) {
    let near = client.begin_link(sender, address);
    let far = container.attached();
    client.expect("the answer", |happened| matches!(happened, Happened::Attached(link, _) if *link == near));
    (near, far)
}

#[test]
fn a_stuck_large_message_does_not_hold_up_the_links_of_other_clients() {
    let (router, mut container) = routed(1);
    let (mut stuck, mut other) = (router.client(), router.client());
    let (near, large) = attached(&mut stuck, &mut container, false, "queue.a");
    stuck.endpoint.add_credit(near, 1);
    stuck.write();
    let (near, small) = attached(&mut other, &mut container, false, "queue.b");
    // From here on nobody reads what the first client gets.
    container.begin(large, false);
    let piece = vec![b'x'; 256 * 1024];
    let mut sent = 0;
    let begun = std::time::Instant::now();
    let mut idle = 0;
    while idle < 20 {
        let taken = container.endpoint.send_payload(large, &piece, true);
        sent += taken;
        idle = if taken == 0 { idle + 1 } else { 0 };
        container.turn(Duration::from_millis(5));
        assert!(begun.elapsed() < PATIENCE, "the router takes everything: {sent} bytes");
    }
    other.endpoint.add_credit(near, 1);
    other.write();
    container.send(small, false, &message(100));
    assert_eq!(other.receive().bytes, message(100));
}

#[test]
fn links_of_one_client_share_a_session_at_the_container_and_others_do_not() {
    let (router, mut container) = routed(2);
    let (mut one, mut two) = (router.client(), router.client());
    let links = [
        attached(&mut one, &mut container, false, "queue.a").1,
        attached(&mut one, &mut container, true, "queue.b").1,
        attached(&mut two, &mut container, true, "queue.c").1,
    ];
    let sessions = links.map(|link| container.endpoint.link(link).expect("attached").session);
    assert_eq!(sessions[0], sessions[1]);
    assert_ne!(sessions[0], sessions[2]);
}

#[test]
fn a_session_is_used_again_when_its_client_is_gone() {
    let (router, mut container) = routed(1);
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let mut client = router.client();
        let (_, far) = attached(&mut client, &mut container, true, "queue.a");
        sessions.push(container.endpoint.link(far).expect("attached").session);
        drop(client);
        container.expect("the detach", |happened| matches!(happened, Happened::Detached { .. }));
        container.write();
        router.wait_until("the link is gone", |shards| shards.with_core(|core, _, _| core.object_counts().links == 0));
    }
    assert_eq!(sessions, [sessions[0]; 3]);
}

#[test]
fn what_a_sender_says_with_its_frames_and_flows_reaches_the_container_on_any_shard() {
    for workers in [1, 2] {
        let (router, mut container) = routed(workers);
        router.shards.spread();
        let mut client = router.client();
        let (near, far) = attached(&mut client, &mut container, true, "queue.a");
        let properties = Box::new(Map::from_iter([(Value::from("k"), Value::Int(7))]));
        container.endpoint.say_with_flow(far, properties.clone());
        container.endpoint.add_credit(far, 2);
        container.write();
        client.expect(
            "the properties",
            |happened| matches!(happened, Happened::FlowProperties(link, told) if *link == near && *told == properties),
        );
        client.endpoint.say_with_flow(near, properties.clone());
        client.write();
        container.expect(
            "the properties",
            |happened| matches!(happened, Happened::FlowProperties(link, told) if *link == far && *told == properties),
        );
        let state = DeliveryState::Received { section_number: 1, section_offset: 2 };
        let manner = Manner { batchable: true, resume: true, ..Manner::default() };
        container.endpoint.take_resumed(far);
        client.wait_for_credit(near);
        let new = NewDelivery { key: 1, tag: b"tag", message_format: 0, settled: false, state: None, manner };
        assert!(client.endpoint.begin_delivery(near, &new));
        client.send_part(near, &message(1000), true);
        client.endpoint.set_delivery_state(near, state.clone());
        client.send_part(near, b"", false);
        let received = container.receive();
        assert_eq!((received.tag.as_slice(), received.manner, received.last_state), (&b"tag"[..], manner, Some(state)));
    }
}
