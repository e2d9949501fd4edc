//! Collecting what is wrong with a file, with the line it is in.

use crate::problem::{Problem, Warning};
use crate::source::{Source, Span};
use crate::syntax::{Parsed, SyntaxError};
use management::schema::{Class, Invalid};

/// The most mistakes, and the most warnings, that are told about. Nobody wants more, and a strange file must not fill the
/// memory with them.
pub(crate) const MAX_TOLD: usize = 100;

/// The longest part of a line that is shown, in characters.
const MAX_LINE: usize = 160;

/// The mistakes and warnings found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Warning>,
    /// There are more mistakes than that.
    pub(crate) more: bool,
}

impl Report {
    /// Takes over what is wrong with the form of a file.
    pub(crate) fn syntax(&mut self, source: &Source, parsed: &mut Parsed) {
        for error in parsed.errors.drain(..) {
            self.tell(|| syntax_problem(source, error));
        }
        for warning in parsed.warnings.drain(..) {
            self.warn(source, warning.span, warning.text);
        }
    }

    /// Notes a mistake in the attributes of an entity.
    pub(crate) fn invalid(&mut self, source: &Source, span: Span, invalid: Invalid, expected: Option<String>) {
        let Invalid { class, text, hint, late, .. } = invalid;
        self.tell(|| Problem { class, expected, hint, late, ..problem(source, span, text) });
    }

    fn tell(&mut self, problem: impl FnOnce() -> Problem) {
        if self.problems.len() < MAX_TOLD {
            self.problems.push(problem());
        } else {
            self.more = true;
        }
    }

    /// Notes something the operator should know.
    pub(crate) fn warn(&mut self, source: &Source, span: Span, text: impl Into<String>) {
        if self.warnings.len() >= MAX_TOLD {
            return;
        }
        self.warnings.push(Warning { place: Some(source.place(span.start)), text: text.into() });
    }
}

fn problem(source: &Source, span: Span, text: String) -> Problem {
    let place = source.place(span.start);
    let column = usize::try_from(place.column).unwrap_or(1).saturating_sub(1);
    let line = source.line(place.line);
    // Of a long line, the part around the mistake.
    let skipped = if line.len() > MAX_LINE { column.saturating_sub(MAX_LINE / 2) } else { 0 };
    let line: String = line.chars().skip(skipped).take(MAX_LINE).collect();
    let mark = column - skipped;
    let room = line.chars().count().saturating_sub(mark).max(1);
    let width = source.text().get(span.start..span.end).map_or(1, |text| text.chars().take(room).count());
    Problem {
        line,
        mark,
        width: width.max(1),
        place: Some(place),
        class: Class::Validation,
        text,
        expected: None,
        hint: None,
        late: false,
    }
}

fn syntax_problem(source: &Source, error: SyntaxError) -> Problem {
    let place = source.place(error.span.start);
    let text = if error.json {
        format!("{}: line {} column {} (char {})", error.text, place.line, place.column, error.span.start)
    } else {
        error.text
    };
    let class = if error.json { Class::Json } else { Class::General };
    let expected = error.expected.map(str::to_owned);
    Problem { class, expected, hint: Some(error.hint), ..problem(source, error.span, text) }
}
