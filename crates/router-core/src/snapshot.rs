//! What management sees: plain data, in the old router's vocabulary.

use amqp::Map;

use crate::{
    AutoLinkState, ConnKey, Delays, LinkKey, NewBinding, NewExchange, Role, RouteDirection, RouteVia, Treatment,
};

/// A connection.
#[derive(Clone, Debug)]
pub struct ConnectionSnapshot<'c> {
    /// Key.
    pub key: ConnKey,
    /// Identity.
    pub id: u64,
    /// Name of its connector or listener, if configuration gave it one.
    pub configured_name: Option<&'c str>,
    /// Peer `ip:port` of an incoming connection, configured `host:port` of an outgoing one.
    pub host: &'c str,
    /// Role.
    pub role: Role,
    /// The peer connected to us.
    pub incoming: bool,
    /// Peer's container id.
    pub container: &'c str,
    /// SASL mechanism.
    pub sasl: Option<&'c str>,
    /// Authenticated by a mechanism other than ANONYMOUS.
    pub authenticated: bool,
    /// User name.
    pub user: Option<&'c str>,
    /// Encrypted.
    pub encrypted: bool,
    /// TLS.
    pub ssl: bool,
    /// TLS version.
    pub ssl_proto: Option<&'c str>,
    /// TLS cipher suite.
    pub ssl_cipher: Option<&'c str>,
    /// Security strength factor, in bits.
    pub ssl_ssf: u32,
    /// Peer's connection properties.
    pub properties: Option<&'c Map>,
    /// Tenant prefix.
    pub tenant: Option<&'c str>,
    /// Whole seconds since it was opened.
    pub uptime_seconds: u64,
    /// Whole seconds since the last delivery in or out; `None` before the first.
    pub last_delivery_seconds: Option<u64>,
    /// It is in use. One between an edge router and the interior may be an alternate.
    pub active: bool,
    /// Protocol trace of this connection alone.
    pub protocol_trace: bool,
}

/// Type of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// Of a client, broker or auto-link.
    Endpoint,
    /// Between routers, control messages.
    RouterControl,
    /// Between routers, data.
    InterRouter,
    /// From an interior router down to an edge router.
    EdgeDownlink,
}

impl LinkType {
    /// The name used in management.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::RouterControl => "router-control",
            Self::InterRouter => "inter-router",
            Self::EdgeDownlink => "edge-downlink",
        }
    }
}

/// Routers that a network can have, and so the length of lists by router.
pub const MASK_BITS: usize = 128;

/// How many deliveries came in at each router, by its mask bit; this router has bit 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngressHistogram(Vec<u64>);

impl IngressHistogram {
    /// With the counts of this router and of others, by their mask bits (that of this router is not looked at).
    pub(crate) fn new(here: u64, elsewhere: &[u64]) -> Self {
        let mut counts = elsewhere.to_vec();
        counts.resize(counts.len().max(MASK_BITS), 0);
        counts[0] = here;
        Self(counts)
    }

    /// The counts, by mask bit.
    pub fn counts(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }
}

/// How many deliveries for a balanced address are outstanding with each neighbour, by the mask bit of its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitOutstanding(Vec<u64>);

impl TransitOutstanding {
    pub(crate) fn new(counts: impl Iterator<Item = (u32, u64)>) -> Self {
        let mut all = vec![0; MASK_BITS];
        for (bit, count) in counts {
            let bit = bit as usize;
            if all.len() <= bit {
                all.resize(bit + 1, 0);
            }
            all[bit] = count;
        }
        Self(all)
    }

    /// The counts, by mask bit.
    pub fn counts(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }
}

