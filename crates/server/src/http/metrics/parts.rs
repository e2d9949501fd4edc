//! Metrics of each listener and connector.

use super::exposition::{Exposition, Kind};
use crate::control::listener::Stand;
use crate::control::report::{ConnectorReport, ListenerReport, Report};

/// Of each, so many have series of their own.
const MOST: usize = 1_000;

/// Writes them.
pub(super) fn write(report: &Report, text: &mut Exposition) {
    let listeners = report.listeners.get(..MOST).unwrap_or(&report.listeners);
    let connectors = report.connectors.get(..MOST).unwrap_or(&report.connectors);
    let mut up = text.family("waystation_listener_up", Kind::Gauge, "Whether the listener listens.");
    for listener in listeners {
        let listens = matches!(listener.stand, Stand::Listening(_));
        let http = if listener.http { "yes" } else { "no" };
        let role = listener.role.to_string();
        let labels = [&labels_of(listener)[..], &[("role", role.as_str()), ("http", http)]].concat();
        up.sample(&labels, u8::from(listens));
    }
    let mut accepted = text.family(
        "waystation_listener_connections_accepted_total",
        Kind::Counter,
        "AMQP connections that came in by the listener.",
    );
    for listener in listeners {
        accepted.sample(&labels_of(listener), listener.accepted);
    }
    let mut up = text.family("waystation_connector_up", Kind::Gauge, "Whether the connector has a connection.");
    for connector in connectors {
        let ConnectorReport { name, host_port, role, connected, .. } = connector;
        let role = role.to_string();
        up.sample(&[("connector", name), ("to", host_port), ("role", &role)], u8::from(*connected));
    }
}

fn labels_of(listener: &ListenerReport) -> [(&'static str, &str); 2] {
    [("listener", &listener.name), ("on", &listener.host_port)]
}
