//! Metrics of the router as a whole.

use router_core::{Delays, RouterStatistics};

use super::exposition::{Exposition, Kind};
use crate::DISPATCH_VERSION;
use crate::control::report::Report;
use crate::shard::Shards;

/// Name without `waystation_`, kind, what it is, and where it comes from.
type Metric = (&'static str, Kind, &'static str, fn(&RouterStatistics) -> u64);

const METRICS: [Metric; 16] = [
    ("connections", Kind::Gauge, "AMQP connections that are open.", |router| router.connection_count),
    ("links", Kind::Gauge, "Links that are attached.", |router| router.link_count),
    ("addresses", Kind::Gauge, "Addresses known, those for the router's own use among them.", |router| {
        router.addr_count
    }),
    ("other_routers", Kind::Gauge, "Other routers of the network that are known.", |router| router.node_count),
    ("link_routes", Kind::Gauge, "Link routes.", |router| router.link_route_count),
    ("auto_links", Kind::Gauge, "Auto-links.", |router| router.auto_link_count),
    ("deliveries_ingress_total", Kind::Counter, "Deliveries in, from links that are not a router's.", |router| {
        router.deliveries_ingress
    }),
    ("deliveries_egress_total", Kind::Counter, "Deliveries out, to links that are not a router's.", |router| {
        router.deliveries_egress
    }),
    ("deliveries_transit_total", Kind::Counter, "Deliveries out, to other routers.", |router| {
        router.deliveries_transit
    }),
    ("deliveries_ingress_route_container_total", Kind::Counter, "Deliveries in, from route containers.", |router| {
        router.deliveries_ingress_route_container
    }),
    ("deliveries_egress_route_container_total", Kind::Counter, "Deliveries out, to route containers.", |router| {
        router.deliveries_egress_route_container
    }),
    (
        "deliveries_redirected_to_fallback_total",
        Kind::Counter,
        "Deliveries sent to a fallback destination.",
        |router| router.deliveries_redirected_to_fallback,
    ),
    ("deliveries_presettled_total", Kind::Counter, "Deliveries that their senders had settled.", |router| {
        router.presettled_deliveries
    }),
    ("deliveries_dropped_total", Kind::Counter, "Presettled deliveries dropped for want of a receiver.", |router| {
        router.dropped_presettled_deliveries
    }),
    ("deliveries_stuck", Kind::Gauge, "Deliveries that have been unsettled for long.", |router| {
        router.deliveries_stuck
    }),
    ("links_blocked", Kind::Gauge, "Outgoing links that have been without credit for long.", |router| {
        router.links_blocked
    }),
];

/// Writes them.
pub(super) fn write(shards: &Shards, report: Option<&Report>, text: &mut Exposition) {
    let statistics = shards.with_core(|core, _, _| core.statistics());
    if let Some(report) = report {
        text.family("waystation_router_info", Kind::Gauge, "Always 1: what this router is.").sample(
            &[
                ("router", &report.router_id),
                ("mode", &report.mode),
                ("version", env!("CARGO_PKG_VERSION")),
                ("dispatch_version", DISPATCH_VERSION),
            ],
            1,
        );
    }
    for (name, kind, help, value) in METRICS {
        text.single(&format!("waystation_{name}"), kind, help, value(&statistics));
    }
    let outcomes =
        text.family("waystation_deliveries_outcome_total", Kind::Counter, "Deliveries by what became of them.");
    outcomes.sample(&[("outcome", "accepted")], statistics.accepted_deliveries);
    outcomes.sample(&[("outcome", "rejected")], statistics.rejected_deliveries);
    outcomes.sample(&[("outcome", "released")], statistics.released_deliveries);
    outcomes.sample(&[("outcome", "modified")], statistics.modified_deliveries);
    histogram(
        text,
        "waystation_delivery_transit_seconds",
        "Time from the arrival of a delivery until it was sent on, for each one sent.",
        &statistics.transit_delays,
    );
    histogram(
        text,
        "waystation_delivery_settlement_seconds",
        "Time from the arrival of a delivery until it was settled with its sender.",
        &statistics.settlement_delays,
    );
    let counts = shards.counts();
    text.single(
        "waystation_connections_accepted_total",
        Kind::Counter,
        "Connections accepted by listeners.",
        counts.accepted,
    );
    text.single(
        "waystation_messages_held",
        Kind::Gauge,
        "Messages in memory: those that wait to be sent, and those that leave while they come.",
        counts.messages,
    );
    text.single("waystation_messages_held_bytes", Kind::Gauge, "Bytes of those.", counts.message_bytes);
}

fn histogram(text: &mut Exposition, name: &str, help: &'static str, delays: &Delays) {
    let family = text.family(name, Kind::Histogram, help);
    for (bound, count) in delays.cumulative() {
        let bound = bound.map_or("+Inf".to_owned(), |bound| bound.as_secs_f64().to_string());
        family.sample_of("_bucket", &[("le", &bound)], count);
    }
    family.sample_of("_sum", &[], delays.sum().as_secs_f64());
    family.sample_of("_count", &[], delays.total());
}
