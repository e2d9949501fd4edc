//! What management asks for: snapshots, and the `address` entities.

use crate::address::Address;
use crate::arena::NONE;
use crate::core::Core;
use crate::snapshot::TransitOutstanding;
use crate::{
    AddressConfigError, AddressConfigSnapshot, AddressSnapshot, ConnKey, ConnectionSnapshot, Host, Level, LinkKey,
    LinkSnapshot, LinkType, Module, NewAddressConfig, Now, RouterStatistics, Treatment,
};

impl<H: Host> Core<H> {
    /// The identity for a configured entity: one counter for all of them and for links. Starts at 1.
    pub fn next_identity(&mut self) -> u64 {
        self.next_identity += 1;
        self.next_identity
    }

    /// Creates an `address` entity, which goes for address entries made from now on. Returns its identity.
    ///
    /// # Errors
    /// What is wrong with it, in the old router's words; nothing is changed then.
    pub fn create_address_config(&mut self, host: &mut H, new: NewAddressConfig) -> Result<u64, AddressConfigError> {
        let created = self.configs.create(self.next_identity + 1, new)?;
        self.next_identity += 1;
        if let Some((given, now)) = created.rewritten {
            host.log(
                Module::Default,
                Level::Notice,
                format_args!("configured pattern '{given}' optimized and re-written to '{now}'"),
            );
        }
        Ok(created.id)
    }

    /// Deletes an `address` entity; false: there is none with this identity. Existing address entries stay as they are.
    pub fn delete_address_config(&mut self, id: u64) -> bool {
        self.configs.delete(id)
    }

