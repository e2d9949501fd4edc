//! The JSON form: an array of pairs of a section's name and its attributes.

use super::cursor::Cursor;
use super::{AttributeNode, MAX_ATTRIBUTES, Parsed, SectionNode, SyntaxError, SyntaxWarning, camel_case, json};
use crate::source::{Source, Span};

const PAIR_EXPECTED: &str = "[\"section\", { \"attribute\": value, ... }]";

/// Reads all sections of a file. Lines that begin with `#` are comments.
pub(super) fn parse(source: &Source) -> Parsed {
    let mut cursor = Cursor::new(source.text());
    cursor.eat('\u{feff}');
    let mut parsed = Parsed::default();
    if let Err(error) = sections(&mut cursor, &mut parsed) {
        parsed.errors.push(error);
    }
    parsed
}

fn sections(cursor: &mut Cursor<'_>, parsed: &mut Parsed) -> Result<(), SyntaxError> {
    cursor.skip_space();
    expect(cursor, '[', "[ before the first section")?;
    loop {
        cursor.skip_space();
        if cursor.eat(']') {
            break;
        }
        if parsed.is_hopeless() {
            return Ok(());
        }
        let start = cursor.offset();
        if let Err(error) = section(cursor, parsed) {
            let unclosed = cursor.peek().is_none();
            parsed.errors.push(error);
            cursor.jump(start);
            json::skip_block(cursor);
            if unclosed {
                return Ok(());
            }
        }
        cursor.skip_space();
        if !cursor.eat(',') && cursor.peek() != Some(']') {
            return Err(expected(cursor.here(), "Expecting ',' delimiter", "a comma or ] after a section"));
        }
    }
    cursor.skip_space();
    match cursor.peek() {
        None => Ok(()),
        Some(_) => Err(expected(cursor.here(), "Extra data", "nothing after the ] that closes the file")),
    }
}

/// Reads a pair of a name and attributes.
fn section(cursor: &mut Cursor<'_>, parsed: &mut Parsed) -> Result<(), SyntaxError> {
    expect(cursor, '[', PAIR_EXPECTED)?;
    cursor.skip_space();
    let start = cursor.offset();
    if cursor.peek() != Some('"') {
        return Err(expected(cursor.here(), "Expecting the name of a section", PAIR_EXPECTED));
    }
    let name = json::string(cursor)?;
    let span = inside_quotes(cursor.since(start));
    cursor.skip_space();
    expect(cursor, ',', PAIR_EXPECTED)?;
    cursor.skip_space();
    expect(cursor, '{', PAIR_EXPECTED)?;
    let mut section = SectionNode { name: camel_case(&name), span, attributes: Vec::new() };
    loop {
        cursor.skip_space();
        if cursor.eat('}') {
            break;
        }
        if section.attributes.len() >= MAX_ATTRIBUTES {
            return Err(SyntaxError::too_many(MAX_ATTRIBUTES, cursor.here()));
        }
        let attribute = attribute(cursor)?;
        if let Some(index) = section.attributes.iter().position(|other| other.name == attribute.name) {
            let text = format!("'{}' is given twice in this section; the last one counts", attribute.name);
            parsed.warnings.push(SyntaxWarning { span: attribute.key, text });
            section.attributes.remove(index);
        }
        section.attributes.push(attribute);
        cursor.skip_space();
        if !cursor.eat(',') && cursor.peek() != Some('}') {
            return Err(expected(cursor.here(), "Expecting ',' delimiter", "a comma or }"));
        }
    }
    cursor.skip_space();
    // A comma after the attributes does no harm.
    cursor.eat(',');
    cursor.skip_space();
    expect(cursor, ']', "] after the section's attributes")?;
    parsed.sections.push(section);
    Ok(())
}

fn attribute(cursor: &mut Cursor<'_>) -> Result<AttributeNode, SyntaxError> {
    let start = cursor.offset();
    if cursor.peek() != Some('"') {
        let text = "Expecting property name enclosed in double quotes";
        return Err(expected(cursor.here(), text, "\"attribute\": value"));
    }
    let name = json::string(cursor)?;
    let key = inside_quotes(cursor.since(start));
    cursor.skip_space();
    expect(cursor, ':', "a colon after the attribute's name")?;
    cursor.skip_space();
    let start = cursor.offset();
    let value = json::value(cursor, 0)?;
    Ok(AttributeNode { name: camel_case(&name), key, value, value_span: cursor.since(start) })
}

fn inside_quotes(span: Span) -> Span {
    Span { start: span.start + 1, end: span.end.saturating_sub(1).max(span.start + 1) }
}

fn expect(cursor: &mut Cursor<'_>, wanted: char, what: &'static str) -> Result<(), SyntaxError> {
    if cursor.eat(wanted) {
        return Ok(());
    }
    Err(expected(cursor.here(), &format!("Expecting '{wanted}'"), what))
}

fn expected(span: Span, text: &str, expected: &'static str) -> SyntaxError {
    let hint = format!("write {expected}");
    SyntaxError { expected: Some(expected), json: true, ..SyntaxError::new(span, text, hint) }
}
