//! The vocabulary in which the tables of the schema are written.

use super::entity_type::{Attribute, AttributeType, Call, DefaultValue, EntityType};

/// The fully qualified name of an entity type, from its short name.
macro_rules! full {
    ($short:literal) => {
        concat!("org.apache.qpid.dispatch.", $short)
    };
}
pub(super) use full;

const fn attribute(name: &'static str, kind: AttributeType, description: &'static str) -> Attribute {
    Attribute {
        name,
        kind,
        description,
        default: None,
        required: false,
        unique: false,
        create: false,
        update: false,
        graph: false,
        hidden: false,
        deprecated: false,
        deprecated_name: None,
    }
}

/// Text.
pub(super) const fn text(name: &'static str, description: &'static str) -> Attribute {
    attribute(name, AttributeType::String, description)
}

/// Text that must be given.
pub(super) const fn required(name: &'static str, description: &'static str) -> Attribute {
    text(name, description).required()
}

/// A path.
pub(super) const fn path(name: &'static str, description: &'static str) -> Attribute {
    attribute(name, AttributeType::Path, description)
}

/// A whole number.
pub(super) const fn integer(name: &'static str, description: &'static str) -> Attribute {
    attribute(name, AttributeType::Integer, description)
}

/// A number that is reported and worth a chart.
pub(super) const fn counter(name: &'static str, description: &'static str) -> Attribute {
    Attribute { graph: true, ..attribute(name, AttributeType::Integer, description) }
}

/// A truth value.
pub(super) const fn boolean(name: &'static str, description: &'static str) -> Attribute {
    attribute(name, AttributeType::Boolean, description)
}

/// One of some words.
pub(super) const fn choice(name: &'static str, words: &'static [&'static str], description: &'static str) -> Attribute {
    attribute(name, AttributeType::Enum(words), description)
}

/// A list.
pub(super) const fn list(name: &'static str, description: &'static str) -> Attribute {
    attribute(name, AttributeType::List, description)
}

/// A map.
pub(super) const fn map(name: &'static str, description: &'static str) -> Attribute {
    attribute(name, AttributeType::Map, description)
}

/// Properties of an AMQP open.
pub(super) const fn properties(name: &'static str, description: &'static str) -> Attribute {
    attribute(name, AttributeType::Properties, description)
}

/// The identity of another entity.
pub(super) const fn entity_id(name: &'static str, description: &'static str) -> Attribute {
    attribute(name, AttributeType::EntityId, description)
}

impl Attribute {
    /// May be given at creation.
    pub(super) const fn create(self) -> Self {
        Attribute { create: true, ..self }
    }

    /// May be changed later.
    pub(super) const fn update(self) -> Self {
        Attribute { update: true, ..self }
    }

    /// Must be given.
    pub(super) const fn required(self) -> Self {
        Attribute { required: true, ..self }
    }

    /// No two instances have the same.
    pub(super) const fn unique(self) -> Self {
        Attribute { unique: true, ..self }
    }

    /// Never shown in clear.
    pub(super) const fn hidden(self) -> Self {
        Attribute { hidden: true, ..self }
    }

    /// Accepted still, but to be avoided.
    pub(super) const fn deprecated(self) -> Self {
        Attribute { deprecated: true, ..self }
    }

    /// Once had this name, which is accepted still.
    pub(super) const fn formerly(self, name: &'static str) -> Self {
        Attribute { deprecated_name: Some(name), ..self }
    }

    /// Is this text, or this word of a choice, unless given.
    pub(super) const fn default_text(self, value: &'static str) -> Self {
        Attribute { default: Some(DefaultValue::Text(value)), ..self }
    }

    /// Is this number unless given.
    pub(super) const fn default_number(self, value: i64) -> Self {
        Attribute { default: Some(DefaultValue::Integer(value)), ..self }
    }

    /// Is this truth value unless given.
    pub(super) const fn default_flag(self, value: bool) -> Self {
        Attribute { default: Some(DefaultValue::Boolean(value)), ..self }
    }
}

impl EntityType {
    /// A concrete type without operations and attributes of its own.
    pub(super) const fn new(
        short: &'static str,
        full: &'static str,
        base: &'static EntityType,
        description: &'static str,
    ) -> Self {
        EntityType {
            short,
            full,
            section: short,
            base: Some(base),
            is_abstract: false,
            singleton: false,
            deprecated: false,
            description,
            operations: &[],
            own_operations: &[],
            calls: &[],
            attributes: &[],
            core_columns: &[],
        }
    }

    /// Is called differently in configuration files.
    pub(super) const fn section(self, section: &'static str) -> Self {
        EntityType { section, ..self }
    }

    /// Has exactly one instance.
    pub(super) const fn singleton(self) -> Self {
        EntityType { singleton: true, ..self }
    }

    /// Has these operations, beside those of its base.
    pub(super) const fn operations(self, operations: &'static [&'static str]) -> Self {
        EntityType { operations, ..self }
    }

    /// Has these operations as well, which the old router does not have.
    pub(super) const fn own_operations(self, own_operations: &'static [&'static str]) -> Self {
        EntityType { own_operations, ..self }
    }

    /// Has these operations, which take arguments.
    pub(super) const fn calls(self, calls: &'static [Call]) -> Self {
        EntityType { calls, ..self }
    }

    /// Has these attributes, beside those of its base.
    pub(super) const fn attributes(self, attributes: &'static [Attribute]) -> Self {
        EntityType { attributes, ..self }
    }

    /// Belongs to the core agent, which reports these columns.
    pub(super) const fn core_columns(self, core_columns: &'static [&'static str]) -> Self {
        EntityType { core_columns, ..self }
    }
}
