//! Edge routers and the interior router that they are connected to.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use amqp::DeliveryState;
use router_core::*;

use crate::host::Message;
use crate::mesh::{Mesh, Router};

/// Two interior routers, and an edge router with the links that each has on its uplink to the first.
fn with_edge() -> Mesh {
    with_edge_distributing("x", Treatment::Balanced)
}

fn with_edge_distributing(prefix: &str, distribution: Treatment) -> Mesh {
    let mut mesh = Mesh::distributing(&["A", "B", "edge1", "edge2"], prefix, distribution);
    mesh.join_with(0, 1, |info| info.streaming_links = true);
    for edge in [2, 3] {
        mesh.join_with(edge, 0, |info| {
            info.role = Role::Edge;
            info.streaming_links = true;
        });
        mesh.open_uplink(edge, 0, None, false, Bound::Address("L_edge".into()));
        let id = mesh.routers[edge].host.id.clone();
        mesh.open_uplink_with(edge, 0, Some(&id), &["qd.router-edge-downlink"], true, Bound::Anonymous);
    }
    mesh.converge();
    mesh
}

/// What the edge protocol of a router was told since the last time.
fn told(mesh: &mut Mesh, router: usize) -> Vec<String> {
    std::mem::take(&mut mesh.routers[router].host.edge)
}

/// What an edge router's protocol does when an address has a consumer there.
fn consumer_proxy(mesh: &mut Mesh, edge: usize, address: &str) -> LinkKey {
    let link = mesh.open_uplink(edge, 0, Some(address), true, Bound::Address(format!("M0{address}")));
    mesh.converge();
    link
}

#[test]
fn an_open_uplink_is_told_to_the_edge_protocol() {
    let mut mesh = Mesh::of(&["A", "edge1"]);
    mesh.join_with(1, 0, |info| info.role = Role::Edge);
    let conn = mesh.connection(1, 0);
    assert_eq!(told(&mut mesh, 1), [format!("{:?}", EdgeEvent::UplinkOpened { conn, id: 1 })]);
    assert!(told(&mut mesh, 0).is_empty());
    mesh.cut(0, 1);
    assert_eq!(told(&mut mesh, 1), [format!("{:?}", EdgeEvent::ConnectionLost { conn })]);
}

#[test]
fn the_peers_answer_is_told_to_the_edge_protocol() {
    let mut mesh = with_edge();
    told(&mut mesh, 2);
    let link = mesh.open_uplink(2, 0, Some("q"), true, Bound::Anonymous);
    let answered = EdgeEvent::LinkAnswered { link, address: Some("q") };
    assert_eq!(told(&mut mesh, 2), [format!("{answered:?}")]);
}

#[test]
fn a_detached_link_is_told_to_the_edge_protocol_unless_it_was_closed_from_here() {
    let mut mesh = with_edge();
    let links = [0, 1].map(|_| mesh.open_uplink(2, 0, Some("q"), true, Bound::Anonymous));
    told(&mut mesh, 2);
    let record = &mut mesh.routers[2];
    record.core.detach(mesh.now, &mut record.host, links[0], true, None);
    record.core.close_link(mesh.now, &mut record.host, links[1]);
    assert_eq!(told(&mut mesh, 2), [format!("{:?}", EdgeEvent::LinkLost { link: links[0] })]);
}

#[test]
fn an_edge_router_is_reached_by_its_own_address_from_everywhere() {
    let mut mesh = with_edge();
    let receiver = mesh.receiver(2, "_edge/edge1/temp.x", 10);
    let senders = [0, 1, 3].map(|router| mesh.sender(router, "_edge/edge1/temp.x"));
    for sender in senders {
        let message = mesh.send(sender);
        mesh.accept(message);
        assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
    }
    assert_eq!(mesh.counts([receiver]), [3]);
    assert!(mesh.routers[1].core.address("Hedge1").is_some_and(|address| address.remote_count == 1));
    let links = mesh.routers[0].core.links(mesh.now);
    assert_eq!(links.iter().filter(|link| link.link_type == LinkType::EdgeDownlink).count(), 2);
}