/// A link.
#[derive(Clone, Debug)]
pub struct LinkSnapshot<'c> {
    /// Key.
    pub key: LinkKey,
    /// Identity.
    pub id: u64,
    /// Link name.
    pub name: &'c str,
    /// Type.
    pub link_type: LinkType,
    /// Deliveries come in.
    pub incoming: bool,
    /// Key of the address it is bound to (`M0foo`); `None` for anonymous senders.
    pub owning_addr: Option<&'c str>,
    /// Capacity, in deliveries.
    pub capacity: u32,
    /// Identity of the other link of a link route.
    pub peer: Option<u64>,
    /// Deliveries queued for want of credit, or of room.
    pub undelivered_count: u64,
    /// Deliveries unsettled.
    pub unsettled_count: u64,
    /// All deliveries.
    pub delivery_count: u64,
    /// Identity of its connection.
    pub connection_id: u64,
    /// Presettled deliveries.
    pub presettled_count: u64,
    /// Presettled deliveries dropped.
    pub dropped_presettled_count: u64,
    /// Deliveries accepted.
    pub accepted_count: u64,
    /// Deliveries rejected.
    pub rejected_count: u64,
    /// Deliveries released.
    pub released_count: u64,
    /// Deliveries modified.
    pub modified_count: u64,
    /// Settled more than 1 s (and at most 10 s) after arrival.
    pub deliveries_delayed_1sec: u64,
    /// Settled more than 10 s after arrival.
    pub deliveries_delayed_10sec: u64,
    /// Seen stuck, and still so.
    pub deliveries_stuck: u64,
    /// Deliveries concluded, by the router where they came in; only for outgoing links.
    pub ingress_histogram: Option<IngressHistogram>,
    /// Priority.
    pub priority: u8,
    /// Deliveries settled per second, over the last five seconds.
    pub settle_rate: u64,
    /// Unused credit.
    pub credit_available: u32,
    /// Whole seconds without credit; 0 while there is some.
    pub zero_credit_seconds: u64,
}

/// An address.
#[derive(Clone, Debug)]
pub struct AddressSnapshot<'c> {
    /// Key: class letter, for mobile addresses the phase, text.
    pub key: &'c str,
    /// Distribution.
    pub distribution: Treatment,
    /// In-process subscribers.
    pub in_process: u64,
    /// Local outgoing links.
    pub subscriber_count: u64,
    /// Remote routers with a consumer.
    pub remote_count: u64,
    /// Connections of route containers (link routes).
    pub container_count: u64,
    /// Ids of the routers counted in `remote_count`.
    pub remote_host_routers: Vec<&'c str>,
    /// Deliveries in, from links that are not a router's.
    pub deliveries_ingress: u64,
    /// Deliveries out, to local consumers.
    pub deliveries_egress: u64,
    /// Deliveries to other routers.
    pub deliveries_transit: u64,
    /// Deliveries to in-process subscribers.
    pub deliveries_to_container: u64,
    /// Deliveries from within the router.
    pub deliveries_from_container: u64,
    /// Deliveries out over connections of role route-container.
    pub deliveries_egress_route_container: u64,
    /// Deliveries in over connections of role route-container.
    pub deliveries_ingress_route_container: u64,
    /// Deliveries outstanding by next hop, for balanced addresses that have seen a delivery.
    pub transit_outstanding: Option<TransitOutstanding>,
    /// Deliveries tracked by link (reserved, 0).
    pub tracked_deliveries: u64,
    /// Priority, if configured (management shows -1 if not).
    pub priority: Option<u8>,
    /// Deliveries that took the fallback.
    pub deliveries_redirected_to_fallback: u64,
}

/// An `address` entity.
#[derive(Clone, Debug)]
pub struct AddressConfigSnapshot<'c> {
    /// Name.
    pub name: Option<&'c str>,
    /// Identity.
    pub id: u64,
    /// Prefix, if it was given as one.
    pub prefix: Option<&'c str>,
    /// Pattern, if it was given as one.
    pub pattern: Option<&'c str>,
    /// Distribution.
    pub distribution: Treatment,
    /// Waypoint.
    pub waypoint: bool,
    /// Ingress phase.
    pub ingress_phase: u8,
    /// Egress phase.
    pub egress_phase: u8,
    /// Priority, if given.
    pub priority: Option<u8>,
    /// Fallback.
    pub fallback: bool,
}

