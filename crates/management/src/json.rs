//! AMQP values as JSON and back, and JSON text in the form that the old tools print.

use amqp::{Map, Value};
use serde_json::{Map as JsonMap, Number, Value as Json};

/// An AMQP value as JSON. What JSON does not have becomes text: binaries as UTF-8 as far as they are, UUIDs in
/// hexadecimal; times are milliseconds since 1970; keys of maps that are not text are written as text.
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Float(number) => number_or_null(f64::from(*number)),
        Value::Double(number) => number_or_null(*number),
        Value::String(text) => Json::String(text.clone()),
        Value::Symbol(symbol) => Json::String(symbol.as_str().to_owned()),
        Value::Char(character) => Json::String(character.to_string()),
        Value::Binary(bytes) => Json::String(String::from_utf8_lossy(bytes).into_owned()),
        Value::Uuid(bytes) => Json::String(uuid(bytes)),
        Value::Decimal32(bytes) => Json::String(hex(bytes)),
        Value::Decimal64(bytes) => Json::String(hex(bytes)),
        Value::Decimal128(bytes) => Json::String(hex(bytes)),
        Value::Timestamp(time) => Json::Number((*time).into()),
        Value::List(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Array(array) => Json::Array(array.items.iter().map(to_json).collect()),
        Value::Map(map) => Json::Object(map.iter().map(|(key, value)| (key_text(key), to_json(value))).collect()),
        Value::Described(described) => to_json(&described.value),
        Value::Ulong(number) => Json::Number((*number).into()),
        _ => value.as_i64().map_or(Json::Null, |number| Json::Number(number.into())),
    }
}

/// JSON as an AMQP value: numbers become an int if they fit one, else a long, ulong or double.
pub fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(from_json).collect()),
        Json::Object(members) => {
            Value::Map(Map(members.iter().map(|(key, value)| (Value::String(key.clone()), from_json(value))).collect()))
        }
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => crate::attributes::number(number),
            (None, Some(number)) => Value::Ulong(number),
            (None, None) => Value::Double(number.as_f64().unwrap_or_default()),
        },
    }
}

fn number_or_null(number: f64) -> Json {
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}

fn key_text(key: &Value) -> String {
    key.as_text().map_or_else(|| crate::repr::repr(key), str::to_owned)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn uuid(bytes: &[u8; 16]) -> String {
    let digits = hex(bytes);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// JSON text as the old tools print it: with `indent` blanks a level, or with `None` on a single line; always a blank
/// after colons, and after commas on a single line; everything outside ASCII escaped.
pub fn dump(json: &Json, indent: Option<usize>) -> String {
    let mut out = String::new();
    write(&mut out, json, indent, 0);
    out
}

fn write(out: &mut String, json: &Json, indent: Option<usize>, depth: usize) {
    match json {
        Json::Null => out.push_str("null"),
        Json::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Json::Number(number) => out.push_str(&number.to_string()),
        Json::String(text) => write_string(out, text),
        Json::Array(items) => {
            write_block(out, "[]", items.len(), indent, depth, |out, index| {
                write(out, &items[index], indent, depth + 1)
            });
        }
        Json::Object(members) => write_object(out, members, indent, depth),
    }
}

fn write_object(out: &mut String, members: &JsonMap<String, Json>, indent: Option<usize>, depth: usize) {
    let members: Vec<_> = members.iter().collect();
    write_block(out, "{}", members.len(), indent, depth, |out, index| {
        let (key, value) = members[index];
        write_string(out, key);
        out.push_str(": ");
        write(out, value, indent, depth + 1);
    });
}

/// Writes `count` items between two brackets.
fn write_block(
    out: &mut String,
    brackets: &str,
    count: usize,
    indent: Option<usize>,
    depth: usize,
    mut item: impl FnMut(&mut String, usize),
) {
    let (open, close) = brackets.split_at(1);
    out.push_str(open);
    for index in 0..count {
        match indent {
            Some(blanks) => {
                out.push_str(if index > 0 { ",\n" } else { "\n" });
                out.extend(std::iter::repeat_n(' ', blanks * (depth + 1)));
            }
            None if index > 0 => out.push_str(", "),
            None => {}
        }
        item(out, index);
    }
    if let (Some(blanks), true) = (indent, count > 0) {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', blanks * depth));
    }
    out.push_str(close);
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_single_line_has_blanks_after_colons_and_commas() {
        assert_eq!(dump(&json!({"a": [1, "x"], "b": null}), None), r#"{"a": [1, "x"], "b": null}"#);
    }

    #[test]
    fn indented_text_puts_each_member_on_a_line() {
        assert_eq!(dump(&json!({"a": [1, 2], "b": {}}), Some(2)), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
    }

    #[test]
    fn characters_outside_ascii_are_escaped() {
        assert_eq!(dump(&json!("ü\u{1f600}"), None), r#""\u00fc\ud83d\ude00""#);
    }

    #[test]
    fn numbers_survive_the_way_to_json_and_back() {
        for value in [Value::Int(-5), Value::Long(5 << 40), Value::Ulong(u64::MAX), Value::Double(1.5)] {
            assert_eq!(from_json(&to_json(&value)), value);
        }
    }

    #[test]
    fn a_uuid_is_written_in_its_usual_form() {
        assert_eq!(to_json(&Value::Uuid([0xab; 16])), json!("abababab-abab-abab-abab-abababababab"));
    }
}