#[test]
fn what_is_not_at_an_edge_router_goes_up() {
    let mut mesh = with_edge();
    let receivers = [mesh.receiver(1, "q", 10), mesh.receiver(2, "here", 10)];
    let sender = mesh.sender(2, "");
    for to in ["q", "here", "_topo/0/B/nobody"] {
        mesh.send_to(sender, to);
    }
    assert_eq!(mesh.counts(receivers), [1, 1]);
    let message = mesh.send_to(sender, "nowhere");
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Released), true));
}

#[test]
fn a_reply_from_within_an_edge_router_goes_up() {
    let mut mesh = with_edge();
    let receiver = mesh.receiver(1, "_topo/0/B/temp.x", 10);
    assert!(mesh.send_local(2, "amqp:/_topo/0/B/temp.x"));
    assert_eq!(mesh.counts([receiver]), [1]);
}

#[test]
fn consumers_and_producers_at_an_edge_router_are_told_without_its_own_uplink() {
    use crate::host::Event;
    let mut mesh = with_edge();
    told(&mut mesh, 2);
    mesh.routers[2].host.events.clear();
    let receiver = mesh.receiver_only(2, "q");
    let sender = mesh.sender(2, "r");
    consumer_proxy_only(&mut mesh, "q");
    mesh.open_uplink(2, 0, Some("r"), false, Bound::Address("M0r".into()));
    assert_eq!(mesh.routers[2].host.events, [Event::Here("M0q".into(), Treatment::Balanced)]);
    let producers = |present| format!("{:?}", EdgeEvent::Producers { key: "M0r", present });
    assert!(told(&mut mesh, 2).contains(&producers(true)));
    mesh.lose_only(receiver);
    mesh.lose_only(sender);
    assert_eq!(mesh.routers[2].host.events.last(), Some(&Event::NotHere("M0q".into())));
    assert!(told(&mut mesh, 2).contains(&producers(false)));
}

fn consumer_proxy_only(mesh: &mut Mesh, address: &str) {
    mesh.open_uplink(2, 0, Some(address), true, Bound::Address(format!("M0{address}")));
}

#[test]
fn a_consumer_at_an_edge_router_is_reached_from_the_interior() {
    let mut mesh = with_edge();
    let receiver = mesh.receiver(2, "q", 10);
    consumer_proxy(&mut mesh, 2, "q");
    let sender = mesh.sender(1, "q");
    assert_eq!(mesh.link(sender).credit_available, 250);
    let message = mesh.send(sender);
    mesh.accept(message);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
    assert_eq!(mesh.counts([receiver]), [1]);
}

#[test]
fn a_producer_at_an_edge_router_has_credit_while_its_proxy_is_bound() {
    let mut mesh = with_edge();
    let receiver = mesh.receiver(1, "q", 10);
    let sender = mesh.sender(2, "q");
    let proxy = mesh.open_uplink(2, 0, Some("q"), false, Bound::Nothing);
    assert_eq!(mesh.link(sender).credit_available, 0);
    let record = &mut mesh.routers[2];
    record.core.bind_link(mesh.now, &mut record.host, proxy, Some("M0q"));
    mesh.settle();
    assert_eq!(mesh.link(sender).credit_available, 250);
    mesh.send(sender);
    assert_eq!(mesh.counts([receiver]), [1]);
    let record = &mut mesh.routers[2];
    record.core.bind_link(mesh.now, &mut record.host, proxy, None);
    let message = mesh.send(sender);
    assert_eq!(mesh.told(message), Some(DeliveryState::Released));
}

#[test]
fn what_came_down_does_not_go_up_again() {
    for distribution in [Treatment::Balanced, Treatment::Closest] {
        let mut mesh = with_edge_distributing("x", distribution);
        let receiver = mesh.receiver(2, "x", 10);
        mesh.sender(2, "x");
        consumer_proxy(&mut mesh, 2, "x");
        mesh.open_uplink(2, 0, Some("x"), false, Bound::Address("M0x".into()));
        let sender = mesh.sender(0, "x");
        for _ in 0..6 {
            mesh.send(sender);
        }
        assert_eq!(mesh.counts([receiver]), [6], "{distribution:?}");
    }
}

