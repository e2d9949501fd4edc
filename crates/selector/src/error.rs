//! What is wrong with a selector.

/// A text is no selector. Reads as a sentence: where, what was expected, what was found, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("selector, at character {}: expected {expected}, found {found}; {remedy}", .character + 1)]
pub struct ParseError {
    /// Bytes from the start of the text to the place.
    pub offset: usize,
    /// Characters from the start of the text to the place.
    pub character: usize,
    /// What could have stood there.
    pub expected: String,
    /// What stands there.
    pub found: String,
    /// What to write instead.
    pub remedy: String,
}

/// What was expected and what to do; the parser adds the place and what it found.
#[derive(Debug)]
pub(crate) struct Complaint {
    pub(crate) offset: usize,
    pub(crate) found: Option<String>,
    pub(crate) expected: String,
    pub(crate) remedy: String,
}

impl Complaint {
    pub(crate) fn new(offset: usize, expected: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { offset, found: None, expected: expected.into(), remedy: remedy.into() }
    }

    pub(crate) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    /// With the place in the text.
    pub(crate) fn at(self, text: &str) -> ParseError {
        let before = text.get(..self.offset).unwrap_or(text);
        let found = self.found.unwrap_or_else(|| excerpt(text.get(self.offset..).unwrap_or_default()));
        ParseError {
            offset: self.offset,
            character: before.chars().count(),
            expected: self.expected,
            found,
            remedy: self.remedy,
        }
    }
}

/// The beginning of what stands at the place, as much as helps to find it.
fn excerpt(rest: &str) -> String {
    const LONGEST: usize = 20;
    let rest = rest.trim_end();
    if rest.is_empty() {
        return "the end".to_owned();
    }
    let shown: String = rest.chars().take(LONGEST).map(|char| if char.is_control() { ' ' } else { char }).collect();
    if rest.chars().nth(LONGEST).is_some() { format!("`{shown}…`") } else { format!("`{shown}`") }
}
