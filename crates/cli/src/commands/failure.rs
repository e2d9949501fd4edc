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
    /// The output was not taken.
    Output(std::io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told(text) => f.write_str(text),
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