#[test]
fn what_came_from_an_edge_router_does_not_go_back_there() {
    for distribution in [Treatment::Balanced, Treatment::Closest] {
        for elsewhere in [0, 1, 3] {
            let mut mesh = with_edge_distributing("x", distribution);
            let receivers = [2, elsewhere].map(|router| mesh.receiver(router, "x", 10));
            consumer_proxy(&mut mesh, 2, "x");
            if elsewhere == 3 {
                consumer_proxy(&mut mesh, 3, "x");
            }
            let sender = mesh.sender(2, "x");
            let proxy = mesh.open_uplink(2, 0, Some("x"), false, Bound::Address("M0x".into()));
            for _ in 0..8 {
                let message = mesh.send(sender);
                mesh.accept(message);
            }
            let sent_up = mesh.routers[2].core.link(mesh.now, proxy).expect("there").delivery_count;
            let counts = mesh.counts(receivers);
            assert!(sent_up > 0, "{distribution:?} {elsewhere}");
            assert_eq!(counts, [8 - sent_up as usize, sent_up as usize], "{distribution:?} {elsewhere}");
        }
    }
}

#[test]
fn what_came_from_the_only_consumers_edge_router_is_released() {
    for distribution in [Treatment::Balanced, Treatment::Closest] {
        let mut mesh = with_edge_distributing("x", distribution);
        let receiver = mesh.receiver(2, "x", 10);
        consumer_proxy(&mut mesh, 2, "x");
        let proxy = mesh.open_uplink(2, 0, Some("x"), false, Bound::Nothing);
        let sender = mesh.sender(2, "y");
        let record = &mut mesh.routers[2];
        record.core.bind_link(mesh.now, &mut record.host, proxy, Some("M0y"));
        mesh.settle();
        let message = mesh.send(sender);
        assert_eq!(mesh.told(message), Some(DeliveryState::Released), "{distribution:?}");
        assert_eq!(mesh.counts([receiver]), [0], "{distribution:?}");
    }
}

#[test]
fn a_large_message_holds_up_nobody_between_an_edge_router_and_the_interior() {
    for (from, to) in [(2, 1), (1, 2), (2, 3)] {
        let mut mesh = with_edge();
        let addresses = ["slow", "quick", "slower"];
        let receivers = addresses.map(|address| mesh.receiver(to, address, 10));
        let senders = addresses.map(|address| {
            for edge in [from, to].into_iter().filter(|router| *router > 1) {
                if edge == to {
                    consumer_proxy(&mut mesh, edge, address);
                } else {
                    mesh.open_uplink(edge, 0, Some(address), false, Bound::Address(format!("M0{address}")));
                }
            }
            mesh.sender(from, address)
        });
        let anonymous = mesh.sender(from, "");
        let large = [
            mesh.begin(senders[0]),
            mesh.send_with(
                anonymous,
                |message| {
                    message.to = Some("slower".into());
                    message.complete.store(false, Ordering::Relaxed);
                },
                false,
            ),
        ];
        mesh.send(senders[1]);
        mesh.send_to(anonymous, "quick");
        assert_eq!(mesh.counts(receivers), [1, 2, 1], "{from} to {to}");
        for message in large {
            mesh.end(message);
            mesh.accept(message);
            assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true), "{from} to {to}");
        }
    }
}

#[test]
fn a_large_multicast_from_an_edge_router_reaches_each_subscriber_once() {
    for anonymous in [false, true] {
        let mut mesh = with_edge_distributing("m", Treatment::Multicast);
        let receivers = [0, 1, 2, 3].map(|router| mesh.receiver(router, "m", 10));
        consumer_proxy(&mut mesh, 2, "m");
        consumer_proxy(&mut mesh, 3, "m");
        let sender = mesh.sender(2, if anonymous { "" } else { "m" });
        if !anonymous {
            mesh.open_uplink(2, 0, Some("m"), false, Bound::Address("M0m".into()));
        }
        let begin = |message: &mut Message| {
            message.to = Some("m".into());
            message.complete.store(false, Ordering::Relaxed);
        };
        let message = mesh.send_with(sender, begin, false);
        mesh.end(message);
        mesh.accept(message);
        assert_eq!(mesh.counts(receivers), [1; 4], "anonymous: {anonymous}");
        assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true), "anonymous: {anonymous}");
    }
}

