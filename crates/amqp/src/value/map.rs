//! Maps (part 1, section 1.6.23).

use super::{Symbol, Value};

/// A map in wire order. Look-ups are linear: AMQP maps are small.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Map(pub Vec<(Value, Value)>);

impl Map {
    /// A map without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of the first entry whose key is a string or a symbol with this text.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.iter().find(|(known, _)| known.as_text() == Some(key)).map(|(_, value)| value)
    }

    /// Whether an entry's key is a string or a symbol with this text.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Replaces the value of an equal key, or adds an entry at the end. Gives back the value replaced.
    pub fn insert(&mut self, key: impl Into<Value>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.0.push((key, value));
                None
            }
        }
    }

    /// Like [`Map::insert`] with a symbol as the key.
    pub fn insert_symbol(&mut self, key: impl Into<Symbol>, value: impl Into<Value>) -> Option<Value> {
        self.insert(Value::Symbol(key.into()), value)
    }

    /// Takes out the first entry whose key is a string or a symbol with this text.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(known, _)| known.as_text() == Some(key))?;
        Some(self.0.remove(at).1)
    }

    /// The entries in wire order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Value, &Value)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<Value>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl IntoIterator for Map {
    type Item = (Value, Value);
    type IntoIter = std::vec::IntoIter<(Value, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
