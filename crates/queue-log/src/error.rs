//! What can go wrong, where, and what is to be done about it.

use std::io;
use std::path::PathBuf;

/// What a host says when it cannot use what it is given.
pub type HostError = Box<dyn std::error::Error + Send + Sync>;

/// Why a store cannot be opened, checked or copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process has the store open.
    #[error("{path}: the store is open in another process; stop that, or give this one another directory")]
    Locked {
        /// The store's directory.
        path: PathBuf,
    },
    /// Bytes that were on the disk are not what was written.
    #[error("{file}: corrupt at byte {offset}: {what}; {remedy}")]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// Where in it, in bytes.
        offset: u64,
        /// What was found.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A file that holds something is not there.
    #[error("{file}: missing: {what}; {remedy}")]
    Missing {
        /// The file.
        file: PathBuf,
        /// What it would hold.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Something else has the name of a file that holds something.
    #[error(
        "{path}: is no file but a directory, a link or the like; move it away, and put the file back that was there, or {RESTORE}"
    )]
    NoFile {
        /// What has the name.
        path: PathBuf,
    },
    /// Written by a version of this program that this one does not know.
    #[error(
        "{file}: has format version {found}, and this program knows {known}; open it with the program that wrote it"
    )]
    Version {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: u32,
        /// The version that is known here.
        known: u32,
    },
    /// The operating system refuses.
    #[error("{path}: cannot {action}: {source}")]
    Io {
        /// What was to be done.
        action: &'static str,
        /// To which file or directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The host cannot use what the store holds.
    #[error("entry {index}: {source}")]
    Host {
        /// The entry, or the entry up to which a snapshot goes.
        index: u64,
        /// The host's words.
        source: HostError,
    },
    /// A setting that cannot work.
    #[error("{0}")]
    Setting(String),
    /// A directory that should be empty is not.
    #[error("{path}: is not empty; give an empty directory, or one that does not exist")]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The log stopped.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// What is said of corruption that cannot be explained by a crash.
pub(crate) const RESTORE: &str =
    "restore the store from a backup, or see what is left of it with `waystation log dump` and start with an empty one";

/// Why the log does not take an entry, or a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// No room: what was refused can be tried again when [`Notice::Room`](crate::Notice::Room) was said.
    #[error("the disk is full: no room for another {needed} bytes in {path}; free space there, it goes on by itself")]
    Full {
        /// The store's directory.
        path: PathBuf,
        /// Bytes that have no room.
        needed: u64,
    },
    /// A write or sync failed. Nothing is accepted any more: what is on the disk is known again after a restart.
    #[error("{0}; nothing is written any more: see to the disk and restart")]
    Failed(String),
    /// An entry or part larger than a segment can hold.
    #[error("an entry of {size} bytes is larger than {limit}, the most that one may have")]
    TooLarge {
        /// Bytes that it would take.
        size: u64,
        /// Bytes that it may take.
        limit: u64,
    },
    /// A checkpoint is being written already.
    #[error("another checkpoint is still being written")]
    Busy,
    /// A checkpoint of entries that are not durable yet, or older than the one that stands.
    #[error("a checkpoint at entry {index} is not between {from} and {to}")]
    OutOfRange {
        /// What was asked for.
        index: u64,
        /// The checkpoint that stands.
        from: u64,
        /// The newest durable entry.
        to: u64,
    },
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
}

/// Why bytes cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No such entry or part: never written, or released and its space used again.
    #[error("entry {index} is not there: it was released, or never written")]
    NotThere {
        /// The entry.
        index: u64,
    },
    /// The entry is on its way to the disk.
    #[error("entry {index} is not written yet")]
    NotYet {
        /// The entry.
        index: u64,
    },
    /// What is on the disk is not what was written. It is not handed out.
    #[error("{file}: entry {index} is corrupt at byte {offset}; {RESTORE}")]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// Where in it, in bytes.
        offset: u64,
        /// The entry.
        index: u64,
    },
    /// No large message with this id.
    #[error("there is no large message {id}")]
    NoMessage {
        /// Its id.
        id: u64,
    },
    /// The file of a large message is not what was written. Nothing of the damaged block is handed out.
    #[error("{file}: corrupt at byte {offset}; {RESTORE}")]
    CorruptMessage {
        /// The file.
        file: PathBuf,
        /// Where in it, in bytes.
        offset: u64,
    },
    /// The end of a large message is not there: it was never finished, or its file was cut.
    #[error("{file}: was not finished, or its end is lost; {RESTORE}")]
    Unfinished {
        /// The file.
        file: PathBuf,
    },
    /// The operating system refuses.
    #[error("{file}: cannot read: {source}")]
    Io {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Puts the place to an error of the operating system.
pub(crate) trait Place<T> {
    fn place(self, action: &'static str, path: &std::path::Path) -> Result<T, OpenError>;
}

impl<T> Place<T> for io::Result<T> {
    fn place(self, action: &'static str, path: &std::path::Path) -> Result<T, OpenError> {
        self.map_err(|source| OpenError::Io { action, path: path.to_owned(), source })
    }
}
