//! The users' scenario of path redundancy: three routers, of which one connection and then one router fail, and a sender
//! that does not notice. The configurations are those of the manual of the old router, with other ports.

use amqp::DeliveryState;

use super::next;
use crate::ports::free_port;
use crate::support::cable::Cable;
use crate::support::codec::message;
use crate::support::interior::goes_through;
use crate::support::links::Link;
use crate::support::router::Router;
use crate::support::wire::Wire;
use crate::support::{CAPACITY, wait_for};

/// Port for clients, and where the connectors go.
fn router_a(clients: u16, to_b: u16, to_c: u16) -> String {
    format!(
        "\
router {{
    mode: interior
    id: Router.A
}}

listener {{
    host: 0.0.0.0
    port: {clients}
    authenticatePeer: no
}}

connector {{
    name: INTER_ROUTER_B
    addr: 127.0.0.1
    port: {to_b}
    role: inter-router
}}

connector {{
    name: INTER_ROUTER_C
    addr: 127.0.0.1
    port: {to_c}
    role: inter-router
}}
"
    )
}

fn router_b(clients: u16, routers: u16) -> String {
    format!(
        "\
router {{
    mode: interior
    id: Router.B
}}

listener {{
    addr: 0.0.0.0
    port: {routers}
    authenticatePeer: no
    role: inter-router
}}

listener {{
    host: 0.0.0.0
    port: {clients}
    authenticatePeer: no
}}
"
    )
}

fn router_c(clients: u16, routers: u16, to_b: u16) -> String {
    format!(
        "\
router {{
    mode: interior
    id: Router.C
}}

listener {{
    addr: 0.0.0.0
    port: {routers}
    authenticatePeer: no
    role: inter-router
}}

listener {{
    host: 0.0.0.0
    port: {clients}
    authenticatePeer: no
}}

connector {{
    name: INTER_ROUTER_B
    addr: 127.0.0.1
    port: {to_b}
    role: inter-router
}}
"
    )
}

/// Sends ten messages, which arrive in order and are all confirmed.
fn send_ten(sender: &mut Wire, to: Link, receiver: &mut Wire) {
    let sent: Vec<_> = (1..=10).map(|number| sender.send_message(to, false, &message(&number.to_string()))).collect();
    for number in 1..=10 {
        assert_eq!(next(receiver), number.to_string());
    }
    for delivery in sent {
        assert_eq!(sender.outcome(delivery), Some(DeliveryState::Accepted));
    }
}

/// Waits until a router knows a receiver of the queue on this other one, and on no more.
fn knows_receiver_on(router: &Router, other: &str) {
    let mut management = router.management();
    wait_for(&format!("the receiver on {other}"), || {
        let addresses = management.query("router.address");
        let queue = addresses.iter().find(|row| row.text("key") == Some("M0my_queue"))?;
        let there = format!("{:?}", queue.get("remoteHostRouters")).contains(other);
        (there && queue.integer("remoteCount") == Some(1)).then_some(())
    });
}

#[test]
fn a_sender_reaches_its_receiver_on_another_path_when_a_connection_and_then_a_router_fail() {
    let [clients_a, clients_b, clients_c, routers_b, routers_c] = std::array::from_fn(|_| free_port());
    let cable = Cable::to(routers_b);
    let mut b = Router::configured(&router_b(clients_b, routers_b), clients_b);
    let c = Router::configured(&router_c(clients_c, routers_c, routers_b), clients_c);
    let a = Router::configured(&router_a(clients_a, cable.port, routers_c), clients_a);
    goes_through(&a, "Router.B", None);
    let mut receiver = b.client();
    receiver.receiver("my_queue", 100);
    let mut sender = a.client();
    let to = sender.sender("my_queue");
    sender.expect_credit(to, CAPACITY);
    send_ten(&mut sender, to, &mut receiver);

    cable.cut();
    goes_through(&a, "Router.B", Some("Router.C"));
    goes_through(&b, "Router.A", Some("Router.C"));
    send_ten(&mut sender, to, &mut receiver);

    b.kill();
    let mut receiver = c.client();
    receiver.receiver("my_queue", 100);
    knows_receiver_on(&a, "Router.C");
    send_ten(&mut sender, to, &mut receiver);
}