    /// All `address` entities, in order of identity.
    pub fn address_configs(&self) -> Vec<AddressConfigSnapshot<'_>> {
        self.configs.snapshots()
    }

    /// All connections, in order of identity.
    pub fn connections(&self, now: Now) -> Vec<ConnectionSnapshot<'_>> {
        let mut all: Vec<_> = self.each_connection(now).collect();
        all.sort_unstable_by_key(|connection| connection.id);
        all
    }

    /// Connections in any order, looked at one after the other: for who wants only some.
    pub fn each_connection(&self, now: Now) -> impl Iterator<Item = ConnectionSnapshot<'_>> {
        let shown = self.connections.iter().filter(|(_, connection)| !connection.info.internal);
        shown.filter_map(move |(key, _)| self.connection(now, ConnKey(key)))
    }

    /// One connection.
    pub fn connection(&self, now: Now, conn: ConnKey) -> Option<ConnectionSnapshot<'_>> {
        let connection = self.connections.get(conn.0)?;
        let info = &connection.info;
        Some(ConnectionSnapshot {
            key: conn,
            id: info.id,
            configured_name: info.configured_name.as_deref(),
            host: &info.host,
            role: info.role,
            incoming: info.incoming,
            container: &info.container,
            sasl: info.sasl_mechanism.as_deref(),
            authenticated: info.authenticated,
            user: info.user.as_deref(),
            encrypted: info.encrypted,
            ssl: info.ssl,
            ssl_proto: info.ssl_proto.as_deref(),
            ssl_cipher: info.ssl_cipher.as_deref(),
            ssl_ssf: info.ssl_ssf,
            properties: info.properties.as_ref(),
            tenant: info.tenant.as_deref(),
            uptime_seconds: now.saturating_sub(connection.opened).as_secs(),
            last_delivery_seconds: connection
                .last_delivery
                .map(|second| now.as_secs().saturating_sub(u64::from(second))),
            active: self.is_active(crate::arena::index_of(conn.0)),
            protocol_trace: info.protocol_trace,
        })
    }

    /// All links, in order of identity.
    pub fn links(&self, now: Now) -> Vec<LinkSnapshot<'_>> {
        let mut all: Vec<_> = self.each_link(now).collect();
        all.sort_unstable_by_key(|link| link.id);
        all
    }

    /// Links in any order, looked at one after the other: for who wants only some.
    pub fn each_link(&self, now: Now) -> impl Iterator<Item = LinkSnapshot<'_>> {
        let shown = self.links.iter().filter(|(_, link)| !self.connections[link.conn].info.internal);
        shown.filter_map(move |(key, _)| self.link(now, LinkKey(key)))
    }

    /// One link.
    pub fn link(&self, now: Now, link: LinkKey) -> Option<LinkSnapshot<'_>> {
        let record = self.links.get(link.0)?;
        let second = now.as_secs() as u32;
        let count = record.counters.all();
        Some(LinkSnapshot {
            key: link,
            id: record.id,
            name: &record.name,
            link_type: record.link_type,
            incoming: record.incoming,
            owning_addr: match record.link_type {
                // The old router binds these to the address of what each neighbour is told.
                LinkType::RouterControl if !record.incoming => Some("Lqdhello"),
                _ if record.addr == NONE => record.routed.as_ref().and_then(|routed| routed.shown.as_deref()),
                _ => Some(self.addresses[record.addr].key.as_ref()),
            },
            capacity: record.capacity,
            peer: self.partner(record).map(|partner| self.links[partner].id),
            undelivered_count: u64::from(record.undelivered),
            unsettled_count: u64::from(record.unsettled),
            delivery_count: record.counters.deliveries,
            connection_id: self.connections[record.conn].info.id,
            presettled_count: record.counters.presettled,
            dropped_presettled_count: count.dropped_presettled,
            accepted_count: record.counters.accepted,
            rejected_count: count.rejected,
            released_count: count.released,
            modified_count: count.modified,
            deliveries_delayed_1sec: count.delayed_1sec,
            deliveries_delayed_10sec: count.delayed_10sec,
            deliveries_stuck: count.stuck,
            ingress_histogram: (!record.incoming).then(|| record.counters.histogram()),
            priority: record.priority,
            settle_rate: record.rate.per_second(second),
            credit_available: record.credit,
            zero_credit_seconds: u64::from(record.seconds_without_credit(second)),
        })
    }

    /// All addresses, in order of creation.
    pub fn addresses(&self) -> Vec<AddressSnapshot<'_>> {
        let mut all: Vec<_> = self.addresses.iter().collect();
        all.sort_unstable_by_key(|address| address.serial);
        all.into_iter().map(|address| self.snapshot(address)).collect()
    }

    /// Mobile addresses in any order, looked at one after the other: for who wants only some.
    pub fn each_mobile_address(&self) -> impl Iterator<Item = AddressSnapshot<'_>> {
        self.addresses.iter().filter(|address| address.key.starts_with('M')).map(|address| self.snapshot(address))
    }

    /// The address with this key (`M0foo`).
    pub fn address(&self, key: &str) -> Option<AddressSnapshot<'_>> {
        self.addresses.find(key).map(|found| self.snapshot(&self.addresses[found]))
    }

    /// Counters and gauges of the whole router.
    pub fn statistics(&self) -> RouterStatistics {
        RouterStatistics {
            addr_count: self.addresses.len() as u64,
            link_count: self.links.len() as u64 - self.internal_links,
            connection_count: self.connections.len() as u64 - self.internal_connections,
            node_count: self.routers.len() as u64,
            auto_link_count: self.auto_links.len() as u64,
            link_route_count: self.link_routes.len() as u64,
            ..self.statistics
        }
    }

    fn snapshot<'c>(&'c self, address: &'c Address) -> AddressSnapshot<'c> {
        let rare = address.rare.as_deref().copied().unwrap_or_default();
        let used = address.ingress > 0 || address.egress > 0 || address.transit > 0;
        let outstanding = address.hops.iter().flat_map(|hops| hops.iter()).filter_map(|hop| {
            // The connection may be gone, and the address not yet have been used since.
            let connection = self.connections.get(self.connections.key_at(hop.conn))?;
            Some((connection.neighbor.as_ref()?.bit, u64::from(hop.outstanding)))
        });
        AddressSnapshot {
            key: &address.key,
            distribution: address.treatment,
            in_process: address.subscribers.len() as u64,
            subscriber_count: match &*address.key {
                "Lqdhello" => self.neighbors_up().len() as u64,
                _ => u64::from(address.receivers.len),
            },
            remote_count: address.remotes.len() as u64,
            container_count: address.ways.as_ref().map_or(0, |ways| ways.containers() as u64),
            remote_host_routers: address
                .remotes
                .iter()
                .filter_map(|router| Some(&*self.routers.get(router)?.id))
                .collect(),
            deliveries_ingress: address.ingress,
            deliveries_egress: address.egress,
            deliveries_transit: address.transit,
            deliveries_to_container: rare.to_container,
            deliveries_from_container: rare.from_container,
            deliveries_egress_route_container: rare.egress_route_container,
            deliveries_ingress_route_container: rare.ingress_route_container,
            transit_outstanding: (used && address.treatment == Treatment::Balanced)
                .then(|| TransitOutstanding::new(outstanding)),
            tracked_deliveries: 0,
            priority: u8::try_from(address.priority).ok(),
            deliveries_redirected_to_fallback: rare.redirected_to_fallback,
        }
    }
}
