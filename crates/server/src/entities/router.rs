//! `router`: the router itself.

use crate::DISPATCH_VERSION;
use crate::entities::attributes::count_or_null;
use crate::process::memory;
use crate::shard::Shards;
use amqp::Value;
use config::{Config, Mode, RouterConfig, Settings};
use management::Attributes;
use std::time::Duration;

/// The area of every network.
const AREA: &str = "0";

/// What is known of the router from its start.
pub(crate) struct RouterEntity {
    attributes: Attributes,
    config: RouterConfig,
    started: Duration,
}

impl RouterEntity {
    /// `started`: the shards' time at the start.
    pub(crate) fn new(config: &Config, started: Duration) -> Self {
        let entity = config.entities.iter().find(|entity| matches!(entity.settings, Settings::Router(_)));
        let mut attributes = entity.map(|entity| entity.attributes.clone()).unwrap_or_default();
        attributes.set("version", Value::String(DISPATCH_VERSION.to_owned()));
        if config.router.mode == Mode::Interior {
            attributes.set("area", Value::String(AREA.to_owned()));
        }
        attributes.set("hostName", Value::String(host_name()));
        RouterEntity { attributes, config: config.router.clone(), started }
    }

    /// The `router` section.
    pub(crate) fn config(&self) -> &RouterConfig {
        &self.config
    }

    /// What was configured, and the state and counters of the core.
    pub(super) fn row(&self, shards: &Shards) -> Attributes {
        let (statistics, now) = shards.with_core(|core, _, now| (core.statistics(), now));
        let mut row = self.attributes.clone();
        let counts = [
            ("addrCount", statistics.addr_count),
            ("linkCount", statistics.link_count),
            ("nodeCount", statistics.node_count),
            ("linkRouteCount", statistics.link_route_count),
            ("autoLinkCount", statistics.auto_link_count),
            ("connectionCount", statistics.connection_count),
            ("presettledDeliveries", statistics.presettled_deliveries),
            ("droppedPresettledDeliveries", statistics.dropped_presettled_deliveries),
            ("acceptedDeliveries", statistics.accepted_deliveries),
            ("rejectedDeliveries", statistics.rejected_deliveries),
            ("releasedDeliveries", statistics.released_deliveries),
            ("modifiedDeliveries", statistics.modified_deliveries),
            ("deliveriesDelayed1Sec", statistics.deliveries_delayed_1sec),
            ("deliveriesDelayed10Sec", statistics.deliveries_delayed_10sec),
            ("deliveriesStuck", statistics.deliveries_stuck),
            ("deliveriesIngress", statistics.deliveries_ingress),
            ("deliveriesEgress", statistics.deliveries_egress),
            ("deliveriesTransit", statistics.deliveries_transit),
            ("deliveriesIngressRouteContainer", statistics.deliveries_ingress_route_container),
            ("deliveriesEgressRouteContainer", statistics.deliveries_egress_route_container),
            ("deliveriesRedirectedToFallback", statistics.deliveries_redirected_to_fallback),
            ("linksBlocked", statistics.links_blocked),
            ("blockedLinkCount", statistics.links_blocked),
            ("uptimeSeconds", now.saturating_sub(self.started).as_secs()),
        ];
        for (name, count) in counts {
            row.set(name, Value::Ulong(count));
        }
        row.set("memoryUsage", count_or_null(memory::virtual_size()));
        row.set("transitBytes", Value::Ulong(shards.transit_limit()));
        row
    }
}

fn host_name() -> String {
    nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default()
}
