//! Collecting what is wrong with a file, with the line it is in.

use crate::problem::{Problem, Warning};
use crate::source::{Source, Span};
use crate::syntax::{Parsed, SyntaxError};
use management::schema::{Class, Invalid};

/// The mistakes and warnings found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Warning>,
}

impl Report {
    /// Takes over what is wrong with the form of a file.
    pub(crate) fn syntax(&mut self, source: &Source, parsed: &mut Parsed) {
        for error in parsed.errors.drain(..) {
            self.problems.push(syntax_problem(source, error));
        }
        for warning in parsed.warnings.drain(..) {
            self.warn(source, warning.span, warning.text);
        }
    }

    /// Notes a mistake in the attributes of an entity.
    pub(crate) fn invalid(&mut self, source: &Source, span: Span, invalid: Invalid, expected: Option<String>) {
        let Invalid { class, text, hint, late, .. } = invalid;
        self.problems.push(Problem { class, expected, hint, late, ..problem(source, span, text) });
    }

    /// Notes something the operator should know.
    pub(crate) fn warn(&mut self, source: &Source, span: Span, text: impl Into<String>) {
        self.warnings.push(Warning { place: Some(source.place(span.start)), text: text.into() });
    }
}

fn problem(source: &Source, span: Span, text: String) -> Problem {
    let place = source.place(span.start);
    let line = source.line(place.line).to_owned();
    let room = line.chars().count().saturating_sub(usize::try_from(place.column).unwrap_or(0)) + 1;
    let width = source.text().get(span.start..span.end).map_or(1, |text| text.chars().count());
    Problem {
        line,
        width: width.clamp(1, room.max(1)),
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
