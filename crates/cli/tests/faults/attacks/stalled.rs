//! Messages that begin and do not end.
//!
//! Up to 128 KiB of a message are put together before it is passed on, as the old router does (its "Q2"; with 1.19.0 a message
//! that stalls after 130,000 bytes stays where it is, one that stalls after 133,000 is on its way). Beyond that it is
//! passed on as it comes.

use amqp::condition::names;

use super::{condition, withstands};
use crate::support::CAPACITY;
use crate::support::codec::{head_of_data, message, text_of};
use crate::support::links::Link;
use crate::support::router::Router;
use crate::support::wire::Wire;

/// Has a sender begin a message of which this much comes; the delivery.
fn stall(sender: &mut Wire, link: Link, size: usize) -> u32 {
    let delivery = sender.next_delivery();
    let bytes = [head_of_data(u32::MAX), vec![b'x'; size]].concat();
    sender.send_part(link, delivery, false, &bytes, true);
    delivery
}

/// Has a message go from a sender to a receiver.
fn pass(sender: &mut Wire, to: Link, receiver: &mut Wire, text: &str) {
    let sent = sender.send_message(to, false, &message(text));
    let received = receiver.receive();
    assert_eq!(text_of(&received.bytes), text);
    receiver.accept(&received);
    sender.outcome(sent);
}

/// Has a message go from a new client to a receiver of `a`.
fn pass_anew(router: &Router, receiver: &mut Wire, text: &str) {
    let mut other = router.client();
    let to = other.sender("a");
    other.expect_credit(to, CAPACITY);
    pass(&mut other, to, receiver, text);
}

#[test]
fn a_message_that_stalls_before_it_is_passed_on_is_in_nobodys_way() {
    let router = Router::start("");
    for size in [1000, 20_000, 100_000] {
        withstands(&router, 32, || {
            let (mut sender, mut receiver) = (router.client(), router.client());
            receiver.receiver("a", 10);
            let (stalled, to) = (sender.sender("a"), sender.sender("a"));
            sender.expect_credit(stalled, CAPACITY);
            sender.expect_credit(to, CAPACITY);
            stall(&mut sender, stalled, size);

            pass(&mut sender, to, &mut receiver, "another link of the same session");
            pass_anew(&router, &mut receiver, "another connection");
            drop(sender);
            receiver.sync();
            assert_eq!(receiver.waiting(), 0, "nobody ever hears of the message");
        });
    }
}

#[test]
fn a_message_that_stalls_while_it_is_passed_on_holds_up_one_link_until_its_sender_is_gone() {
    let router = Router::start("");
    withstands(&router, 32, || {
        let (mut sender, mut receiver) = (router.client(), router.client());
        let slow = receiver.receiver("a", 10);
        receiver.receiver("b", 10);
        let (stalled, to) = (sender.sender("a"), sender.sender("b"));
        sender.expect_credit(stalled, CAPACITY);
        sender.expect_credit(to, CAPACITY);
        stall(&mut sender, stalled, 500_000);
        receiver.wait_for_bytes(slow, 500_000);

        pass(&mut sender, to, &mut receiver, "another link");
        drop(sender);
        assert!(receiver.receive().aborted);
        pass_anew(&router, &mut receiver, "the same link");
    });
}

#[test]
fn what_stalls_on_a_thousand_links_is_passed_on_once_it_is_much() {
    let router = Router::start("");
    withstands(&router, 64, || {
        let (mut sender, mut receiver) = (router.client(), router.client());
        for number in 0..1000 {
            let address = format!("a/{number}");
            receiver.receiver(&address, 1);
            let link = sender.sender(&address);
            sender.expect_credit(link, CAPACITY);
            stall(&mut sender, link, 100_000);
        }
        sender.sync();
        drop(sender);
        // Those that were passed on are given up; of the 8 MiB that were not, nobody hears.
        let given_up = (0..900).filter(|_| receiver.receive().aborted).count();
        assert_eq!(given_up, 900);
    });
}

#[test]
fn annotations_without_end_are_refused_once_they_are_much() {
    let router = Router::start("");
    let states = withstands(&router, 64, || {
        let (mut sender, mut receiver) = (router.client(), router.client());
        receiver.receiver("a", 1000);
        // Message annotations of nearly 2^32 bytes.
        let head = [&[0, 0x53, 0x72, 0xd1, 0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 2, 0xa3][..], &[1; 900_000]].concat();
        let mut begun = Vec::new();
        for _ in 0..100 {
            let link = sender.sender("a");
            sender.expect_credit(link, CAPACITY);
            let delivery = sender.next_delivery();
            sender.send_part(link, delivery, false, &head, true);
            begun.push((link, delivery));
        }
        for (link, delivery) in begun.iter().skip(50) {
            sender.send_part(*link, *delivery, false, b"", false);
        }
        let states: Vec<_> = begun.iter().skip(50).map(|(_, delivery)| sender.outcome(*delivery)).collect();
        states
    });

    for state in states {
        let Some(amqp::DeliveryState::Rejected(error)) = state else { panic!("{state:?}") };
        assert_eq!(condition(error.as_deref()), Some(names::RESOURCE_LIMIT_EXCEEDED));
    }
}
