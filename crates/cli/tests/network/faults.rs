//! Routers that go and return.

use amqp::DeliveryState;

use crate::support::{Receiving, Router, Sending, message};

#[test]
fn a_router_that_was_killed_and_returns_is_in_use_again_with_all_that_it_knew() {
    let a = Router::start("A", &[]);
    let mut b = Router::start("B", &[(&a, 1)]);
    let c = Router::start("C", &[(&b, 1)]);
    a.reaches(&["B", "C"]);
    let _receiving = Receiving::from(&c, "kept");
    a.knows("kept", 0, 1);

    b.kill();
    a.loses("C");
    b.start_again();

    a.reaches(&["B", "C"]);
    a.knows("kept", 0, 1);
    b.knows("kept", 0, 1);
}

#[test]
fn a_neighbour_that_was_killed_and_is_back_at_once_has_its_new_addresses_known() {
    let a = Router::start("A", &[]);
    let mut b = Router::start("B", &[(&a, 1)]);
    a.reaches(&["B"]);
    let before = Receiving::from(&b, "before");
    a.knows("before", 0, 1);

    b.kill();
    b.start_again();
    drop(before);

    let mut after = Receiving::from(&b, "after");
    a.knows("after", 0, 1);
    a.knows("before", 0, 0);
    let mut sending = Sending::to(&a, "after");
    sending.send(&message(1, 10));
    assert_eq!(after.next(), message(1, 10));
}

#[test]
fn messages_take_the_other_way_when_a_router_on_the_cheapest_path_is_killed() {
    let a = Router::start("A", &[]);
    let mut cheap = Router::start("CHEAP", &[(&a, 1)]);
    let dear = Router::start("DEAR", &[(&a, 10)]);
    let b = Router::start("B", &[(&cheap, 1), (&dear, 10)]);
    a.reaches(&["CHEAP", "DEAR", "B"]);
    let mut receiving = Receiving::from(&b, "goal");
    a.knows("goal", 0, 1);
    let mut sending = Sending::to(&a, "goal");
    sending.send(&message(0, 10));
    assert_eq!(receiving.next(), message(0, 10));

    cheap.kill();
    a.loses("CHEAP");
    a.reaches(&["B"]);

    sending.send(&message(1, 10));
    assert_eq!(receiving.next(), message(1, 10));
}

#[test]
fn what_was_on_its_way_to_a_killed_router_is_told_to_its_sender() {
    let a = Router::start("A", &[]);
    let mut b = Router::start("B", &[(&a, 1)]);
    a.reaches(&["B"]);
    let mut receiving = Receiving::from(&b, "lost");
    a.knows("lost", 0, 1);
    let mut sending = Sending::to(&a, "lost");
    sending.send(&message(0, 10));
    receiving.wait_for_one();

    b.kill();

    let outcomes = sending.outcomes(1);
    assert!(matches!(outcomes[0].1, DeliveryState::Modified(_)), "{outcomes:?}");
}
