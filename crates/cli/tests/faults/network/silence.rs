//! A router that stops talking without closing its connections.

use super::{pass, receiver, sender};
use crate::support::interior::Interior;
use crate::support::wait_for;

/// A, which has a cheap way to B through SILENT, and a dear one through DEAR.
fn diamond() -> [Interior; 4] {
    let a = Interior::start("A", &[]);
    let silent = Interior::start("SILENT", &[(&a, 1)]);
    let dear = Interior::start("DEAR", &[(&a, 5)]);
    let b = Interior::start("B", &[(&silent, 1), (&dear, 5)]);
    a.goes_through("B", Some("SILENT"));
    b.goes_through("A", Some("SILENT"));
    [a, silent, dear, b]
}

#[test]
fn neighbours_go_round_a_router_that_has_stopped_while_its_connections_stand_and_take_it_back() {
    let [a, silent, dear, b] = diamond();
    let (mut receiver, _) = receiver(&b, "a", 10);
    // A may hear of it by one way, and send by the other.
    [&silent, &dear].into_iter().for_each(|router| router.knows("a", 0, 1));
    let (mut sender, to) = sender(&a, "a");
    pass(&mut sender, to, &mut receiver, "through SILENT");

    silent.hold_up(|| {
        a.goes_through("B", Some("DEAR"));
        b.goes_through("A", Some("DEAR"));
        // The greetings have told, not the end of the connections, which takes longer.
        assert_eq!((a.connections_with("SILENT"), b.connections_with("SILENT")), (1, 1));
        pass(&mut sender, to, &mut receiver, "through DEAR");
    });

    a.goes_through("B", Some("SILENT"));
    b.goes_through("A", Some("SILENT"));
    pass(&mut sender, to, &mut receiver, "through SILENT again");
}

#[test]
fn what_was_sent_to_a_router_that_has_stopped_is_told_to_its_sender_when_the_connection_is_given_up() {
    let [mut a, silent, _dear, _b] = diamond();
    let (_there, _) = receiver(&silent, "a", 10);
    a.knows("a", 0, 1);
    let (mut sender, to) = sender(&a, "a");

    silent.hold_up(|| {
        let sent = sender.send_message(to, false, &crate::support::codec::message("nobody reads this"));
        a.knows("a", 0, 0);
        sender.outcome(sent).expect("it has an outcome");
        // skupper-cli#23
        a.wait_for_log("local-idle-timeout expired", |_| true);
    });

    a.reaches(&["SILENT"]);
    wait_for("a new connection", || (a.connections_with("SILENT") == 1).then_some(()));
    a.knows("a", 0, 1);
}
