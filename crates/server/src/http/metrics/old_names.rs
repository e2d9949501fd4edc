//! The metrics of the old router, under its names.

use router_core::RouterStatistics;

use super::exposition::{Exposition, Kind};
use crate::entities::allocator_pools;
use crate::shard::Shards;

/// Name, kind, what it is, and where it comes from.
type Metric = (&'static str, Kind, &'static str, fn(&RouterStatistics) -> u64);

const METRICS: [Metric; 22] = [
    ("connections", Kind::Gauge, "Connections that are open.", |router| router.connection_count),
    ("links", Kind::Gauge, "Links that are attached.", |router| router.link_count),
    ("addresses", Kind::Gauge, "Addresses known.", |router| router.addr_count),
    ("routers", Kind::Gauge, "Other routers of the network that are known.", |router| router.node_count),
    ("link_routes", Kind::Gauge, "Link routes that are active or configured.", |router| router.link_route_count),
    ("auto_links", Kind::Gauge, "Auto-links configured.", |router| router.auto_link_count),
    ("presettled_deliveries", Kind::Counter, "Deliveries settled by their senders.", |router| {
        router.presettled_deliveries
    }),
    ("dropped_presettled_deliveries", Kind::Counter, "Presettled deliveries dropped.", |router| {
        router.dropped_presettled_deliveries
    }),
    ("accepted_deliveries", Kind::Counter, "Deliveries accepted.", |router| router.accepted_deliveries),
    ("released_deliveries", Kind::Counter, "Deliveries released.", |router| router.released_deliveries),
    ("rejected_deliveries", Kind::Counter, "Deliveries rejected.", |router| router.rejected_deliveries),
    ("modified_deliveries", Kind::Counter, "Deliveries modified.", |router| router.modified_deliveries),
    ("deliveries_ingress", Kind::Counter, "Deliveries in, from clients.", |router| router.deliveries_ingress),
    ("deliveries_egress", Kind::Counter, "Deliveries out, to clients.", |router| router.deliveries_egress),
    ("deliveries_transit", Kind::Counter, "Deliveries on their way between other routers.", |router| {
        router.deliveries_transit
    }),
    ("deliveries_ingress_route_container", Kind::Counter, "Deliveries in, from route containers.", |router| {
        router.deliveries_ingress_route_container
    }),
    ("deliveries_egress_route_container", Kind::Counter, "Deliveries out, to route containers.", |router| {
        router.deliveries_egress_route_container
    }),
    ("deliveries_delayed_1sec", Kind::Counter, "Deliveries settled after more than 1 s, up to 10 s.", |router| {
        router.deliveries_delayed_1sec
    }),
    ("deliveries_delayed_10sec", Kind::Counter, "Deliveries settled after more than 10 s.", |router| {
        router.deliveries_delayed_10sec
    }),
    ("deliveries_stuck", Kind::Gauge, "Deliveries that have been unsettled for long.", |router| {
        router.deliveries_stuck
    }),
    ("links_blocked", Kind::Gauge, "Links that have been without credit for long.", |router| router.links_blocked),
    ("deliveries_redirected_to_fallback", Kind::Counter, "Deliveries sent to a fallback destination.", |router| {
        router.deliveries_redirected_to_fallback
    }),
];

/// Writes them.
pub(super) fn write(shards: &Shards, text: &mut Exposition) {
    let statistics = shards.with_core(|core, _, _| core.statistics());
    for (name, kind, help, value) in METRICS {
        text.single(&format!("qdr_{name}_total"), kind, help, value(&statistics));
    }
    for (pool, size, count) in allocator_pools(shards) {
        let mut gauge = |what: &str, help: &'static str, bytes: u64| {
            text.single(&format!("qdr_allocator_{pool}:{what}_bytes"), Kind::Gauge, help, bytes);
        };
        let bytes = count.saturating_mul(size);
        gauge("total_alloc_from_heap", "Bytes of the objects of this kind that there are now.", bytes);
        // There are no pools: an object that is free has no memory.
        gauge("total_free_to_heap", "Always 0: nothing is kept for later use.", 0);
        gauge("held_by_threads", "Always 0: nothing is kept for later use.", 0);
        gauge("batches_rebalanced_to_threads", "Always 0: nothing is kept for later use.", 0);
        gauge("batches_rebalanced_to_global", "Always 0: nothing is kept for later use.", 0);
    }
}