/// A link route.
#[derive(Clone, Debug)]
pub struct LinkRouteSnapshot<'c> {
    /// Identity.
    pub id: u64,
    /// Name.
    pub name: Option<&'c str>,
    /// Prefix, if it was given as one.
    pub prefix: Option<&'c str>,
    /// Pattern, if it was given as one.
    pub pattern: Option<&'c str>,
    /// Direction.
    pub direction: RouteDirection,
    /// Where it leads.
    pub via: &'c RouteVia,
    /// The connection that made it for itself.
    pub connection: Option<ConnKey>,
    /// Container id of that connection's peer.
    pub container: Option<&'c str>,
    /// It leads to a connection now.
    pub active: bool,
    /// Put before addresses.
    pub add_external_prefix: Option<&'c str>,
    /// Taken off addresses.
    pub del_external_prefix: Option<&'c str>,
}

/// An auto-link.
#[derive(Clone, Debug)]
pub struct AutoLinkSnapshot<'c> {
    /// Identity.
    pub id: u64,
    /// Name.
    pub name: Option<&'c str>,
    /// Address in this router.
    pub address: &'c str,
    /// Direction.
    pub direction: RouteDirection,
    /// Phase of the address.
    pub phase: u8,
    /// Address at the container, if another.
    pub external_address: Option<&'c str>,
    /// Where it is attached.
    pub via: &'c RouteVia,
    /// It takes what nobody else takes.
    pub fallback: bool,
    /// Identity of its link.
    pub link: Option<u64>,
    /// State.
    pub state: AutoLinkState,
    /// What the container said when it last refused or detached.
    pub last_error: Option<&'c str>,
}

/// An exchange. Counters are of messages.
#[derive(Clone, Debug)]
pub struct ExchangeSnapshot<'c> {
    /// Identity.
    pub id: u64,
    /// As it was given.
    pub given: &'c NewExchange,
    /// Bindings.
    pub bindings: u64,
    /// Those that came.
    pub received: u64,
    /// Those that nobody got.
    pub dropped: u64,
    /// Those that somebody got.
    pub forwarded: u64,
    /// Those of them that went to the alternate address.
    pub diverted: u64,
}

/// A binding.
#[derive(Clone, Debug)]
pub struct BindingSnapshot<'c> {
    /// Identity.
    pub id: u64,
    /// As it was given; its key is never missing.
    pub given: &'c NewBinding,
    /// Messages whose subject its key fitted.
    pub matched: u64,
}

/// Counters and gauges of the whole router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterStatistics {
    /// Addresses.
    pub addr_count: u64,
    /// Links.
    pub link_count: u64,
    /// Other routers known.
    pub node_count: u64,
    /// Link routes.
    pub link_route_count: u64,
    /// Auto-links.
    pub auto_link_count: u64,
    /// Connections.
    pub connection_count: u64,
    /// Presettled deliveries.
    pub presettled_deliveries: u64,
    /// Presettled deliveries dropped.
    pub dropped_presettled_deliveries: u64,
    /// Deliveries accepted.
    pub accepted_deliveries: u64,
    /// Deliveries rejected.
    pub rejected_deliveries: u64,
    /// Deliveries released.
    pub released_deliveries: u64,
    /// Deliveries modified.
    pub modified_deliveries: u64,
    /// Settled more than 1 s (and at most 10 s) after arrival.
    pub deliveries_delayed_1sec: u64,
    /// Settled more than 10 s after arrival.
    pub deliveries_delayed_10sec: u64,
    /// Seen stuck, and still so.
    pub deliveries_stuck: u64,
    /// In, from links that are not a router's.
    pub deliveries_ingress: u64,
    /// Out, to local consumers.
    pub deliveries_egress: u64,
    /// To other routers.
    pub deliveries_transit: u64,
    /// In over connections of role route-container.
    pub deliveries_ingress_route_container: u64,
    /// Out over connections of role route-container.
    pub deliveries_egress_route_container: u64,
    /// To a fallback destination.
    pub deliveries_redirected_to_fallback: u64,
    /// Outgoing links now without credit for more than 10 s.
    pub links_blocked: u64,
    /// From the arrival of a delivery until it was out, for each that went out.
    pub transit_delays: Delays,
    /// From the arrival of a delivery until it was settled with its sender, for each that came in.
    pub settlement_delays: Delays,
}
