//! Owned AMQP values (part 1, section 1.6).

use std::fmt;

/// Any AMQP value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Ubyte(u8),
    Ushort(u16),
    Uint(u32),
    Ulong(u64),
    Byte(i8),
    Short(i16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Decimal32([u8; 4]),
    Decimal64([u8; 8]),
    Decimal128([u8; 16]),
    Char(char),
    /// Milliseconds since the Unix epoch.
    Timestamp(i64),
    Uuid([u8; 16]),
    Binary(Vec<u8>),
    String(String),
    Symbol(Symbol),
    List(Vec<Value>),
    Map(Map),
    Array(Array),
    Described(Box<Described>),
}

/// A symbolic value: ASCII text from a constrained domain.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Symbol(pub String);

impl Symbol {
    /// The symbol's text.
    pub fn as_str(&self) -> &str { &self.0 }
}
impl From<&str> for Symbol { fn from(s: &str) -> Self { Symbol(s.to_owned()) } }
impl From<String> for Symbol { fn from(s: String) -> Self { Symbol(s) } }
impl fmt::Debug for Symbol { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, ":{:?}", self.0) } }
impl fmt::Display for Symbol { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) } }

/// A map in wire order. Look-ups are linear: AMQP maps are small.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Map(pub Vec<(Value, Value)>);

/// An array: every element has the same constructor. `descriptor` is set for arrays of described values.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The element's format code as read, or the canonical one when built here; decides the type of an empty array.
    pub code: u8,
    pub descriptor: Option<Box<Value>>,
    pub items: Vec<Value>,
}

/// A value with a descriptor (a symbol or an unsigned long).
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    pub descriptor: Value,
    pub value: Value,
}
// Helper to write: From<...> conversions, as_str/as_u64/... accessors, Map::get(&str) (string or symbol key), insert, iter.
