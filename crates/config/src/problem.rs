//! What is wrong with a configuration, told in two ways: at length to people, and in the old router's words to scripts.

use crate::place::Place;
use management::schema::Class;
use std::fmt;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where; `None` if it is not in a file.
    pub place: Option<Place>,
    /// The line of the file in which it is; of a long line, a part around it.
    pub line: String,
    /// How many characters of `line` stand before what is concerned.
    pub mark: usize,
    /// How many characters of `line` are concerned.
    pub width: usize,
    /// What kind of mistake.
    pub class: Class,
    /// What is wrong, in the words of the old router where it has any.
    pub text: String,
    /// What was expected at that place.
    pub expected: Option<String>,
    /// What to write instead.
    pub hint: Option<String>,
    /// Whether the old router only finds it when it puts the entity to work.
    pub late: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => writeln!(f, "{place}: {}", self.text)?,
            None => writeln!(f, "{}", self.text)?,
        }
        if let Some(place) = &self.place {
            let number = place.line.to_string();
            // Tabs stay tabs, so that the marks stand below what they mark.
            let before: String =
                self.line.chars().take(self.mark).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            writeln!(f, " {number} | {}", self.line)?;
            writeln!(f, " {:width$} | {before}{}", "", "^".repeat(self.width.max(1)), width = number.len())?;
        }
        if let Some(expected) = &self.expected {
            writeln!(f, "  expected: {expected}")?;
        }
        if let Some(hint) = &self.hint {
            writeln!(f, "  remedy: {hint}")?;
        }
        Ok(())
    }
}

/// Something that does not prevent the router from running, but that its operator should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where; `None` if it is not in a file.
    pub place: Option<Place>,
    /// What it is; for former names in the words of the old router.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// Why there is no configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The file cannot be opened or read; the operating system's reason.
    Unreadable(String),
    /// The file has no content.
    Empty,
    /// There are mistakes in it.
    Invalid,
}

/// All that is wrong with a configuration. Displayed, it is a report for people: each mistake with its line, what was
/// expected and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    /// The file's name as it was given.
    pub file: String,
    /// Why there is no configuration.
    pub cause: Cause,
    /// The mistakes, in the order of the file; empty unless the cause is [`Cause::Invalid`].
    pub problems: Vec<Problem>,
    /// There are more mistakes than are told.
    pub more: bool,
    /// What should be warned about besides.
    pub warnings: Vec<Warning>,
}

impl Errors {
    /// The first mistake as the old router reports the end of its start: `Python: Exception: Cannot load configuration
    /// file <file>: <reason>` and the like. It follows `Router start-up failed: ` in the log, and the program's name on
    /// the standard error output.
    pub fn start_up_message(&self) -> String {
        match (&self.cause, self.problems.first()) {
            (Cause::Unreadable(_), _) => "Not found: Configuration file could not be opened".to_owned(),
            (Cause::Empty, _) => "Configuration: Configuration file was empty".to_owned(),
            (Cause::Invalid, Some(first)) if first.late => format!("Python: {}: {}", first.class.name(), first.text),
            (Cause::Invalid, first) => {
                let reason = first.map_or("", |first| first.text.as_str());
                format!("Python: Exception: Cannot load configuration file {}: {reason}", self.file)
            }
        }
    }

    /// All mistakes with the name of their class before the text, for log module ERROR.
    pub fn classified_lines(&self) -> impl Iterator<Item = String> {
        self.problems.iter().map(|problem| format!("{}: {}", problem.class.name(), problem.text))
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Unreadable(reason) => writeln!(f, "{}: cannot be read: {reason}", self.file),
            Cause::Empty => writeln!(f, "{}: the file is empty; begin with router {{ mode: standalone }}", self.file),
            Cause::Invalid => {
                for problem in &self.problems {
                    write!(f, "{problem}")?;
                }
                match self.problems.len() {
                    count if self.more => writeln!(f, "{}: {count} errors, and more that are not shown", self.file),
                    1 => writeln!(f, "{}: 1 error", self.file),
                    count => writeln!(f, "{}: {count} errors", self.file),
                }
            }
        }
    }
}

impl std::error::Error for Errors {}
