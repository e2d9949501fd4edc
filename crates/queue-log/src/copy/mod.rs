//! Copies of a store: a backup of one that is open, and a store made from a backup.

mod backup;
mod files;
mod restore;

pub use restore::restore;

use crate::inspect::Missing;

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// The entry up to which the snapshot goes.
    pub checkpoint: u64,
    /// The last entry.
    pub last: u64,
    /// Files.
    pub files: usize,
    /// Bytes written.
    pub bytes: u64,
    /// Large messages that are not in the copy, as their files were not there any more. Everything else is.
    pub missing: Vec<Missing>,
}
