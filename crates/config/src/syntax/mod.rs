//! The form of a configuration file: which sections there are, with which attributes. What they mean is not known here.

mod cursor;
mod json;
mod json_form;
mod line_form;
mod values;

use crate::report::MAX_TOLD;
use crate::source::{Source, Span};
use amqp::Value;

/// A section as it was written.
#[derive(Debug)]
pub(crate) struct SectionNode {
    /// Its name, in camel case.
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) attributes: Vec<AttributeNode>,
}

/// An attribute as it was written.
#[derive(Debug)]
pub(crate) struct AttributeNode {
    /// Its name, in camel case.
    pub(crate) name: String,
    pub(crate) key: Span,
    pub(crate) value: Value,
    pub(crate) value_span: Span,
}

/// A mistake in the form of a file.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) span: Span,
    /// What is wrong.
    pub(crate) text: String,
    /// What was expected there.
    pub(crate) expected: Option<&'static str>,
    /// What to write instead.
    pub(crate) hint: String,
    /// It was found in JSON, where the old router adds the place to the text.
    pub(crate) json: bool,
}

impl Parsed {
    /// Whether so much is wrong that it is no use to go on.
    fn is_hopeless(&self) -> bool {
        self.errors.len() > MAX_TOLD
    }
}

impl SyntaxError {
    fn new(span: Span, text: impl Into<String>, hint: impl Into<String>) -> Self {
        SyntaxError { span, text: text.into(), expected: None, hint: hint.into(), json: false }
    }

    /// A section or map has no end.
    fn too_many(limit: usize, span: Span) -> Self {
        SyntaxError::new(span, format!("There are {limit} entries before this one"), "write fewer")
    }
}

/// Something that works but looks unintended.
#[derive(Debug)]
pub(crate) struct SyntaxWarning {
    pub(crate) span: Span,
    pub(crate) text: String,
}

/// The most attributes that a section may have. It is far beyond what makes sense, and keeps the work for a strange file
/// in bounds.
const MAX_ATTRIBUTES: usize = 1_000;

/// The most entries that a map may have, for the same reason.
const MAX_ENTRIES: usize = 10_000;

/// What was found in a file. Reading goes on after a mistake, so that all are found in one go.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) sections: Vec<SectionNode>,
    pub(crate) errors: Vec<SyntaxError>,
    pub(crate) warnings: Vec<SyntaxWarning>,
}

/// Reads a file in the form that its name asks for.
pub(crate) fn parse(source: &Source) -> Parsed {
    if source.is_json() { json_form::parse(source) } else { line_form::parse(source) }
}

/// A name without its separators (blank, `_`, `-`, `.`), the letter after each raised: `ssl-profile` is `sslProfile`.
fn camel_case(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    let mut raise = false;
    for character in name.chars() {
        if matches!(character, ' ' | '_' | '-' | '.') {
            raise = !result.is_empty();
        } else if raise {
            result.extend(character.to_uppercase());
            raise = false;
        } else {
            result.push(character);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_removed_and_the_next_letter_is_raised() {
        assert_eq!(camel_case("ssl-profile"), "sslProfile");
        assert_eq!(camel_case("link_route"), "linkRoute");
        assert_eq!(camel_case("helloIntervalSeconds"), "helloIntervalSeconds");
    }
}
