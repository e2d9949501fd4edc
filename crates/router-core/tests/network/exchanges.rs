//! Exchanges in a network.

use amqp::DeliveryState;
use router_core::*;

use crate::mesh::{Client, Mesh};

/// Gives a router an exchange at `x` that sends whatever has the subject `s` to these addresses.
fn exchange_at(mesh: &mut Mesh, router: usize, next_hops: &[&str]) {
    let now = mesh.now;
    let router = &mut mesh.routers[router];
    let new = NewExchange { name: "e".into(), address: "x".into(), ..NewExchange::default() };
    router.core.create_exchange(now, &mut router.host, new).unwrap();
    for hop in next_hops {
        let new = NewBinding {
            exchange: "e".into(),
            key: Some("s".into()),
            next_hop: (*hop).into(),
            ..NewBinding::default()
        };
        router.core.create_binding(now, &mut router.host, new).unwrap();
    }
    mesh.settle();
    mesh.converge();
}

fn publish(mesh: &mut Mesh, sender: Client) -> u64 {
    mesh.send_with(sender, |message| message.subject = Some("s".into()), false)
}

#[test]
fn a_message_comes_back_over_the_connection_by_which_it_came_to_its_exchange() {
    for treatment in [Treatment::Multicast, Treatment::Balanced, Treatment::Closest] {
        let mut mesh = Mesh::line(&["A", "B", "C"], "hop", treatment);
        exchange_at(&mut mesh, 0, &["hop"]);
        let receiver = mesh.receiver(2, "hop", 10);
        let sender = mesh.sender(2, "x");
        let number = publish(&mut mesh, sender);
        assert_eq!(mesh.counts([receiver]), [1], "{treatment:?}");
        assert_eq!(mesh.told(number), Some(DeliveryState::Accepted));
        let got = mesh.received[0].message.router().ingress.map(str::to_owned);
        assert_eq!(got.as_deref(), None, "a client gets no annotations");
    }
}

#[test]
fn each_next_hop_gets_one_copy_wherever_it_is() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "m", Treatment::Multicast);
    exchange_at(&mut mesh, 1, &["m", "n", "here"]);
    let receivers =
        [mesh.receiver(0, "m", 10), mesh.receiver(2, "m", 10), mesh.receiver(2, "n", 10), mesh.receiver(1, "here", 10)];
    let sender = mesh.sender(0, "x");
    for _ in 0..3 {
        publish(&mut mesh, sender);
    }
    assert_eq!(mesh.counts(receivers), [3; 4]);
}

#[test]
fn a_router_with_an_exchange_is_a_consumer_for_others_until_it_is_gone() {
    let mut mesh = Mesh::line(&["A", "B"], "m", Treatment::Multicast);
    exchange_at(&mut mesh, 0, &["hop"]);
    let sender = mesh.sender(1, "x");
    assert_eq!(mesh.link(sender).credit_available, 250);
    let id = mesh.routers[0].core.exchanges()[0].id;
    let now = mesh.now;
    let router = &mut mesh.routers[0];
    assert!(router.core.delete_exchange(now, &mut router.host, id));
    mesh.settle();
    mesh.converge();
    let number = publish(&mut mesh, sender);
    assert_eq!(mesh.told(number), Some(DeliveryState::Released));
}

#[test]
fn a_message_that_is_still_coming_passes_an_exchange_on_another_router() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "m", Treatment::Multicast);
    exchange_at(&mut mesh, 1, &["m", "n"]);
    let receivers = [mesh.receiver(0, "m", 10), mesh.receiver(2, "n", 10)];
    let sender = mesh.sender(0, "x");
    let number = mesh.send_with(
        sender,
        |message| {
            message.subject = Some("s".into());
            message.complete.store(false, std::sync::atomic::Ordering::Relaxed);
        },
        false,
    );
    mesh.end(number);
    assert_eq!((mesh.counts(receivers), mesh.told(number)), ([1, 1], Some(DeliveryState::Accepted)));
    for router in &mesh.routers {
        assert_eq!(router.core.object_counts().deliveries, 0);
    }
}