#[test]
fn what_a_sender_at_an_edge_router_sends_after_a_large_message_takes_the_same_way() {
    let mut mesh = with_edge();
    mesh.receiver(1, "q", 100);
    let sender = mesh.sender(2, "q");
    let proxy = mesh.open_uplink(2, 0, Some("q"), false, Bound::Address("M0q".into()));
    for _ in 0..3 {
        let large = mesh.begin(sender);
        mesh.end(large);
        mesh.send(sender);
    }
    assert_eq!(mesh.routers[2].core.link(mesh.now, proxy).expect("there").delivery_count, 0);
    for router in [2, 0] {
        let links = mesh.routers[router].core.links(mesh.now);
        let used: Vec<_> = links.iter().filter(|link| !link.incoming).map(|link| link.delivery_count).collect();
        assert_eq!(used.iter().filter(|count| **count > 0).collect::<Vec<_>>(), [&6], "{}", router);
    }
}

#[test]
fn a_fallback_in_the_interior_is_asked_for_apart_from_the_address() {
    let mut mesh = with_edge();
    for router in &mut mesh.routers {
        let new = NewAddressConfig { prefix: Some("f".into()), fallback: true, ..Default::default() };
        router.core.create_address_config(&mut router.host, new).expect("valid");
    }
    told(&mut mesh, 2);
    let sender = mesh.sender(2, "f/x");
    let producers = |key| format!("{:?}", EdgeEvent::Producers { key, present: true });
    assert_eq!(told(&mut mesh, 2), [producers("M0f/x"), producers("MFf/x")]);

    let fallback = mesh.fallback_receiver(1, "f/x", 10);
    mesh.open_uplink(2, 0, Some("f/x"), false, Bound::Nothing);
    mesh.open_uplink_with(2, 0, Some("f/x"), &["qd.fallback"], false, Bound::Address("MFf/x".into()));
    let message = mesh.send(sender);
    mesh.accept(message);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
    assert_eq!(mesh.counts([fallback]), [1]);
}

#[test]
fn a_message_without_a_link_of_its_address_looks_for_the_address_in_the_interior_before_the_fallback() {
    let mut mesh = with_edge();
    for router in &mut mesh.routers {
        let new = NewAddressConfig { prefix: Some("f".into()), fallback: true, ..Default::default() };
        router.core.create_address_config(&mut router.host, new).expect("valid");
    }
    let receivers = [mesh.fallback_receiver(2, "f/x", 10), mesh.receiver(1, "f/x", 10)];
    let sender = mesh.sender(2, "");
    mesh.send_to(sender, "f/x");
    assert_eq!(mesh.counts(receivers), [0, 1]);
}

#[test]
fn a_multicast_reaches_each_subscriber_at_edges_and_in_the_interior_once() {
    for from in 0..4 {
        for anonymous in [false, true] {
            let mut mesh = with_edge_distributing("m", Treatment::Multicast);
            let receivers = [0, 1, 2, 3].map(|router| mesh.receiver(router, "m", 10));
            consumer_proxy(&mut mesh, 2, "m");
            consumer_proxy(&mut mesh, 3, "m");
            let sender = mesh.sender(from, if anonymous { "" } else { "m" });
            if from > 1 && !anonymous {
                mesh.open_uplink(from, 0, Some("m"), false, Bound::Address("M0m".into()));
            }
            mesh.send_with(sender, |message| message.to = Some("m".into()), false);
            assert_eq!(mesh.counts(receivers), [1; 4], "from {from}, anonymous: {anonymous}");
        }
    }
}

