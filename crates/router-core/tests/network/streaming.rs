//! Messages that pass routers before they are complete.

use amqp::DeliveryState;
use router_core::*;

use crate::mesh::Mesh;

#[test]
fn a_message_comes_to_its_receiver_before_it_ends_and_is_settled_after_that() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    let receiver = mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.begin(sender);
    assert_eq!(mesh.counts([receiver]), [1]);
    mesh.accept(message);
    assert_eq!(mesh.told(message), None);
    mesh.end(message);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
}

#[test]
fn an_aborted_message_is_aborted_on_all_hops() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.begin(sender);
    mesh.abort(sender, message);
    for router in &mesh.routers {
        assert_eq!(router.core.object_counts().deliveries, 0);
    }
    assert_eq!(mesh.link(sender).credit_available, 250);
}

#[test]
fn a_message_whose_way_is_lost_may_have_failed_and_the_sender_learns_it_at_its_end() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "x", Treatment::Closest);
    mesh.receiver(2, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.begin(sender);
    mesh.cut(1, 2);
    assert_eq!(mesh.told(message), None);
    mesh.end(message);
    assert!(matches!(mesh.told(message), Some(DeliveryState::Modified(_))));
}

#[test]
fn a_multicast_is_streamed_to_all() {
    let mut mesh = Mesh::line(&["A", "B", "C"], "m", Treatment::Multicast);
    let receivers = [0, 1, 2].map(|router| mesh.receiver(router, "m", 10));
    let sender = mesh.sender(0, "m");
    let message = mesh.begin(sender);
    assert_eq!(mesh.counts(receivers), [1; 3]);
    mesh.end(message);
    mesh.accept(message);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
}

/// Two routers that take large messages on links of their own.
fn with_streaming_links() -> Mesh {
    let mut mesh = Mesh::of(&["A", "B"]);
    mesh.join_with(0, 1, |info| info.streaming_links = true);
    mesh.converge();
    mesh
}

fn links_between_routers(mesh: &Mesh) -> usize {
    mesh.routers[0].core.links(mesh.now).iter().filter(|link| link.link_type == LinkType::InterRouter).count()
}

#[test]
fn a_large_message_does_not_hold_up_the_small_ones_behind_it() {
    let mut mesh = with_streaming_links();
    let slow = mesh.receiver(1, "slow", 10);
    let quick = mesh.receiver(1, "quick", 10);
    let (large, small) = (mesh.sender(0, "slow"), mesh.sender(0, "quick"));
    let message = mesh.begin(large);
    mesh.send(small);
    assert_eq!(mesh.counts([slow, quick]), [1, 1]);
    mesh.end(message);
    mesh.accept(message);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
}

#[test]
fn without_links_for_large_messages_the_small_ones_wait() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "slow", 10);
    let quick = mesh.receiver(1, "quick", 10);
    let (large, small) = (mesh.sender(0, "slow"), mesh.sender(0, "quick"));
    let message = mesh.begin(large);
    mesh.send(small);
    assert_eq!(mesh.counts([quick]), [0]);
    mesh.end(message);
    assert_eq!(mesh.counts([quick]), [1]);
}

#[test]
fn a_link_for_large_messages_is_used_again_when_it_has_nothing_to_do() {
    let mut mesh = with_streaming_links();
    mesh.receiver(1, "q", 10);
    let senders = [mesh.sender(0, "q"), mesh.sender(0, "q")];
    for _ in 0..3 {
        let messages = senders.map(|sender| mesh.begin(sender));
        assert_eq!(links_between_routers(&mesh), 22);
        messages.into_iter().for_each(|message| mesh.end(message));
    }
    let message = mesh.begin(senders[0]);
    mesh.abort(senders[0], message);
    mesh.begin(senders[0]);
    assert_eq!(links_between_routers(&mesh), 22);
}

#[test]
fn what_a_sender_sends_after_a_large_message_takes_the_same_way() {
    let mut mesh = Mesh::of(&["A", "B", "C"]);
    mesh.join_with(0, 1, |info| info.streaming_links = true);
    mesh.join_with(1, 2, |info| info.streaming_links = true);
    mesh.converge();
    let receiver = mesh.receiver(2, "q", 100);
    let sender = mesh.sender(0, "q");
    for _ in 0..3 {
        let large = mesh.begin(sender);
        mesh.end(large);
        mesh.send(sender);
    }
    assert_eq!(mesh.counts([receiver]), [6]);
    for router in [0, 1] {
        let links = mesh.routers[router].core.links(mesh.now);
        let out = links.iter().filter(|link| link.link_type == LinkType::InterRouter && !link.incoming);
        let used: Vec<_> = out.map(|link| link.delivery_count).filter(|count| *count > 0).collect();
        assert_eq!(used, [6], "router {router}");
    }
}

#[test]
fn the_link_that_a_sender_keeps_is_for_others_once_it_is_gone() {
    let mut mesh = with_streaming_links();
    mesh.receiver(1, "q", 10);
    for _ in 0..3 {
        let sender = mesh.sender(0, "q");
        let message = mesh.begin(sender);
        mesh.end(message);
        mesh.lose(sender);
    }
    assert_eq!(links_between_routers(&mesh), 21);
}

/// How many links for large messages are there after each of three scans, when so many were in use at once.
fn waiting_after_scans(mesh: &mut Mesh, streams: usize, seconds: u64) -> [usize; 3] {
    mesh.receiver(1, "q", 1_000);
    let senders: Vec<_> = (0..streams).map(|_| mesh.sender(0, "q")).collect();
    let messages: Vec<_> = senders.into_iter().map(|sender| mesh.begin(sender)).collect();
    for message in messages {
        mesh.end(message);
        mesh.accept(message);
    }
    [(); 3].map(|()| {
        mesh.pass_time(seconds);
        links_between_routers(mesh) - 20
    })
}

#[test]
fn of_too_many_links_that_wait_ten_are_detached_each_half_minute() {
    let mut mesh = with_streaming_links();
    assert_eq!(waiting_after_scans(&mut mesh, 145, 30), [135, 128, 128]);
}

#[test]
fn with_test_hooks_two_links_are_left_waiting_and_ten_are_detached_each_five_seconds() {
    let mut mesh = Mesh::with_hooks(&["A", "B"]);
    mesh.join_with(0, 1, |info| info.streaming_links = true);
    mesh.converge();
    assert_eq!(waiting_after_scans(&mut mesh, 15, 5), [5, 2, 2]);
}

#[test]
fn a_stream_that_moves_is_not_stuck_and_one_that_stands_is() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.begin(sender);
    mesh.more(message, 25);
    mesh.pass_time(6);
    let stuck = |mesh: &Mesh| [0, 1].map(|router| mesh.routers[router].core.statistics().deliveries_stuck);
    assert_eq!(stuck(&mesh), [0, 0]);
    mesh.pass_time(30);
    assert_eq!(stuck(&mesh), [2, 2]);
    mesh.end(message);
    mesh.accept(message);
    assert_eq!(stuck(&mesh), [0, 0]);
}
