//! Putting rows together.

use amqp::Value;
use management::{Attributes, EntityType};

/// A row that grows by one attribute after the other.
pub(super) struct Row(Attributes);

impl Row {
    pub(super) fn new() -> Self {
        Row(Attributes::new())
    }

    /// A row of a type, beginning with the attributes that all types have.
    pub(super) fn identified(entity_type: &EntityType, name: Value, identity: impl Into<String>) -> Self {
        Row::new().with("name", name).text("identity", identity).text("type", entity_type.full)
    }

    pub(super) fn with(mut self, name: &str, value: Value) -> Self {
        self.0.set(name, value);
        self
    }

    pub(super) fn text(self, name: &str, text: impl Into<String>) -> Self {
        self.with(name, Value::String(text.into()))
    }

    pub(super) fn flag(self, name: &str, flag: bool) -> Self {
        self.with(name, Value::Bool(flag))
    }

    pub(super) fn count(self, name: &str, count: impl Into<u64>) -> Self {
        self.with(name, Value::Ulong(count.into()))
    }

    pub(super) fn done(self) -> Attributes {
        self.0
    }
}

/// Text that may be missing.
pub(super) fn text_or_null(text: Option<&str>) -> Value {
    text.map_or(Value::Null, |text| Value::String(text.to_owned()))
}

/// A number that may be missing.
pub(super) fn count_or_null(count: Option<u64>) -> Value {
    count.map_or(Value::Null, Value::Ulong)
}

/// A list of numbers.
pub(super) fn counts(counts: impl Iterator<Item = u64>) -> Value {
    Value::List(counts.map(Value::Ulong).collect())
}

/// A list of texts.
pub(super) fn texts(texts: &[&str]) -> Value {
    Value::List(texts.iter().map(|text| Value::String((*text).to_owned())).collect())
}
