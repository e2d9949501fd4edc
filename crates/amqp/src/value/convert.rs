//! Making values of Rust's own types. Each becomes the AMQP type of the same width and signedness.

use super::{Array, Described, Map, Symbol, Value};

macro_rules! from {
    ($($rust:ty => $variant:ident;)*) => {
        $(impl From<$rust> for Value {
            fn from(value: $rust) -> Self {
                Self::$variant(value)
            }
        })*
    };
}

from! {
    bool => Bool;
    u8 => Ubyte;
    u16 => Ushort;
    u32 => Uint;
    u64 => Ulong;
    i8 => Byte;
    i16 => Short;
    i32 => Int;
    i64 => Long;
    f32 => Float;
    f64 => Double;
    char => Char;
    String => String;
    Symbol => Symbol;
    Vec<u8> => Binary;
    Vec<Value> => List;
    Map => Map;
    Array => Array;
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Binary(value.to_vec())
    }
}

impl From<Described> for Value {
    fn from(value: Described) -> Self {
        Self::Described(Box::new(value))
    }
}

/// `None` becomes null.
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
