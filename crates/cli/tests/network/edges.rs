//! Edge routers and their uplinks.

use amqp::DeliveryState;
use management::client::{Request, Table};

use crate::support::{Receiving, Router, Sending, ask_through, message, wait_for};

/// Sends some messages, and sees that they come and are accepted.
fn pass(from: &Router, to: &Router, address: &str) {
    let mut receiving = Receiving::from(to, address);
    let mut sending = Sending::to(from, address);
    for number in 0..20 {
        sending.send(&message(number, 1000));
        assert_eq!(receiving.next(), message(number, 1000));
    }
    assert!(sending.outcomes(20).iter().all(|(_, state)| *state == DeliveryState::Accepted));
}

/// Waits until a router has an edge router that hangs on it.
fn has_edge(router: &Router, id: &str) {
    wait_for(&format!("{id} is connected to {}", router.id), || {
        let connections = router.entities("connection");
        connections.iter().any(|it| it.text("role") == Some("edge") && it.text("container") == Some(id)).then_some(())
    });
}

#[test]
fn messages_pass_between_edge_routers_of_different_interior_routers() {
    let a = Router::start("A", &[]);
    let b = Router::start("B", &[(&a, 1)]);
    a.reaches(&["B"]);
    let (first, second) = (Router::start_edge("E1", &[&a]), Router::start_edge("E2", &[&b]));
    has_edge(&a, "E1");
    has_edge(&b, "E2");
    pass(&first, &second, "there");
    pass(&second, &first, "back");
    pass(&a, &second, "down");
    pass(&second, &a, "up");
}

/// Two interior routers with two edge routers each: the interior ones first.
fn two_with_two_each() -> Vec<Router> {
    let a = Router::start("A", &[]);
    let b = Router::start("B", &[(&a, 1)]);
    a.reaches(&["B"]);
    b.reaches(&["A"]);
    let edges = [("E1", &a), ("E2", &a), ("E3", &b), ("E4", &b)].map(|(id, interior)| {
        let edge = Router::start_edge(id, &[interior]);
        has_edge(interior, id);
        edge
    });
    [a, b].into_iter().chain(edges).collect()
}

#[test]
fn messages_pass_between_all_of_two_interior_and_four_edge_routers() {
    let routers = two_with_two_each();
    for from in &routers {
        for to in &routers {
            pass(from, to, &format!("{}-{}", from.id, to.id));
        }
    }
}

#[test]
fn each_subscriber_of_a_multicast_gets_it_once_wherever_it_comes_from() {
    let routers = two_with_two_each();
    let mut receiving: Vec<_> = routers.iter().map(|router| Receiving::from(router, "multicast/news")).collect();
    for interior in &routers[..2] {
        interior.knows("multicast/news", 3, 1);
    }
    for from in &routers {
        let mut sending = Sending::to(from, "multicast/news");
        if from.routers == 0 {
            // Its own receiver and the uplink: from now on messages leave it.
            from.knows("multicast/news", 2, 0);
        }
        for number in 0..20 {
            sending.send(&message(number, 100));
        }
        let received: Vec<_> = receiving.iter_mut().map(|each| each.rest(20)).collect();
        assert_eq!(received, [20; 6], "from {}", from.id);
        assert!(sending.outcomes(20).iter().all(|(_, state)| *state == DeliveryState::Accepted));
    }
}

#[test]
fn what_an_edge_router_asks_in_no_way_known_is_rejected() {
    let a = Router::start("A", &[]);
    let mut asking = Sending::on(a.edge_client(), "_$qd.addr_lookup");
    asking.send(&message(0, 10));
    assert!(matches!(asking.outcomes(1)[..], [(_, DeliveryState::Rejected(_))]));
}

#[test]
fn an_edge_router_is_managed_through_the_interior_and_the_interior_through_it() {
    let a = Router::start("A", &[]);
    let edge = Router::start_edge("E1", &[&a]);
    has_edge(&a, "E1");
    let query = || Request::query(Some("org.apache.qpid.dispatch.router"), &["id", "mode"]);
    for (through, address, id) in
        [(&a, "_edge/E1/$management", "E1"), (&edge, "_topo/0/A/$management", "A"), (&edge, "$management", "E1")]
    {
        let answer = ask_through(through, address, query()).expect("it answers");
        assert_eq!(Table::from_body(answer).expect("it is a table").into_entities()[0].text("id"), Some(id));
    }
}

#[test]
fn an_edge_router_has_one_uplink_and_changes_to_another_when_that_is_lost() {
    let (mut a, mut b) = (Router::start("A", &[]), Router::start("B", &[]));
    let edge = Router::start_edge("E1", &[&a, &b]);
    let active = |id: &str| {
        let connections = edge.entities("connection");
        let active = |it: &&management::Attributes| it.boolean("active") == Some(true);
        let uplinks: Vec<_> = connections.iter().filter(|it| it.text("role") == Some("edge")).collect();
        let active: Vec<_> = uplinks.iter().copied().filter(active).filter_map(|it| it.text("container")).collect();
        (active == [id]).then_some(uplinks.len())
    };
    has_edge(&a, "E1");
    has_edge(&b, "E1");
    let first = wait_for("an uplink is active", || ["A", "B"].into_iter().find(|id| active(id) == Some(2)));

    let (lost, left) = if first == "A" { (&mut a, &b) } else { (&mut b, &a) };
    lost.kill();

    wait_for("the other uplink is active", || active(&left.id));
    pass(&edge, left, "after");
}
