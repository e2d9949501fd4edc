//! `policy`: limits for everybody, and what they kept out.

use crate::shard::Shards;
use amqp::Value;
use management::Attributes;

/// The policy as configured, with its counters. Nothing is ever denied: a configuration that asks for it is refused.
pub(super) fn row(configured: &Attributes, shards: &Shards) -> Attributes {
    let current = shards.with_core(|core, _, now| core.connections(now).iter().filter(|c| c.incoming).count());
    let mut row = configured.clone();
    let mut show = |name: &str, count: u64| row.set(name, Value::Ulong(count));
    show("connectionsProcessed", shards.counts().accepted);
    show("connectionsDenied", 0);
    show("connectionsCurrent", current as u64);
    show("linksDenied", 0);
    show("maxMessageSizeDenied", 0);
    show("totalDenials", 0);
    row
}
