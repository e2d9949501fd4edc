//! Routers that are killed, and come back.

use amqp::DeliveryState;

use super::{outcome_of, pass, receiver, sender, three, two};
use crate::support::CAPACITY;
use crate::support::codec::message;
use crate::support::interior::Interior;

#[test]
fn a_router_that_is_killed_and_back_at_once_has_all_addresses_everywhere_each_time() {
    let [a, mut b, c] = three();
    let mut stays = Vec::new();
    for number in 0..50 {
        stays.push(receiver(&a, &format!("of-a/{number}"), 10).0);
        stays.push(receiver(&c, &format!("of-c/{number}"), 10).0);
    }

    for round in 0..6 {
        b.restart();
        let address = format!("of-b/{round}");
        let (mut here, _) = receiver(&b, &address, 10);
        for number in 0..50 {
            a.knows(&format!("of-c/{number}"), 0, 1);
            c.knows(&format!("of-a/{number}"), 0, 1);
            b.knows(&format!("of-a/{number}"), 0, 1);
            b.knows(&format!("of-c/{number}"), 0, 1);
        }
        for router in [&a, &c] {
            router.knows(&address, 0, 1);
        }
        for router in [&a, &c] {
            let (mut sender, to) = sender(router, &address);
            pass(&mut sender, to, &mut here, "found");
        }
        if round > 0 {
            a.knows(&format!("of-b/{}", round - 1), 0, 0);
            c.knows(&format!("of-b/{}", round - 1), 0, 0);
        }
    }
}

#[test]
fn a_router_at_the_end_that_is_killed_and_back_at_once_is_known_with_its_new_addresses_only() {
    let [a, b, mut c] = three();

    for round in 0..6 {
        let (_old, _) = receiver(&c, &format!("old/{round}"), 10);
        a.knows(&format!("old/{round}"), 0, 1);
        c.restart();
        let (mut new, _) = receiver(&c, &format!("new/{round}"), 10);
        for router in [&a, &b] {
            router.knows(&format!("new/{round}"), 0, 1);
            router.knows(&format!("old/{round}"), 0, 0);
        }
        let (mut sender, to) = sender(&a, &format!("new/{round}"));
        pass(&mut sender, to, &mut new, "found");
    }
}

#[test]
fn what_a_killed_router_had_not_settled_is_handed_back_to_its_sender() {
    let [a, b, mut c] = three();
    let (mut there, _) = receiver(&c, "a", 10);
    for router in [&a, &b] {
        router.knows("a", 0, 1);
    }
    let (mut sender, to) = sender(&a, "a");
    let sent: Vec<_> = (0..5).map(|_| sender.send_message(to, false, &message("x"))).collect();
    (0..5).for_each(|_| drop(there.receive()));

    c.kill();

    for delivery in sent {
        let outcome = sender.outcome(delivery);
        assert!(matches!(outcome, Some(DeliveryState::Modified(_) | DeliveryState::Released)), "{outcome:?}");
    }
    a.knows("a", 0, 0);
    assert_eq!(outcome_of(&a, "a", "later"), Some(DeliveryState::Released));
}

#[test]
fn traffic_that_does_not_need_the_killed_router_goes_on_meanwhile() {
    let hub = Interior::start("HUB", &[]);
    let stays = Interior::start("STAYS", &[(&hub, 1)]);
    let mut goes = Interior::start("GOES", &[(&hub, 1)]);
    hub.reaches(&["STAYS", "GOES"]);
    stays.reaches(&["GOES"]);
    let (mut unaffected, _) = receiver(&stays, "unaffected", CAPACITY);
    let (_affected, _) = receiver(&goes, "affected", 10);
    hub.knows("unaffected", 0, 1);
    hub.knows("affected", 0, 1);
    let (mut sender, to) = sender(&hub, "unaffected");
    pass(&mut sender, to, &mut unaffected, "before");

    goes.kill();
    let mut passed = 0;
    let mut management = hub.management();
    let mut is_known = || {
        let addresses = management.query("router.address");
        let found = addresses.iter().find(|row| row.text("key") == Some("M0affected"));
        found.and_then(|row| row.integer("remoteCount")).unwrap_or(0) > 0
    };
    while is_known() || passed < 100 {
        pass(&mut sender, to, &mut unaffected, "meanwhile");
        passed += 1;
        unaffected.credit(crate::support::links::Link { handle: 0, theirs: 0 }, passed, CAPACITY);
    }
    goes.start_again();
    hub.reaches(&["GOES"]);

    pass(&mut sender, to, &mut unaffected, "afterwards");
}

#[test]
fn messages_take_the_dear_way_when_the_cheap_one_is_gone_and_the_cheap_one_when_it_is_back() {
    let a = Interior::start("A", &[]);
    let mut cheap = Interior::start("CHEAP", &[(&a, 1)]);
    let dear = Interior::start("DEAR", &[(&a, 5)]);
    let b = Interior::start("B", &[(&cheap, 1), (&dear, 5)]);
    a.goes_through("B", Some("CHEAP"));
    let (mut receiver, _) = receiver(&b, "a", 10);
    for router in [&a, &cheap, &dear] {
        router.knows("a", 0, 1);
    }
    let (mut sender, to) = sender(&a, "a");
    pass(&mut sender, to, &mut receiver, "cheap");

    cheap.kill();
    a.goes_through("B", Some("DEAR"));
    pass(&mut sender, to, &mut receiver, "dear");

    cheap.start_again();
    a.goes_through("B", Some("CHEAP"));
    b.goes_through("A", Some("CHEAP"));
    // Until it knows the receiver it would release the message.
    cheap.knows("a", 0, 1);
    pass(&mut sender, to, &mut receiver, "cheap again");
}

#[test]
fn a_router_that_returns_is_used_again_by_the_sender_that_waited_for_it() {
    let [a, mut b] = two();
    let (first, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");
    b.kill();
    drop(first);
    a.loses("B");

    b.start_again();
    let (mut second, _) = receiver(&b, "a", 10);
    a.reaches(&["B"]);
    a.knows("a", 0, 1);

    pass(&mut sender, to, &mut second, "again");
}
