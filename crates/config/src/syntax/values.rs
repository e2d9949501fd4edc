//! Values in the line-oriented form: text to the end of the line, or blocks in braces.

use super::cursor::{Cursor, is_blank};
use super::{MAX_ENTRIES, SyntaxError, json};
use crate::source::Span;
use amqp::{Map, Value};

/// How deep blocks may nest.
const MAX_DEPTH: usize = 32;

/// What kind of value an attribute takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Text.
    Line,
    /// Text without blanks, in which `#` does not begin a comment.
    Word,
    /// A map, in JSON or in the form of the file.
    Block,
    /// A map in JSON.
    Json,
}

/// Reads text up to the end of the line, or to a comment, or to a brace that closes a block.
///
/// A comment begins with a `#` at the beginning of the value or after a blank; a `#` within a word is part of the value.
pub(super) fn line(cursor: &mut Cursor<'_>) -> (String, Span) {
    let start = cursor.offset();
    let line = cursor.line();
    let end = end_of_value(line);
    let text = line[..end].trim_end();
    cursor.jump(start + end);
    (text.to_owned(), Span { start, end: start + text.len() })
}

/// Replaces the escapes of JSON in a value, which begin with a backslash: the old router reads values as JSON text.
///
/// # Errors
/// The first escape that there is not, by its place in the value, in bytes.
pub(super) fn unescape(value: &str) -> Result<String, usize> {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(index) = rest.find('\\') {
        text.push_str(&rest[..index]);
        let escape = &rest[index..];
        let length = escape_length(escape);
        let quoted = format!("\"{}\"", escape.get(..length).unwrap_or(escape));
        match serde_json::from_str::<String>(&quoted) {
            Ok(character) => text.push_str(&character),
            Err(_) => return Err(value.len() - escape.len()),
        }
        rest = escape.get(length..).unwrap_or("");
    }
    text.push_str(rest);
    Ok(text)
}

/// The length of the escape that a text begins with, in bytes; of two for a character beyond 16 bits.
fn escape_length(text: &str) -> usize {
    let is_unicode = text.as_bytes().get(1) == Some(&b'u');
    let is_pair =
        text.get(2..6).is_some_and(is_high_surrogate) && text.get(6..12).is_some_and(|low| low.starts_with("\\u"));
    match (is_unicode, is_pair) {
        (true, true) => 12,
        (true, false) => 6,
        (false, _) => 1 + text[1..].chars().next().map_or(0, char::len_utf8),
    }
}

fn is_high_surrogate(digits: &str) -> bool {
    u16::from_str_radix(digits, 16).is_ok_and(|unit| (0xd800..0xdc00).contains(&unit))
}

/// Where in a line the value ends.
fn end_of_value(line: &str) -> usize {
    let mut after_blank = true;
    let mut open = 0usize;
    for (index, character) in line.char_indices() {
        match character {
            '#' if after_blank => return index,
            '{' => open += 1,
            '}' if open > 0 => open -= 1,
            '}' if after_blank && ends_the_line(&line[index + 1..]) => return index,
            _ => {}
        }
        after_blank = is_blank(character);
    }
    line.len()
}

/// Whether only closing braces, blanks and a comment follow.
fn ends_the_line(rest: &str) -> bool {
    let rest = rest.trim_start_matches(|c| is_blank(c) || c == '}');
    rest.is_empty() || rest.starts_with('#')
}

/// Reads one word, and what stands after it on the line.
pub(super) fn word<'a>(cursor: &mut Cursor<'a>) -> (String, Span, &'a str) {
    let start = cursor.offset();
    let word = if cursor.line().trim_end() == "}" { "" } else { cursor.eat_while(|c| !c.is_whitespace()) };
    let span = cursor.since(start);
    cursor.skip_blanks();
    let rest = cursor.line();
    let ignored = &rest[..end_of_value(rest)];
    cursor.jump(cursor.offset() + ignored.len());
    (word.to_owned(), span, ignored.trim_end())
}

