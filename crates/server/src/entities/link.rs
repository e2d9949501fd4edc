//! `router.link`: the links of all connections.

use crate::entities::attributes::{Row, counts, text_or_null};
use crate::shard::Shards;
use amqp::Value;
use management::{Attributes, EntityType, Failure};
use router_core::LinkSnapshot;

/// All links.
pub(super) fn rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    shards.with_core(|core, _, now| core.links(now).iter().map(|link| row(link, entity_type)).collect())
}

/// As in the old router, a change of `adminStatus` is acknowledged and has no effect.
pub(super) fn update(
    shards: &Shards,
    entity_type: &EntityType,
    identity: &str,
    changes: &Attributes,
) -> Result<Attributes, Failure> {
    let id: u64 = identity.parse().map_err(|_| Failure::not_found())?;
    let found = shards
        .with_core(|core, _, now| core.links(now).iter().find(|link| link.id == id).map(|link| row(link, entity_type)));
    let mut attributes = found.ok_or_else(Failure::not_found)?;
    if let Some(status) = changes.get("adminStatus") {
        attributes.set("adminStatus", status.clone());
    }
    Ok(attributes)
}

fn row(link: &LinkSnapshot<'_>, entity_type: &EntityType) -> Attributes {
    Row::identified(entity_type, Value::String(link.name.to_owned()), link.id.to_string())
        .text("linkName", link.name)
        .text("linkType", link.link_type.as_str())
        .text("linkDir", if link.incoming { "in" } else { "out" })
        .with("owningAddr", text_or_null(link.owning_addr))
        .count("capacity", link.capacity)
        .with("peer", text_or_null(link.peer.map(|id| id.to_string()).as_deref()))
        .count("undeliveredCount", link.undelivered_count)
        .count("unsettledCount", link.unsettled_count)
        .count("deliveryCount", link.delivery_count)
        .text("connectionId", link.connection_id.to_string())
        .text("adminStatus", "enabled")
        .text("operStatus", "up")
        .count("presettledCount", link.presettled_count)
        .count("droppedPresettledCount", link.dropped_presettled_count)
        .count("acceptedCount", link.accepted_count)
        .count("rejectedCount", link.rejected_count)
        .count("releasedCount", link.released_count)
        .count("modifiedCount", link.modified_count)
        .count("deliveriesDelayed1Sec", link.deliveries_delayed_1sec)
        .count("deliveriesDelayed10Sec", link.deliveries_delayed_10sec)
        .count("deliveriesStuck", link.deliveries_stuck)
        .with(
            "ingressHistogram",
            link.ingress_histogram.as_ref().map_or(Value::Null, |histogram| counts(histogram.counts())),
        )
        .count("priority", link.priority)
        .count("settleRate", link.settle_rate)
        .count("creditAvailable", link.credit_available)
        .count("zeroCreditSeconds", link.zero_credit_seconds)
        .done()
}
