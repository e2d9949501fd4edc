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
