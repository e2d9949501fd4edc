//! All connectors: when each makes its next attempt, and what became of it.

use crate::authentication::Authentication;
use crate::control::connector::Connector;
use crate::control::lookup::{Asker, Lookups};
use crate::control::profiles::Profiles;
use crate::control::settings;
use crate::shard::{ConnectorAttempt, ConnectorId, Shards};
use amqp::Map;
use config::ConnectorConfig;
use management::Attributes;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Any number.
fn random() -> u8 {
    let mut byte = [0];
    // Without random numbers connectors work all the same.
    let _ = getrandom::fill(&mut byte);
    byte[0]
}

/// The connectors of this router, in order of creation.
pub(crate) struct Connectors {
    shards: Shards,
    lookups: Lookups,
    authentication: Authentication,
    last_id: u64,
    profiles: Profiles,
    all: BTreeMap<ConnectorId, Connector>,
}

impl Connectors {
    pub(crate) fn new(shards: Shards, lookups: Lookups, authentication: Authentication, profiles: Profiles) -> Self {
        Connectors { shards, lookups, authentication, last_id: 0, profiles, all: BTreeMap::new() }
    }

    /// Adds a connector, whose first attempt is due at once.
    ///
    /// # Errors
    /// If its password cannot be had from where the configuration says it is, or its mechanisms or its `sslProfile`
    /// cannot be had.
    pub(crate) fn add(&mut self, attributes: Attributes, config: ConnectorConfig) -> Result<(), String> {
        let sasl = Some(self.authentication.of_connector(&config)?);
        let profile = config.connection.ssl_profile.as_deref().filter(|name| !name.is_empty());
        let tls = profile.map(|name| self.profiles.find(name)).transpose()?;
        self.last_id += 1;
        let connection_settings = settings::of_connector(&config);
        let connector = Connector::new(attributes, config, connection_settings, tls, sasl, self.shards.now());
        let (target, role) = (connector.target().text(), connector.config.connection.role);
        let of_profile = settings::of_profile(&connector.config.connection);
        logging::log!(CONN_MGR, Info, "Configured Connector: {target} proto=any, role={role}{of_profile}");
        self.all.insert(ConnectorId(self.last_id), connector);
        Ok(())
    }

    /// When the next attempt is due.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.all.values().filter_map(Connector::due).min()
    }

    /// Begins all attempts that are due.
    pub(crate) fn begin_due(&mut self) {
        let now = self.shards.now();
        for (&id, connector) in &mut self.all {
            if connector.due().is_some_and(|due| due <= now) {
                self.lookups.start(Asker::Connector(id), connector.begin());
            }
        }
    }

    /// The host's name was looked up: connects.
    pub(crate) fn looked_up(&mut self, id: ConnectorId, found: Result<Vec<SocketAddr>, String>) {
        let Some(connector) = self.all.get_mut(&id) else {
            return; // deleted in the meantime
        };
        let target = connector.target();
        let host_port = target.text();
        let tls = match connector.tls() {
            Ok(tls) => tls,
            Err(error) => {
                let connection = self.shards.with_core(|core, _, _| core.next_connection_id());
                let message = connector.cannot_set_up(connection, &error);
                connector.failed(message, self.shards.now(), random());
                return;
            }
        };
        match found {
            Ok(addresses) => {
                let attempt = ConnectorAttempt {
                    id,
                    host_port,
                    hostname: target.host,
                    addresses,
                    settings: connector.settings.clone(),
                    tls,
                    sasl: connector.sasl.clone(),
                    failures: Arc::clone(&connector.failures),
                };
                connector.attempting(self.shards.connect(attempt));
            }
            Err(reason) => {
                let connection = self.shards.with_core(|core, _, _| core.next_connection_id());
                let message = format!(
                    "[C{connection}] Connection to {host_port} failed: proton:io {reason} - connect to  {host_port}"
                );
                if connector.failures.is_news(&message) {
                    logging::log!(SERVER, Info, "{message}");
                } else {
                    logging::log!(SERVER, Debug, "{message}");
                }
                connector.failed(message, self.shards.now(), random());
            }
        }
    }

    /// An attempt led to an exchange of opens.
    pub(crate) fn opened(&mut self, id: ConnectorId, connection: u64, properties: Option<&Map>, message: String) {
        let Some(connector) = self.all.get_mut(&id) else {
            // Deleted while it connected: nobody wants the connection any more.
            self.shards.drop_connection(connection);
            return;
        };
        for host in connector.opened(connection, properties, message) {
            logging::log!(SERVER, Debug, "[C{connection}] Added {host} as backup host");
        }
    }

    /// The peer closes the connection and names another server. Its end is told next.
    pub(crate) fn redirected(&mut self, id: ConnectorId, connection: u64, info: &Map) {
        if let Some(connector) = self.all.get_mut(&id)
            && connector.connection() == Some(connection)
            && let Some(server) = connector.redirected(info)
        {
            logging::log!(SERVER, Info, "[C{connection}] Redirected to {server}");
        }
    }

    /// An attempt failed, or a connection was lost.
    pub(crate) fn failed(&mut self, id: ConnectorId, connection: u64, message: String) {
        if let Some(connector) = self.all.get_mut(&id)
            && connector.connection() == Some(connection)
        {
            connector.failed(message, self.shards.now(), random());
        }
    }

    /// Forgets the connector with this identity and drops its connection. False: there is none.
    pub(crate) fn remove(&mut self, identity: &str) -> bool {
        let found = self.all.iter().find(|(_, connector)| connector.attributes.text("identity") == Some(identity));
        let Some((&id, connector)) = found else { return false };
        logging::log!(CONN_MGR, Info, "Deleted Connector: {}", connector.target().text());
        if let Some(connection) = connector.connection() {
            self.shards.drop_connection(connection);
        }
        self.all.remove(&id);
        true
    }

    /// All connectors, in order of creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connector> {
        self.all.values()
    }
}
