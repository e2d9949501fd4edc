//! Writing values of one known type, each in its smallest encoding. Each function appends to `out`.
//!
//! No text, binary or compound value may be longer than 2^32 - 1 bytes, the most that AMQP can say.

use super::format::*;
use crate::Symbol;

pub use super::encode_value::list;

/// Null.
#[inline]
pub fn null(out: &mut Vec<u8>) {
    out.push(NULL);
}

/// A boolean.
#[inline]
pub fn boolean(out: &mut Vec<u8>, value: bool) {
    out.push(if value { TRUE } else { FALSE });
}

/// An unsigned byte.
#[inline]
pub fn ubyte(out: &mut Vec<u8>, value: u8) {
    out.extend_from_slice(&[UBYTE, value]);
}

/// An unsigned short.
#[inline]
pub fn ushort(out: &mut Vec<u8>, value: u16) {
    wide(out, USHORT, value.to_be_bytes());
}

/// An unsigned int.
#[inline]
pub fn uint(out: &mut Vec<u8>, value: u32) {
    match u8::try_from(value) {
        Ok(0) => out.push(UINT_0),
        Ok(small) => out.extend_from_slice(&[SMALL_UINT, small]),
        Err(_) => wide(out, UINT, value.to_be_bytes()),
    }
}

/// An unsigned long.
#[inline]
pub fn ulong(out: &mut Vec<u8>, value: u64) {
    match u8::try_from(value) {
        Ok(0) => out.push(ULONG_0),
        Ok(small) => out.extend_from_slice(&[SMALL_ULONG, small]),
        Err(_) => wide(out, ULONG, value.to_be_bytes()),
    }
}

/// A signed byte.
pub fn byte(out: &mut Vec<u8>, value: i8) {
    wide(out, BYTE, value.to_be_bytes());
}

/// A signed short.
pub fn short(out: &mut Vec<u8>, value: i16) {
    wide(out, SHORT, value.to_be_bytes());
}

/// A signed int.
pub fn int(out: &mut Vec<u8>, value: i32) {
    match i8::try_from(value) {
        Ok(small) => wide(out, SMALL_INT, small.to_be_bytes()),
        Err(_) => wide(out, INT, value.to_be_bytes()),
    }
}

/// A signed long.
pub fn long(out: &mut Vec<u8>, value: i64) {
    match i8::try_from(value) {
        Ok(small) => wide(out, SMALL_LONG, small.to_be_bytes()),
        Err(_) => wide(out, LONG, value.to_be_bytes()),
    }
}

/// A 32-bit floating-point number.
pub fn float(out: &mut Vec<u8>, value: f32) {
    wide(out, FLOAT, value.to_be_bytes());
}

/// A 64-bit floating-point number.
pub fn double(out: &mut Vec<u8>, value: f64) {
    wide(out, DOUBLE, value.to_be_bytes());
}

/// A Unicode character.
pub fn char(out: &mut Vec<u8>, value: char) {
    wide(out, CHAR, u32::from(value).to_be_bytes());
}

/// A time: milliseconds since the Unix epoch.
pub fn timestamp(out: &mut Vec<u8>, value: i64) {
    wide(out, TIMESTAMP, value.to_be_bytes());
}

/// A UUID.
pub fn uuid(out: &mut Vec<u8>, value: &[u8; 16]) {
    wide(out, UUID, *value);
}

/// Bytes.
#[inline]
pub fn binary(out: &mut Vec<u8>, value: &[u8]) {
    variable(out, BINARY8, BINARY32, value);
}

/// A string.
#[inline]
pub fn string(out: &mut Vec<u8>, value: &str) {
    variable(out, STRING8, STRING32, value.as_bytes());
}

/// A symbol; what is not ASCII in `value` no peer will accept.
#[inline]
pub fn symbol(out: &mut Vec<u8>, value: &str) {
    variable(out, SYMBOL8, SYMBOL32, value.as_bytes());
}

/// An array of symbols, as fields with `multiple="true"` have it.
pub fn symbols(out: &mut Vec<u8>, values: &[Symbol]) {
    let widest = values.iter().map(|symbol| symbol.as_str().len()).max().unwrap_or(0);
    let wide_members = widest > usize::from(u8::MAX);
    super::encode_compound::array(out, values.len(), |out| {
        out.push(if wide_members { SYMBOL32 } else { SYMBOL8 });
        for symbol in values {
            variable_content(out, wide_members, symbol.as_str().as_bytes());
        }
    });
}

/// The descriptor of a type that the specification defines; the described value is to follow.
#[inline]
pub fn descriptor(out: &mut Vec<u8>, code: u64) {
    match u8::try_from(code) {
        Ok(small) => out.extend_from_slice(&[DESCRIBED, SMALL_ULONG, small]),
        Err(_) => {
            out.push(DESCRIBED);
            ulong(out, code);
        }
    }
}

#[inline]
pub(super) fn wide<const N: usize>(out: &mut Vec<u8>, code: u8, bytes: [u8; N]) {
    out.push(code);
    out.extend_from_slice(&bytes);
}

#[inline]
fn variable(out: &mut Vec<u8>, small: u8, large: u8, bytes: &[u8]) {
    let wide = bytes.len() > usize::from(u8::MAX);
    out.push(if wide { large } else { small });
    variable_content(out, wide, bytes);
}

/// A value of variable width without its format code.
#[inline]
pub(super) fn variable_content(out: &mut Vec<u8>, wide: bool, bytes: &[u8]) {
    if wide {
        out.extend_from_slice(&length(bytes.len()).to_be_bytes());
    } else {
        out.push(bytes.len() as u8);
    }
    out.extend_from_slice(bytes);
}

/// A size or count as the four bytes that AMQP has for it.
#[inline]
pub(crate) fn length(length: usize) -> u32 {
    debug_assert!(u32::try_from(length).is_ok(), "no AMQP value is longer than 2^32 - 1 bytes");
    u32::try_from(length).unwrap_or(u32::MAX)
}
