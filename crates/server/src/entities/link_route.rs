//! `router.config.linkRoute` and `router.connection.linkRoute`: which links are passed on.

use crate::entities::attributes::{Row, text_or_null};
use crate::shard::Shards;
use amqp::Value;
use config::{AddressMatch, Direction, LinkRouteConfig};
use management::{Attributes, EntityType, Failure, RequestContext};
use router_core::{LinkRouteSnapshot, NewLinkRoute, RouteDirection, RouteVia};

/// All link routes of the configuration.
pub(super) fn rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    shards.with_core(|core, _, _| core.link_routes().iter().map(|route| row(route, entity_type)).collect())
}

/// All link routes that a connection made for itself: nobody else sees them.
pub(super) fn connection_rows(shards: &Shards, entity_type: &EntityType, requester: Option<u64>) -> Vec<Attributes> {
    shards.with_core(|core, _, _| {
        let conn = requester.and_then(|id| core.find_connection(id)).map(|(conn, _)| conn);
        let routes = core.connection_link_routes().into_iter().filter(|route| route.connection == conn);
        routes.map(|route| connection_row(&route, entity_type)).collect()
    })
}

/// Creates one, at the request of management.
pub(super) fn create(
    shards: &Shards,
    entity_type: &EntityType,
    config: LinkRouteConfig,
) -> Result<Attributes, Failure> {
    let created = add(shards, config).map_err(Failure::bad_request)?;
    let row = shards.with_core(|core, _, _| {
        core.link_routes().iter().find(|route| route.id == created).map(|route| row(route, entity_type))
    });
    row.ok_or_else(Failure::not_found)
}

/// Creates one and returns its number.
pub(crate) fn add(shards: &Shards, config: LinkRouteConfig) -> Result<u64, String> {
    let (prefix, pattern) = match config.matches {
        AddressMatch::Prefix(prefix) => (Some(prefix), None),
        AddressMatch::Pattern(pattern) => (None, Some(pattern)),
    };
    let new = NewLinkRoute {
        name: config.name,
        prefix,
        pattern,
        direction: direction(config.direction),
        via: via(config.via),
        add_external_prefix: config.add_external_prefix,
        del_external_prefix: config.del_external_prefix,
    };
    shards.with_core(|core, host, now| core.create_link_route(now, host, new)).map_err(|error| error.to_string())
}

/// Creates one that leads to the connection of whoever asks for it.
pub(super) fn create_for_connection(
    shards: &Shards,
    entity_type: &EntityType,
    attributes: &Attributes,
    context: &RequestContext,
) -> Result<Attributes, Failure> {
    if !shards.allows(context.connection_id, |settings| settings.allow_dynamic_link_routes) {
        return Err(Failure::new(management::status::FORBIDDEN, "Forbidden"));
    }
    let pattern = attributes.text("pattern").ok_or_else(|| Failure::bad_request("Pattern field is required"))?;
    let new = NewLinkRoute {
        name: attributes.text("name").map(str::to_owned),
        prefix: None,
        pattern: Some(pattern.to_owned()),
        direction: if attributes.text("direction") == Some("in") { RouteDirection::In } else { RouteDirection::Out },
        via: RouteVia::Nothing,
        add_external_prefix: None,
        del_external_prefix: None,
    };
    let created = shards.with_core(|core, host, now| {
        let conn = context.connection_id.and_then(|id| core.find_connection(id));
        let (conn, _) = conn.ok_or_else(|| "Parent connection no longer exists".to_owned())?;
        let id = core.create_connection_link_route(now, host, conn, new).map_err(|error| error.to_string())?;
        let routes = core.connection_link_routes();
        Ok(routes.iter().find(|route| route.id == id).map(|route| connection_row(route, entity_type)))
    });
    created.map_err(|error: String| Failure::bad_request(error))?.ok_or_else(Failure::not_found)
}

/// Deletes the one with this identity. False: there is none.
pub(super) fn delete(shards: &Shards, identity: &str) -> bool {
    identity.parse().is_ok_and(|id| shards.with_core(|core, host, now| core.delete_link_route(now, host, id)))
}

/// The core's word for a direction.
pub(super) fn direction(direction: Direction) -> RouteDirection {
    match direction {
        Direction::In => RouteDirection::In,
        Direction::Out => RouteDirection::Out,
    }
}

/// The core's word for where a route leads.
pub(super) fn via(via: config::RouteVia) -> RouteVia {
    match via {
        config::RouteVia::Container(id) => RouteVia::Container(id),
        config::RouteVia::Connection(name) => RouteVia::Connection(name),
        config::RouteVia::Nothing => RouteVia::Nothing,
    }
}

/// What `containerId` and `connection` say.
pub(super) fn ends(via: &RouteVia) -> (Value, Value) {
    match via {
        RouteVia::Container(id) => (Value::String(id.clone()), Value::Null),
        RouteVia::Connection(name) => (Value::Null, Value::String(name.clone())),
        RouteVia::Nothing | RouteVia::Internal => (Value::Null, Value::Null),
    }
}

fn row(route: &LinkRouteSnapshot<'_>, entity_type: &EntityType) -> Attributes {
    let (container, connection) = ends(route.via);
    Row::identified(entity_type, text_or_null(route.name), route.id.to_string())
        .with("prefix", text_or_null(route.prefix))
        .text("distribution", "linkBalanced")
        .with("connection", connection)
        .with("containerId", container)
        .text("direction", route.direction.as_str())
        .text("dir", route.direction.as_str())
        .text("operStatus", if route.active { "active" } else { "inactive" })
        .with("pattern", text_or_null(route.pattern))
        .with("addExternalPrefix", text_or_null(route.add_external_prefix))
        .with("delExternalPrefix", text_or_null(route.del_external_prefix))
        .done()
}

fn connection_row(route: &LinkRouteSnapshot<'_>, entity_type: &EntityType) -> Attributes {
    Row::identified(entity_type, text_or_null(route.name), route.id.to_string())
        .with("pattern", text_or_null(route.pattern))
        .text("direction", route.direction.as_str())
        .with("containerId", text_or_null(route.container))
        .done()
}
