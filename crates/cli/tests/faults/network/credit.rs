//! Credit between routers.

use amqp::DeliveryState;

use super::{addressed, pass, receiver, sender, two};
use crate::support::CAPACITY;
use crate::support::codec::message;

// DISPATCH-1406
#[test]
fn what_another_router_releases_costs_the_links_to_it_no_credit() {
    let [a, b] = two();
    let mut client = a.client();
    let to = client.anonymous_sender();
    client.expect_credit(to, CAPACITY);

    // Several times the credit that there is between the routers. This one cannot know what the other has no receiver for.
    for _ in 0..1000 {
        let sent = client.send_message(to, false, &addressed("_topo/0/B/gone", "lost"));
        assert_eq!(client.outcome(sent), Some(DeliveryState::Released));
    }

    let (mut receiver, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");
    pass(&mut sender, to, &mut receiver, "still here");
}

// DISPATCH-1406
#[test]
fn what_is_handed_back_when_a_receiver_goes_costs_the_links_between_routers_no_credit() {
    let [a, b] = two();

    for _ in 0..5 {
        let (mut leaving, from) = receiver(&b, "a", 0);
        a.knows("a", 0, 1);
        let (mut sender, to) = sender(&a, "a");
        let sent: Vec<_> =
            (0..CAPACITY).map(|_| sender.send_message(to, false, &message("waits for credit"))).collect();
        sender.sync();
        leaving.detach(from);
        for delivery in sent {
            assert_eq!(sender.outcome(delivery), Some(DeliveryState::Released));
        }
        a.knows("a", 0, 0);
    }

    let (mut receiver, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");
    pass(&mut sender, to, &mut receiver, "still here");
}

// DISPATCH-1406
#[test]
fn what_a_killed_receiver_leaves_unsettled_on_another_router_costs_no_credit() {
    let [a, b] = two();

    for _ in 0..5 {
        let (mut leaving, _) = receiver(&b, "a", CAPACITY);
        a.knows("a", 0, 1);
        let (mut sender, to) = sender(&a, "a");
        let sent: Vec<_> = (0..CAPACITY).map(|_| sender.send_message(to, false, &message("taken"))).collect();
        (0..CAPACITY).for_each(|_| drop(leaving.receive()));
        drop(leaving);
        for delivery in sent {
            assert!(matches!(sender.outcome(delivery), Some(DeliveryState::Modified(_))));
        }
        a.knows("a", 0, 0);
    }

    let (mut receiver, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");
    pass(&mut sender, to, &mut receiver, "still here");
}
