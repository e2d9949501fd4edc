//! Why a router did not start.

use std::fmt;
use std::io;

/// What kept the router from starting. Displays as the old router's start-up message: kind, colon, text.
#[derive(Debug)]
pub(crate) enum StartFailure {
    /// The configuration is wrong.
    Config(Box<config::Errors>),
    /// A setting is well formed and cannot be put to work.
    Setting(String),
    /// The store, or a queue in it, cannot be as the configuration asks. The old router knows none, and no script waits for
    /// its words.
    Store(String),
    /// The system refused something: what the router wanted to do, and why it cannot.
    System(&'static str, io::Error),
}

impl fmt::Display for StartFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartFailure::Config(errors) => f.write_str(&errors.start_up_message()),
            StartFailure::Setting(text) => write!(f, "Python: CError: Configuration: {text}"),
            StartFailure::Store(text) => f.write_str(text),
            StartFailure::System(what, error) => write!(f, "System: cannot {what}: {error}"),
        }
    }
}

impl StartFailure {
    /// What there is to say to a person beside the message: places in the file, what was expected, what to write.
    pub(crate) fn report(&self) -> Option<String> {
        match self {
            StartFailure::Config(errors) if !errors.problems.is_empty() => Some(errors.to_string()),
            _ => None,
        }
    }

    /// Logs what there is to say beside the message.
    pub(crate) fn log_details(&self) {
        if let StartFailure::Config(errors) = self {
            for warning in &errors.warnings {
                logging::log!(AGENT, Warning, "{warning}");
            }
            for line in errors.classified_lines() {
                logging::log!(ERROR, Error, "{line}");
            }
        }
    }
}
