//! The form of a schema: entity types and their attributes, as constant tables.

use std::fmt;

/// What precedes the short name of an entity type in its fully qualified one.
pub const PREFIX: &str = "org.apache.qpid.dispatch.";

/// The values that an attribute takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeType {
    /// Text.
    String,
    /// The path of a file or directory: text.
    Path,
    /// A whole number, 64 bits with a sign.
    Integer,
    /// Yes or no.
    Boolean,
    /// A list of values.
    List,
    /// A map of values.
    Map,
    /// A map whose keys and values go into the properties of an AMQP open.
    Properties,
    /// The identity of another entity.
    EntityId,
    /// One of these words.
    Enum(&'static [&'static str]),
}

/// The value of an attribute that is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// Text, or the word of an enumeration.
    Text(&'static str),
    /// A number.
    Integer(i64),
    /// A truth value.
    Boolean(bool),
}

/// An attribute of an entity type. Made by the functions in [`build`](super::build) and the methods here.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its name, camel case.
    pub name: &'static str,
    /// What it takes.
    pub kind: AttributeType,
    /// What it is for.
    pub description: &'static str,
    /// Its value when none is given.
    pub default: Option<DefaultValue>,
    /// It has to be given.
    pub required: bool,
    /// No two instances may have the same value.
    pub unique: bool,
    /// It may be given when an instance is created.
    pub create: bool,
    /// It may be changed later.
    pub update: bool,
    /// A number worth a chart.
    pub graph: bool,
    /// Never shown in clear.
    pub hidden: bool,
    /// Accepted, but it should no longer be used.
    pub deprecated: bool,
    /// A former name that is still accepted.
    pub deprecated_name: Option<&'static str>,
}

/// An entity type of the schema.
pub struct EntityType {
    /// The name without [`PREFIX`]: `listener`, `router.config.address`.
    pub short: &'static str,
    /// The name with it.
    pub full: &'static str,
    /// The word that opens a section of the configuration file: the short name, but without `router.config.`.
    pub section: &'static str,
    /// The type it extends, and whose attributes and operations it has too.
    pub base: Option<&'static EntityType>,
    /// It only serves as a base: there are no instances of just this type.
    pub is_abstract: bool,
    /// There is exactly one instance.
    pub singleton: bool,
    /// It should no longer be used.
    pub deprecated: bool,
    /// What it is for.
    pub description: &'static str,
    /// Its own operations, those of its base not included.
    pub operations: &'static [&'static str],
    /// Operations that the old router does not have: they can be called, and are not listed, because scripts count those.
    pub own_operations: &'static [&'static str],
    /// Operations of its instances that take arguments. The old router has none; they are listed with the type only.
    pub calls: &'static [Call],
    /// Its own attributes, those of its base not included.
    pub attributes: &'static [Attribute],
    /// For the types that the core agent answers for: the columns it reports, in its order. Empty for all others.
    pub core_columns: &'static [&'static str],
}

/// An operation that takes arguments: in the body of the request, a map, or among its application properties.
pub struct Call {
    /// Its name, capital letters.
    pub name: &'static str,
    /// What it does, and what it answers.
    pub description: &'static str,
    /// What it can be given.
    pub arguments: &'static [Attribute],
}

impl fmt::Debug for EntityType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.full)
    }
}

impl PartialEq for EntityType {
    fn eq(&self, other: &Self) -> bool {
        self.short == other.short
    }
}

impl Eq for EntityType {}

impl EntityType {
    /// The type itself and the types it extends, nearest first.
    pub fn lineage(&'static self) -> impl Iterator<Item = &'static EntityType> {
        std::iter::successors(Some(self), |ty| ty.base)
    }

    /// The types it extends, nearest first.
    pub fn bases(&'static self) -> impl Iterator<Item = &'static EntityType> {
        self.lineage().skip(1)
    }

    /// Whether it is `other` or extends it.
    pub fn is_a(&'static self, other: &EntityType) -> bool {
        self.lineage().any(|ty| ty == other)
    }

    /// All attributes: its own, then those of its bases.
    pub fn all_attributes(&'static self) -> impl Iterator<Item = &'static Attribute> {
        self.lineage().flat_map(|ty| ty.attributes)
    }

    /// All operations: its own, then those of its bases.
    pub fn all_operations(&'static self) -> impl Iterator<Item = &'static str> {
        self.lineage().flat_map(|ty| ty.operations).copied()
    }

    /// The attribute of this name, former names not considered.
    pub fn attribute(&'static self, name: &str) -> Option<&'static Attribute> {
        self.all_attributes().find(|attribute| attribute.name == name)
    }

    /// The attribute that once had this name.
    pub fn attribute_formerly(&'static self, name: &str) -> Option<&'static Attribute> {
        self.all_attributes().find(|attribute| attribute.deprecated_name == Some(name))
    }

    /// Whether it has this operation, inherited or not.
    pub fn has_operation(&'static self, operation: &str) -> bool {
        let own = self.all_operations().any(|own| own == operation) || self.own_operations.contains(&operation);
        own || self.call(operation).is_some()
    }

    /// The operation of this name that takes arguments.
    pub fn call(&'static self, operation: &str) -> Option<&'static Call> {
        self.calls.iter().find(|call| call.name == operation)
    }
}
