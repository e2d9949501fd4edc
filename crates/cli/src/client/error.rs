//! What can go wrong between this program and a router.

use amqp::ErrorCondition;
use management::client::Refusal;
use management::repr::repr;

use super::Url;

/// What went wrong. The text of each is the old tools' text, after the class name that [`ClientError::class`] gives.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The connection could not be made, or was lost, or the peer closed it.
    #[error("Connection {url} disconnected: {}", condition(.error))]
    Disconnected {
        /// Where to.
        url: Box<Url>,
        /// Why.
        error: Box<ErrorCondition>,
    },
    /// The peer did not do something in time.
    #[error("Connection {url} timed out: {waiting_for}")]
    Timeout {
        /// Where to.
        url: Box<Url>,
        /// What it should have done.
        waiting_for: String,
    },
    /// The peer refused or ended a link.
    #[error("{role} {name} {} {address} closed due to: {}", if *.role == "sender" { "to" } else { "from" }, condition(.error))]
    LinkDetached {
        /// `sender` or `receiver`.
        role: &'static str,
        /// The link's name.
        name: String,
        /// The address it was for.
        address: String,
        /// Why.
        error: Box<ErrorCondition>,
    },
    /// The management node refused a request.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The host's name is not known.
    #[error("[Errno {code}] {text}")]
    UnknownHost {
        /// The code of the name service.
        code: i32,
        /// Its words.
        text: String,
        /// The host.
        host: String,
    },
    /// A value given by the user or the peer makes no sense.
    #[error("{0}")]
    Value(String),
    /// The schema does not know what the user named.
    #[error("{0}")]
    Invalid(String),
    /// Text that should be JSON is not.
    #[error("{0}")]
    Json(serde_json::Error),
    /// A file named by the user cannot be read.
    #[error("[Errno {}] {}: {}", .error.raw_os_error().unwrap_or(0), os_text(.error), repr(&.path.as_str().into()))]
    File {
        /// Its path.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// A file that TLS needs cannot be used.
    #[error("{0}")]
    Tls(String),
}

impl ClientError {
    /// The class name under which the old tools report it.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Disconnected { .. } => "ConnectionException",
            Self::Timeout { .. } => "Timeout",
            Self::LinkDetached { .. } => "LinkDetached",
            Self::Refused(refusal) => refusal.class.name(),
            Self::UnknownHost { .. } => "gaierror",
            Self::Value(_) => "ValueError",
            Self::Invalid(_) => "ValidationError",
            Self::Json(_) => "JSONDecodeError",
            Self::File { error, .. } => match error.kind() {
                std::io::ErrorKind::NotFound => "FileNotFoundError",
                std::io::ErrorKind::PermissionDenied => "PermissionError",
                std::io::ErrorKind::IsADirectory => "IsADirectoryError",
                _ => "OSError",
            },
            Self::Tls(_) => "SSLException",
        }
    }

    /// The error in plain words, with what can be done about it: for `waystation`'s own commands.
    pub fn advice(&self) -> String {
        match self {
            Self::Disconnected { url, error } if error.condition.as_str() == super::connection::NO_TRANSPORT => {
                let reason = error.description.as_deref().unwrap_or("no reason given");
                format!(
                    "cannot connect to {url}: {reason}\n  Is a router running and listening there? `--url` says where to connect."
                )
            }
            Self::Disconnected { url, error }
                if error.condition.as_str() == amqp::condition::names::UNAUTHORIZED_ACCESS =>
            {
                format!(
                    "{url} did not let us in: {error}\n  Give a user and password (`--user`, `--password-file`), or `--sasl-mechanisms`, that the router's listener accepts."
                )
            }
            Self::Disconnected { url, error } => format!("lost the connection to {url}: {error}"),
            Self::Timeout { url, waiting_for } if waiting_for.starts_with(super::link::NO_CREDIT) => format!(
                "{url} gave no credit to send\n  A router gives none while nobody receives from the address, or while its queue, or the disk of that, is full: start a receiver, see `waystation queue list` and `waystation manage query --type store`, or wait longer with `--timeout`."
            ),
            Self::Timeout { url, waiting_for } => {
                format!("{url} did not answer in time ({waiting_for})\n  `--timeout` says how many seconds to wait.")
            }
            Self::LinkDetached { role, address, error, .. } => {
                format!("the peer refused or ended the {role} link for address '{address}': {error}")
            }
            Self::Refused(refusal) => format!("the management node refused: {refusal}"),
            Self::UnknownHost { host, text, .. } => format!("unknown host '{host}': {text}"),
            Self::File { path, error } => format!("cannot read '{path}': {}", os_text(error)),
            Self::Value(_) | Self::Invalid(_) | Self::Json(_) | Self::Tls(_) => self.to_string(),
        }
    }
}

/// A condition as the old tools show it.
fn condition(error: &ErrorCondition) -> String {
    let name = repr(&error.condition.as_str().into());
    match &error.description {
        Some(text) => format!("Condition({name}, {})", repr(&text.as_str().into())),
        None => format!("Condition({name})"),
    }
}

/// The system's words for an error, without the number that Rust adds.
fn os_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> Box<Url> {
        Box::new(Url::parse("127.0.0.1:1").expect("valid"))
    }

    #[test]
    fn a_lost_connection_reads_as_scripts_expect_it() {
        let error = Box::new(ErrorCondition::new("proton.pythonio", "Connection refused to all addresses"));
        let error = ClientError::Disconnected { url: url(), error };
        assert_eq!(
            format!("{}: {error}", error.class()),
            "ConnectionException: Connection amqp://127.0.0.1:1 disconnected: \
             Condition('proton.pythonio', 'Connection refused to all addresses')"
        );
    }

    #[test]
    fn a_missing_file_reads_as_scripts_expect_it() {
        let error = ClientError::File { path: "/nosuch".to_owned(), error: std::io::Error::from_raw_os_error(2) };
        let text = format!("{}: {error}", error.class());
        assert_eq!(text, "FileNotFoundError: [Errno 2] No such file or directory: '/nosuch'");
    }

    #[test]
    fn a_refused_link_names_link_and_address() {
        let error = Box::new(ErrorCondition::new("amqp:not-found", "Node not found"));
        let error =
            ClientError::LinkDetached { role: "sender", name: "id-un".to_owned(), address: "un".to_owned(), error };
        assert_eq!(
            error.to_string(),
            "sender id-un to un closed due to: Condition('amqp:not-found', 'Node not found')"
        );
    }
}
