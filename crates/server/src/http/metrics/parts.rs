//! Metrics of each listener, connector and certificate.

use std::collections::HashSet;
use std::time::SystemTime;

use security::tls::Validity;

use super::exposition::{Exposition, Kind};
use crate::control::listener::Stand;
use crate::control::report::{ConnectorReport, ListenerReport, Report};

/// Of each, so many have series of their own.
const MOST: usize = 1_000;

/// Writes them.
pub(super) fn write(report: &Report, text: &mut Exposition) {
    let listeners = report.listeners.get(..MOST).unwrap_or(&report.listeners);
    let connectors = report.connectors.get(..MOST).unwrap_or(&report.connectors);
    let up = text.family("waystation_listener_up", Kind::Gauge, "Whether the listener listens.");
    for listener in listeners {
        let listens = matches!(listener.stand, Stand::Listening(_));
        let http = if listener.http { "yes" } else { "no" };
        let role = listener.role.to_string();
        let labels = [&labels_of(listener)[..], &[("role", role.as_str()), ("http", http)]].concat();
        up.sample(&labels, u8::from(listens));
    }
    let accepted = text.family(
        "waystation_listener_connections_accepted_total",
        Kind::Counter,
        "AMQP connections that came in by the listener.",
    );
    for listener in listeners {
        accepted.sample(&labels_of(listener), listener.accepted);
    }
    let up = text.family("waystation_connector_up", Kind::Gauge, "Whether the connector has a connection.");
    for connector in connectors {
        let ConnectorReport { name, host_port, role, connected, .. } = connector;
        let role = role.to_string();
        up.sample(&[("connector", name), ("to", host_port), ("role", &role)], u8::from(*connected));
    }
    write_certificates(report, text);
}

/// Writes until when certificates are valid.
fn write_certificates(report: &Report, text: &mut Exposition) {
    let now = SystemTime::now();
    let certificates = report.certificates.get(..MOST).unwrap_or(&report.certificates);
    let mut family = |name: &str, help: &'static str, value: &dyn Fn(&Validity) -> i64| {
        let name = format!("waystation_tls_certificate_{name}");
        let family = text.family(&name, Kind::Gauge, help);
        let mut told = HashSet::new();
        for (profile, validity) in certificates {
            let file = validity.file.to_string_lossy();
            // A file may have one certificate twice; a series is told of once.
            if told.insert((profile, &validity.file, &validity.subject)) {
                let labels = [("profile", profile.as_str()), ("file", &file), ("subject", &validity.subject)];
                family.sample(&labels, value(validity));
            }
        }
    };
    family("days_left", "Days until the certificate expires; negative: it has expired.", &|of| of.days_left(now));
    family("expiry_timestamp_seconds", "When the certificate expires, since the Unix epoch.", &|of| of.not_after);
}

fn labels_of(listener: &ListenerReport) -> [(&'static str, &str); 2] {
    [("listener", &listener.name), ("on", &listener.host_port)]
}
