//! How a command ends that did not do what it was asked to.

use std::fmt;

use crate::bench::BenchError;
use crate::client::ClientError;

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub enum Failure {
    /// In words; exit status 1.
    Told(String),
    /// The output was not taken.
    Output(std::io::Error),
}

impl Failure {
    /// The exit status.
    pub fn status(&self) -> u8 {
        1
    }
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
