//! The line-oriented form: `section {`, lines `attribute: value`, `}`.

use super::cursor::Cursor;
use super::values::{Shape, bad_escape, block, line, unescape, word};
use super::{AttributeNode, MAX_ATTRIBUTES, Parsed, SectionNode, SyntaxError, SyntaxWarning, camel_case, json};
use crate::report::MAX_TOLD;
use crate::source::{Source, Span};
use amqp::Value;
use management::schema::{self, AttributeType};

const SECTION_EXPECTED: &str = "a section, such as listener {";
const ATTRIBUTE_EXPECTED: &str = "attribute: value, or } at the end of the section";

/// Reads all sections of a file.
pub(super) fn parse(source: &Source) -> Parsed {
    let text = source.text();
    let mut cursor = Cursor::new(text);
    // A byte order mark is no text.
    cursor.eat('\u{feff}');
    let mut reader = Reader { cursor, parsed: Parsed::default() };
    while !reader.parsed.is_hopeless() && reader.section() {}
    reader.parsed
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    parsed: Parsed,
}

impl Reader<'_> {
    /// Reads one section; says whether there may be another.
    fn section(&mut self) -> bool {
        self.cursor.skip_space();
        let Some(next) = self.cursor.peek() else { return false };
        if next == '}' {
            let text = "Configuration file: invalid entity nesting detected.";
            self.error(self.cursor.here(), text, SECTION_EXPECTED, "remove this brace: no section is open here");
            self.cursor.next();
            return true;
        }
        let (name, span) = self.name();
        if name.is_empty() {
            let here = self.cursor.here();
            self.error(here, "A section cannot begin like this", SECTION_EXPECTED, "write the name of a section and {");
            self.skip_item();
            return true;
        }
        if self.opening(&name) {
            self.body(name, span);
        }
        true
    }

    /// Passes the brace that opens a section. Says whether the section's attributes come next, which is also taken for
    /// granted when just the brace is missing; otherwise passes the rest of the line.
    fn opening(&mut self, name: &str) -> bool {
        self.cursor.skip_blanks();
        let colon = self.cursor.here();
        let has_colon = self.cursor.eat(':');
        self.cursor.skip_space();
        if self.cursor.eat('{') {
            if has_colon {
                self.error(colon, "A colon stands before the section's brace", "a brace", &format!("write {name} {{"));
            }
            return true;
        }
        let in_section = !has_colon && self.cursor.peek().is_some_and(|c| c.is_ascii_alphanumeric());
        if has_colon {
            let hint = "put it between the braces of a section";
            self.error(colon, format!("Attribute '{name}' is not inside a section"), SECTION_EXPECTED, hint);
            self.cursor.jump(colon.end);
        } else {
            self.error(colon, format!("A brace is missing after '{name}'"), "a brace", &format!("write {name} {{"));
            if in_section && schema::entity_type_of_section(&camel_case(name)).is_some() {
                return true;
            }
            self.cursor.jump(colon.start);
        }
        self.cursor.skip_line();
        false
    }

    /// Reads attributes up to the brace that closes the section.
    fn body(&mut self, name: String, span: Span) {
        let mut section = SectionNode { name: camel_case(&name), span, attributes: Vec::new() };
        while !self.parsed.is_hopeless() {
            self.cursor.skip_space();
            if self.cursor.eat('}') {
                break;
            }
            let before = self.cursor.offset();
            let (key, key_span) = self.name();
            if key.is_empty() {
                if self.cursor.peek().is_none() {
                    let hint = "add } after the section's last line";
                    self.error(span, format!("Section '{name}' is not closed"), ATTRIBUTE_EXPECTED, hint);
                    break;
                }
                self.not_an_attribute();
                continue;
            }
            if self.begins_section(&section.name, &key) {
                let hint = format!("add }} before {key} {{");
                self.error(key_span, format!("Section '{name}' is not closed here"), ATTRIBUTE_EXPECTED, &hint);
                self.cursor.jump(before);
                break;
            }
            if let Some(attribute) = self.attribute(&section.name, &key, key_span) {
                self.add(&mut section, attribute);
            }
        }
        self.parsed.sections.push(section);
    }

    /// Passes what should be an attribute but does not begin like one.
    fn not_an_attribute(&mut self) {
        let here = self.cursor.here();
        let text = "An attribute cannot begin like this";
        self.error(here, text, ATTRIBUTE_EXPECTED, "write attribute: value, with a name of letters and digits");
        self.skip_item();
    }

    /// Passes a block if one comes next, else the rest of the line.
    fn skip_item(&mut self) {
        match self.cursor.peek() {
            Some('{' | '[') => json::skip_block(&mut self.cursor),
            _ => self.cursor.skip_line(),
        }
    }

    /// Whether a word within a section rather begins the next one: a brace follows, no colon, and it is no attribute that
    /// takes a block.
    fn begins_section(&self, section: &str, key: &str) -> bool {
        let mut ahead = self.cursor.clone();
        ahead.skip_space();
        ahead.peek() == Some('{') && matches!(shape_of(section, &camel_case(key)), Shape::Line | Shape::Word)
    }

    /// Reads the rest of an attribute.
    fn attribute(&mut self, section: &str, key: &str, key_span: Span) -> Option<AttributeNode> {
        self.cursor.skip_blanks();
        let here = self.cursor.here();
        if !self.cursor.eat(':') && self.cursor.peek() != Some('{') {
            let value = self.cursor.line().trim();
            let hint = if value.is_empty() { format!("write {key}: value") } else { format!("write {key}: {value}") };
            self.error(here, format!("A colon is missing after '{key}'"), "a colon", &hint);
            self.cursor.skip_line();
            return None;
        }
        let name = camel_case(key);
        let shape = shape_of(section, &name);
        let (value, value_span) = self.value(shape)?;
        Some(AttributeNode { name, key: key_span, value, value_span })
    }

    fn value(&mut self, shape: Shape) -> Option<(Value, Span)> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        if self.begins_block(shape) {
            self.cursor.skip_space();
            return self.structure(shape);
        }
        self.cursor.jump(start);
        let (text, span) = match shape {
            Shape::Word => {
                let (text, span, ignored) = word(&mut self.cursor);
                if !ignored.is_empty() {
                    self.warn(span, format!("'{ignored}' after the value '{text}' is ignored"));
                }
                (text, span)
            }
            _ => line(&mut self.cursor),
        };
        if text.len() > 1 && text.starts_with('"') && text.ends_with('"') {
            self.warn(span, format!("The quotes around {text} are part of the value"));
        }
        match unescape(&text) {
            Ok(text) => Some((Value::String(text), span)),
            Err(offset) => {
                let start = span.start + offset;
                self.parsed.errors.push(bad_escape(Span { start, end: start + 1 }));
                None
            }
        }
    }

    fn warn(&mut self, span: Span, text: String) {
        if self.parsed.warnings.len() < MAX_TOLD {
            self.parsed.warnings.push(SyntaxWarning { span, text });
        }
    }

    /// Whether a map or list comes next: one is expected and there is a bracket, maybe on another line; or the line is
    /// nothing but a brace. Where JSON is expected, what is no list in JSON is text.
    fn begins_block(&self, shape: Shape) -> bool {
        let mut ahead = self.cursor.clone();
        if matches!(shape, Shape::Line | Shape::Word) {
            return ahead.eat('{') && without_comment(ahead.line()).is_empty();
        }
        if without_comment(ahead.line()).is_empty() {
            ahead.skip_space();
        }
        match ahead.peek() {
            Some('{') => true,
            Some('[') => shape == Shape::Block || json::value(&mut ahead, 0).is_ok(),
            _ => false,
        }
    }

    /// Reads a map or list; after a mistake passes all of it.
    fn structure(&mut self, shape: Shape) -> Option<(Value, Span)> {
        let start = self.cursor.offset();
        let is_list = self.cursor.peek() == Some('[');
        let result = match shape {
            Shape::Json => json::value(&mut self.cursor, 0),
            _ if is_list => json::value(&mut self.cursor, 0),
            _ => block(&mut self.cursor, 0),
        };
        match result {
            Ok(value) => Some((value, self.cursor.since(start))),
            Err(error) => {
                self.parsed.errors.push(error);
                self.cursor.jump(start);
                json::skip_block(&mut self.cursor);
                None
            }
        }
    }

    fn add(&mut self, section: &mut SectionNode, attribute: AttributeNode) {
        if section.attributes.len() >= MAX_ATTRIBUTES {
            // Once is enough.
            if section.attributes.len() == MAX_ATTRIBUTES {
                self.parsed.errors.push(SyntaxError::too_many(MAX_ATTRIBUTES, attribute.key));
                section.attributes.push(attribute);
            }
            return;
        }
        if let Some(index) = section.attributes.iter().position(|other| other.name == attribute.name) {
            self.warn(
                attribute.key,
                format!("'{}' is given twice in this section; the last one counts", attribute.name),
            );
            section.attributes.remove(index);
        }
        section.attributes.push(attribute);
    }

    /// Reads a name, which may be empty.
    fn name(&mut self) -> (String, Span) {
        let start = self.cursor.offset();
        let begins = self.cursor.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let name = self.cursor.eat_while(|c| begins && (c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')));
        (name.to_owned(), self.cursor.since(start))
    }

    fn error(&mut self, span: Span, text: impl Into<String>, expected: &'static str, hint: &str) {
        let error = SyntaxError { expected: Some(expected), ..SyntaxError::new(span, text, hint) };
        self.parsed.errors.push(error);
    }
}

/// What follows on a line, without a comment and blanks.
fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('#') { "" } else { line }
}

/// What kind of value an attribute takes.
fn shape_of(section: &str, name: &str) -> Shape {
    if matches!(name, "pattern" | "bindingKey" | "hostname") {
        return Shape::Word;
    }
    let attribute = schema::entity_type_of_section(section)
        .and_then(|ty| ty.attribute(name).or_else(|| ty.attribute_formerly(name)));
    match attribute.map(|attribute| attribute.kind) {
        Some(AttributeType::Properties) => Shape::Json,
        Some(AttributeType::Map | AttributeType::List) => Shape::Block,
        _ => Shape::Line,
    }
}
