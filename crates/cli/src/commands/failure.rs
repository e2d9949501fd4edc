//! How a command ends that did not do what it was asked to.

use std::fmt;

use crate::bench::BenchError;
use crate::client::ClientError;
use crate::old_tools::Ended;
use crate::python::argparse::Stop;

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub enum Failure {
    /// In words; exit status 1.
    Told(String),
    /// A question could not be asked at all, for this reason; exit status 2, so that it is not taken for the answer "no".
    Unanswered(String),
    /// The output was not taken.
    Output(std::io::Error),
}

impl Failure {
    /// The exit status.
    pub fn code(&self) -> u8 {
        match self {
            Self::Told(_) | Self::Output(_) => 1,
            Self::Unanswered(_) => 2,
        }
    }

    /// The same, of a question that could not be asked.
    #[must_use]
    pub fn unanswered(self) -> Self {
        match self {
            Self::Told(text) => Self::Unanswered(text),
            other => other,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told(text) | Self::Unanswered(text) => f.write_str(text),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Told(error.advice())
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self::Told(error.advice())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Failed(error) => error.into(),
            Ended::Output(error) => error.into(),
            Ended::Stop(Stop::Answer(text) | Stop::Usage(text)) => Self::Told(text.trim_end().to_owned()),
        }
    }
}
