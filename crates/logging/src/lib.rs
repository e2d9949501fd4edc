//! What happened, and who wants to read it? Log modules and levels, where their lines go, and the latest of them kept
//! for management.
//!
//! Modules, levels, line format and the way they are configured are those of the old router (its log section and `log`
//! entity), so that what parses its logs parses ours. A line that nobody wants costs one relaxed atomic load.
//!
//! This crate deliberately does not know what its lines mean, nor where configuration comes from.
//!
//! ```
//! use logging::{Level, Module};
//! logging::log!(ROUTER_CORE, Info, "[C{}] Connection Closed", 7);
//! if logging::enabled(Module::Message, Level::Trace) {
//!     // prepare what is dear to prepare
//! }
//! ```
#![deny(unsafe_code)]

mod entry;
mod escape;
mod level;
mod logger;
mod macros;
mod module;
mod ring;
mod settings;
mod sink;
mod timestamp;

pub use entry::{Entry, Origin};
pub use escape::escaped;
pub use level::{Level, LevelMask, UnknownLevel};
pub use logger::{Counts, Logger};
pub use module::Module;
pub use settings::{Settings, SettingsError};
pub use sink::OpenFailed;
pub use timestamp::{TimestampStyle, time_text};

use std::fmt;

/// The text of one entry is cut to this many bytes, the old router's limit.
pub const TEXT_MAX: usize = 2047;

/// How many entries [`recent`] can look back.
pub const RING_SIZE: usize = 1000;

static LOGGER: Logger = Logger::new();

/// The logger of this process, to which the functions and macros of this crate write.
pub fn logger() -> &'static Logger {
    &LOGGER
}

/// Whether lines of this module and level are wanted. One relaxed load.
#[inline]
pub fn enabled(module: Module, level: Level) -> bool {
    LOGGER.enabled(module, level)
}

/// Whether [`log!`] has to do more than nothing: the line is wanted, or is counted although unwanted.
#[doc(hidden)]
#[inline]
pub fn raised(module: Module, level: Level) -> bool {
    LOGGER.raised(module, level)
}

/// Writes a line if its module and level are enabled, and counts it. Use [`log!`], which asks first.
pub fn write(module: Module, level: Level, origin: Option<Origin>, text: fmt::Arguments<'_>) {
    LOGGER.write(module, level, origin, text);
}

/// Writes a line whether or not its module and level are enabled: for the protocol trace of a single connection.
pub fn force(module: Module, level: Level, origin: Option<Origin>, text: fmt::Arguments<'_>) {
    LOGGER.force(module, level, origin, text);
}

/// Changes what a module logs and where to. On an error nothing has changed.
///
/// # Errors
/// A level that does not exist, or a file that cannot be opened; the text is the old router's.
pub fn configure(module: Module, settings: Settings) -> Result<(), SettingsError> {
    LOGGER.configure(module, settings)
}

/// What [`configure`] was last given for a module.
pub fn settings(module: Module) -> Settings {
    LOGGER.settings(module)
}

/// Opens all log files anew, because they were moved away. What cannot be opened stays as it was.
pub fn reopen() -> Vec<OpenFailed> {
    logger().reopen()
}

/// Sets how lines begin: the router section's `timestampFormat` and `timestampsInUTC`.
pub fn set_timestamp_style(style: TimestampStyle) {
    LOGGER.set_timestamp_style(style);
}

/// The newest entries, oldest first; at most `limit` if that is given.
pub fn recent(limit: Option<usize>) -> Vec<Entry> {
    LOGGER.recent(limit)
}

/// How many lines a module raised at each level.
pub fn counts(module: Module) -> Counts {
    LOGGER.counts(module)
}
