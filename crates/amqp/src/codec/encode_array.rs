//! Writing arrays: one constructor, then members that all fit it (part 1, section 1.6.24).

use super::encode::{length, variable_content};
use super::encode_compound::array;
use super::format::*;
use crate::{Array, Value};

impl Array {
    /// An array of these values, which must all be of one type; `None` if they are not. Described values must all have
    /// the same descriptor. Without values it is an array of nulls; set [`Array::code`] for another type.
    pub fn new(items: Vec<Value>) -> Option<Self> {
        let code = items.first().map_or(NULL, widest);
        let array = match items.first() {
            Some(Value::Described(first)) => {
                let descriptor = Some(Box::new(first.descriptor.clone()));
                let code = widest(&first.value);
                let items = items.into_iter().map(|item| match item {
                    Value::Described(described) if Some(&described.descriptor) == descriptor.as_deref() => {
                        Some(described.value)
                    }
                    _ => None,
                });
                Self { code, items: items.collect::<Option<_>>()?, descriptor }
            }
            _ => Self { code, descriptor: None, items },
        };
        let items: Vec<&Value> = array.items.iter().collect();
        write_members(&mut Vec::new(), array.code, &items).then_some(array)
    }

    /// Appends the array, its members with the format code [`Array::code`] if all of them fit it, otherwise with the
    /// widest of their type. If they are not of one type, which no array can hold, a list is written in its place.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let items: Vec<&Value> = self.items.iter().collect();
        let codes = [Some(self.code), items.first().map(|first| widest(first))];
        for code in codes.into_iter().flatten() {
            let mut fits = true;
            array(out, items.len(), |out| {
                if let Some(descriptor) = &self.descriptor {
                    out.push(DESCRIBED);
                    descriptor.encode(out);
                }
                fits = write_members(out, code, &items);
            });
            if fits {
                return;
            }
            out.truncate(start);
        }
        super::encode_value::list(out, &self.items);
    }
}

/// Writes constructor and members; false, with a part of them written, if they do not all fit `code`.
fn write_members(out: &mut Vec<u8>, code: u8, items: &[&Value]) -> bool {
    if code != DESCRIBED {
        out.push(code);
        return items.iter().all(|item| write_content(out, code, item));
    }
    // The constructor has a further descriptor, which the members share.
    let Some(Value::Described(first)) = items.first() else {
        out.push(NULL);
        return items.is_empty();
    };
    let inner = items.iter().map(|item| match item {
        Value::Described(described) if described.descriptor == first.descriptor => Some(&described.value),
        _ => None,
    });
    let Some(inner) = inner.collect::<Option<Vec<_>>>() else { return false };
    out.push(DESCRIBED);
    first.descriptor.encode(out);
    write_members(out, widest(&first.value), &inner)
}

/// The format code of a type that fits each of its values.
fn widest(value: &Value) -> u8 {
    match value {
        Value::Null => NULL,
        Value::Bool(_) => BOOLEAN,
        Value::Ubyte(_) => UBYTE,
        Value::Ushort(_) => USHORT,
        Value::Uint(_) => UINT,
        Value::Ulong(_) => ULONG,
        Value::Byte(_) => BYTE,
        Value::Short(_) => SHORT,
        Value::Int(_) => INT,
        Value::Long(_) => LONG,
        Value::Float(_) => FLOAT,
        Value::Double(_) => DOUBLE,
        Value::Decimal32(_) => DECIMAL32,
        Value::Decimal64(_) => DECIMAL64,
        Value::Decimal128(_) => DECIMAL128,
        Value::Char(_) => CHAR,
        Value::Timestamp(_) => TIMESTAMP,
        Value::Uuid(_) => UUID,
        Value::Binary(_) => BINARY32,
        Value::String(_) => STRING32,
        Value::Symbol(_) => SYMBOL32,
        Value::List(_) => LIST32,
        Value::Map(_) => MAP32,
        Value::Array(_) => ARRAY32,
        Value::Described(_) => DESCRIBED,
    }
}

