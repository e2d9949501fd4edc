//! What can be wrong with a base of users.

use std::io;
use std::path::PathBuf;

/// Why users cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum UsersError {
    /// The file cannot be read.
    #[error("the file of users '{}' cannot be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// The file cannot be written.
    #[error("the file of users '{}' cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// A line is not one that `waystation user` writes.
    #[error("{}:{line}: {why}: remove the line, or set the user anew with `waystation user add`", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A name cannot be used.
    #[error("'{name}' cannot be a user's name: {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A password cannot be used.
    #[error("the password cannot be used: {0}")]
    Password(&'static str),
    /// There is one of that name already.
    #[error("there is a user '{0}' already")]
    Exists(String),
    /// There is no such user.
    #[error("there is no user '{0}'")]
    Unknown(String),
    /// There are too many.
    #[error("there are {0} users already")]
    TooMany(usize),
    /// The system lacks something.
    #[error("{0}")]
    System(String),
}
