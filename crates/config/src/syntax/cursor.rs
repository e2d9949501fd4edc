//! A place in the text that moves forward.

use crate::source::Span;

/// Reads a text character by character.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Cursor { text, offset: 0 }
    }

    /// How many bytes have been passed.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Goes back, or on, to an offset that was passed before.
    pub(super) fn jump(&mut self, offset: usize) {
        self.offset = offset.min(self.text.len());
    }

    /// What is still to come.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.offset += character.len_utf8();
        Some(character)
    }

    /// Passes a character if it is the next one.
    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.offset += wanted.len_utf8();
        }
        found
    }

    /// Passes all characters of a kind, and returns them.
    pub(super) fn eat_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.offset += length;
        &rest[..length]
    }

    /// Passes blanks, but no line end.
    pub(super) fn skip_blanks(&mut self) {
        self.eat_while(is_blank);
    }

    /// Passes blanks, line ends and comments.
    pub(super) fn skip_space(&mut self) {
        loop {
            self.eat_while(char::is_whitespace);
            if self.peek() != Some('#') {
                return;
            }
            self.skip_line();
        }
    }

    /// Passes the rest of the line, but not its end.
    pub(super) fn skip_line(&mut self) {
        self.eat_while(|c| c != '\n');
    }

    /// The rest of the line.
    pub(super) fn line(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find('\n').unwrap_or(rest.len())]
    }

    /// The stretch from an offset to here.
    pub(super) fn since(&self, start: usize) -> Span {
        Span { start, end: self.offset }
    }

    /// The stretch of the next character.
    pub(super) fn here(&self) -> Span {
        Span { start: self.offset, end: self.offset + self.peek().map_or(0, char::len_utf8) }
    }
}

/// A blank within a line.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\n'
}
