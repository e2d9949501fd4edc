//! Writing values of any type.

use super::encode::{self, wide};
use super::format::*;
use super::{ListEncoder, MapEncoder};
use crate::{Map, Value};

impl Value {
    /// Appends the value in its smallest encoding.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Value::Null => encode::null(out),
            Value::Bool(value) => encode::boolean(out, *value),
            Value::Ubyte(value) => encode::ubyte(out, *value),
            Value::Ushort(value) => encode::ushort(out, *value),
            Value::Uint(value) => encode::uint(out, *value),
            Value::Ulong(value) => encode::ulong(out, *value),
            Value::Byte(value) => encode::byte(out, *value),
            Value::Short(value) => encode::short(out, *value),
            Value::Int(value) => encode::int(out, *value),
            Value::Long(value) => encode::long(out, *value),
            Value::Float(value) => encode::float(out, *value),
            Value::Double(value) => encode::double(out, *value),
            Value::Decimal32(value) => wide(out, DECIMAL32, *value),
            Value::Decimal64(value) => wide(out, DECIMAL64, *value),
            Value::Decimal128(value) => wide(out, DECIMAL128, *value),
            Value::Char(value) => encode::char(out, *value),
            Value::Timestamp(value) => encode::timestamp(out, *value),
            Value::Uuid(value) => encode::uuid(out, value),
            Value::Binary(value) => encode::binary(out, value),
            Value::String(value) => encode::string(out, value),
            Value::Symbol(value) => encode::symbol(out, value.as_str()),
            Value::List(values) => list(out, values),
            Value::Map(map) => map.encode(out),
            Value::Array(array) => array.encode(out),
            Value::Described(described) => {
                out.push(DESCRIBED);
                described.descriptor.encode(out);
                described.value.encode(out);
            }
        }
    }
}

/// A list, with the nulls at its end.
pub fn list(out: &mut Vec<u8>, values: &[Value]) {
    let mut list = ListEncoder::new(out);
    for value in values {
        list.field(|out| value.encode(out));
    }
    list.finish();
}

impl Map {
    /// Appends the map in its smallest encoding.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut map = MapEncoder::new(out);
        for (key, value) in &self.0 {
            map.entry(|out| key.encode(out), |out| value.encode(out));
        }
        map.finish();
    }
}
