//! The text of a configuration file, and where in it something stands.

use crate::place::Place;
use std::sync::Arc;

/// A configuration file that has been read.
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<str>,
    text: String,
    /// Where each line begins, in bytes.
    lines: Vec<usize>,
}

/// A stretch of a source's text, in bytes. Both ends lie between characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Source {
    /// A file of this name with this text. The name decides about the form: one that ends in `.json` holds JSON.
    pub fn new(name: &str, text: impl Into<String>) -> Self {
        let text = text.into();
        let after_line_ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(index, _)| index + 1);
        let lines = std::iter::once(0).chain(after_line_ends).collect();
        Source { name: name.into(), text, lines }
    }

    /// The file's name as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether its name asks for the JSON form.
    pub(crate) fn is_json(&self) -> bool {
        self.name.ends_with(".json")
    }

    /// The place of a byte of the text.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let index = self.lines.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = self.text.get(self.lines[index]..offset).unwrap_or("");
        Place { file: self.name.clone(), line: count(index), column: count(before.chars().count()) }
    }

    /// The text of a line, counted from 1, without its end.
    pub(crate) fn line(&self, line: u32) -> &str {
        let index = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(start) = self.lines.get(index) else { return "" };
        let end = self.lines.get(index + 1).map_or(self.text.len(), |next| next - 1);
        self.text.get(*start..end).unwrap_or("").trim_end_matches('\r')
    }
}

/// A count from 1, of something that is counted from 0.
fn count(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let source = Source::new("f", "a\nüx");
        let place = source.place("a\nü".len());
        assert_eq!((place.line, place.column), (2, 2));
    }

    #[test]
    fn the_end_of_the_text_has_a_place() {
        let source = Source::new("f", "a\n");
        assert_eq!(source.place(99).to_string(), "f:2:1");
    }

    #[test]
    fn a_line_is_given_without_its_end() {
        let source = Source::new("f", "one\r\ntwo");
        assert_eq!((source.line(1), source.line(2), source.line(3)), ("one", "two", ""));
    }
}
