//! Outcomes, settlement and half messages over several routers.

use amqp::state::Modified;
use amqp::{DeliveryState, ErrorCondition, Map, Symbol, Value};

use super::{next, receiver, sender, three, two};
use crate::support::codec::{data, head_of_data, message};
use crate::support::interior::Interior;
use crate::support::{CAPACITY, wait_for};

// DISPATCH-2040, DISPATCH-1703
#[test]
fn each_outcome_comes_back_over_three_routers_with_all_its_content() {
    let [a, b, c] = three();
    let (mut there, _) = receiver(&c, "a", 10);
    for router in [&a, &b] {
        router.knows("a", 0, 1);
    }
    let (mut sender, to) = sender(&a, "a");
    let annotations = Map(vec![(Value::Symbol(Symbol::from("k")), Value::from("v"))]);
    let error = |text: &str| ErrorCondition::new("test:bad", text);
    let modified = |delivery_failed, undeliverable_here| Modified {
        delivery_failed,
        undeliverable_here,
        message_annotations: Some(annotations.clone()),
    };

    let states = [
        DeliveryState::Accepted,
        DeliveryState::Released,
        DeliveryState::Rejected(Some(Box::new(error("first reason")))),
        DeliveryState::Rejected(Some(Box::new(error("second reason")))),
        DeliveryState::Modified(Box::new(modified(true, false))),
        DeliveryState::Modified(Box::new(modified(true, true))),
    ];
    for state in states {
        let sent = sender.send_message(to, false, &message("x"));
        let received = there.receive();
        there.settle(received.delivery, Some(state.clone()), true);
        assert_eq!(sender.outcome(sent), Some(state));
    }
}

// DISPATCH-1302
#[test]
fn an_outcome_and_its_settlement_pass_over_three_routers_one_after_the_other() {
    let [a, b, c] = three();
    let (mut there, _) = receiver(&c, "a", 20);
    for router in [&a, &b] {
        router.knows("a", 0, 1);
    }
    let (mut sender, to) = sender(&a, "a");

    for _ in 0..20 {
        let sent = sender.send_message(to, false, &message("x"));
        let received = there.receive();
        there.settle(received.delivery, Some(DeliveryState::Accepted), false);
        sender.expect_state(sent, &DeliveryState::Accepted);
        there.settle(received.delivery, Some(DeliveryState::Accepted), true);
        assert_eq!(sender.outcome(sent), Some(DeliveryState::Accepted));
    }
}

// DISPATCH-1136
#[test]
fn a_presettled_delivery_that_was_begun_is_completed_over_routers_however_many_wait_behind_it() {
    let [a, b] = two();
    let (mut there, from) = receiver(&b, "a", 1);
    let (mut sender, to) = sender(&a, "a");
    let bytes = data(2_000_000);
    let delivery = sender.next_delivery();
    sender.send_part(to, delivery, true, &bytes[..500_000], true);
    there.wait_for_bytes(from, 100_000);
    let (mut other, other_to) = super::sender(&a, "a");
    for number in 0..CAPACITY - 1 {
        other.send_message(other_to, true, &message(&number.to_string()));
    }
    other.sync();

    sender.send_part(to, delivery, true, &bytes[500_000..], false);

    let begun = there.receive();
    assert_eq!((begun.aborted, begun.bytes.len()), (false, bytes.len()));
    there.credit(from, 1, 1000);
    // This one is not dropped, whatever happened to those before it.
    other.send_message(other_to, false, &message("last"));
    let mut numbers = Vec::new();
    loop {
        let text = next(&mut there);
        if text == "last" {
            break;
        }
        numbers.push(text.parse::<u32>().expect("a number"));
    }
    assert!(numbers.is_sorted(), "{numbers:?}");
}

/// The sum of a counter over the links between routers, of one direction.
fn between_routers(router: &Interior, direction: &str, counter: &str) -> i64 {
    let links = router.management().query("router.link");
    let of_routers = links.iter().filter(|row| row.text("linkType") == Some("inter-router"));
    of_routers.filter(|row| row.text("linkDir") == Some(direction)).filter_map(|row| row.integer(counter)).sum()
}

// DISPATCH-1540, DISPATCH-1541
#[test]
fn a_large_presettled_delivery_counts_once_on_each_link_between_routers() {
    let [a, b, c] = three();
    let (mut there, _) = receiver(&c, "a", 10);
    for router in [&a, &b] {
        router.knows("a", 0, 1);
    }
    let (mut sender, to) = sender(&a, "a");

    sender.send_message(to, true, &data(1_000_000));

    assert!(there.receive().settled);
    for (router, direction) in [(&a, "out"), (&b, "in"), (&b, "out"), (&c, "in")] {
        wait_for("the presettled delivery", || {
            (between_routers(router, direction, "presettledCount") == 1).then_some(())
        });
        assert_eq!(between_routers(router, direction, "unsettledCount"), 0);
    }
}

// skupper-router#1412
#[test]
fn a_message_that_is_aborted_while_it_streams_ends_on_all_routers_and_leaves_nothing_behind() {
    let [a, b, c] = three();
    let (mut there, from) = receiver(&c, "a", 10);
    for router in [&a, &b] {
        router.knows("a", 0, 1);
    }
    let (mut sender, to) = sender(&a, "a");
    let delivery = sender.next_delivery();
    sender.send_part(to, delivery, false, &head_of_data(10_000_000), true);
    sender.send_part(to, delivery, false, &vec![b'x'; 500_000], true);
    there.wait_for_bytes(from, 100_000);

    sender.abort(to, delivery);

    assert!(there.receive().aborted);
    for router in [&a, &b, &c] {
        let mut management = router.management();
        wait_for("the memory to be free", || {
            let kept = management.query("allocator");
            let kept = kept.iter().find(|row| row.text("typeName") == Some("qd_message_t"))?;
            (kept.integer("heldByThreads") == Some(0)).then_some(())
        });
    }
    sender.send_message(to, false, &message("next"));
    assert_eq!(next(&mut there), "next");
}

// DISPATCH-1394
#[test]
fn a_malformed_message_is_rejected_by_the_first_router_and_the_others_go_on() {
    let [a, b] = two();
    let (mut there, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");

    let sent = sender.send_message(to, false, b"\x00\x53\x75\xb0\x00\x00\x00\xff");

    let Some(DeliveryState::Rejected(Some(error))) = sender.outcome(sent) else { panic!("it was not rejected") };
    assert_eq!(error.condition.as_str(), "amqp:decode-error");
    sender.send_message(to, false, &message("next"));
    assert_eq!(next(&mut there), "next");
}
