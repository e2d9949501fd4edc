//! How a router stops.

use super::*;
use crate::control::stopping::wind_down;
use crate::process::signals::Signals;
use crate::shard::tests::client::{Client, Happened, message};
use amqp::DeliveryState;
use std::net::SocketAddr;
use std::thread::JoinHandle;

/// Stops a router whose clients are busy in a thread, and gives what they have seen.
async fn stop<T>(router: &mut Router, clients: JoinHandle<T>) -> T {
    let mut signals = Signals::new().unwrap();
    wind_down(&mut router.plane, &mut signals).await;
    clients.join().unwrap()
}

async fn router() -> (Router, SocketAddr) {
    let port = free_port();
    let mut router = Router::start(&listener(port));
    router.until_listening().await;
    (router, SocketAddr::from(([127, 0, 0, 1], port)))
}

/// Waits for the close, and gives its condition.
fn reason(client: &mut Client) -> Option<String> {
    let closed = client.expect("a close", |happened| matches!(happened, Happened::Closed(_) | Happened::Failed(_)));
    match closed {
        Happened::Closed(error) => error.map(|error| error.to_string()),
        other => panic!("not closed in an orderly way: {other:?}"),
    }
}

#[tokio::test]
async fn clients_are_told_why_and_nobody_new_is_let_in() {
    let (mut router, address) = router().await;
    let client = router.meanwhile(move || Client::connect(address)).await;
    let mut client = client;
    let clients = std::thread::spawn(move || reason(&mut client));
    let reason = stop(&mut router, clients).await;
    assert!(reason.unwrap().starts_with("amqp:connection:forced"));
    assert!(!can_connect(address.port()));
    assert_eq!(router.plane.shards.connections(), 0);
}

#[tokio::test]
async fn deliveries_on_their_way_arrive_first() {
    let (mut router, address) = router().await;
    let (mut sender, mut receiver, key, received) = router
        .meanwhile(move || {
            let (mut sender, mut receiver) = (Client::connect(address), Client::connect(address));
            receiver.receiver("a", 1);
            let link = sender.sender(Some("a"));
            let key = sender.send(link, false, &message(10));
            let received = receiver.receive();
            (sender, receiver, key, received)
        })
        .await;
    let clients = std::thread::spawn(move || {
        receiver.settle(&received, DeliveryState::Accepted);
        let outcome = sender.outcome(key);
        (outcome, reason(&mut sender), reason(&mut receiver))
    });
    let (outcome, first, second) = stop(&mut router, clients).await;
    assert_eq!(outcome, Some(DeliveryState::Accepted));
    assert!(first.is_some() && second.is_some());
}

#[tokio::test]
async fn what_nobody_settles_is_handed_back_in_time() {
    let (mut router, address) = router().await;
    let (mut sender, receiver, keys) = router
        .meanwhile(move || {
            let (mut sender, mut receiver) = (Client::connect(address), Client::connect(address));
            receiver.receiver("a", 1);
            let link = sender.sender(Some("a"));
            let keys = [sender.send(link, false, &message(10)), sender.send(link, false, &message(10))];
            receiver.receive();
            (sender, receiver, keys)
        })
        .await;
    let clients = std::thread::spawn(move || keys.map(|key| sender.outcome(key)));
    let outcomes = stop(&mut router, clients).await;
    assert!(matches!(outcomes[0], Some(DeliveryState::Modified(_))), "{outcomes:?}");
    assert_eq!(outcomes[1], Some(DeliveryState::Released));
    drop(receiver);
}
