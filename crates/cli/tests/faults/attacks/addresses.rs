//! Addresses whose names are chosen to be taken for others, or to be costly to look up.

use amqp::Performative;
use amqp::performative::Role;
use amqp::terminus::{Source, Target};
use management::client::Request;

use super::withstands;
use crate::support::CAPACITY;
use crate::support::codec::{message, text_of};
use crate::support::router::Router;

/// What the router's own table calls its addresses, and other names that look like some of its own.
const LOOK_ALIKES: [&str; 10] = [
    "L$management",
    "Lqdrouter",
    "Lqdhello",
    "Tqdrouter",
    "M$management",
    "M0of others",
    "Mof others",
    "of others//",
    "of others\0",
    "of\u{a0}others",
];

#[test]
fn names_that_look_like_the_routers_own_get_nothing_that_is_meant_for_others() {
    let router = Router::start("");
    withstands(&router, 32, || {
        let mut spy = router.client();
        let names = LOOK_ALIKES.map(|name| (spy.receiver(name, 100), name));
        for _ in 0..20 {
            router.management().ask(Request::query(None, &["name"])).expect("it is answered");
        }
        spy.sync();
        let caught: Vec<_> =
            names.iter().filter(|(link, _)| spy.has_delivery_of(*link)).map(|(_, name)| name).collect();
        assert!(caught.is_empty(), "{caught:?} got what is not theirs");
        // They are addresses like any other.
        let mut sender = router.client();
        for name in LOOK_ALIKES {
            let to = sender.sender(name);
            sender.expect_credit(to, CAPACITY);
            sender.send_message(to, true, &message(name));
            assert_eq!(text_of(&spy.receive().bytes), name);
        }
    });
}

/// A number in base two, written with two texts that are the same for weak hashes (`Aa` and `BB` are in Java's).
fn colliding(number: u32) -> String {
    (0..13).map(|bit| if number >> bit & 1 == 0 { "Aa" } else { "BB" }).collect()
}

#[test]
fn thousands_of_addresses_that_collide_or_share_all_but_their_last_letters_are_like_others() {
    let router = Router::start("");
    let long = "long/".repeat(100);
    withstands(&router, 160, || {
        let mut wire = router.client();
        for number in 0..8000 {
            let name = if number % 2 == 0 { colliding(number / 2) } else { format!("{long}{number}") };
            let mut attach = wire.new_attach(Role::Receiver);
            attach.source = Some(Source { address: Some(name), ..Source::default() });
            attach.target = Some(Target::default().into());
            wire.send(Performative::Attach(Box::new(attach)));
            if number % 500 == 499 {
                wire.sync();
                wire.take(|frame| matches!(frame, Performative::Attach(_)).then_some(()));
            }
        }
        wire.receiver("behind them", 1);
        let mut sender = router.client();
        let to = sender.sender("behind them");
        sender.expect_credit(to, CAPACITY);
        sender.send_message(to, true, &message("found"));
        assert_eq!(text_of(&wire.receive().bytes), "found");
    });
}
