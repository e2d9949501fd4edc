//! Priorities, and traffic that must not hold up other traffic.

use amqp::message::{Body, Header, Message};

use super::{next, pass, receiver, sender, two};
use crate::support::CAPACITY;
use crate::support::codec::message;
use crate::support::interior::Interior;
use crate::support::links::Link;
use crate::support::wait_for;
use crate::support::wire::Wire;

/// A message of a priority, with a body of so many bytes.
fn of_priority(priority: u8, size: usize) -> Vec<u8> {
    let header = Header { priority, ..Header::default() };
    Message { header, ..Message::new(Body::Data(vec![vec![priority; size]])) }.to_bytes()
}

/// Sends until there is no more credit; nobody takes any of it.
fn fill(router: &Interior, address: &str, priority: u8, size: usize) -> (Wire, Link) {
    let (mut wire, link) = sender(router, address);
    for _ in 0..CAPACITY {
        wire.send_message(link, false, &of_priority(priority, size));
    }
    wire.sync();
    (wire, link)
}

// DISPATCH-2219
#[test]
fn messages_of_the_highest_priority_that_nobody_takes_do_not_hold_up_the_routing_protocol() {
    let [a, b] = two();
    let (_idle, _) = receiver(&b, "full", 0);
    a.knows("full", 0, 1);
    let _senders: Vec<_> = (0..4).map(|_| fill(&a, "full", 9, 2_000)).collect();

    for number in 0..20 {
        let address = format!("fresh/{number}");
        let (_receiver, _) = receiver(&b, &address, 10);
        a.knows(&address, 0, 1);
    }

    assert_eq!(a.count_in_log("Lost"), 0);
}

// DISPATCH-2219
#[test]
fn a_flood_of_messages_of_the_highest_priority_does_not_keep_routers_from_hearing_each_other() {
    let [a, b] = two();
    let (mut receiver_there, from) = receiver(&b, "busy", 1000);
    a.knows("busy", 0, 1);
    let (mut flooding, to) = sender(&a, "busy");

    std::thread::scope(|scope| {
        let flood = scope.spawn(move || {
            for number in 0..20_000u32 {
                // Not more than the receiver takes, so that none is dropped.
                flooding.send_message(to, number % 100 != 99, &of_priority(9, 100));
                if number % 100 == 99 {
                    flooding.outcome(number);
                }
            }
        });
        let take = scope.spawn(move || {
            for number in 1..=20_000u32 {
                let received = receiver_there.receive();
                if !received.settled {
                    receiver_there.accept(&received);
                    receiver_there.credit(from, number, 1000);
                }
            }
        });
        let mut number = 0;
        while !(flood.is_finished() && take.is_finished()) {
            let address = format!("fresh/{number}");
            let (_receiver, _) = receiver(&b, &address, 10);
            a.knows(&address, 0, 1);
            number += 1;
        }
    });

    assert_eq!(a.count_in_log("Lost") + b.count_in_log("Lost"), 0);
}

// DISPATCH-2001
#[test]
fn a_message_that_streams_is_on_a_link_of_ordinary_priority_and_keeps_its_own() {
    let [a, b] = two();
    let (mut there, from) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");
    let bytes = of_priority(7, 2_000_000);
    let delivery = sender.next_delivery();
    sender.send_part(to, delivery, false, &bytes[..1_500_000], true);
    there.wait_for_bytes(from, 100_000);

    let mut management = a.management();
    let is_stream = |row: &management::Attributes| {
        row.text("linkType") == Some("inter-router") && row.text("linkDir") == Some("out")
    };
    let links: Vec<_> = management.query("router.link").into_iter().filter(is_stream).collect();
    let of_four = links.iter().filter(|row| row.integer("priority") == Some(4)).count();
    sender.send_part(to, delivery, false, &bytes[1_500_000..], false);

    assert_eq!((links.len(), of_four), (11, 2));
    let received = Message::decode(&there.receive().bytes).expect("it is a message");
    assert_eq!(received.header.priority, 7);
}

// DISPATCH-2001
#[test]
fn large_messages_and_small_ones_of_a_priority_pass_where_another_priority_is_held_up() {
    let [a, b] = two();
    let (_idle, _) = receiver(&b, "full", 0);
    a.knows("full", 0, 1);
    let _sender = fill(&a, "full", 4, 100);
    let (mut there, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");

    for size in [100, 50_000, 2_000_000] {
        let sent = sender.send_message(to, false, &of_priority(7, size));
        let received = there.receive();
        there.accept(&received);
        assert_eq!(Message::decode(&received.bytes), Message::decode(&of_priority(7, size)));
        sender.outcome(sent);
    }
}

// DISPATCH-2001
#[test]
fn small_messages_go_over_the_link_of_their_priority() {
    let [a, b] = two();
    let (mut there, _) = receiver(&b, "a", 100);
    let (mut sender, to) = sender(&a, "a");

    for priority in 0..10u8 {
        for _ in 0..=priority {
            let sent = sender.send_message(to, false, &of_priority(priority, 10));
            let received = there.receive();
            there.accept(&received);
            sender.outcome(sent);
        }
    }

    let mut management = a.management();
    wait_for("the deliveries of each link", || {
        let links = management.query("router.link");
        let of_routers = links.iter().filter(|row| row.text("linkType") == Some("inter-router"));
        let out = of_routers.filter(|row| row.text("linkDir") == Some("out"));
        let mut counts: Vec<_> = out.map(|row| (row.integer("priority"), row.integer("deliveryCount"))).collect();
        counts.sort_unstable();
        (counts == (0..10).map(|priority| (Some(priority), Some(priority + 1))).collect::<Vec<_>>()).then_some(())
    });
}

#[test]
fn a_large_message_that_nobody_takes_does_not_hold_up_small_ones_between_the_same_routers() {
    let [a, b] = two();
    let (mut slow, from) = receiver(&b, "slow", 1);
    let (mut large, to) = sender(&a, "slow");
    let delivery = large.next_delivery();
    large.send_part(to, delivery, false, &of_priority(4, 3_000_000)[..500_000], true);
    slow.wait_for_bytes(from, 1);

    let (mut there, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");
    for _ in 0..5 {
        pass(&mut sender, to, &mut there, "passes");
    }

    sender.send_message(to, true, &message("and one more"));
    assert_eq!(next(&mut there), "and one more");
}
