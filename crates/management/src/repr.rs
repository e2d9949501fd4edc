//! Values as text, in the notation that the old router's messages and logs use for lists, maps and strings.

use amqp::{Map, Value};
use std::fmt::Write;

/// A value as it appears within an error text or a log line: `'text'`, `True`, `None`, `['a', 1]`, `{'k': 'v'}`.
pub fn repr(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

/// Words as a list: `['a', 'b']`.
pub fn repr_words<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::from("[");
    for (index, word) in words.into_iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_quoted(&mut out, word);
    }
    out.push(']');
    out
}

/// A value in running text: strings stand without quotes.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Symbol(symbol) => symbol.as_str().to_owned(),
        _ => repr(value),
    }
}

/// Writes a value; lists and maps of values are no deeper than what was decoded, which is bounded.
fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(truth) => out.push_str(if *truth { "True" } else { "False" }),
        Value::Float(number) => write_display(out, number),
        Value::Double(number) => write_display(out, number),
        Value::Timestamp(time) => write_display(out, time),
        Value::Char(character) => write_quoted(out, character.encode_utf8(&mut [0; 4])),
        Value::String(text) => write_quoted(out, text),
        Value::Symbol(symbol) => write_quoted(out, symbol.as_str()),
        Value::Binary(bytes) => write_binary(out, bytes),
        Value::Uuid(bytes) | Value::Decimal128(bytes) => write_binary(out, bytes),
        Value::Decimal64(bytes) => write_binary(out, bytes),
        Value::Decimal32(bytes) => write_binary(out, bytes),
        Value::List(items) => write_items(out, items),
        Value::Array(array) => write_items(out, &array.items),
        Value::Map(map) => write_map(out, map),
        Value::Described(described) => write_value(out, &described.value),
        Value::Ulong(number) => write_display(out, number),
        Value::Ubyte(_)
        | Value::Ushort(_)
        | Value::Uint(_)
        | Value::Byte(_)
        | Value::Short(_)
        | Value::Int(_)
        | Value::Long(_) => write_display(out, &value.as_i64().unwrap_or_default()),
    }
}

fn write_display(out: &mut String, value: &dyn std::fmt::Display) {
    // Writing to a string does not fail.
    let _ = write!(out, "{value}");
}

fn write_items(out: &mut String, items: &[Value]) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_value(out, item);
    }
    out.push(']');
}

fn write_map(out: &mut String, map: &Map) {
    out.push('{');
    for (index, (key, value)) in map.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_value(out, key);
        out.push_str(": ");
        write_value(out, value);
    }
    out.push('}');
}

/// Writes text in quotes: single ones, unless it contains those and no double ones.
fn write_quoted(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() => write_display(out, &format_args!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
}

fn write_binary(out: &mut String, bytes: &[u8]) {
    out.push_str("b'");
    for byte in bytes {
        match byte {
            b'\'' | b'\\' => out.extend(['\\', char::from(*byte)]),
            0x20..=0x7e => out.push(char::from(*byte)),
            _ => write_display(out, &format_args!("\\x{byte:02x}")),
        }
    }
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stands_in_single_quotes() {
        assert_eq!(repr(&Value::from("maybe")), "'maybe'");
    }

    #[test]
    fn text_with_a_single_quote_stands_in_double_quotes() {
        assert_eq!(repr(&Value::from("it's")), "\"it's\"");
    }

    #[test]
    fn lists_and_maps_nest() {
        let map = Map(vec![(Value::from("limit"), Value::List(vec![Value::Int(1), Value::Null, Value::Bool(true)]))]);
        assert_eq!(repr(&Value::Map(map)), "{'limit': [1, None, True]}");
    }

    #[test]
    fn line_ends_do_not_break_the_line() {
        assert_eq!(repr(&Value::from("a\nb\u{1}")), "'a\\nb\\x01'");
    }
}
