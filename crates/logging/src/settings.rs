//! What a `log` section says.

use crate::level::{LevelMask, UnknownLevel};
use crate::sink::OpenFailed;
use std::fmt;

/// The attributes of one `log` section or entity; what is `None` is inherited from `DEFAULT`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Settings {
    /// Levels, as [`LevelMask::parse`] reads them.
    pub enable: Option<String>,
    /// Whether lines begin with the time.
    pub include_timestamp: Option<bool>,
    /// Whether lines end with the place in the source.
    pub include_source: Option<bool>,
    /// `stderr`, `stdout`, `syslog`, or a path to append to.
    pub output_file: Option<String>,
}

impl Settings {
    /// The levels asked for; `None` to inherit them.
    ///
    /// # Errors
    /// An item of `enable` that is no level.
    pub fn mask(&self) -> Result<Option<LevelMask>, UnknownLevel> {
        self.enable.as_deref().map_or(Ok(None), LevelMask::parse)
    }
}

/// Why settings were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// `enable` holds something that is no level.
    Level(UnknownLevel),
    /// `outputFile` cannot be opened.
    Output(OpenFailed),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::Level(error) => error.fmt(f),
            SettingsError::Output(error) => error.fmt(f),
        }
    }
}
impl std::error::Error for SettingsError {}
impl From<UnknownLevel> for SettingsError {
    fn from(error: UnknownLevel) -> Self {
        SettingsError::Level(error)
    }
}
impl From<OpenFailed> for SettingsError {
    fn from(error: OpenFailed) -> Self {
        SettingsError::Output(error)
    }
}
