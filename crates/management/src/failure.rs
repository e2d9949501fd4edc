//! Status codes of management replies, and the reasons for refusing a request.

/// Status codes of management replies (the numbers of HTTP, as AMQP management uses them).
pub mod status {
    /// Done; the answer is in the body.
    pub const OK: u16 = 200;
    /// An entity was created.
    pub const CREATED: u16 = 201;
    /// An entity was deleted.
    pub const NO_CONTENT: u16 = 204;
    /// The request itself is wrong.
    pub const BAD_REQUEST: u16 = 400;
    /// The requester may not do this, or nobody may.
    pub const FORBIDDEN: u16 = 403;
    /// There is no such entity.
    pub const NOT_FOUND: u16 = 404;
    /// The entity could not do what was asked.
    pub const INTERNAL_SERVER_ERROR: u16 = 500;
    /// The entity type has no such operation.
    pub const NOT_IMPLEMENTED: u16 = 501;

    /// The standard words for a code: `OK`, `Not Found`, ...
    pub fn phrase(code: u16) -> &'static str {
        match code {
            OK => "OK",
            CREATED => "Created",
            NO_CONTENT => "No Content",
            BAD_REQUEST => "Bad Request",
            FORBIDDEN => "Forbidden",
            NOT_FOUND => "Not Found",
            NOT_IMPLEMENTED => "Not Implemented",
            _ => "Internal Server Error",
        }
    }
}

/// Why a request was refused: the status code and the description that the reply carries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{status} {description}")]
pub struct Failure {
    /// One of [`status`].
    pub status: u16,
    /// What is wrong, for the person who asked.
    pub description: String,
}

impl Failure {
    /// A refusal with a description of its own.
    pub fn new(status: u16, description: impl Into<String>) -> Self {
        Failure { status, description: description.into() }
    }

    /// 400: the request is wrong.
    pub fn bad_request(description: impl Into<String>) -> Self {
        Failure::new(status::BAD_REQUEST, description)
    }

    /// 403, in the words the old router uses for operations that nobody may perform.
    pub fn forbidden() -> Self {
        Failure::new(status::FORBIDDEN, status::phrase(status::FORBIDDEN))
    }

    /// 404 in the core agent's words.
    pub fn not_found() -> Self {
        Failure::new(status::NOT_FOUND, status::phrase(status::NOT_FOUND))
    }

    /// 500: the entity could not do it.
    pub fn internal(description: impl Into<String>) -> Self {
        Failure::new(status::INTERNAL_SERVER_ERROR, description)
    }
}
