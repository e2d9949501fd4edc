//! Values as text.

use std::fmt::Write as _;

use super::{names, number};
use crate::codec::format;
use crate::value::{Array, Described, Map, Value};

/// Bytes of text beyond which a value is cut; a log line is much shorter.
pub(super) const MAX_TEXT: usize = 8192;

const CUT: &str = " ... (truncated)";

/// The old router has two ways to print the same value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// In frame traces: unsigned numbers in hexadecimal, arrays as `@<int>[1]`.
    Frame,
    /// In other logs: all numbers in decimal, arrays as `@PN_INT[1]`.
    Data,
}

/// Text in the making, and where it is to be cut.
pub(super) struct Dump<'o> {
    out: &'o mut String,
    style: Style,
    end: usize,
    hide_secrets: bool,
}

impl<'o> Dump<'o> {
    pub(super) fn new(out: &'o mut String, style: Style, limit: usize) -> Self {
        let end = out.len() + limit;
        Self { out, style, end, hide_secrets: false }
    }

    /// From here on, what a SASL client sends to prove who it is is not shown.
    pub(super) fn hide_secrets(&mut self) {
        self.hide_secrets = true;
    }

    pub(super) fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn is_full(&self) -> bool {
        self.out.len() >= self.end
    }

    /// Says so if the value has been cut.
    pub(super) fn finish(&mut self) {
        if self.is_full() {
            self.text(CUT);
        }
    }

    /// The size of a payload and as much of it as `limit` characters can show.
    pub(super) fn payload(&mut self, payload: &[u8], limit: usize) {
        self.write(format_args!(" ({}) ", payload.len()));
        self.end = self.out.len() + limit - 1;
        if !self.quoted(payload) {
            self.text(CUT);
        }
    }

    pub(super) fn value(&mut self, value: &Value) {
        match value {
            _ if self.is_full() => {}
            Value::Null => self.text("null"),
            Value::Bool(value) => self.text(if *value { "true" } else { "false" }),
            Value::Ubyte(_) | Value::Ushort(_) | Value::Uint(_) | Value::Ulong(_) => {
                let number = value.as_u64().unwrap_or_default();
                match self.style {
                    Style::Frame => self.write(format_args!("0x{number:x}")),
                    Style::Data => self.write(format_args!("{number}")),
                }
            }
            Value::Byte(_) | Value::Short(_) | Value::Int(_) | Value::Long(_) => {
                self.write(format_args!("{}", value.as_i64().unwrap_or_default()));
            }
            Value::Timestamp(value) => self.write(format_args!("{value}")),
            Value::Float(value) => number::general(self.out, (*value).into()),
            Value::Double(value) => number::general(self.out, *value),
            Value::Decimal32(bytes) => self.decimal("D32", 4, u32::from_be_bytes(*bytes).into()),
            Value::Decimal64(bytes) => self.decimal("D64", 8, u64::from_be_bytes(*bytes)),
            Value::Decimal128(bytes) => self.write(format_args!("D128({:032x})", u128::from_be_bytes(*bytes))),
            Value::Char(value) => self.between("", value.encode_utf8(&mut [0; 4]).as_bytes(), ""),
            Value::Uuid(bytes) => self.uuid(bytes),
            Value::Binary(bytes) => self.between("b\"", bytes, "\""),
            Value::String(text) => self.between("\"", text.as_bytes(), "\""),
            Value::Symbol(symbol) => self.symbol(symbol.as_str()),
            Value::List(values) => self.list(values, |dump, value| dump.value(value)),
            Value::Map(map) => self.map(map),
            Value::Array(array) => self.array(array),
            Value::Described(described) => self.described(described),
        }
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(text);
    }

