//! Settled messages on their way over several routers: dropped only where their receiver has no credit.

use router_core::*;

use crate::mesh::{Client, Mesh};

fn dropped(mesh: &Mesh) -> u64 {
    mesh.routers.iter().map(|router| router.core.statistics().dropped_presettled_deliveries).sum()
}

/// Sends as many as credit allows, at most `count`; how many that were.
fn send_on_credit(mesh: &mut Mesh, sender: Client, count: usize) -> usize {
    let mut sent = 0;
    while sent < count && mesh.link(sender).credit_available > 0 {
        mesh.send_settled(sender);
        sent += 1;
    }
    sent
}

/// The connection to the next router, or to a client, takes nothing for now, or takes all again.
fn set_writable(mesh: &mut Mesh, router: usize, conn: ConnKey, writable: bool) {
    let record = &mut mesh.routers[router];
    record.core.set_writable(mesh.now, &mut record.host, conn, writable);
    mesh.settle();
}

fn connection_of(mesh: &Mesh, client: Client) -> ConnKey {
    let id = mesh.link(client).connection_id;
    mesh.routers[client.router].core.find_connection(id).expect("open").0
}

#[test]
fn a_receiver_without_credit_loses_what_it_is_behind_with() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 0);
    let sender = mesh.sender(0, "q");
    assert_eq!(send_on_credit(&mut mesh, sender, 600), 600);
    assert!(dropped(&mesh) > 0);
}

#[test]
fn a_connection_between_routers_that_is_behind_holds_the_sender_back() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    let receiver = mesh.receiver(1, "q", 1_000);
    let sender = mesh.sender(0, "q");
    let conn = mesh.connection(0, 1);
    set_writable(&mut mesh, 0, conn, false);
    assert_eq!(send_on_credit(&mut mesh, sender, 600), 250);
    set_writable(&mut mesh, 0, conn, true);
    assert_eq!((mesh.counts([receiver]), dropped(&mesh)), ([250], 0));
    assert_eq!(mesh.link(sender).credit_available, 250);
}

#[test]
fn a_receiver_far_away_that_is_behind_though_it_has_credit_loses_nothing() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let receiver = mesh.receiver(2, "q", 10_000);
    let sender = mesh.sender(0, "q");
    mesh.send_settled(sender);
    let conn = connection_of(&mesh, receiver);
    set_writable(&mut mesh, 2, conn, false);
    let sent = send_on_credit(&mut mesh, sender, 5_000);
    assert!((250..=1_000).contains(&sent), "{sent} were sent while nothing was taken");
    set_writable(&mut mesh, 2, conn, true);
    assert_eq!((mesh.counts([receiver]), dropped(&mesh)), ([sent + 1], 0));
    assert_eq!(mesh.link(sender).credit_available, 250);
    for router in 0..3 {
        let links = mesh.routers[router].core.links(mesh.now);
        let mut between = links.iter().filter(|link| link.link_type == LinkType::InterRouter);
        assert!(between.all(|link| link.credit_available == 250));
    }
}

#[test]
fn a_receiver_that_takes_nothing_any_more_does_not_hold_up_others_for_long() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    let stalled = mesh.receiver(1, "stalled", 10_000);
    let other = mesh.receiver(1, "other", 10_000);
    let senders = [mesh.sender(0, "stalled"), mesh.sender(0, "other")];
    mesh.send_settled(senders[0]);
    let conn = connection_of(&mesh, stalled);
    set_writable(&mut mesh, 1, conn, false);
    send_on_credit(&mut mesh, senders[0], 5_000);
    // The credit between the routers is used up: the other message waits, until that is noticed.
    mesh.send_settled(senders[1]);
    assert_eq!(mesh.counts([other]), [0]);
    for _ in 0..4 {
        mesh.pass_time(1);
        send_on_credit(&mut mesh, senders[0], 100);
    }
    send_on_credit(&mut mesh, senders[0], 5_000);
    mesh.send_settled(senders[1]);
    assert_eq!(mesh.counts([other]), [2]);
}
