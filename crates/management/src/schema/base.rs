//! The types that others extend, and the management node itself.

use super::build::{full, text};
use super::entity_type::EntityType;

/// What every entity has.
pub static ENTITY: EntityType = EntityType {
    short: "entity",
    full: full!("entity"),
    section: "entity",
    base: None,
    is_abstract: true,
    singleton: false,
    deprecated: false,
    description: "What all entities have in common.",
    operations: &[],
    own_operations: &[],
    calls: &[],
    attributes: &[
        text("name", "The entity's name: chosen by the user, or else made from its identity.").unique().create(),
        text("identity", "The entity's identity: given by the router, the same as long as the entity exists.").unique(),
        text("type", "The fully qualified name of the entity's type.").required().create(),
    ],
    core_columns: &[],
};

/// The management node as the AMQP management draft defines it.
pub static ORG_AMQP_MANAGEMENT: EntityType = EntityType {
    is_abstract: true,
    ..EntityType::new(
        "org.amqp.management",
        full!("org.amqp.management"),
        &OPERATIONAL_ENTITY,
        "The management node, with the operations that AMQP management defines.",
    )
    .operations(&["QUERY", "GET-TYPES", "GET-ANNOTATIONS", "GET-OPERATIONS", "GET-ATTRIBUTES", "GET-MGMT-NODES"])
};

/// The management node of this router.
pub static MANAGEMENT: EntityType = EntityType::new(
    "management",
    full!("management"),
    &ORG_AMQP_MANAGEMENT,
    "The management node of a router, with the operations that only routers of this kind have.",
)
.singleton()
.operations(&["GET-SCHEMA", "GET-JSON-SCHEMA", "GET-LOG", "PROFILE"])
.own_operations(&["RELOAD"]);

/// What entities have that come from configuration.
pub static CONFIGURATION_ENTITY: EntityType = EntityType {
    is_abstract: true,
    ..EntityType::new(
        "configurationEntity",
        full!("configurationEntity"),
        &ENTITY,
        "What all entities have in common that say how the router is to work.",
    )
    .operations(&["READ"])
};

/// What entities have that come about while the router runs.
pub static OPERATIONAL_ENTITY: EntityType = EntityType {
    is_abstract: true,
    ..EntityType::new(
        "operationalEntity",
        full!("operationalEntity"),
        &ENTITY,
        "What all entities have in common that show what the router is doing.",
    )
    .operations(&["READ"])
};

/// An entity without an effect, for trying management out.
pub static DUMMY: EntityType =
    EntityType::new("dummy", full!("dummy"), &ENTITY, "An entity that does nothing; for trying management out.")
        .operations(&["CREATE", "READ", "UPDATE", "DELETE", "CALLME"])
        .attributes(&[
            text("arg1", "Any text.").create().update(),
            text("arg2", "Any other text.").create().update(),
            super::build::integer("num1", "Any number.").create().update(),
            super::build::integer("num2", "Any other number.").create().update(),
        ]);
