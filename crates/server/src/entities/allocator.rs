//! `allocator`: what the router keeps in memory, by the old router's names of types.
//!
//! The old router has pools of its own with free lists for each thread, and tools show their counters. Here the numbers
//! are those of objects that exist now; none are kept for later use.

use crate::entities::attributes::Row;
use crate::shard::{ShardHost, Shards};
use amqp::Value;
use management::{Attributes, EntityType};
use router_core::Core;

/// A kind of object: its name in the old router, its size in bytes, and how many there are.
pub(crate) type Pool = (&'static str, u64, u64);

/// A row for each kind of object.
pub(super) fn rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    pools(shards).map(|pool| row(pool, entity_type)).collect()
}

/// All kinds of objects.
pub(crate) fn pools(shards: &Shards) -> impl Iterator<Item = Pool> {
    let held = shards.counts();
    let counts = shards.with_core(|core, _, _| core.object_counts());
    let sizes = Core::<ShardHost>::object_sizes();
    [
        ("qd_message_t", held.message_size, held.messages),
        ("qd_buffer_t", 1, held.message_bytes),
        ("qdr_delivery_t", sizes.delivery, counts.deliveries),
        ("qdr_address_t", sizes.address, counts.addresses),
        ("qdr_link_t", sizes.link, counts.links),
        ("qdr_connection_t", sizes.connection, counts.connections),
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