#[test]
fn the_interior_router_is_the_ingress_of_what_comes_from_an_edge() {
    let mut mesh = with_edge();
    let receiver = mesh.receiver(1, "q", 10);
    let sender = mesh.sender(2, "");
    let message = mesh.send_to(sender, "q");
    mesh.accept(message);
    let counts: Vec<_> = mesh.link(receiver).ingress_histogram.expect("outgoing").counts().collect();
    assert_eq!(counts[usize::from(mesh.index(1, 0).0)], 1);
}

#[test]
fn where_consumers_are_is_told_for_addresses_that_an_edge_router_produces_for() {
    let mut mesh = with_edge();
    mesh.sender(2, "q");
    told(&mut mesh, 0);
    let conn = edge_connection(&mesh, 2);
    mesh.open_uplink(2, 0, Some("q"), false, Bound::Nothing);
    let producer = EdgeEvent::EdgeProducer { conn, key: "M0q", present: true, destinations: Destinations::None };
    assert_eq!(told(&mut mesh, 0), [format!("{producer:?}")]);
    let last = |mesh: &mut Mesh| told(mesh, 0).pop();
    let news = |destinations| Some(format!("{:?}", EdgeEvent::Destinations { key: "M0q", destinations }));
    mesh.receiver_only(2, "q");
    consumer_proxy(&mut mesh, 2, "q");
    assert_eq!(last(&mut mesh), news(Destinations::Only(conn)));
    let receiver = mesh.receiver(1, "q", 0);
    assert_eq!(last(&mut mesh), news(Destinations::Elsewhere));
    mesh.lose(receiver);
    assert_eq!(last(&mut mesh), news(Destinations::Only(conn)));
}

/// The first interior router's connection to an edge router.
fn edge_connection(mesh: &Mesh, edge: usize) -> ConnKey {
    mesh.connection(0, edge)
}

#[test]
fn news_of_addresses_go_over_the_link_that_tracks_them() {
    let mut mesh = with_edge();
    let record = &mut mesh.routers[2];
    let subscriber = record.core.subscribe(mesh.now, &mut record.host, "L$tracking");
    told(&mut mesh, 0);
    mesh.open_uplink(2, 0, Some("_$qd.edge_addr_tracking"), true, Bound::Subscriber(subscriber));
    let told = told(&mut mesh, 0);
    assert!(told[0].starts_with("Tracking") && told[0].ends_with("present: true }"), "{told:?}");
    let links = mesh.routers[0].core.links(mesh.now);
    let tracking = links.iter().rfind(|link| link.name == "qdlink.uplink").expect("attached").key;
    assert_eq!(mesh.address(0, "M0_$qd.edge_addr_tracking").subscriber_count, 0);
    let record = &mut mesh.routers[0];
    let news = Arc::new(Message::new(77, None, 4));
    assert!(record.core.send_on(mesh.now, &mut record.host, tracking, news));
    mesh.settle();
    assert_eq!(mesh.routers[2].host.subscribed, [(subscriber, 77)]);
}

#[test]
fn heartbeats_are_told_with_the_connection_that_they_came_on() {
    let mut mesh = with_edge();
    told(&mut mesh, 0);
    let conn = edge_connection(&mesh, 2);
    let link = mesh.open_uplink(2, 0, Some("_$qd.edge_heartbeat"), false, Bound::Nothing);
    let record = &mut mesh.routers[2];
    let beat = Arc::new(Message::new(78, None, 4));
    assert!(record.core.send_on(mesh.now, &mut record.host, link, beat));
    mesh.settle();
    let attached = EdgeEvent::HeartbeatLink { conn, container: "edge1", present: true };
    let expected = [format!("{attached:?}"), format!("{:?}", EdgeEvent::Heartbeat { conn })];
    assert_eq!(told(&mut mesh, 0), expected);
}

