//! What keeps an `sslProfile` from being used.

use std::path::{Path, PathBuf};

/// Why a profile cannot be used. The text names the file or attribute and says what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {what} '{}': {reason}", path.display())]
    File {
        /// What it was for.
        what: FileKind,
        /// Its path.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A file was read and holds nothing of the kind that it should.
    #[error("{what} '{}' {reason}", path.display())]
    Content {
        /// What it was for.
        what: FileKind,
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The password of the key cannot be had.
    #[error("no password for the private key: {0}")]
    Password(String),
    /// A server needs a certificate and a key.
    #[error("certFile and privateKeyFile must be given: a server cannot speak TLS without a certificate")]
    NoCertificate,
    /// Certificate and key do not belong together.
    #[error("the key in '{}' is not the one of the certificate in '{}'", key.display(), certificate.display())]
    Mismatch {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
    /// Certificates of peers are asked for, and nobody is trusted to have issued them.
    #[error("caCertFile must be given: certificates of clients are asked for (saslMechanisms has EXTERNAL)")]
    NoAuthorities,
    /// No server is trusted.
    #[error("caCertFile must be given: the system has no certificates of trusted authorities either")]
    NobodyTrusted,
    /// The TLS library cannot work.
    #[error("{0}")]
    Library(String),
    /// Nothing is left of the cipher suites.
    #[error("{0}")]
    Ciphers(String),
    /// Nothing is left of the protocol versions.
    #[error("{0}")]
    Protocols(String),
}

/// What a file of a profile is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// `caCertFile`.
    Authorities,
    /// `certFile`.
    Certificate,
    /// `privateKeyFile`.
    Key,
    /// `uidNameMappingFile`.
    Names,
}

impl std::fmt::Display for FileKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Authorities => "caCertFile",
            Self::Certificate => "certFile",
            Self::Key => "privateKeyFile",
            Self::Names => "uidNameMappingFile",
        })
    }
}

/// The step of setting a connection up that fails; the old router's log has words of its own for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsStep {
    /// Whom to trust.
    Authorities,
    /// Who we are.
    Certificate,
    /// Cipher suites.
    Ciphers,
    /// Versions.
    Protocols,
}

impl TlsError {
    /// The step that fails.
    pub fn step(&self) -> TlsStep {
        match self {
            Self::File { what: FileKind::Authorities, .. }
            | Self::Content { what: FileKind::Authorities, .. }
            | Self::NoAuthorities
            | Self::NobodyTrusted => TlsStep::Authorities,
            Self::File { .. }
            | Self::Content { .. }
            | Self::Password(_)
            | Self::NoCertificate
            | Self::Mismatch { .. }
            | Self::Library(_) => TlsStep::Certificate,
            Self::Ciphers(_) => TlsStep::Ciphers,
            Self::Protocols(_) => TlsStep::Protocols,
        }
    }

    /// What the old router says of it for a connection that it makes: the beginning of the log line.
    pub fn words_of_connector(&self) -> &'static str {
        match self.step() {
            TlsStep::Authorities => "SSL CA configuration failed",
            TlsStep::Certificate => "SSL local certificate configuration failed",
            TlsStep::Ciphers => "SSL cipher configuration failed",
            TlsStep::Protocols => "Permitted TLS protocols configuration failed",
        }
    }

    /// What the old router says of it for a connection that it accepted.
    pub fn words_of_listener(&self) -> &'static str {
        match self {
            Self::NoAuthorities => "Cannot set peer authentication",
            _ => match self.step() {
                TlsStep::Authorities => "Cannot set trusted SSL CA",
                TlsStep::Certificate => "Cannot set SSL credentials",
                TlsStep::Ciphers => "Cannot set ciphers",
                TlsStep::Protocols => "Cannot set protocols",
            },
        }
    }
}

/// A file that says nothing usable.
pub(super) fn content(what: FileKind, path: &Path, reason: impl Into<String>) -> TlsError {
    TlsError::Content { what, path: path.to_owned(), reason: reason.into() }
}

/// Reads a file of a profile.
pub(super) fn read(what: FileKind, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| TlsError::File { what, path: path.to_owned(), reason: words(&error) })
}

/// The system's words, without the number that Rust adds.
pub(super) fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words).to_owned()
}
