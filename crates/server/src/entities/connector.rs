//! `connector`: to whom this router connects.

use crate::control::connector::Connector;
use crate::control::connectors::Connectors;
use amqp::Value;
use config::ConnectorConfig;
use management::{Attributes, Failure};

/// All connectors, with what became of their attempts.
pub(super) fn rows(connectors: &Connectors) -> Vec<Attributes> {
    connectors.iter().map(row).collect()
}

/// Creates one, which begins to connect at once.
pub(super) fn create(
    connectors: &mut Connectors,
    attributes: Attributes,
    config: ConnectorConfig,
) -> Result<Attributes, Failure> {
    connectors.add(attributes.clone(), config).map_err(Failure::bad_request)?;
    Ok(hide_password(attributes))
}

fn row(connector: &Connector) -> Attributes {
    let mut row = hide_password(connector.attributes.clone());
    let mut show = |name: &str, text: &str| row.set(name, Value::String(text.to_owned()));
    show("failoverUrls", &connector.failover_urls());
    show("connectionStatus", connector.status());
    if !connector.message().is_empty() {
        show("connectionMsg", connector.message());
    }
    row
}

/// Passwords are never shown; that there is one is.
fn hide_password(mut attributes: Attributes) -> Attributes {
    if attributes.text("saslPassword").is_some() {
        attributes.set("saslPassword", Value::String("*".to_owned()));
    }
    attributes
}
