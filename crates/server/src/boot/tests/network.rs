//! Two interior routers in one process, whose connections are on different shards.

use super::*;
use crate::shard::tests::client::{Client, message};
use amqp::DeliveryState;
use router_net::wire::{ALL_ROUTERS_ADDRESS, Body, ControlMessage, HELLO_ADDRESS};
use std::net::SocketAddr;

const MIB: usize = 1024 * 1024;

/// Two routers that know each other.
struct Two {
    routers: [Router; 2],
    clients: [SocketAddr; 2],
}

fn interior(id: &str, clients: u16, sections: &str) -> Router {
    let log = "log {\n module: DEFAULT\n enable: none\n}\n";
    Router::from_text(&format!("router {{\n id: {id}\n mode: interior\n}}\n{log}{}{sections}", listener(clients)))
}

impl Two {
    async fn start() -> Self {
        let (between, clients) = (free_port(), [free_port(), free_port()]);
        let a = format!("listener {{\n host: 127.0.0.1\n port: {between}\n role: inter-router\n}}\n");
        let b = format!("connector {{\n host: 127.0.0.1\n port: {between}\n role: inter-router\n}}\n");
        let routers = [interior("A", clients[0], &a), interior("B", clients[1], &b)];
        let mut two = Self { routers, clients: clients.map(|port| SocketAddr::from(([127, 0, 0, 1], port))) };
        two.until(|routers| routers.iter_mut().all(|router| reached(&mut router.plane.entities) == 1)).await;
        two
    }

    /// Runs both control planes until the condition holds.
    async fn until(&mut self, mut condition: impl FnMut(&mut [Router; 2]) -> bool) {
        while !condition(&mut self.routers) {
            let [a, b] = &mut self.routers;
            tokio::select! {
                stepped = a.plane.step() => stepped.unwrap(),
                stepped = b.plane.step() => stepped.unwrap(),
                () = tokio::time::sleep(std::time::Duration::from_millis(5)) => {}
            }
        }
    }

    /// Does something that blocks while both control planes run.
    async fn meanwhile<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let thread = std::thread::spawn(work);
        self.until(|_| thread.is_finished()).await;
        thread.join().unwrap()
    }

    /// A client of a router, on a shard of its own.
    async fn client(&mut self, router: usize) -> Client {
        self.routers[router].plane.shards.spread();
        let address = self.clients[router];
        self.meanwhile(move || Client::connect(address)).await
    }
}

/// How many other routers are reached.
fn reached(entities: &mut Entities) -> usize {
    entities.list(type_of("router.node")).iter().filter(|node| node.contains("cost")).count()
}

#[tokio::test]
async fn messages_of_all_sizes_pass_between_routers_whatever_shards_their_connections_are_on() {
    let mut two = Two::start().await;
    let (mut sender, mut receiver) = (two.client(0).await, two.client(1).await);
    assert!(two.routers.iter().all(|router| router.plane.shards.running() > 1));
    let passed = two.meanwhile(move || {
        receiver.receiver("a", 10);
        let link = sender.sender(Some("a"));
        let sizes = [10, 3 * MIB, 20_000, 3 * MIB, 100];
        let reader = std::thread::spawn(move || {
            sizes.map(|size| {
                let received = receiver.receive();
                receiver.settle(&received, DeliveryState::Accepted);
                // The annotations between routers are not for clients, so it is as it was.
                received.bytes == message(size)
            })
        });
        let outcomes = sizes.map(|size| {
            let key = sender.send(link, false, &message(size));
            sender.outcome(key)
        });
        (reader.join().unwrap(), outcomes)
    });
    let (same, outcomes) = passed.await;
    assert_eq!(same, [true; 5]);
    assert_eq!(outcomes, [const { Some(DeliveryState::Accepted) }; 5]);
}

/// What a router named so says.
fn control(id: &str, body: Body, to: &str) -> Vec<u8> {
    ControlMessage { id: id.to_owned(), body }.encode(to)
}

/// Many advertisements wait when a greeting comes: it is heard before all but a few of them.
#[tokio::test]
async fn a_neighbours_greeting_is_heard_though_a_flood_of_control_messages_waits() {
    const FLOOD: usize = 500;
    let between = free_port();
    let listener = format!("listener {{\n host: 127.0.0.1\n port: {between}\n role: inter-router\n}}\n");
    let mut router = interior("A", free_port(), &listener);
    router.until_listening().await;

    // Nothing is taken in meanwhile: the control plane does not run.
    let mut neighbor = Client::connect(SocketAddr::from(([127, 0, 0, 1], between)));
    let link = neighbor.control_sender();
    neighbor.control_receiver();
    for number in 0..FLOOD {
        let body = Body::Advertisement { instance: 1, ls_seq: 1, mobile_seq: 0 };
        neighbor.send(link, true, &control(&format!("far{number}"), body, ALL_ROUTERS_ADDRESS));
    }
    let greeting = Body::Hello { instance: 1, seen: vec!["A".to_owned()] };
    let greeted = neighbor.send(link, false, &control("NEAR", greeting, HELLO_ADDRESS));
    neighbor.outcome(greeted);

    router.plane.step().await.unwrap();

    let nodes = router.plane.entities.list(type_of("router.node"));
    assert!(nodes.iter().any(|node| node.text("id") == Some("NEAR")), "the greeting waits");
    assert!(nodes.len() < FLOOD / 2, "{} routers are known", nodes.len());
}
