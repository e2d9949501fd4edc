//! From what the configuration says of connections to what the shards are told.

use crate::shard::{ConnectionSettings, FailoverServer, Role, StripAnnotations};
use config::{ConnectorConfig, ListenerConfig};
use std::sync::Arc;

/// For the connections that a listener accepts.
pub(crate) fn of_listener(listener: &ListenerConfig) -> Arc<ConnectionSettings> {
    let failover = listener.failover.iter().map(|server| FailoverServer {
        scheme: server.scheme.clone(),
        host: server.host.clone(),
        port: server.port.clone(),
    });
    Arc::new(ConnectionSettings {
        require_encryption: listener.require_encryption || listener.require_ssl,
        initial_handshake_timeout: listener.initial_handshake_timeout,
        multi_tenant: listener.multi_tenant,
        failover: failover.collect(),
        ..common(&listener.connection)
    })
}

/// For the connections that a connector makes.
pub(crate) fn of_connector(connector: &ConnectorConfig) -> Arc<ConnectionSettings> {
    Arc::new(common(&connector.connection))
}

/// What the log says of the `sslProfile` in the line that tells of a listener or a connector.
pub(crate) fn of_profile(connection: &config::ConnectionSettings) -> String {
    let name = connection.ssl_profile.as_deref().filter(|name| !name.is_empty());
    name.map(|name| format!(", sslProfile={name}")).unwrap_or_default()
}

fn common(connection: &config::ConnectionSettings) -> ConnectionSettings {
    let is_generated = |name: &str| name.starts_with("listener/") || name.starts_with("connector/");
    ConnectionSettings {
        name: connection.name.clone().filter(|name| !is_generated(name)),
        role: match connection.role {
            config::Role::Normal => Role::Normal,
            config::Role::RouteContainer => Role::RouteContainer,
            config::Role::InterRouter => Role::InterRouter,
            config::Role::Edge => Role::Edge,
        },
        max_frame_size: connection.max_frame_size,
        max_sessions: connection.max_sessions,
        max_session_frames: connection.max_session_frames,
        idle_timeout: connection.idle_timeout,
        // Between routers annotations are never stripped, whatever is configured.
        strip_annotations: match connection.strip_annotations {
            _ if matches!(connection.role, config::Role::InterRouter | config::Role::Edge) => StripAnnotations::No,
            config::StripAnnotations::In => StripAnnotations::In,
            config::StripAnnotations::Out => StripAnnotations::Out,
            config::StripAnnotations::Both => StripAnnotations::Both,
            config::StripAnnotations::No => StripAnnotations::No,
        },
        link_capacity: connection.link_capacity,
        cost: connection.cost,
        open_properties: connection.open_properties.clone(),
        message_components: connection.message_logging,
        policy_vhost: connection.policy_vhost.clone().filter(|vhost| !vhost.is_empty()),
        ..ConnectionSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::Value;
    use management::Attributes;

    fn listener(attributes: &[(&str, Value)]) -> ListenerConfig {
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        ListenerConfig::from_attributes(&Attributes(attributes)).unwrap()
    }

    #[test]
    fn a_generated_name_does_not_name_the_connections() {
        let named = |name: &str| of_listener(&listener(&[("name", Value::String(name.to_owned()))])).name.clone();
        assert_eq!(named("listener/:amqp"), None);
        assert_eq!(named("to-broker"), Some("to-broker".to_owned()));
    }
}
