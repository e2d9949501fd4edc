//! Values as they are compared and calculated with: numbers of all kinds become one of two, texts of all kinds one.

use crate::expression::{Comparison, Operation};
use crate::logic::Truth;
use amqp::Decoder;
use amqp::codec::format::*;
use std::cmp::Ordering;

/// A value of the message, a literal, or a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand<'a> {
    /// There is no value: SQL's NULL.
    Unknown,
    Bool(bool),
    /// An exact number. Any integer of AMQP fits, and what is calculated from a few of them.
    Int(i128),
    Float(f64),
    Text(&'a str),
    /// A text that does not stand like this in the message.
    Short(ShortText),
    /// A value that equals nothing: binary, a list, a map, …
    Opaque,
}

/// A text of at most 36 bytes of ASCII, or one character.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortText {
    bytes: [u8; 36],
    length: u8,
}

impl ShortText {
    fn uuid(uuid: [u8; 16]) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut bytes = [b'-'; 36];
        let mut at = 0;
        for (index, byte) in uuid.into_iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                at += 1;
            }
            bytes[at] = DIGITS[usize::from(byte >> 4)];
            bytes[at + 1] = DIGITS[usize::from(byte & 15)];
            at += 2;
        }
        Self { bytes, length: 36 }
    }

    fn char(char: char) -> Self {
        let mut bytes = [0; 36];
        // A character has at most 4 bytes.
        let length = char.encode_utf8(&mut bytes).len() as u8;
        Self { bytes, length }
    }

    fn as_str(&self) -> &str {
        // Only made of whole characters.
        std::str::from_utf8(self.bytes.get(..self.length.into()).unwrap_or_default()).unwrap_or_default()
    }
}

impl<'a> Operand<'a> {
    /// The value that comes next. A malformed one is unknown.
    pub(crate) fn read(decoder: &mut Decoder<'a>) -> Self {
        let Some(code) = decoder.peek_code() else { return Self::Unknown };
        let read = match code {
            NULL => return Self::Unknown,
            TRUE | FALSE | BOOLEAN => decoder.read_bool().map(Self::Bool),
            UBYTE | USHORT | UINT | SMALL_UINT | UINT_0 | BYTE | SHORT | INT | SMALL_INT | LONG | SMALL_LONG => {
                decoder.read_integer().map(|number| Self::Int(number.into()))
            }
            ULONG | SMALL_ULONG | ULONG_0 => decoder.read_ulong().map(|number| Self::Int(number.into())),
            TIMESTAMP => decoder.read_timestamp().map(|number| Self::Int(number.into())),
            STRING8 | STRING32 => decoder.read_str().map(Self::Text),
            SYMBOL8 | SYMBOL32 => decoder.read_symbol().map(Self::Text),
            _ => decoder.read_raw().map(|raw| Self::fixed(code, raw.get(1..).unwrap_or_default())),
        };
        read.unwrap_or(Self::Unknown)
    }

    /// The value of a type that has one width.
    fn fixed(code: u8, content: &[u8]) -> Self {
        match (code, content) {
            (FLOAT, &[a, b, c, d]) => Self::Float(f32::from_be_bytes([a, b, c, d]).into()),
            (DOUBLE, &[a, b, c, d, e, f, g, h]) => Self::Float(f64::from_be_bytes([a, b, c, d, e, f, g, h])),
            (CHAR, &[a, b, c, d]) => match char::from_u32(u32::from_be_bytes([a, b, c, d])) {
                Some(char) => Self::Short(ShortText::char(char)),
                None => Self::Unknown,
            },
            (UUID, content) => content.try_into().map_or(Self::Unknown, |uuid| Self::Short(ShortText::uuid(uuid))),
            _ => Self::Opaque,
        }
    }

    /// The value, if it is a text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Short(text) => Some(text.as_str()),
            _ => None,
        }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// The value as a condition: only booleans are true or false.
    pub(crate) fn truth(&self) -> Truth {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// `-value`
    pub(crate) fn negative(self) -> Self {
        match self {
            // Never as low as the lowest: see `calculate`.
            Self::Int(number) => Self::Int(number.saturating_neg()),
            Self::Float(number) => Self::Float(-number),
            _ => Self::Unknown,
        }
    }

    /// Arithmetic: exact as long as both are, else in double precision. What cannot be calculated is unknown.
    pub(crate) fn calculate(self, operation: Operation, other: Self) -> Self {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => match exact(left, operation, right) {
                Some(number) => Self::Int(number),
                None if operation == Operation::Divide => Self::Unknown,
                None => Self::Float(approximate(left as f64, operation, right as f64)),
            },
            (left, right) => match (left.double(), right.double()) {
                (Some(left), Some(right)) => Self::Float(approximate(left, operation, right)),
                _ => Self::Unknown,
            },
        }
    }

    fn double(self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(number as f64),
            Self::Float(number) => Some(number),
            _ => None,
        }
    }

    /// Values of unlike types compare as false, whatever the comparison; unknown ones as unknown (JMS 1.1, 3.8.1.2).
    pub(crate) fn compare(&self, comparison: Comparison, other: &Self) -> Truth {
        if self.is_unknown() || other.is_unknown() {
            return None;
        }
        Some(match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => match comparison {
                Comparison::Equal => left == right,
                Comparison::Unequal => left != right,
                _ => false,
            },
            (Self::Int(left), Self::Int(right)) => holds(comparison, Some(left.cmp(right))),
            _ => match (self.text(), other.text()) {
                (Some(left), Some(right)) => holds(comparison, Some(left.cmp(right))),
                _ => match (self.double(), other.double()) {
                    (Some(left), Some(right)) => holds(comparison, left.partial_cmp(&right)),
                    _ => false,
                },
            },
        })
    }
}

/// `None`: one of them is not a number in the sense of IEEE 754; it is unequal to everything.
fn holds(comparison: Comparison, order: Option<Ordering>) -> bool {
    match comparison {
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::Unequal => order != Some(Ordering::Equal),
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// `None`: the result is beyond all exact numbers, or there is none. Division cuts off, as Java's does.
fn exact(left: i128, operation: Operation, right: i128) -> Option<i128> {
    let number = match operation {
        Operation::Add => left.checked_add(right),
        Operation::Subtract => left.checked_sub(right),
        Operation::Multiply => left.checked_mul(right),
        Operation::Divide => left.checked_div(right),
    }?;
    (number != i128::MIN).then_some(number)
}

fn approximate(left: f64, operation: Operation, right: f64) -> f64 {
    match operation {
        Operation::Add => left + right,
        Operation::Subtract => left - right,
        Operation::Multiply => left * right,
        Operation::Divide => left / right,
    }
}
