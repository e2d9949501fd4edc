//! Deliveries that are settled when they are sent: the router may drop them, but only whole, and not uncounted.

use amqp::Performative;
use amqp::performative::{Flow, Open};
use management::Attributes;

use crate::support::codec::{data, message, text_of};
use crate::support::router::Router;
use crate::support::wire::Wire;
use crate::support::{CAPACITY, wait_for};

fn dropped(router: &Router) -> i64 {
    router.management().only("router").integer("droppedPresettledDeliveries").expect("it is counted")
}

/// The link of this direction, as management shows it.
fn link(router: &Router, direction: &str) -> Attributes {
    let links = router.management().query("router.link");
    let mut found = links.into_iter().filter(|link| link.text("owningAddr") == Some("M0a"));
    found.find(|link| link.text("linkDir") == Some(direction)).expect("it is attached")
}

// DISPATCH-1136
#[test]
fn a_presettled_delivery_that_was_begun_is_completed_however_many_wait_behind_it() {
    let router = Router::start("");
    let open = Open { container_id: "narrow".to_owned(), max_frame_size: 4096, ..Open::default() };
    let mut receiver = Wire::client_with(router.port, open, 1);
    let from = receiver.receiver("a", 1);
    let (mut sender, mut other) = (router.client(), router.client());
    let (to, other_to) = (sender.sender("a"), other.sender("a"));
    sender.expect_credit(to, CAPACITY);
    other.expect_credit(other_to, CAPACITY);
    // One frame of it goes out, then the receiver's window is closed, and there is no credit for those behind it.
    sender.send_message(to, true, &data(50_000));
    receiver.wait_for_bytes(from, 1);
    for number in 0..200 {
        sender.send_message(to, true, &message(&format!("first {number}")));
        other.send_message(other_to, true, &message(&format!("second {number}")));
    }
    sender.sync();
    other.sync();
    assert!(dropped(&router) > 0);

    receiver.incoming_window = 10_000;
    let flow = receiver.new_flow(from);
    receiver.send(Performative::Flow(Flow { handle: None, next_incoming_id: Some(1), ..flow }));

    let begun = receiver.receive();
    assert_eq!((begun.aborted, begun.bytes), (false, data(50_000)));
}

// DISPATCH-1136
#[test]
fn what_comes_after_dropped_deliveries_is_whole_and_in_order() {
    let router = Router::start("");
    let mut receiver = router.client();
    let from = receiver.receiver("a", 0);
    let mut senders: Vec<_> = (0..2).map(|_| router.client()).collect();
    let links: Vec<_> = senders.iter_mut().map(|sender| sender.sender("a")).collect();
    for (sender, link) in senders.iter_mut().zip(&links) {
        sender.expect_credit(*link, CAPACITY);
    }
    for number in 0..200 {
        for (index, (sender, link)) in senders.iter_mut().zip(&links).enumerate() {
            sender.send_message(*link, true, &message(&format!("{index} {number}")));
        }
    }
    senders.iter_mut().for_each(Wire::sync);
    assert!(dropped(&router) > 0);

    receiver.credit(from, 0, 1000);
    senders[0].send_message(links[0], true, &message("last"));

    let mut numbers = [Vec::new(), Vec::new()];
    loop {
        let text = text_of(&receiver.receive().bytes);
        let Some((sender, number)) = text.split_once(' ') else { break };
        numbers[sender.parse::<usize>().expect("a number")].push(number.parse::<u32>().expect("a number"));
    }
    assert!(numbers[0].len() + numbers[1].len() < 400);
    assert!(numbers.iter().all(|numbers| numbers.is_sorted()), "{numbers:?}");
}

// DISPATCH-1212
#[test]
fn presettled_deliveries_that_a_detached_receiver_never_got_are_counted_as_dropped() {
    let mut router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 0);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    for _ in 0..5 {
        sender.send_message(to, true, &message("lost"));
    }
    sender.sync();

    receiver.detach(from);

    assert_eq!(dropped(&router), 5);
    router.wait_for_log("Link detached", |line| line.contains("psdrop=5"));
}

// DISPATCH-1212
#[test]
fn presettled_deliveries_that_a_lost_receiver_never_got_are_counted_as_dropped() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 0);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    for _ in 0..5 {
        sender.send_message(to, true, &message("lost"));
    }
    sender.sync();

    drop(receiver);

    wait_for("five dropped deliveries", || (dropped(&router) == 5).then_some(()));
}

// DISPATCH-1540, DISPATCH-1541
#[test]
fn a_large_delivery_that_is_settled_with_its_last_frame_counts_as_presettled() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);
    let bytes = data(1_000_000);
    let delivery = sender.next_delivery();
    sender.send_part(to, delivery, false, &bytes[..900_000], true);
    receiver.wait_for_bytes(from, 100_000);

    sender.send_part(to, delivery, true, &bytes[900_000..], false);

    let received = receiver.receive();
    assert_eq!(received.bytes.len(), bytes.len());
    receiver.expect_settled_by_sender(received.delivery);
    let (incoming, outgoing) = (link(&router, "in"), link(&router, "out"));
    assert_eq!(incoming.integer("presettledCount"), Some(1));
    assert_eq!((incoming.integer("unsettledCount"), outgoing.integer("unsettledCount")), (Some(0), Some(0)));
}

// DISPATCH-1540, DISPATCH-1541
#[test]
fn a_large_delivery_that_is_settled_from_its_first_frame_on_counts_once_as_presettled() {
    let router = Router::start("");
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);

    sender.send_message(to, true, &data(1_000_000));

    receiver.receive();
    assert_eq!(link(&router, "in").integer("presettledCount"), Some(1));
    assert_eq!(link(&router, "out").integer("presettledCount"), Some(1));
}