/// Reads a block: `{`, then lines `key: value` or members `"key": json`, then `}`.
pub(super) fn block(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, SyntaxError> {
    let open = cursor.here();
    if depth > MAX_DEPTH {
        let text = format!("Blocks nest more than {MAX_DEPTH} deep");
        return Err(SyntaxError::new(open, text, "nest less deeply"));
    }
    cursor.eat('{');
    let mut map = Map::new();
    loop {
        cursor.skip_space();
        while cursor.eat(',') {
            cursor.skip_space();
        }
        if cursor.eat('}') {
            return Ok(Value::Map(map));
        }
        if cursor.peek().is_none() {
            return Err(SyntaxError::new(open, "This brace is not closed", "add } after the last line of the block"));
        }
        if map.len() >= MAX_ENTRIES {
            return Err(SyntaxError::too_many(MAX_ENTRIES, cursor.here()));
        }
        let (key, quoted) = key(cursor)?;
        let value = member(cursor, quoted, depth)?;
        // Of members with the same key the last one counts.
        map.remove(&key);
        map.0.push((Value::String(key), value));
    }
}

/// Reads the key of a member, and says whether it was quoted.
fn key(cursor: &mut Cursor<'_>) -> Result<(String, bool), SyntaxError> {
    if cursor.peek() == Some('"') {
        return Ok((json::string(cursor)?, true));
    }
    let key = cursor.eat_while(|c| c.is_alphanumeric() || matches!(c, '$' | '_' | '-' | '.' | '*' | '@'));
    if key.is_empty() {
        let error =
            SyntaxError::new(cursor.here(), "A key cannot begin like this", "write key: value or \"key\": value");
        return Err(SyntaxError { expected: Some("a key or }"), ..error });
    }
    Ok((key.to_owned(), false))
}

/// Reads what follows a key: a colon and a value, or a block.
fn member(cursor: &mut Cursor<'_>, quoted: bool, depth: usize) -> Result<Value, SyntaxError> {
    cursor.skip_blanks();
    let colon = cursor.eat(':');
    let after_colon = cursor.offset();
    cursor.skip_space();
    match cursor.peek() {
        Some('{') => return block(cursor, depth + 1),
        _ if !colon => {
            let error = SyntaxError::new(cursor.here(), "A colon is missing after the key", "write key: value");
            return Err(SyntaxError { expected: Some("a colon"), ..error });
        }
        Some('[') => return json::value(cursor, depth + 1),
        Some('"') if quoted => return json::value(cursor, depth + 1),
        _ if quoted => return json::value(cursor, depth + 1),
        _ => cursor.jump(after_colon),
    }
    cursor.skip_blanks();
    let (text, span) = line(cursor);
    let text = text.trim_end_matches(',');
    // A value may stand in quotes, as in JSON.
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    unescape(text).map(Value::String).map_err(|_| bad_escape(span))
}

/// The mistake of an escape that there is not.
pub(super) fn bad_escape(span: Span) -> SyntaxError {
    let error = SyntaxError::new(span, "Invalid \\escape", "write \\\\ for a backslash");
    SyntaxError { expected: Some("\\\\, \\n, \\t, \\uXXXX or another escape of JSON"), json: true, ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_value(text: &str) -> String {
        line(&mut Cursor::new(text)).0
    }

    #[test]
    fn a_hash_after_a_blank_begins_a_comment() {
        assert_eq!(line_value("0.0.0.0   # all of them"), "0.0.0.0");
    }

    #[test]
    fn a_hash_within_a_word_is_part_of_the_value() {
        assert_eq!(line_value("pass:se#cret # hush"), "pass:se#cret");
    }

    #[test]
    fn a_value_that_is_only_a_comment_is_empty() {
        assert_eq!(line_value("# nothing"), "");
    }

    #[test]
    fn a_closing_brace_at_the_end_of_the_line_ends_the_value() {
        assert_eq!(line_value("standalone }"), "standalone");
    }

    #[test]
    fn braces_within_a_value_stay_when_they_are_balanced() {
        assert_eq!(line_value("{ a } b"), "{ a } b");
    }

    #[test]
    fn a_pattern_is_one_word_and_may_hold_hashes() {
        let (text, _, ignored) = word(&mut Cursor::new("a/#/b # all b"));
        assert_eq!((text.as_str(), ignored), ("a/#/b", ""));
    }

    #[test]
    fn what_follows_a_pattern_is_known() {
        let (text, _, ignored) = word(&mut Cursor::new("# b c"));
        assert_eq!((text.as_str(), ignored), ("#", "b c"));
    }

    #[test]
    fn escapes_of_json_are_replaced() {
        let text = unescape(r#"a\\b \"c\" \u00fc \ud83d\ude00 \t/"#);
        assert_eq!(text.as_deref(), Ok("a\\b \"c\" ü \u{1f600} \t/"));
    }

    #[test]
    fn an_escape_that_there_is_not_is_told() {
        assert_eq!(unescape(r"C:\dir"), Err(2));
        assert_eq!(unescape("x\\"), Err(1));
        assert_eq!(unescape(r"\ud800x"), Err(0));
        assert_eq!(unescape("\\uü"), Err(0));
        // A character may lie across any place at which an escape would end.
        for filling in 0..12 {
            let text = format!("\\n{}ü{}", "a".repeat(filling), "a".repeat(12));
            assert_eq!(unescape(&text).as_deref(), Ok(text.replace("\\n", "\n").as_str()));
        }
        assert_eq!(unescape("\\uaaaüaaaaaa"), Err(0));
    }

    #[test]
    fn a_block_may_mix_both_forms() {
        let text = "{\n $default: {\n users: a, b\n \"maxSessions\": 3,\n sources: [\"x\"]\n }\n}";
        let block = block(&mut Cursor::new(text), 0).unwrap();
        let group = block.as_map().and_then(|map| map.get("$default")).and_then(Value::as_map).cloned().unwrap();
        assert_eq!(group.get("users"), Some(&Value::from("a, b")));
        assert_eq!(group.get("maxSessions"), Some(&Value::Int(3)));
        assert_eq!(group.get("sources"), Some(&Value::List(vec![Value::from("x")])));
    }

    #[test]
    fn a_block_that_is_not_closed_is_refused_where_it_opens() {
        let error = block(&mut Cursor::new("{ a: 1\n"), 0).unwrap_err();
        assert_eq!((error.span.start, error.text.as_str()), (0, "This brace is not closed"));
    }
}
