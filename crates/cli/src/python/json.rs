//! JSON as Python's `json` module writes it, and JSON as AMQP values.

use std::fmt::Write as _;

use amqp::{Map, Value};

use super::float::float;
use super::repr::uuid;

/// The value as JSON. With `indent`, each member is on a line of its own, indented by that many blanks more than what
/// it is in; without, everything is on one line. Characters beyond ASCII are escaped, as Python does by default.
///
/// AMQP types that JSON does not have are shown as what comes nearest: bytes and UUIDs as text, timestamps as
/// milliseconds, described values without their descriptor.
pub fn dumps(value: &Value, indent: Option<usize>) -> String {
    let mut out = String::new();
    write_value(&mut out, value, indent, 0);
    out
}

fn write_value(out: &mut String, value: &Value, indent: Option<usize>, depth: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Float(number) => out.push_str(&json_float(f64::from(*number))),
        Value::Double(number) => out.push_str(&json_float(*number)),
        Value::Timestamp(millis) => out.push_str(&millis.to_string()),
        Value::Char(char) => write_text(out, char.encode_utf8(&mut [0; 4])),
        Value::Binary(bytes) => write_text(out, &String::from_utf8_lossy(bytes)),
        Value::Uuid(bytes) => write_text(out, &uuid(bytes)),
        Value::List(items) => write_list(out, items, indent, depth),
        Value::Array(array) => write_list(out, &array.items, indent, depth),
        Value::Map(map) => write_map(out, map, indent, depth),
        Value::Described(described) => write_value(out, &described.value, indent, depth),
        other => match (other.as_text(), other.as_i64(), other.as_u64()) {
            (Some(text), ..) => write_text(out, text),
            (_, Some(number), _) => out.push_str(&number.to_string()),
            (.., Some(number)) => out.push_str(&number.to_string()),
            // Decimal numbers, whose encodings this program does not interpret.
            _ => out.push_str("null"),
        },
    }
}

fn write_list(out: &mut String, items: &[Value], indent: Option<usize>, depth: usize) {
    if items.is_empty() {
        return out.push_str("[]");
    }
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        separate(out, index, indent, depth + 1);
        write_value(out, item, indent, depth + 1);
    }
    end_line(out, indent, depth);
    out.push(']');
}

fn write_map(out: &mut String, map: &Map, indent: Option<usize>, depth: usize) {
    if map.is_empty() {
        return out.push_str("{}");
    }
    out.push('{');
    for (index, (key, value)) in map.iter().enumerate() {
        separate(out, index, indent, depth + 1);
        match key.as_text() {
            Some(text) => write_text(out, text),
            None => {
                let mut text = String::new();
                write_value(&mut text, key, None, 0);
                write_text(out, text.trim_matches('"'));
            }
        }
        out.push_str(": ");
        write_value(out, value, indent, depth + 1);
    }
    end_line(out, indent, depth);
    out.push('}');
}

/// What stands before a member: a comma unless it is the first, and the way to its place.
fn separate(out: &mut String, index: usize, indent: Option<usize>, depth: usize) {
    if index > 0 {
        out.push_str(if indent.is_some() { "," } else { ", " });
    }
    end_line(out, indent, depth);
}

fn end_line(out: &mut String, indent: Option<usize>, depth: usize) {
    if let Some(width) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', width.saturating_mul(depth)));
    }
}

fn json_float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    float(number)
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(char),
            char => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// JSON as an AMQP value: whole numbers become longs, others doubles, and objects maps with string keys.
pub fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(truth) => Value::Bool(*truth),
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(from_json).collect()),
        serde_json::Value::Object(members) => {
            Value::Map(members.iter().map(|(key, value)| (key.as_str(), from_json(value))).collect())
        }
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Long(number),
            (None, Some(number)) => Value::Ulong(number),
            _ => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        from_json(&serde_json::from_str(text).expect("the test's JSON is valid"))
    }

    #[test]
    fn on_one_line_commas_and_colons_are_followed_by_a_blank() {
        assert_eq!(dumps(&value(r#"[{"a":1,"b":[true,null]}, {}]"#), None), r#"[{"a": 1, "b": [true, null]}, {}]"#);
    }

    #[test]
    fn indented_members_stand_on_their_own_lines_and_empty_ones_do_not() {
        let text = dumps(&value(r#"{"a":[1,2],"e":[],"m":{}}"#), Some(2));
        assert_eq!(text, "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"e\": [],\n  \"m\": {}\n}");
    }

    #[test]
    fn an_indent_of_zero_still_breaks_lines() {
        assert_eq!(dumps(&value("[1]"), Some(0)), "[\n1\n]");
    }

    #[test]
    fn characters_beyond_ascii_are_escaped_as_utf_16() {
        assert_eq!(dumps(&"é😀\u{7f}\"".into(), None), "\"\\u00e9\\ud83d\\ude00\\u007f\\\"\"");
    }

    #[test]
    fn json_numbers_become_longs_and_doubles() {
        assert_eq!(value("[7, -7, 18446744073709551615, 2.5]"), {
            Value::List(vec![Value::Long(7), Value::Long(-7), Value::Ulong(u64::MAX), Value::Double(2.5)])
        });
    }
}
