//! Attributes of an entity: an ordered map from names to AMQP values.

use amqp::{Map, Value};

/// Attributes in order of appearance. Look-ups are linear: no entity has more than some fifty attributes.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Attributes(pub Vec<(String, Value)>);

impl Attributes {
    /// No attributes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of an attribute. One that is there but null is `None`, as if it were not there.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value).filter(|value| **value != Value::Null)
    }

    /// Whether the attribute is there and not null.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The text of a string or symbol attribute.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::String(text) => Some(text),
            Value::Symbol(symbol) => Some(symbol.as_str()),
            _ => None,
        }
    }

    /// The value of an integer attribute of any width; `None` if it is none or does not fit.
    pub fn integer(&self, name: &str) -> Option<i64> {
        integer(self.get(name)?)
    }

    /// The value of a boolean attribute.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Sets an attribute: in its place if it is there, else at the end.
    pub fn set(&mut self, name: impl Into<String>, value: Value) {
        let name = name.into();
        match self.0.iter_mut().find(|(key, _)| *key == name) {
            Some(entry) => entry.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// Like [`Attributes::set`], for building: adds a value and hands the attributes back.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: Value) -> Self {
        self.set(name, value);
        self
    }

    /// Removes an attribute and returns what it was.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let index = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(index).1)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// An AMQP map of all attributes, nulls included: what the core agent sends.
    pub fn to_map(&self) -> Map {
        Map(self.0.iter().map(|(name, value)| (Value::String(name.clone()), value.clone())).collect())
    }

    /// An AMQP map of the attributes that are set: what the configuration agent sends.
    pub fn to_map_without_nulls(&self) -> Map {
        let set = self.0.iter().filter(|(_, value)| *value != Value::Null);
        Map(set.map(|(name, value)| (Value::String(name.clone()), value.clone())).collect())
    }

    /// The attributes in an AMQP map; entries whose key is neither a string nor a symbol are left out, and of entries
    /// with the same key the last one counts.
    pub fn from_map(map: &Map) -> Self {
        let mut attributes = Attributes::new();
        for (key, value) in &map.0 {
            match key {
                Value::String(name) => attributes.set(name.clone(), value.clone()),
                Value::Symbol(name) => attributes.set(name.as_str(), value.clone()),
                _ => {}
            }
        }
        attributes
    }
}

/// The number in an integer value of any width, if it fits 64 bits with a sign.
pub fn integer(value: &Value) -> Option<i64> {
    value.as_i64()
}

/// A number as the configuration agent sends it: an int if it fits, else a long.
pub fn number(number: i64) -> Value {
    i32::try_from(number).map_or(Value::Long(number), Value::Int)
}
