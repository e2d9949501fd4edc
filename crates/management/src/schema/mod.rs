//! The schema: which entity types there are, what attributes and operations they have, and what values are valid.
//!
//! The tables are constants, one file per group of entities. Names, types, defaults and order are the old router's;
//! the descriptions are our own.

mod addressing;
mod base;
mod build;
mod coerce;
mod connector;
mod describe;
mod entity_type;
mod invalid;
mod listener;
mod log;
mod policy;
mod router;
mod runtime;
mod security;
mod store;
mod suggest;
mod validate;

pub use addressing::{ADDRESS, AUTO_LINK, BINDING, CONNECTION_LINK_ROUTE, EXCHANGE, LINK_ROUTE};
pub use base::{CONFIGURATION_ENTITY, DUMMY, ENTITY, MANAGEMENT, OPERATIONAL_ENTITY, ORG_AMQP_MANAGEMENT};
pub use connector::CONNECTOR;
pub use describe::{own_schema_map, schema_json, schema_map};
pub use entity_type::{Attribute, AttributeType, Call, DefaultValue, EntityType, PREFIX};
pub use invalid::{Class, Invalid};
pub use listener::LISTENER;
pub use log::{LOG, LOG_MODULES, LOG_STATS};
pub use policy::{POLICY, VHOST, VHOST_STATS, VHOST_USER_GROUP_SETTINGS};
pub use router::ROUTER;
pub use runtime::{ALLOCATOR, CONNECTION, CONSOLE, LINK, NODE, ROUTER_ADDRESS};
pub use security::{AUTH_SERVICE_PLUGIN, CERTIFICATE, SSL_PROFILE, USER};
pub use store::{QUEUE, QUEUE_SETTINGS, QUEUE_TEMPLATE, STORE, TOPIC};
pub use suggest::{attribute as suggest_attribute, section as suggest_section};
pub use validate::{Deprecation, Source, Validated, validate_arguments, validate_create, validate_update};

/// All entity types, in the order in which they are reported.
static ENTITY_TYPES: [&EntityType; 29] = [
    &ENTITY,
    &ORG_AMQP_MANAGEMENT,
    &MANAGEMENT,
    &CONFIGURATION_ENTITY,
    &OPERATIONAL_ENTITY,
    &ROUTER,
    &SSL_PROFILE,
    &AUTH_SERVICE_PLUGIN,
    &LISTENER,
    &CONNECTOR,
    &LOG,
    &LOG_STATS,
    &ADDRESS,
    &LINK_ROUTE,
    &AUTO_LINK,
    &EXCHANGE,
    &BINDING,
    &LINK,
    &ROUTER_ADDRESS,
    &NODE,
    &CONNECTION,
    &ALLOCATOR,
    &CONSOLE,
    &POLICY,
    &VHOST,
    &VHOST_USER_GROUP_SETTINGS,
    &VHOST_STATS,
    &DUMMY,
    &CONNECTION_LINK_ROUTE,
];

/// Entity types that the old router does not have. They are found by name, and not reported among all: scripts count
/// those.
static OWN_TYPES: [&EntityType; 6] = [&CERTIFICATE, &USER, &STORE, &QUEUE, &QUEUE_TEMPLATE, &TOPIC];

/// The entity types that the old router does not have. Nobody gets to see them who does not name them.
pub fn own_types() -> &'static [&'static EntityType] {
    &OWN_TYPES
}

/// All entity types, in the order in which they are reported.
pub fn entity_types() -> &'static [&'static EntityType] {
    &ENTITY_TYPES
}

/// The entity type of this name, short or fully qualified.
pub fn entity_type(name: &str) -> Option<&'static EntityType> {
    let short = name.strip_prefix(PREFIX).unwrap_or(name);
    ENTITY_TYPES.iter().chain(&OWN_TYPES).find(|ty| ty.short == short).copied()
}

/// The entity type that a section of the configuration file is about.
pub fn entity_type_of_section(section: &str) -> Option<&'static EntityType> {
    sections().find(|ty| ty.section == section)
}

/// The entity types that configuration files may have sections of, and others that the old router knows.
fn sections() -> impl Iterator<Item = &'static EntityType> {
    let own = OWN_TYPES.iter().filter(|ty| ty.is_a(&CONFIGURATION_ENTITY));
    ENTITY_TYPES.iter().chain(own).copied()
}

/// Whether an attribute of this name is never shown in clear.
pub fn is_hidden(attribute: &str) -> bool {
    ENTITY_TYPES.iter().flat_map(|ty| ty.attributes).any(|known| known.hidden && known.name == attribute)
}
