//! Messages too large to be kept.

use amqp::DeliveryState;
use amqp::codec::encode;
use amqp::message::{Body, Message, Properties};

use super::client::{Client, encoded, message};
use super::router::Router;
use crate::shard::{ConnectionSettings, Role, ShardEvent, StripAnnotations};

const MIB: usize = 1024 * 1024;

/// The beginning of a message with one data section of so many bytes.
fn head(body: u32) -> Vec<u8> {
    let mut head = Vec::new();
    encode::descriptor(&mut head, amqp::descriptor::DATA);
    head.push(amqp::codec::format::BINARY32);
    head.extend_from_slice(&body.to_be_bytes());
    head
}

/// Sends a message of `body` bytes piece by piece while the receiver reads on another thread; how many bytes the router
/// held at most.
fn pass(body: u32) -> u64 {
    let router = Router::start();
    let mut receiver = router.client();
    receiver.receiver("a", 1);
    let total = u64::from(body) + head(body).len() as u64;
    let reader = std::thread::spawn(move || {
        while receiver.bytes_received < total {
            receiver.turn(std::time::Duration::from_secs(10));
            receiver.forget_parts();
        }
        receiver
    });
    let mut sender = router.client();
    let link = sender.sender(Some("a"));
    let key = sender.begin(link, false);
    sender.send_part(link, &head(body), true);
    let piece = vec![b'x'; 256 * 1024];
    let (mut left, mut held) = (body as usize, 0);
    while left > 0 {
        let count = left.min(piece.len());
        left -= count;
        sender.send_part(link, &piece[..count], left > 0);
        held = held.max(router.shards.counts().message_bytes);
    }
    let mut receiver = reader.join().expect("the receiver has read all");
    receiver.accept_last();
    assert_eq!(sender.outcome(key), Some(DeliveryState::Accepted));
    held
}

#[test]
fn a_large_message_passes_while_little_of_it_is_held() {
    let held = pass(300 * MIB as u32);
    assert!(held < 4 * MIB as u64, "{held} bytes were held");
}

#[test]
fn a_message_arrives_before_its_end_is_sent() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 1);
    let link = sender.sender(Some("a"));
    sender.begin(link, false);
    sender.send_part(link, &head(MIB as u32), true);
    sender.send_part(link, &vec![b'x'; 200_000], true);
    while receiver.bytes_received < 200_000 {
        receiver.turn(std::time::Duration::from_millis(20));
    }
    sender.send_part(link, &vec![b'x'; MIB - 200_000], false);
    assert_eq!(receiver.receive().bytes.len(), MIB + head(0).len());
}

#[test]
fn a_message_that_is_aborted_on_its_way_arrives_as_aborted() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    sender.begin(link, false);
    sender.send_part(link, &head(MIB as u32), true);
    sender.send_part(link, &vec![b'x'; 200_000], true);
    sender.endpoint.abort_delivery(link);
    sender.write();
    assert!(receiver.receive().aborted);
    sender.send(link, false, &message(3));
    assert_eq!(receiver.receive().bytes, message(3));
}

#[test]
fn a_message_whose_sender_dies_arrives_as_aborted() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    sender.begin(link, false);
    sender.send_part(link, &head(MIB as u32), true);
    sender.send_part(link, &vec![b'x'; 200_000], true);
    drop(sender);
    assert!(receiver.receive().aborted);
    router.wait_until("nothing is kept", |shards| shards.counts().messages == 0);
}

#[test]
fn an_aborted_delivery_that_was_never_passed_on_leaves_no_trace() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let link = sender.sender(Some("a"));
    sender.begin(link, false);
    sender.send_part(link, &head(MIB as u32), true);
    sender.endpoint.abort_delivery(link);
    sender.send(link, false, &message(3));
    let received = receiver.receive();
    assert_eq!((received.aborted, received.bytes), (false, message(3)));
}

#[test]
fn a_stalled_receiver_stops_its_sender_and_nobody_else() {
    let router = Router::start();
    let (mut stalled, mut other) = (router.client(), router.client());
    stalled.receiver("slow", 1);
    let mut sender = router.client();
    let link = sender.sender(Some("slow"));
    sender.begin(link, false);
    sender.send_part(link, &head(u32::MAX), true);
    let sent = send_until_held(&mut sender, link);
    assert!(sent < 64 * MIB, "{sent} bytes were taken for a receiver that does not read");
    other.receiver("quick", 10);
    let mut second = router.client();
    let quick = second.sender(Some("quick"));
    for _ in 0..20 {
        let key = second.send(quick, false, &message(MIB));
        let received = other.receive();
        assert_eq!(received.bytes, message(MIB));
        other.settle(&received, DeliveryState::Accepted);
        other.endpoint.add_credit(received.link, 1);
        assert_eq!(second.outcome(key), Some(DeliveryState::Accepted));
    }
    assert!(router.shards.counts().message_bytes < 2 * MIB as u64);
}

/// Sends until the router takes no more; how many bytes it took.
fn send_until_held(sender: &mut Client, link: amqp_endpoint::LinkId) -> usize {
    let piece = vec![b'x'; 64 * 1024];
    let (mut sent, mut refused) = (0, 0);
    while refused < 50 {
        let taken = sender.endpoint.send_payload(link, &piece, true);
        sent += taken;
        refused = if taken == 0 { refused + 1 } else { 0 };
        sender.turn(std::time::Duration::from_millis(2));
    }
    sent
}

