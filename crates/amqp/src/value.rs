//! Owned AMQP values (part 1, section 1.6).

mod convert;
mod map;
mod symbol;

pub use map::Map;
pub use symbol::Symbol;

/// Any AMQP value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The absence of a value.
    Null,
    /// True or false.
    Bool(bool),
    /// Unsigned, 8 bits.
    Ubyte(u8),
    /// Unsigned, 16 bits.
    Ushort(u16),
    /// Unsigned, 32 bits.
    Uint(u32),
    /// Unsigned, 64 bits.
    Ulong(u64),
    /// Signed, 8 bits.
    Byte(i8),
    /// Signed, 16 bits.
    Short(i16),
    /// Signed, 32 bits.
    Int(i32),
    /// Signed, 64 bits.
    Long(i64),
    /// IEEE 754 binary32.
    Float(f32),
    /// IEEE 754 binary64.
    Double(f64),
    /// IEEE 754 decimal32, as encoded.
    Decimal32([u8; 4]),
    /// IEEE 754 decimal64, as encoded.
    Decimal64([u8; 8]),
    /// IEEE 754 decimal128, as encoded.
    Decimal128([u8; 16]),
    /// A Unicode scalar value.
    Char(char),
    /// Milliseconds since the Unix epoch.
    Timestamp(i64),
    /// RFC 4122.
    Uuid([u8; 16]),
    /// Bytes.
    Binary(Vec<u8>),
    /// Text.
    String(String),
    /// A symbolic value.
    Symbol(Symbol),
    /// Values of any types.
    List(Vec<Value>),
    /// Keys and values of any types, in wire order.
    Map(Map),
    /// Values of one type.
    Array(Array),
    /// A value with a descriptor.
    Described(Box<Described>),
}

/// An array: every element has the same constructor. See [`Array::new`] for building one.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The elements' format code as read, or the canonical one when built here; decides the type of an empty array.
    pub code: u8,
    /// Set for arrays of described values; `items` are then the values without it. A second descriptor, which the
    /// wire allows too, stays with each of the items (the code is then [`crate::codec::format::DESCRIBED`]).
    pub descriptor: Option<Box<Value>>,
    /// The elements.
    pub items: Vec<Value>,
}

/// A value with a descriptor (a symbol or an unsigned long).
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// What the value is.
    pub descriptor: Value,
    /// The value itself.
    pub value: Value,
}

impl Value {
    /// Reads the one value that `bytes` hold.
    ///
    /// # Errors
    /// If they are not exactly one well-formed value.
    pub fn decode(bytes: &[u8]) -> Result<Self, crate::DecodeError> {
        let mut decoder = crate::Decoder::new(bytes);
        let value = decoder.read_value()?;
        decoder.expect_end()?;
        Ok(value)
    }

    /// A symbol.
    pub fn symbol(text: impl Into<Symbol>) -> Self {
        Self::Symbol(text.into())
    }

    /// A described value whose descriptor is a number.
    pub fn described(descriptor: u64, value: impl Into<Value>) -> Self {
        Self::Described(Box::new(Described { descriptor: Self::Ulong(descriptor), value: value.into() }))
    }

    /// An array of symbols.
    pub fn symbols(symbols: impl IntoIterator<Item = Symbol>) -> Self {
        let items = symbols.into_iter().map(Self::Symbol).collect();
        Self::Array(Array { code: crate::codec::format::SYMBOL8, descriptor: None, items })
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The text of a string (not of a symbol, see [`Value::as_text`]).
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a symbol.
    pub fn as_symbol(&self) -> Option<&str> {
        match self {
            Self::Symbol(symbol) => Some(symbol.as_str()),
            _ => None,
        }
    }

    /// The text of a string or a symbol.
    pub fn as_text(&self) -> Option<&str> {
        self.as_str().or_else(|| self.as_symbol())
    }

    /// A boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// An integer of any width and signedness, unless it is negative.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Ulong(value) => Some(*value),
            _ => u64::try_from(self.as_i64()?).ok(),
        }
    }

    /// An integer of any width and signedness, unless it is beyond `i64::MAX`. Timestamps are not integers.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Ubyte(value) => Some((*value).into()),
            Self::Ushort(value) => Some((*value).into()),
            Self::Uint(value) => Some((*value).into()),
            Self::Ulong(value) => i64::try_from(*value).ok(),
            Self::Byte(value) => Some((*value).into()),
            Self::Short(value) => Some((*value).into()),
            Self::Int(value) => Some((*value).into()),
            Self::Long(value) => Some(*value),
            _ => None,
        }
    }

    /// A floating-point number of either width.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some((*value).into()),
            Self::Double(value) => Some(*value),
            _ => None,
        }
    }

    /// Bytes.
    pub fn as_binary(&self) -> Option<&[u8]> {
        match self {
            Self::Binary(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// A list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(values) => Some(values),
            _ => None,
        }
    }

    /// A list or an array.
    pub fn as_sequence(&self) -> Option<&[Value]> {
        match self {
            Self::Array(array) => Some(&array.items),
            _ => self.as_list(),
        }
    }

    /// A map.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// A described value.
    pub fn as_described(&self) -> Option<&Described> {
        match self {
            Self::Described(described) => Some(described),
            _ => None,
        }
    }
}
