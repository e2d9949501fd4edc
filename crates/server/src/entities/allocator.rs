//! `allocator`: what the router keeps in memory, by the old router's names of types.
//!
//! The old router has pools of its own with free lists for each thread, and tools show their counters. Here the numbers
//! are those of objects that exist now; none are kept for later use.

use crate::entities::attributes::Row;
use crate::shard::Shards;
use amqp::Value;
use management::{Attributes, EntityType};

/// A kind of object: its name in the old router, its size in bytes, and how many there are.
type Pool = (&'static str, u64, u64);

/// A row for each kind of object.
pub(super) fn rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    pools(shards).map(|pool| row(pool, entity_type)).collect()
}

fn pools(shards: &Shards) -> impl Iterator<Item = Pool> {
    let counts = shards.counts();
    let (statistics, deliveries) = shards.with_core(|core, _, now| {
        let deliveries: u64 = core.links(now).iter().map(|link| link.undelivered_count + link.unsettled_count).sum();
        (core.statistics(), deliveries)
    });
    let sizes = router_core::object_sizes();
    [
        ("qd_message_t", counts.message_size, counts.messages),
        ("qd_buffer_t", 1, counts.message_bytes),
        ("qdr_delivery_t", sizes.delivery, deliveries),
        ("qdr_address_t", sizes.address, statistics.addr_count),
        ("qdr_link_t", sizes.link, statistics.link_count),
        ("qdr_connection_t", sizes.connection, statistics.connection_count),
    ]
    .into_iter()
}

fn row((name, size, count): Pool, entity_type: &EntityType) -> Attributes {
    let identity = format!("allocator/{name}");
    Row::new()
        .text("typeName", name)
        .count("typeSize", size)
        .count("transferBatchSize", 1u64)
        // The least bound that tools which divide by it, or compare with it, can work with.
        .count("localFreeListMax", 1u64)
        .count("globalFreeListMax", 0u64)
        .count("totalAllocFromHeap", count)
        .count("totalFreeToHeap", 0u64)
        .count("heldByThreads", 0u64)
        .count("batchesRebalancedToThreads", 0u64)
        .count("batchesRebalancedToGlobal", 0u64)
        .with("name", Value::String(identity.clone()))
        .text("identity", identity)
        .text("type", entity_type.full)
        .done()
}