    /// What is not printable ASCII, and quotes and backslashes, as `\xNN`. False if the end came before all was shown.
    fn quoted(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            let plain = (byte.is_ascii_graphic() || byte == b' ') && !matches!(byte, b'"' | b'\'' | b'\\');
            if self.out.len() + if plain { 1 } else { 4 } > self.end {
                return false;
            }
            if plain {
                self.out.push(byte.into());
            } else {
                self.write(format_args!("\\x{byte:02x}"));
            }
        }
        true
    }

    fn between(&mut self, open: &str, bytes: &[u8], close: &str) {
        self.text(open);
        if self.quoted(bytes) {
            self.text(close);
        } else {
            self.end = self.out.len();
        }
    }

    fn decimal(&mut self, name: &str, digits: usize, encoded: u64) {
        match self.style {
            Style::Frame => self.write(format_args!("{name}({encoded:0digits$x})")),
            Style::Data => self.write(format_args!("{name}({encoded})")),
        }
    }

    fn symbol(&mut self, symbol: &str) {
        let plain = match self.style {
            Style::Frame => {
                symbol.starts_with(|first: char| first.is_ascii_alphabetic())
                    && symbol.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            }
            Style::Data => symbol.bytes().all(|byte| byte.is_ascii_alphabetic()),
        };
        if plain {
            self.between(":", symbol.as_bytes(), "");
        } else {
            self.between(":\"", symbol.as_bytes(), "\"");
        }
    }

    fn uuid(&mut self, bytes: &[u8; 16]) {
        self.text("UUID(");
        for (index, byte) in bytes.iter().enumerate() {
            self.write(format_args!("{}{byte:02x}", if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" }));
        }
        self.text(")");
    }

    fn list<T>(&mut self, members: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.text("[");
        for (index, member) in members.into_iter().enumerate() {
            if self.is_full() {
                return;
            }
            self.text(if index == 0 { "" } else { ", " });
            write(self, member);
        }
        self.text("]");
    }

    fn map(&mut self, map: &Map) {
        self.text("{");
        for (index, (key, value)) in map.iter().enumerate() {
            if self.is_full() {
                return;
            }
            self.text(if index == 0 { "" } else { ", " });
            self.value(key);
            self.text("=");
            self.value(value);
        }
        self.text("}");
    }

    fn array(&mut self, array: &Array) {
        match self.style {
            Style::Frame => self.write(format_args!("@<{}>", names::array_type(array.code))),
            Style::Data => self.write(format_args!("@PN_{}", names::value_type(array.code).to_ascii_uppercase())),
        }
        match format::width(array.code) {
            // All members are the same, and can be very many.
            Some(format::Width::Fixed(0)) if self.style == Style::Frame && array.items.len() > 1 => {
                self.text("[");
                array.items.iter().take(1).for_each(|first| self.value(first));
                self.write(format_args!(", ...({} more)]", array.items.len() - 1));
            }
            _ => self.list(&array.items, |dump, item| dump.value(item)),
        }
    }

    fn described(&mut self, described: &Described) {
        let known = described.descriptor.as_u64().and_then(names::composite);
        match (&described.descriptor, known) {
            (Value::Ulong(code), Some((name, fields))) => {
                self.write(format_args!("@{name}({code}) "));
                match &described.value {
                    Value::List(values) if !fields.is_empty() => self.fields(fields, values),
                    other => self.value(other),
                }
                return;
            }
            (Value::Ulong(code), None) if self.style == Style::Data || *code <= u8::MAX.into() => {
                self.write(format_args!("@{code} "));
            }
            (descriptor, _) => {
                self.text("@");
                self.value(descriptor);
                self.text(if self.style == Style::Data { " " } else { "" });
            }
        }
        self.value(&described.value);
    }

    /// The fields of a composite by name, those that are null left out, those beyond its definition without a name.
    fn fields(&mut self, names: &[&str], values: &[Value]) {
        let names = names.iter().copied().map(Some).chain(std::iter::repeat(None));
        let present = names.zip(values).filter(|(_, value)| !value.is_null());
        self.list(present, |dump, (name, value)| {
            if let Some(name) = name {
                dump.write(format_args!("{name}="));
            }
            if dump.hide_secrets && matches!(name, Some("initial-response" | "response")) {
                dump.text("b\"***\"");
            } else {
                dump.value(value);
            }
        });
    }
}
