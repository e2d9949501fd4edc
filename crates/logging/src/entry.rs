//! One event in the log.

use crate::{Level, Module};
use std::time::Duration;

/// Where in the source a line was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The source file, relative to the project.
    pub file: &'static str,
    /// Its line, from one.
    pub line: u32,
}

/// An event that was enabled, as management reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The module that raised it.
    pub module: Module,
    /// Its importance.
    pub level: Level,
    /// The text, at most [`TEXT_MAX`](crate::TEXT_MAX) bytes.
    pub text: String,
    /// Where it was raised, if known.
    pub origin: Option<Origin>,
    /// When, since the Unix epoch.
    pub time: Duration,
}
