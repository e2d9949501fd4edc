//! Metrics of single connections, links and addresses. How many of each are told is bounded.

use router_core::{AddressSnapshot, ConnectionSnapshot, LinkSnapshot};

use super::exposition::{Exposition, Kind};
use crate::shard::Shards;

/// Of each kind, so many have series of their own; the counts of all are in the router's own metrics.
pub(super) const MOST: usize = 1_000;

/// Writes them.
pub(super) fn write(shards: &Shards, text: &mut Exposition) {
    // What is needed is copied, so that nothing is written while the core is locked; and locked three times, for less.
    let connections: Vec<Connection> =
        shards.with_core(|core, _, now| core.each_connection(now).take(MOST).map(Into::into).collect());
    let links: Vec<Link> = shards.with_core(|core, _, now| core.each_link(now).take(MOST).map(Into::into).collect());
    let addresses: Vec<Address> = shards
        .with_core(|core, _, _| core.each_mobile_address().filter(is_for_users).take(MOST).map(Into::into).collect());
    write_connections(&connections, text);
    write_links(&links, text);
    write_addresses(&addresses, text);
    text.single(
        "waystation_metrics_series_limit",
        Kind::Gauge,
        "Of connections, links and addresses, no more than so many each have series of their own.",
        MOST,
    );
}

struct Connection {
    id: String,
    container: String,
    host: String,
    user: String,
    role: &'static str,
    incoming: bool,
    encrypted: bool,
    uptime: u64,
}

impl From<ConnectionSnapshot<'_>> for Connection {
    fn from(of: ConnectionSnapshot<'_>) -> Self {
        Self {
            id: of.id.to_string(),
            container: of.container.to_owned(),
            host: of.host.to_owned(),
            user: of.user.unwrap_or_default().to_owned(),
            role: of.role.as_str(),
            incoming: of.incoming,
            encrypted: of.encrypted,
            uptime: of.uptime_seconds,
        }
    }
}

fn write_connections(connections: &[Connection], text: &mut Exposition) {
    let uptime =
        text.family("waystation_connection_uptime_seconds", Kind::Gauge, "How long the connection has been open.");
    for of in connections {
        let labels = [
            ("connection", of.id.as_str()),
            ("container", &of.container),
            ("host", &of.host),
            ("user", &of.user),
            ("role", of.role),
            ("direction", direction(of.incoming)),
            ("encrypted", if of.encrypted { "yes" } else { "no" }),
        ];
        uptime.sample(&labels, of.uptime);
    }
}

struct Link {
    id: String,
    connection: String,
    address: String,
    incoming: bool,
    kind: &'static str,
    deliveries: u64,
    unsettled: u64,
    undelivered: u64,
    credit: u32,
    without_credit: u64,
    outcomes: [(&'static str, u64); 4],
}

impl From<LinkSnapshot<'_>> for Link {
    fn from(of: LinkSnapshot<'_>) -> Self {
        Self {
            id: of.id.to_string(),
            connection: of.connection_id.to_string(),
            address: of.owning_addr.map(address_of_key).unwrap_or_default().to_owned(),
            incoming: of.incoming,
            kind: of.link_type.as_str(),
            deliveries: of.delivery_count,
            unsettled: of.unsettled_count,
            undelivered: of.undelivered_count,
            credit: of.credit_available,
            without_credit: of.zero_credit_seconds,
            outcomes: [
                ("accepted", of.accepted_count),
                ("rejected", of.rejected_count),
                ("released", of.released_count),
                ("modified", of.modified_count),
            ],
        }
    }
}

impl Link {
    fn labels(&self) -> [(&'static str, &str); 5] {
        [
            ("link", &self.id),
            ("connection", &self.connection),
            ("address", &self.address),
            ("direction", direction(self.incoming)),
            ("type", self.kind),
        ]
    }
}

fn write_links(links: &[Link], text: &mut Exposition) {
    let mut family = |name: &str, kind, help: &'static str, value: fn(&Link) -> u64| {
        let name = format!("waystation_link_{name}");
        let family = text.family(&name, kind, help);
        links.iter().for_each(|link| family.sample(&link.labels(), value(link)));
    };
    family("deliveries_total", Kind::Counter, "Deliveries on the link.", |link| link.deliveries);
    family("unsettled_deliveries", Kind::Gauge, "Deliveries on the link that are not settled.", |link| link.unsettled);
    family("undelivered_deliveries", Kind::Gauge, "Deliveries that wait to be sent on the link.", |link| {
        link.undelivered
    });
    family("credit", Kind::Gauge, "Deliveries that may be sent on the link now.", |link| link.credit.into());
    family("without_credit_seconds", Kind::Gauge, "How long the link has been without credit.", |link| {
        link.without_credit
    });
    let outcomes = text.family(
        "waystation_link_deliveries_outcome_total",
        Kind::Counter,
        "Deliveries on the link by what became of them.",
    );
    for link in links {
        for (outcome, count) in link.outcomes.iter().filter(|(_, count)| *count > 0) {
            outcomes.sample(&[&link.labels()[..], &[("outcome", outcome)]].concat(), count);
        }
    }
}

struct Address {
    address: String,
    phase: String,
    distribution: &'static str,
    ingress: u64,
    egress: u64,
    transit: u64,
    consumers: u64,
    remote: u64,
}

impl From<AddressSnapshot<'_>> for Address {
    fn from(of: AddressSnapshot<'_>) -> Self {
        Self {
            address: address_of_key(of.key).to_owned(),
            phase: of.key.get(1..2).unwrap_or_default().to_owned(),
            distribution: of.distribution.as_str(),
            ingress: of.deliveries_ingress,
            egress: of.deliveries_egress,
            transit: of.deliveries_transit,
            consumers: of.subscriber_count + of.in_process,
            remote: of.remote_count,
        }
    }
}

fn write_addresses(addresses: &[Address], text: &mut Exposition) {
    let mut family = |name: &str, kind, help: &'static str, value: fn(&Address) -> u64| {
        let name = format!("waystation_address_{name}");
        let family = text.family(&name, kind, help);
        for of in addresses {
            let labels = [("address", of.address.as_str()), ("phase", &of.phase), ("distribution", of.distribution)];
            family.sample(&labels, value(of));
        }
    };
    family("deliveries_ingress_total", Kind::Counter, "Deliveries in for the address, from local links.", |of| {
        of.ingress
    });
    family("deliveries_egress_total", Kind::Counter, "Deliveries out for the address, to local links.", |of| of.egress);
    family("deliveries_transit_total", Kind::Counter, "Deliveries for the address to other routers.", |of| of.transit);
    family("consumers", Kind::Gauge, "Consumers of the address at this router.", |of| of.consumers);
    family("remote_routers", Kind::Gauge, "Other routers with consumers of the address.", |of| of.remote);
}

/// Whether an address is not one of the router's own.
fn is_for_users(address: &AddressSnapshot<'_>) -> bool {
    !address_of_key(address.key).starts_with("_$qd.")
}

fn direction(incoming: bool) -> &'static str {
    if incoming { "in" } else { "out" }
}

/// The address within a key: of mobile ones without class and phase.
fn address_of_key(key: &str) -> &str {
    key.strip_prefix('M').and_then(|rest| rest.get(1..)).unwrap_or(key)
}
