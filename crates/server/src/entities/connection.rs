//! `connection`: who is connected.

use crate::entities::attributes::{Row, count_or_null, text_or_null};
use crate::shard::Shards;
use amqp::Value;
use management::{Attributes, EntityType, Failure, RequestContext};
use router_core::{ConnectionSnapshot, Role};

/// All connections.
pub(super) fn rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    shards
        .with_core(|core, _, now| core.connections(now).iter().map(|connection| row(connection, entity_type)).collect())
}

/// Switches the protocol trace of a connection, or drops the connection.
pub(super) fn update(
    shards: &Shards,
    entity_type: &EntityType,
    identity: &str,
    changes: &Attributes,
    context: &RequestContext,
) -> Result<Attributes, Failure> {
    let unknown = || Failure::bad_request("Bad Request");
    let id: u64 = identity.parse().map_err(|_| unknown())?;
    let found = shards.with_core(|core, _, now| {
        let connections = core.connections(now);
        let found = connections.iter().find(|connection| connection.id == id);
        found.map(|found| (row(found, entity_type), found.role))
    });
    let (mut attributes, role) = found.ok_or_else(unknown)?;

    let status = changes.text("adminStatus");
    let delete = status == Some("deleted");
    // A policy denies the change to any status, as the old router does.
    let denied =
        status.is_some() && !shards.allows(context.connection_id, |settings| settings.allow_admin_status_update);
    if denied || delete && matches!(role, Role::InterRouter | Role::Edge) {
        return Err(Failure::new(management::status::FORBIDDEN, "You are not allowed to perform this operation."));
    }
    if let Some(on) = changes.boolean("enableProtocolTrace") {
        shards.trace_connection(id, on);
        attributes.set("enableProtocolTrace", Value::Bool(on));
    }
    if delete {
        let requester = context.connection_id.unwrap_or_default();
        logging::log!(ROUTER_CORE, Info, "[C{id}] Connection force-closed by request from connection [C{requester}]");
        shards.drop_connection(id);
        attributes.set("adminStatus", Value::String("deleted".to_owned()));
        attributes.set("operStatus", Value::String("closing".to_owned()));
    }
    Ok(attributes)
}

fn row(connection: &ConnectionSnapshot<'_>, entity_type: &EntityType) -> Attributes {
    let name = Value::String(format!("connection/{}", connection.host));
    Row::identified(entity_type, name, connection.id.to_string())
        .text("host", connection.host)
        .text("role", connection.role.as_str())
        .text("protocol", "amqp")
        .text("dir", if connection.incoming { "in" } else { "out" })
        .text("container", connection.container)
        .with("sasl", text_or_null(connection.sasl))
        .flag("isAuthenticated", connection.authenticated)
        .with("user", text_or_null(connection.user))
        .flag("isEncrypted", connection.encrypted)
        .with("sslProto", text_or_null(connection.ssl_proto))
        .with("sslCipher", text_or_null(connection.ssl_cipher))
        .with("properties", Value::Map(connection.properties.cloned().unwrap_or_default()))
        .count("sslSsf", connection.ssl_ssf)
        .with("tenant", text_or_null(connection.tenant))
        .flag("ssl", connection.ssl)
        .flag("opened", true)
        .flag("active", connection.active)
        .text("adminStatus", "enabled")
        .text("operStatus", "up")
        .count("uptimeSeconds", connection.uptime_seconds)
        .with("lastDlvSeconds", count_or_null(connection.last_delivery_seconds))
        .flag("enableProtocolTrace", connection.protocol_trace)
        .done()
}
