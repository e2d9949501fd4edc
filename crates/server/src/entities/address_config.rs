//! `router.config.address`: how addresses are treated.

use crate::entities::attributes::{Row, text_or_null};
use crate::shard::Shards;
use amqp::Value;
use management::{Attributes, EntityType, Failure};
use router_core::{AddressConfigError, AddressConfigSnapshot, NewAddressConfig, Treatment};

/// All address configurations.
pub(super) fn rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    shards.with_core(|core, _, _| core.address_configs().iter().map(|config| row(config, entity_type)).collect())
}

/// Creates one, at the request of management.
pub(super) fn create(
    shards: &Shards,
    entity_type: &EntityType,
    attributes: &Attributes,
) -> Result<Attributes, Failure> {
    let created = add(shards, attributes).map_err(|error| Failure::bad_request(error.to_string()))?;
    let row = shards.with_core(|core, _, _| {
        core.address_configs().iter().find(|config| config.id == created).map(|config| row(config, entity_type))
    });
    row.ok_or_else(Failure::not_found)
}

/// Creates one and returns its number.
pub(crate) fn add(shards: &Shards, attributes: &Attributes) -> Result<u64, AddressConfigError> {
    let text = |name: &str| attributes.text(name).map(str::to_owned);
    let flag = |name: &str| attributes.boolean(name).unwrap_or(false);
    let new = NewAddressConfig {
        name: text("name"),
        prefix: text("prefix"),
        pattern: text("pattern"),
        distribution: distribution(attributes.text("distribution")),
        waypoint: flag("waypoint"),
        ingress_phase: attributes.integer("ingressPhase"),
        egress_phase: attributes.integer("egressPhase"),
        priority: attributes.integer("priority"),
        // The configuration file and the management agent of the old router call it differently.
        fallback: flag("enableFallback") || flag("fallback"),
    };
    shards.with_core(|core, host, _| core.create_address_config(host, new))
}

/// What the `distribution` attribute means; the schema has seen to it that it is one of these.
fn distribution(word: Option<&str>) -> Treatment {
    match word {
        Some("multicast") => Treatment::Multicast,
        Some("closest") => Treatment::Closest,
        Some("unavailable") => Treatment::Unavailable,
        _ => Treatment::Balanced,
    }
}

/// Deletes the one with this identity. False: there is none.
pub(super) fn delete(shards: &Shards, identity: &str) -> bool {
    identity.parse().is_ok_and(|id| shards.with_core(|core, _, _| core.delete_address_config(id)))
}

fn row(config: &AddressConfigSnapshot<'_>, entity_type: &EntityType) -> Attributes {
    // The old router has no word for it here.
    let distribution = match config.distribution {
        Treatment::Unavailable => None,
        other => Some(other.as_str()),
    };
    Row::identified(entity_type, text_or_null(config.name), config.id.to_string())
        .with("prefix", text_or_null(config.prefix))
        .with("distribution", text_or_null(distribution))
        .flag("waypoint", config.waypoint)
        .count("ingressPhase", config.ingress_phase)
        .count("egressPhase", config.egress_phase)
        .with("pattern", text_or_null(config.pattern))
        .with("priority", Value::Int(config.priority.map_or(-1, i32::from)))
        .flag("fallback", config.fallback)
        .done()
}