/// Writes what follows the format code `code`; false, with a part of it written, if the value does not fit it.
fn write_content(out: &mut Vec<u8>, code: u8, value: &Value) -> bool {
    match (code, value) {
        (NULL, Value::Null) | (TRUE, Value::Bool(true)) | (FALSE, Value::Bool(false)) => {}
        (UINT_0, Value::Uint(0)) | (ULONG_0, Value::Ulong(0)) => {}
        (BOOLEAN, Value::Bool(value)) => out.push((*value).into()),
        (UBYTE, Value::Ubyte(value)) => out.push(*value),
        (USHORT, Value::Ushort(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (SMALL_UINT, Value::Uint(value)) => return write_narrow(out, u8::try_from(*value)),
        (UINT, Value::Uint(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (SMALL_ULONG, Value::Ulong(value)) => return write_narrow(out, u8::try_from(*value)),
        (ULONG, Value::Ulong(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (BYTE, Value::Byte(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (SHORT, Value::Short(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (SMALL_INT, Value::Int(value)) => return write_narrow(out, i8::try_from(*value).map(i8::cast_unsigned)),
        (INT, Value::Int(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (SMALL_LONG, Value::Long(value)) => return write_narrow(out, i8::try_from(*value).map(i8::cast_unsigned)),
        (LONG, Value::Long(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (FLOAT, Value::Float(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (DOUBLE, Value::Double(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (DECIMAL32, Value::Decimal32(value)) => out.extend_from_slice(value),
        (DECIMAL64, Value::Decimal64(value)) => out.extend_from_slice(value),
        (DECIMAL128, Value::Decimal128(value)) | (UUID, Value::Uuid(value)) => out.extend_from_slice(value),
        (CHAR, Value::Char(value)) => out.extend_from_slice(&u32::from(*value).to_be_bytes()),
        (TIMESTAMP, Value::Timestamp(value)) => out.extend_from_slice(&value.to_be_bytes()),
        (BINARY8 | BINARY32, Value::Binary(value)) => return write_sized(out, code == BINARY32, value),
        (STRING8 | STRING32, Value::String(value)) => return write_sized(out, code == STRING32, value.as_bytes()),
        (SYMBOL8 | SYMBOL32, Value::Symbol(value)) => {
            return write_sized(out, code == SYMBOL32, value.as_str().as_bytes());
        }
        (LIST_0, Value::List(values)) => return values.is_empty(),
        (LIST8 | LIST32 | MAP8 | MAP32 | ARRAY8 | ARRAY32, _) => return write_compound(out, code, value),
        _ => return false,
    }
    true
}

fn write_narrow<E>(out: &mut Vec<u8>, narrow: Result<u8, E>) -> bool {
    match narrow {
        Ok(byte) => out.push(byte),
        Err(_) => return false,
    }
    true
}

fn write_sized(out: &mut Vec<u8>, wide: bool, bytes: &[u8]) -> bool {
    let fits = wide || bytes.len() <= usize::from(u8::MAX);
    if fits {
        variable_content(out, wide, bytes);
    }
    fits
}

/// Size, count and members of a compound value that is a member of an array.
fn write_compound(out: &mut Vec<u8>, code: u8, value: &Value) -> bool {
    let wide = matches!(code, LIST32 | MAP32 | ARRAY32);
    let mut members = Vec::new();
    let count = match (code, value) {
        (LIST8 | LIST32, Value::List(values)) => {
            values.iter().for_each(|value| value.encode(&mut members));
            values.len()
        }
        (MAP8 | MAP32, Value::Map(map)) => {
            for (key, value) in &map.0 {
                key.encode(&mut members);
                value.encode(&mut members);
            }
            map.0.len() * 2
        }
        (ARRAY8 | ARRAY32, Value::Array(array)) => {
            if let Some(descriptor) = &array.descriptor {
                members.push(DESCRIBED);
                descriptor.encode(&mut members);
            }
            let items: Vec<&Value> = array.items.iter().collect();
            let start = members.len();
            if !write_members(&mut members, array.code, &items) {
                members.truncate(start);
                let Some(first) = items.first() else { return false };
                if !write_members(&mut members, widest(first), &items) {
                    return false;
                }
            }
            items.len()
        }
        _ => return false,
    };
    if wide {
        out.extend_from_slice(&length(members.len() + 4).to_be_bytes());
        out.extend_from_slice(&length(count).to_be_bytes());
    } else {
        let (Ok(size), Ok(count)) = (u8::try_from(members.len() + 1), u8::try_from(count)) else { return false };
        out.extend_from_slice(&[size, count]);
    }
    out.extend_from_slice(&members);
    true
}
