//! `router.address`: the addresses that the core knows.

use crate::entities::attributes::{Row, counts, texts};
use crate::shard::Shards;
use amqp::Value;
use management::{Attributes, EntityType};
use router_core::{AddressSnapshot, TransitOutstanding};

/// All addresses.
pub(super) fn rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    shards.with_core(|core, _, _| core.addresses().iter().map(|address| row(address, entity_type)).collect())
}

fn row(address: &AddressSnapshot<'_>, entity_type: &EntityType) -> Attributes {
    let outstanding = address.transit_outstanding.as_ref().map(TransitOutstanding::counts);
    let priority = address.priority.map_or(-1, i32::from);
    Row::identified(entity_type, Value::String(address.key.to_owned()), address.key)
        .text("key", address.key)
        .text("distribution", address.distribution.as_str())
        .count("inProcess", address.in_process)
        .count("subscriberCount", address.subscriber_count)
        .count("remoteCount", address.remote_count)
        .count("containerCount", address.container_count)
        .with("remoteHostRouters", texts(&address.remote_host_routers))
        .count("deliveriesIngress", address.deliveries_ingress)
        .count("deliveriesEgress", address.deliveries_egress)
        .count("deliveriesTransit", address.deliveries_transit)
        .count("deliveriesToContainer", address.deliveries_to_container)
        .count("deliveriesFromContainer", address.deliveries_from_container)
        .count("deliveriesEgressRouteContainer", address.deliveries_egress_route_container)
        .count("deliveriesIngressRouteContainer", address.deliveries_ingress_route_container)
        .with("transitOutstanding", outstanding.map_or(Value::Null, counts))
        .count("trackedDeliveries", address.tracked_deliveries)
        .with("priority", Value::Int(priority))
        .count("deliveriesRedirectedToFallback", address.deliveries_redirected_to_fallback)
        .done()
}
