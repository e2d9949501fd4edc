//! `-g`: the router as a whole.

use management::{Attributes, repr};

use crate::qdstat::cells;
use crate::qdstat::table::Block;

/// Rows in the old tool's order. The column is as wide as the longest of these labels: tests of scripts that look for
/// values by column hold us to it.
const ROWS: [(&str, &str); 29] = [
    ("Version", "version"),
    ("Mode", "mode"),
    ("Router Id", "id"),
    ("Worker Threads", "workerThreads"),
    ("Uptime", "uptimeSeconds"),
    ("VmSize", "memoryUsage"),
    ("Area", "area"),
    ("Link Routes", "linkRouteCount"),
    ("Auto Links", "autoLinkCount"),
    ("Links", "linkCount"),
    ("Nodes", "nodeCount"),
    ("Addresses", "addrCount"),
    ("Connections", "connectionCount"),
    ("Presettled Count", "presettledDeliveries"),
    ("Dropped Presettled Count", "droppedPresettledDeliveries"),
    ("Accepted Count", "acceptedDeliveries"),
    ("Rejected Count", "rejectedDeliveries"),
    ("Released Count", "releasedDeliveries"),
    ("Modified Count", "modifiedDeliveries"),
    ("Deliveries Delayed > 1sec", "deliveriesDelayed1Sec"),
    ("Deliveries Delayed > 10sec", "deliveriesDelayed10Sec"),
    ("Deliveries Stuck > 10sec", "deliveriesStuck"),
    ("Deliveries to Fallback", "deliveriesRedirectedToFallback"),
    ("Links Blocked", "linksBlocked"),
    ("Ingress Count", "deliveriesIngress"),
    ("Egress Count", "deliveriesEgress"),
    ("Transit Count", "deliveriesTransit"),
    ("Deliveries from Route Container", "deliveriesIngressRouteContainer"),
    ("Deliveries to Route Container", "deliveriesEgressRouteContainer"),
];

pub(super) fn blocks(router: &Attributes) -> Vec<Block> {
    let row = |(label, name): (&'static str, &str)| {
        let value = router.get(name)?;
        let text = match name {
            "uptimeSeconds" => cells::days(value.as_i64().unwrap_or(0)),
            "memoryUsage" => value.as_u64().map(cells::size)?,
            _ => repr::plain(value),
        };
        Some((label, text))
    };
    vec![Block::pairs("Router Statistics", ROWS.into_iter().filter_map(row).collect())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::Value;

    #[test]
    fn an_attribute_that_an_older_router_lacks_leaves_its_row_out() {
        let router =
            Attributes::new().with("id", "R".into()).with("memoryUsage", Value::Null).with("linkCount", 3_u64.into());
        let Block::Table(table) = &blocks(&router)[0] else { panic!("a table") };
        assert_eq!(table.rows, [["Router Id", "R"], ["Links", "3"]]);
    }

    #[test]
    fn uptime_and_memory_are_for_people() {
        let router =
            Attributes::new().with("uptimeSeconds", 90_061_u32.into()).with("memoryUsage", 185_745_408_i64.into());
        let Block::Table(table) = &blocks(&router)[0] else { panic!("a table") };
        assert_eq!(table.rows, [["Uptime", "001:01:01:01"], ["VmSize", "177 MiB"]]);
    }
}