#[test]
fn a_sender_that_was_stopped_goes_on_when_the_receiver_reads_again() {
    let router = Router::start();
    let mut receiver = router.client();
    receiver.receiver("slow", 1);
    let mut sender = router.client();
    let link = sender.sender(Some("slow"));
    sender.begin(link, false);
    sender.send_part(link, &head(u32::MAX), true);
    send_until_held(&mut sender, link);
    let reader = std::thread::spawn(move || {
        while receiver.bytes_received < 100 * MIB as u64 {
            receiver.turn(std::time::Duration::from_secs(10));
            receiver.forget_parts();
        }
    });
    for _ in 0..400 {
        sender.send_part(link, &[b'x'; 256 * 1024], true);
    }
    reader.join().expect("the receiver reads");
}

#[test]
fn a_receiver_without_credit_stops_the_sender_of_a_large_message() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    let to = receiver.receiver("a", 0);
    let link = sender.sender(Some("a"));
    sender.begin(link, false);
    sender.send_part(link, &head(20 * MIB as u32), true);
    let sent = send_until_held(&mut sender, link);
    assert!(sent < 16 * MIB, "{sent} bytes were taken for a receiver without credit");
    receiver.endpoint.add_credit(to, 1);
    let left = 20 * MIB - sent;
    let reader = std::thread::spawn(move || receiver.receive().bytes.len());
    sender.send_part(link, &vec![b'x'; left], false);
    assert_eq!(reader.join().expect("the receiver reads"), 20 * MIB + head(0).len());
}

#[test]
fn a_receiver_that_dies_in_the_middle_lets_its_sender_go_on() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 1);
    let link = sender.sender(Some("a"));
    let key = sender.begin(link, false);
    sender.send_part(link, &head(10 * MIB as u32), true);
    sender.send_part(link, &vec![b'x'; MIB], true);
    while receiver.bytes_received == 0 {
        receiver.turn(std::time::Duration::from_millis(20));
    }
    drop(receiver);
    sender.send_part(link, &vec![b'x'; 9 * MIB], false);
    assert!(matches!(sender.outcome(key), Some(DeliveryState::Modified(_))));
    router.wait_until("nothing is kept", |shards| shards.counts().messages == 0);
}

#[test]
fn a_message_that_waits_behind_another_of_its_session_does_not_hold_that_one_up() {
    let router = Router::start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 2);
    let (first, second) = (sender.sender(Some("a")), sender.sender(Some("a")));
    for link in [first, second] {
        sender.begin(link, false);
        sender.send_part(link, &head(4 * MIB as u32), true);
        sender.send_part(link, &vec![b'x'; 200_000], true);
    }
    let reader = std::thread::spawn(move || [(); 2].map(|()| receiver.receive().bytes.len()));
    // Far more than its share, of which nothing can leave before the first is through.
    sender.send_part(second, &vec![b'x'; 2 * MIB], true);
    sender.send_part(first, &vec![b'x'; 4 * MIB - 200_000], false);
    sender.send_part(second, &vec![b'x'; 2 * MIB - 200_000], false);
    assert_eq!(reader.join().expect("the receiver reads"), [4 * MIB + head(0).len(); 2]);
}

/// A message whose router annotations ask for it to be passed on as it comes.
fn urgent(size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let router = amqp::message::RouterAnnotations { stream: true, ..Default::default() };
    amqp::message::write_message_annotations(&mut bytes, &Default::default(), &router, None);
    bytes.extend(message(size));
    bytes
}

#[test]
fn a_message_from_a_router_is_passed_on_before_its_end_has_come_if_it_says_so() {
    let router = Router::start();
    let of_routers =
        ConnectionSettings { role: Role::Edge, strip_annotations: StripAnnotations::No, ..Default::default() };
    let address = router.listen(of_routers);
    let mut receiver = router.client();
    receiver.receiver("a", 1);
    let mut sender = Client::connect(address);
    let link = sender.sender(Some("a"));
    sender.begin(link, false);
    let bytes = urgent(1000);
    sender.send_part(link, &bytes[..900], true);
    while receiver.bytes_received == 0 {
        receiver.turn(std::time::Duration::from_millis(20));
    }
    sender.send_part(link, &bytes[900..], false);
    assert_eq!(receiver.receive().bytes, message(1000));
}

#[test]
fn a_clients_word_does_not_make_a_message_urgent() {
    let router = Router::with(1, ConnectionSettings { strip_annotations: StripAnnotations::No, ..Default::default() });
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 1);
    let link = sender.sender(Some("a"));
    let bytes = urgent(1000);
    sender.begin(link, false);
    sender.send_part(link, &bytes[..900], true);
    sender.settle_down();
    receiver.settle_down();
    assert_eq!(receiver.bytes_received, 0);
}

#[test]
fn a_message_of_the_routing_protocol_is_waited_for_though_it_is_large() {
    let mut router = Router::with(1, ConnectionSettings { role: Role::InterRouter, ..Default::default() });
    router.shards.with_core(|core, host, now| core.subscribe_control(now, host, "Lqdhello"));
    let mut neighbor = router.client();
    let link = neighbor.control_sender();
    let properties = Properties { to: Some("amqp:/_local/qdhello".to_owned()), ..Properties::default() };
    let body = Body::Data(vec![vec![b'x'; 3 * MIB]]);
    let bytes = encoded(&Message { properties, body, ..Message::default() });
    neighbor.send(link, true, &bytes);
    let received = std::iter::from_fn(|| router.events.blocking_recv());
    let message = received.filter_map(|event| match event {
        ShardEvent::Message(message) => Some(message.message),
        _ => None,
    });
    assert!(message.into_iter().next().is_some_and(|message| message == bytes));
}
