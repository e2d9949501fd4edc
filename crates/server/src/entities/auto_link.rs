//! `router.config.autoLink`: links that the router attaches itself.

use crate::entities::attributes::{Row, text_or_null};
use crate::entities::link_route::{direction, ends, via};
use crate::shard::Shards;
use amqp::Value;
use config::AutoLinkConfig;
use management::{Attributes, EntityType, Failure};
use router_core::{AutoLinkSnapshot, NewAutoLink};

/// All auto-links.
pub(super) fn rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    shards.with_core(|core, _, _| core.auto_links().iter().map(|auto| row(auto, entity_type)).collect())
}

/// Creates one, at the request of management.
pub(super) fn create(shards: &Shards, entity_type: &EntityType, config: AutoLinkConfig) -> Result<Attributes, Failure> {
    let created = add(shards, config).map_err(Failure::bad_request)?;
    let row = shards.with_core(|core, _, _| {
        core.auto_links().iter().find(|auto| auto.id == created).map(|auto| row(auto, entity_type))
    });
    row.ok_or_else(Failure::not_found)
}

/// Creates one and returns its number.
pub(crate) fn add(shards: &Shards, config: AutoLinkConfig) -> Result<u64, String> {
    let new = NewAutoLink {
        name: config.name,
        address: config.address,
        direction: direction(config.direction),
        phase: config.phase,
        via: via(config.via),
        external_address: config.external_address,
        fallback: config.fallback,
        on_demand: None,
    };
    shards.with_core(|core, host, now| core.create_auto_link(now, host, new)).map_err(|error| error.to_string())
}

/// Deletes the one with this identity. False: there is none.
pub(super) fn delete(shards: &Shards, identity: &str) -> bool {
    identity.parse().is_ok_and(|id| shards.with_core(|core, host, now| core.delete_auto_link(now, host, id)))
}

fn row(auto: &AutoLinkSnapshot<'_>, entity_type: &EntityType) -> Attributes {
    let (container, connection) = ends(auto.via);
    let external = || text_or_null(auto.external_address);
    Row::identified(entity_type, text_or_null(auto.name), auto.id.to_string())
        .text("address", auto.address)
        .text("addr", auto.address)
        .text("direction", auto.direction.as_str())
        .text("dir", auto.direction.as_str())
        .with("phase", Value::Int(i32::from(auto.phase)))
        .with("connection", connection)
        .with("containerId", container)
        .with("externalAddress", external())
        .with("externalAddr", external())
        .with("linkRef", auto.link.map_or(Value::Null, |link| Value::String(link.to_string())))
        .text("operStatus", auto.state.as_str())
        .with("lastError", text_or_null(auto.last_error))
        .flag("fallback", auto.fallback)
        .done()
}