#[test]
fn what_becomes_of_a_message_that_was_sent_unsettled_is_told() {
    for (state, accepted) in [(DeliveryState::Accepted, true), (DeliveryState::Released, false)] {
        let mut mesh = with_edge();
        mesh.receiver(0, "q", 10);
        let link = mesh.open_uplink(2, 0, Some("q"), false, Bound::Nothing);
        told(&mut mesh, 2);
        let record = &mut mesh.routers[2];
        let request = Arc::new(Message::new(79, None, 4));
        let delivery = record.core.ask_on(mesh.now, &mut record.host, link, request).expect("the link is there");
        mesh.settle();
        assert_eq!((mesh.received.len(), told(&mut mesh, 2)), (1, Vec::new()));
        mesh.outcome(79, state);
        assert_eq!(told(&mut mesh, 2), [format!("{:?}", EdgeEvent::Outcome { delivery, accepted })]);
        assert_eq!(mesh.routers[2].core.object_counts().deliveries, 0);
    }
}

#[test]
fn a_look_up_says_whether_an_address_is_known_and_has_consumers() {
    let mut mesh = with_edge();
    mesh.receiver(1, "q", 0);
    mesh.sender(0, "r");
    let look_up = |mesh: &mut Mesh, address: &str| mesh.routers[0].core.look_up(address, true);
    assert_eq!(look_up(&mut mesh, "q"), Some((false, true)));
    assert_eq!(look_up(&mut mesh, "r"), Some((false, false)));
    assert_eq!(look_up(&mut mesh, "s"), None);
}

/// The edge router learns that an address is a link route, which is gone when its attach comes: it must not become a
/// consumer of an ordinary address, and is told so.
#[test]
fn an_attach_for_a_link_route_that_is_gone_meanwhile_is_refused() {
    let mut mesh = with_edge();
    let (now, router, edge) = (mesh.now, mesh.index(0, 1), mesh.connection(0, 2));
    let Router { core, host, .. } = &mut mesh.routers[0];
    core.add_remote_address(now, host, router, "Dq", None);
    assert_eq!(core.look_up_for(now, Some(edge), "q", false), Some((true, true)));
    core.remove_remote_address(now, host, router, "Dq");
    told(&mut mesh, 2);
    mesh.open_uplink(2, 0, Some("q"), true, Bound::Anonymous);
    assert!(told(&mut mesh, 2).iter().any(|event| event.starts_with("LinkLost")));
    assert!(mesh.routers[0].core.address("M0q").is_none());
    // What the edge router attaches later is for its own consumers.
    mesh.open_uplink(2, 0, Some("q"), true, Bound::Anonymous);
    assert!(mesh.routers[0].core.address("M0q").is_some());
}

#[test]
fn hundreds_of_edge_routers_of_one_interior_router_reach_each_other_and_leave_nothing_behind() {
    const EDGES: usize = 300;
    let names: Vec<String> = (0..EDGES).map(|edge| format!("edge{edge}")).collect();
    let ids: Vec<&str> = std::iter::once("A").chain(names.iter().map(String::as_str)).collect();
    let mut mesh = Mesh::of(&ids);
    let before = mesh.routers[0].core.object_counts();
    for (edge, id) in ids.iter().enumerate().skip(1) {
        mesh.join_with(edge, 0, |info| info.role = Role::Edge);
        mesh.open_uplink(edge, 0, None, false, Bound::Address("L_edge".into()));
        mesh.open_uplink_with(edge, 0, Some(id), &["qd.router-edge-downlink"], true, Bound::Anonymous);
    }
    for edge in 1..=EDGES {
        let address = format!("q/{edge}");
        let receiver = mesh.receiver_only(edge, &address);
        mesh.credit(receiver, 1);
        mesh.open_uplink(edge, 0, Some(&address), true, Bound::Address(format!("M0{address}")));
    }
    mesh.converge();
    let sender = mesh.sender(1, "");
    for edge in 1..=EDGES {
        let message = mesh.send_to(sender, &format!("q/{edge}"));
        mesh.accept(message);
    }
    assert_eq!(mesh.received.len(), EDGES);
    for edge in 1..=EDGES {
        mesh.cut(edge, 0);
    }
    assert_eq!(mesh.routers[0].core.object_counts(), before);
}
