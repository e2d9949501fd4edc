//! Messages from router to router.

use amqp::DeliveryState;

use crate::support::{Receiving, Router, Sending, message};

/// Two routers that know each other.
fn two() -> (Router, Router) {
    let a = Router::start("A", &[]);
    let b = Router::start("B", &[(&a, 1)]);
    a.reaches(&["B"]);
    b.reaches(&["A"]);
    (a, b)
}

/// Three routers in a line.
fn three() -> [Router; 3] {
    let a = Router::start("A", &[]);
    let b = Router::start("B", &[(&a, 1)]);
    let c = Router::start("C", &[(&b, 1)]);
    a.reaches(&["B", "C"]);
    c.reaches(&["A", "B"]);
    [a, b, c]
}

/// Sends messages of this size one after the other, and sees that each comes, in order, and is accepted.
fn pass(from: &Router, to: &Router, address: &str, count: usize, size: usize) {
    let mut receiving = Receiving::from(to, address);
    from.knows(address, 0, 1);
    let receiver = std::thread::spawn(move || {
        for number in 0..count {
            assert!(receiving.next() == message(number, size), "message {number} of {count}");
        }
    });
    let mut sending = Sending::to(from, address);
    for number in 0..count {
        sending.send(&message(number, size));
    }
    receiver.join().expect("all messages come, in order");
    assert!(sending.outcomes(count).iter().all(|(_, state)| *state == DeliveryState::Accepted));
}

#[test]
fn messages_pass_between_two_routers_in_both_directions() {
    let (a, b) = two();
    pass(&a, &b, "there", 300, 100);
    pass(&b, &a, "back", 300, 100);
    pass(&a, &b, "closest/there", 300, 20_000);
}

#[test]
fn a_message_of_ten_mebibytes_streams_through_three_routers_in_both_directions() {
    let [a, _b, c] = three();
    pass(&a, &c, "there", 2, 10 << 20);
    pass(&c, &a, "back", 2, 10 << 20);
}

#[test]
fn each_subscriber_in_a_mesh_gets_a_multicast_message_once() {
    let a = Router::start("A", &[]);
    let b = Router::start("B", &[(&a, 1)]);
    let c = Router::start("C", &[(&a, 1), (&b, 1)]);
    let all = [&a, &b, &c];
    // While paths change a message may come twice.
    all.iter().for_each(|router| router.sees_mesh_of(3));
    let mut receiving = all.map(|router| Receiving::from(router, "multicast/news"));
    all.iter().for_each(|router| router.knows("multicast/news", 1, 2));
    let mut sending = Sending::to(&a, "multicast/news");
    for number in 0..50 {
        sending.send(&message(number, 100));
    }
    assert_eq!(receiving.each_mut().map(|each| each.rest(50)), [50; 3]);
    assert!(sending.outcomes(50).iter().all(|(_, state)| *state == DeliveryState::Accepted));
}

#[test]
fn the_nearest_consumer_gets_messages_of_a_closest_address() {
    let [a, b, c] = three();
    let mut near = Receiving::from(&b, "closest/x");
    let mut far = Receiving::from(&c, "closest/x");
    a.knows("closest/x", 0, 2);
    let mut sending = Sending::to(&a, "closest/x");
    for number in 0..20 {
        sending.send(&message(number, 10));
    }
    assert_eq!((near.rest(20), far.rest(0)), (20, 0));
}

#[test]
fn the_outcome_of_a_message_travels_back_over_three_routers() {
    let [a, _b, c] = three();
    let mut receiving = Receiving::from(&c, "judged");
    a.knows("judged", 0, 1);
    let mut sending = Sending::to(&a, "judged");
    sending.send(&message(0, 10));
    receiving.reject_next();
    let outcomes = sending.outcomes(1);
    assert!(matches!(outcomes[0].1, DeliveryState::Rejected(_)), "{outcomes:?}");
}
