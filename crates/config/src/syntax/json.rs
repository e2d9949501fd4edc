//! JSON, with what users of configuration files expect beyond it: comments, and commas before a closing bracket.

use super::cursor::Cursor;
use super::{MAX_ENTRIES, SyntaxError};
use crate::source::Span;
use amqp::{Map, Value};
use management::json::from_json;

/// How deep lists and maps may nest.
const MAX_DEPTH: usize = 32;

/// Reads a value.
pub(super) fn value(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, SyntaxError> {
    if depth > MAX_DEPTH {
        let text = format!("Lists and maps nest more than {MAX_DEPTH} deep");
        return Err(SyntaxError::new(cursor.here(), text, "nest less deeply"));
    }
    cursor.skip_space();
    match cursor.peek() {
        Some('{') => object(cursor, depth),
        Some('[') => array(cursor, depth),
        Some('"') => string(cursor).map(Value::String),
        Some(_) => scalar(cursor),
        None => Err(expecting(cursor.here(), "Expecting value", "a value")),
    }
}

fn object(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, SyntaxError> {
    cursor.eat('{');
    let mut map = Map::new();
    loop {
        cursor.skip_space();
        if cursor.eat('}') {
            return Ok(Value::Map(map));
        }
        if cursor.peek() != Some('"') {
            let text = "Expecting property name enclosed in double quotes";
            return Err(expecting(cursor.here(), text, "\"key\": value"));
        }
        if map.len() >= MAX_ENTRIES {
            return Err(SyntaxError::too_many(MAX_ENTRIES, cursor.here()));
        }
        let key = string(cursor)?;
        cursor.skip_space();
        if !cursor.eat(':') {
            return Err(expecting(cursor.here(), "Expecting ':' delimiter", "a colon after the key"));
        }
        let value = value(cursor, depth + 1)?;
        // Of members with the same key the last one counts.
        map.remove(&key);
        map.0.push((Value::String(key), value));
        separator(cursor, '}')?;
    }
}

fn array(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, SyntaxError> {
    cursor.eat('[');
    let mut items = Vec::new();
    loop {
        cursor.skip_space();
        if cursor.eat(']') {
            return Ok(Value::List(items));
        }
        items.push(value(cursor, depth + 1)?);
        separator(cursor, ']')?;
    }
}

/// Passes a comma, unless the closing bracket comes next.
fn separator(cursor: &mut Cursor<'_>, close: char) -> Result<(), SyntaxError> {
    cursor.skip_space();
    if cursor.eat(',') || cursor.peek() == Some(close) {
        return Ok(());
    }
    let expected = if close == '}' { "a comma or }" } else { "a comma or ]" };
    Err(expecting(cursor.here(), "Expecting ',' delimiter", expected))
}

/// Reads text in double quotes.
pub(super) fn string(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    let start = cursor.offset();
    cursor.eat('"');
    loop {
        match cursor.next() {
            Some('"') => break,
            Some('\\') => {
                cursor.next();
            }
            Some('\n') | None => {
                let span = Span { start, end: start + 1 };
                return Err(expecting(span, "Unterminated string starting at", "a closing double quote"));
            }
            Some(_) => {}
        }
    }
    let mut quoted = cursor.clone();
    quoted.jump(start);
    let quoted = &quoted.rest()[..cursor.offset() - start];
    serde_json::from_str(quoted).map_err(|_| {
        expecting(cursor.since(start), "Invalid control character or escape in string", "text in double quotes")
    })
}

/// Reads a number, `true`, `false` or `null`.
fn scalar(cursor: &mut Cursor<'_>) -> Result<Value, SyntaxError> {
    let start = cursor.offset();
    let word = cursor.eat_while(|c| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_'));
    match serde_json::from_str(word) {
        Ok(json) => Ok(from_json(&json)),
        Err(_) => {
            let span = if word.is_empty() { cursor.here() } else { cursor.since(start) };
            Err(expecting(span, "Expecting value", "a number, true, false, null, or text in double quotes"))
        }
    }
}

fn expecting(span: Span, text: &str, expected: &'static str) -> SyntaxError {
    let hint = format!("write {expected}");
    SyntaxError { expected: Some(expected), json: true, ..SyntaxError::new(span, text, hint) }
}

/// After a mistake: passes everything up to the bracket that closes the one at the cursor, or to the end.
pub(super) fn skip_block(cursor: &mut Cursor<'_>) {
    let mut depth = 0usize;
    while let Some(character) = cursor.peek() {
        match character {
            '"' if string(cursor).is_ok() => continue,
            '#' => {
                cursor.skip_line();
                continue;
            }
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        cursor.next();
        if depth == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        value(&mut Cursor::new(text), 0).map_err(|error| error.text)
    }

    #[test]
    fn values_of_all_kinds_are_read() {
        let Ok(Value::Map(map)) = read(r#"{"a": [1, -2.5, true, null, "x\u00e9\n"], "b": {}}"#) else { panic!() };
        let items = [Value::Int(1), Value::Double(-2.5), Value::Bool(true), Value::Null, Value::from("xé\n")];
        assert_eq!(map.get("a"), Some(&Value::List(items.into())));
    }

    #[test]
    fn commas_before_closing_brackets_and_comments_are_tolerated() {
        let read = read("{ # about a\n \"a\": [1, 2,], # about b\n \"b\": 3,\n}").unwrap();
        assert_eq!(read.as_map().map(Map::len), Some(2));
    }

    #[test]
    fn a_key_without_quotes_is_refused() {
        assert_eq!(read("{9: 1}"), Err("Expecting property name enclosed in double quotes".into()));
    }

    #[test]
    fn a_hash_within_text_is_no_comment() {
        assert_eq!(read("\"a # b\""), Ok(Value::from("a # b")));
    }

    #[test]
    fn endless_nesting_is_refused() {
        assert!(read(&"[".repeat(100_000)).unwrap_err().contains("deep"));
    }

    #[test]
    fn of_members_with_the_same_key_the_last_one_counts() {
        let read = read(r#"{"a": 1, "a": 2}"#).unwrap();
        assert_eq!(read.as_map().map(|map| map.0.clone()), Some(vec![(Value::from("a"), Value::Int(2))]));
    }
}
