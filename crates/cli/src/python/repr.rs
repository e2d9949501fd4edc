//! Values as Python's `str` and `repr` show them.

use std::fmt::Write as _;

use amqp::Value;

use super::float::float;

/// What `str` makes of a value: text is bare, everything else is as in [`repr`].
pub fn str(value: &Value) -> String {
    match value.as_text() {
        Some(text) => text.to_owned(),
        None => repr(value),
    }
}

/// What `repr` makes of a value. Numbers are plain, whatever AMQP type they came in.
pub fn repr(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Float(number) => out.push_str(&float(f64::from(*number))),
        Value::Double(number) => out.push_str(&float(*number)),
        Value::Timestamp(millis) => out.push_str(&millis.to_string()),
        Value::Char(char) => write_text(out, char.encode_utf8(&mut [0; 4])),
        Value::Binary(bytes) => write_bytes(out, bytes),
        Value::List(items) => write_list(out, items),
        Value::Array(array) => write_list(out, &array.items),
        Value::Map(map) => {
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
        Value::Described(described) => write_value(out, &described.value),
        Value::Uuid(bytes) => write_text(out, &uuid(bytes)),
        other => match (other.as_text(), other.as_i64(), other.as_u64()) {
            (Some(text), ..) => write_text(out, text),
            (_, Some(number), _) => out.push_str(&number.to_string()),
            (.., Some(number)) => out.push_str(&number.to_string()),
            _ => out.push_str("None"),
        },
    }
}

fn write_list(out: &mut String, items: &[Value]) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_value(out, item);
    }
    out.push(']');
}

/// Single quotes, unless the text has some and no double ones.
fn write_text(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for char in text.chars() {
        match char {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char if char == quote => {
                out.push('\\');
                out.push(char);
            }
            char if char.is_control() => push_formatted(out, format_args!("\\x{:02x}", u32::from(char))),
            char => out.push(char),
        }
    }
    out.push(quote);
}

fn write_bytes(out: &mut String, bytes: &[u8]) {
    out.push_str("b'");
    for &byte in bytes {
        match byte {
            b'\'' => out.push_str("\\'"),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => push_formatted(out, format_args!("\\x{byte:02x}")),
        }
    }
    out.push('\'');
}

/// The usual text form of a UUID.
pub fn uuid(bytes: &[u8; 16]) -> String {
    let mut out = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        push_formatted(&mut out, format_args!("{byte:02x}"));
    }
    out
}

fn push_formatted(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::{Map, Symbol};

    #[test]
    fn a_list_of_router_ids_reads_as_python_prints_it() {
        let list = Value::List(vec!["QDR.B".into(), "it's".into(), "both ' and \"".into()]);
        assert_eq!(str(&list), r#"['QDR.B', "it's", 'both \' and "']"#);
    }

    #[test]
    fn truth_and_absence_have_pythons_words() {
        assert_eq!(str(&Value::List(vec![true.into(), false.into(), Value::Null])), "[True, False, None]");
    }

    #[test]
    fn numbers_of_every_width_are_plain() {
        let list = vec![Value::Uint(0), Value::Int(-1), Value::Ulong(u64::MAX), Value::Ubyte(7), Value::Timestamp(5)];
        assert_eq!(repr(&Value::List(list)), "[0, -1, 18446744073709551615, 7, 5]");
    }

    #[test]
    fn text_is_bare_outside_and_quoted_inside() {
        let mut map = Map::new();
        map.insert(Symbol::from("k"), "v\n");
        assert_eq!(str(&Value::from("v")), "v");
        assert_eq!(str(&Value::Map(map)), r"{'k': 'v\n'}");
    }

    #[test]
    fn bytes_are_marked() {
        assert_eq!(repr(&Value::Binary(vec![0, b'a', b'\''])), r"b'\x00a\''");
    }
}
