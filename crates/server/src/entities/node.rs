//! `router.node`: the routers of the network, this one first.

use crate::control::network::Network;
use crate::entities::attributes::{Row, texts};
use amqp::Value;
use management::{Attributes, EntityType};
use router_net::{NodeIndex, NodeView};

/// All routers; none without a network.
pub(super) fn rows(network: Option<&Network>, entity_type: &EntityType) -> Vec<Attributes> {
    network.map(|network| network.nodes().map(|node| row(&node, entity_type)).collect()).unwrap_or_default()
}

/// The addresses of all management nodes.
pub(super) fn management_addresses(network: Option<&Network>) -> Vec<String> {
    network
        .map(|network| network.nodes().map(|node| format!("{}/$management", address(&node))).collect())
        .unwrap_or_default()
}

fn address(node: &NodeView<'_>) -> String {
    format!("amqp:/_topo/0/{}", node.id)
}

fn row(node: &NodeView<'_>, entity_type: &EntityType) -> Attributes {
    let own = node.index == NodeIndex::SELF;
    let neighbors: Vec<&str> = node.link_state.iter().map(|(id, _)| *id).collect();
    let next_hop = if own { Some("(self)") } else { node.next_hop };
    let identity = format!("router.node/{}", node.id);
    let mut row = Row::identified(entity_type, Value::String(identity.clone()), identity)
        .text("id", node.id)
        .with("index", Value::Long(node.index.0.into()))
        .with("protocolVersion", Value::Long(node.protocol_version))
        .with("instance", Value::Long(node.instance))
        .with("linkState", texts(&neighbors))
        .with("validOrigins", texts(&node.valid_origins))
        .text("address", address(node));
    if let Some(next_hop) = next_hop {
        row = row.text("nextHop", next_hop);
    }
    if let Some(link) = node.router_link {
        row = row.with("routerLink", Value::Long(link.into()));
    }
    if let Some(cost) = node.cost {
        row = row.with("cost", Value::Long(cost.into()));
    }
    if let Some(changed) = node.last_topo_change {
        row = row.with("lastTopoChange", Value::Long(changed));
    }
    row.done()
}
