//! Texts that others have written, such as addresses, in a line of the log or of a program's output: they make no line of their
//! own, and command no terminal.

use std::borrow::Cow;

/// Writes control characters, and those that turn the direction of writing, as `\n` or `\u{1b}`: from the byte `start` of
/// `line` on.
pub(crate) fn escape(line: &mut String, start: usize) {
    if let Cow::Owned(escaped) = escaped(&line[start..]) {
        line.truncate(start);
        line.push_str(&escaped);
    }
}

/// The text with control characters, and those that turn the direction of writing, as `\n` or `\u{1b}`; all others are as they
/// are.
pub fn escaped(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b'\t' | b' '..=b'~');
    if text.bytes().all(is_plain) || !text.chars().any(commands) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(2 * text.len());
    for character in text.chars() {
        match commands(character) {
            true => escaped.extend(character.escape_default()),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

fn commands(character: char) -> bool {
    character.is_control() && character != '\t'
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
