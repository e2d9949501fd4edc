//! Many of everything.

use amqp::DeliveryState;

use super::client::message;
use super::router::Router;

#[test]
fn a_thousand_links_on_one_connection_each_get_their_own_messages() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from: Vec<_> = (0..1000).map(|index| receiver.receiver(&format!("a/{index}"), 1)).collect();
    let to: Vec<_> = (0..1000).map(|index| sender.sender(Some(&format!("a/{index}")))).collect();
    for (index, link) in to.iter().enumerate() {
        sender.send(*link, false, &message(index));
    }
    for (index, link) in from.iter().enumerate() {
        let received = receiver.receive();
        assert_eq!((received.link, &received.bytes), (*link, &message(index)));
        receiver.settle(&received, DeliveryState::Accepted);
    }
}

#[test]
fn two_hundred_connections_each_reach_each_other() {
    let router = Router::start();
    let mut clients: Vec<_> = (0..200).map(|_| router.client()).collect();
    for (index, client) in clients.iter_mut().enumerate() {
        client.receiver(&format!("a/{index}"), 1);
    }
    for index in 0..200 {
        let next = (index + 1) % 200;
        let link = clients[index].sender(Some(&format!("a/{next}")));
        clients[index].send(link, true, &message(index));
        assert_eq!(clients[next].receive().bytes, message(index));
    }
    drop(clients);
    router.wait_until("all are gone", |shards| shards.with_core(|core, _, now| core.connections(now).is_empty()));
}

#[test]
fn presettled_messages_are_all_there_though_the_receiver_is_slow() {
    let router = Router::start();
    let mut receiver = router.client();
    receiver.receiver("a", 20_000);
    let address = router.address;
    let sending = std::thread::spawn(move || {
        let mut sender = super::client::Client::connect(address);
        let link = sender.sender(Some("a"));
        for _ in 0..20_000 {
            sender.send(link, true, &message(1000));
        }
        sender.settle_down();
    });
    for _ in 0..20_000 {
        receiver.receive();
    }
    sending.join().expect("the sender sends");
}

#[test]
fn nothing_is_kept_when_all_messages_are_settled() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    let to = receiver.receiver("a", 0);
    let link = sender.sender(Some("a"));
    for _ in 0..100 {
        sender.send(link, false, &message(1000));
    }
    router.wait_until("all are kept", |shards| shards.counts().messages >= 100);
    receiver.endpoint.add_credit(to, 100);
    for _ in 0..100 {
        let received = receiver.receive();
        receiver.settle(&received, DeliveryState::Accepted);
    }
    router.wait_until("none is kept", |shards| shards.counts().messages == 0);
}
