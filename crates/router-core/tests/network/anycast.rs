//! Deliveries to one receiver, wherever it is.

use amqp::DeliveryState;
use router_core::*;

use crate::mesh::Mesh;

#[test]
fn a_message_crosses_two_routers_and_its_outcome_comes_back() {
    let mut mesh = Mesh::line(&["A", "B"], "x", Treatment::Closest);
    let receiver = mesh.receiver(1, "q", 10);
    let sender = mesh.sender(0, "q");
    let message = mesh.send(sender);
    assert_eq!(mesh.counts([receiver]), [1]);
    assert_eq!(mesh.told(message), None);
    mesh.accept(message);
    assert_eq!(mesh.told[&message], (Some(DeliveryState::Accepted), true));
}
