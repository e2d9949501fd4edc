//! Reading values of any type into owned ones.

use super::format::*;
use super::{DecodeError, DecodeErrorKind, Decoder};
use crate::{Array, Described, Map, Symbol, Value};

/// Members of an array that take no bytes (nulls, zeros, empty lists) can be claimed by the billion in a few bytes. So
/// one call of [`Decoder::read_value`] makes at most this many of them plus one for each byte of its input. Bytes of
/// descriptors that an array gives to each of its members count like such members.
const FREE_MEMBERS: usize = 256;

/// Room reserved for members before they are read; a count alone justifies no more.
const RESERVED_MEMBERS: usize = 64;

impl Decoder<'_> {
    /// One value of any type.
    ///
    /// # Errors
    /// If the bytes end inside the value, or are not what its encoding asks for, or it nests too deep.
    pub fn read_value(&mut self) -> Result<Value, DecodeError> {
        let mut free = self.remaining().saturating_add(FREE_MEMBERS);
        self.value(&mut free)
    }

    /// One map.
    ///
    /// # Errors
    /// As [`Decoder::read_value`], and if it is not a map.
    pub fn read_owned_map(&mut self) -> Result<Map, DecodeError> {
        let mut free = self.remaining().saturating_add(FREE_MEMBERS);
        let (pairs, members) = self.read_map()?;
        members.pairs(pairs, &mut free)
    }

    fn value(&mut self, free: &mut usize) -> Result<Value, DecodeError> {
        let at = self.position();
        let code = self.byte()?;
        self.content(code, at, free)
    }

    /// The value whose format code, at `at`, has been read.
    fn content(&mut self, code: u8, at: usize, free: &mut usize) -> Result<Value, DecodeError> {
        match code {
            DESCRIBED => {
                self.descend()?;
                let descriptor = self.value(free)?;
                let value = self.value(free)?;
                self.ascend();
                Ok(Value::Described(Box::new(Described { descriptor, value })))
            }
            LIST_0 => Ok(Value::List(Vec::new())),
            LIST8 | LIST32 => {
                let (count, members) = self.list_members("list", code == LIST32)?;
                members.list(count, free).map(Value::List)
            }
            MAP8 | MAP32 => {
                let (count, members) = self.list_members("map", code == MAP32)?;
                if count % 2 != 0 {
                    let (size, at) = (members.remaining(), members.position());
                    return Err(DecodeError::bad_count("map", count, size, at));
                }
                members.pairs(count / 2, free).map(Value::Map)
            }
            ARRAY8 | ARRAY32 => {
                let (count, members) = self.members("array", code == ARRAY32)?;
                members.items(count, free).map(Value::Array)
            }
            _ => self.scalar(code, at),
        }
    }

    fn scalar(&mut self, code: u8, at: usize) -> Result<Value, DecodeError> {
        Ok(match code {
            NULL => Value::Null,
            TRUE => Value::Bool(true),
            FALSE => Value::Bool(false),
            BOOLEAN => Value::Bool(self.boolean_byte()?),
            UBYTE => Value::Ubyte(self.byte()?),
            USHORT => Value::Ushort(u16::from_be_bytes(self.array()?)),
            UINT_0 => Value::Uint(0),
            SMALL_UINT => Value::Uint(self.byte()?.into()),
            UINT => Value::Uint(u32::from_be_bytes(self.array()?)),
            ULONG_0 => Value::Ulong(0),
            SMALL_ULONG => Value::Ulong(self.byte()?.into()),
            ULONG => Value::Ulong(u64::from_be_bytes(self.array()?)),
            BYTE => Value::Byte(i8::from_be_bytes(self.array()?)),
            SHORT => Value::Short(i16::from_be_bytes(self.array()?)),
            SMALL_INT => Value::Int(i8::from_be_bytes(self.array()?).into()),
            INT => Value::Int(i32::from_be_bytes(self.array()?)),
            SMALL_LONG => Value::Long(i8::from_be_bytes(self.array()?).into()),
            LONG => Value::Long(i64::from_be_bytes(self.array()?)),
            FLOAT => Value::Float(f32::from_be_bytes(self.array()?)),
            DOUBLE => Value::Double(f64::from_be_bytes(self.array()?)),
            DECIMAL32 => Value::Decimal32(self.array()?),
            DECIMAL64 => Value::Decimal64(self.array()?),
            DECIMAL128 => Value::Decimal128(self.array()?),
            CHAR => match char::from_u32(u32::from_be_bytes(self.array()?)) {
                Some(char) => Value::Char(char),
                None => return Err(DecodeError::bad_text("Unicode", at)),
            },
            TIMESTAMP => Value::Timestamp(i64::from_be_bytes(self.array()?)),
            UUID => Value::Uuid(self.array()?),
            BINARY8 | BINARY32 => Value::Binary(self.variable(code == BINARY32)?.to_vec()),
            STRING8 | STRING32 => Value::String(self.utf8(code == STRING32)?.to_owned()),
            SYMBOL8 | SYMBOL32 => Value::Symbol(Symbol::from(self.ascii(code == SYMBOL32)?)),
            _ => return Err(DecodeErrorKind::UnknownFormat { code, at }.into()),
        })
    }

    fn list(mut self, count: usize, free: &mut usize) -> Result<Vec<Value>, DecodeError> {
        let mut values = Vec::with_capacity(count.min(RESERVED_MEMBERS));
        for _ in 0..count {
            values.push(self.value(free)?);
        }
        self.expect_end()?;
        Ok(values)
    }

    fn pairs(mut self, pairs: usize, free: &mut usize) -> Result<Map, DecodeError> {
        let mut entries = Vec::with_capacity(pairs.min(RESERVED_MEMBERS));
        for _ in 0..pairs {
            entries.push((self.value(free)?, self.value(free)?));
        }
        self.expect_end()?;
        Ok(Map(entries))
    }

    fn items(mut self, count: usize, free: &mut usize) -> Result<Array, DecodeError> {
        // Some peers leave out the constructor of an empty array.
        if count == 0 && self.is_empty() {
            return Ok(Array { code: NULL, descriptor: None, items: Vec::new() });
        }
        let start = self.position();
        let mut code = self.byte()?;
        let descriptor = if code == DESCRIBED {
            let descriptor = self.value(free)?;
            code = self.byte()?;
            Some(Box::new(descriptor))
        } else {
            None
        };
        let before = self.position();
        let inner = if code == DESCRIBED { Some(self.inner_descriptors(free)?) } else { None };
        // In memory each member has inner descriptors of its own; the wire has them only once.
        let copied = (self.position() - before).saturating_mul(count);
        if copied > *free {
            return Err(DecodeError::bad_count("array", count, self.remaining(), start));
        }
        *free -= copied;
        let member_code = inner.as_ref().map_or(code, |(_, code)| *code);
        self.check_item_count(member_code, count, start, free)?;
        let mut items = Vec::with_capacity(count.min(RESERVED_MEMBERS));
        for _ in 0..count {
            let item = self.content(member_code, start, free)?;
            items.push(match &inner {
                Some((descriptors, _)) => descriptors.iter().rev().fold(item, describe),
                None => item,
            });
        }
        self.expect_end()?;
        Ok(Array { code, descriptor, items })
    }

    /// The rest of a constructor that has more than one descriptor: the descriptors after the first, outermost first,
    /// and the format code.
    fn inner_descriptors(&mut self, free: &mut usize) -> Result<(Vec<Value>, u8), DecodeError> {
        let mut descriptors = Vec::new();
        loop {
            if descriptors.len() >= crate::MAX_DEPTH {
                return Err(DecodeError::too_deep(self.position()));
            }
            descriptors.push(self.value(free)?);
            match self.byte()? {
                DESCRIBED => {}
                code => return Ok((descriptors, code)),
            }
        }
    }

    fn check_item_count(&self, code: u8, count: usize, at: usize, free: &mut usize) -> Result<(), DecodeError> {
        let size = self.remaining();
        let room = match width(code) {
            Some(Width::Fixed(0)) => {
                let room = *free;
                *free = free.saturating_sub(count);
                room
            }
            Some(Width::Fixed(bytes)) => size / bytes,
            Some(Width::Prefix8) => size,
            Some(Width::Prefix32) => size / 4,
            None => return Err(DecodeErrorKind::UnknownFormat { code, at }.into()),
        };
        if count > room { Err(DecodeError::bad_count("array", count, size, at)) } else { Ok(()) }
    }
}

fn describe(value: Value, descriptor: &Value) -> Value {
    Value::Described(Box::new(Described { descriptor: descriptor.clone(), value }))
}
