//! What can go wrong.

use std::ffi::c_int;

/// Why the library cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It is not there.
    #[error(
        "Cyrus SASL cannot be loaded ({0}): install it (Debian and Ubuntu: libsasl2-2 and libsasl2-modules; Fedora and \
         Red Hat: cyrus-sasl-lib)"
    )]
    Missing(String),
    /// It lacks a function.
    #[error("Cyrus SASL cannot be used: it has no function '{0}'; a version from 2.1.24 on is needed")]
    Incomplete(&'static str),
    /// It does not start.
    #[error("Cyrus SASL does not start: {0}")]
    Start(String),
}

/// Why an exchange failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// The library's code, as `sasl.h` names it.
    pub code: i32,
    /// The library's words. They may tell what a peer must not hear, such as whether there is a user of that name.
    pub text: String,
}

const FAIL: c_int = -1;
const NO_MEMORY: c_int = -2;
const NO_MECHANISM: c_int = -4;
const TRY_AGAIN: c_int = -8;
const UNAVAILABLE: c_int = -24;

impl Failure {
    /// It is no fault of the peer's: the data base of users, or a service, cannot be asked now.
    pub fn is_temporary(&self) -> bool {
        matches!(self.code, FAIL | NO_MEMORY | TRY_AGAIN | UNAVAILABLE)
    }

    /// None of the mechanisms can be used.
    pub fn is_no_mechanism(&self) -> bool {
        self.code == NO_MECHANISM
    }
}
