//! The error type that ends links, sessions and connections and explains rejections (part 2, section 2.8.14).

use std::fmt;

use crate::codec::{Decoder, ListEncoder, encode};
use crate::{DecodeError, Map, Symbol, descriptor};

/// An AMQP error.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorCondition {
    /// What kind of error, see [`names`].
    pub condition: Symbol,
    /// What happened, for people.
    pub description: Option<String>,
    /// More about it, for programs.
    pub info: Option<Map>,
}

impl ErrorCondition {
    /// An error without further information.
    pub fn new(condition: impl Into<Symbol>, description: impl Into<String>) -> Self {
        Self { condition: condition.into(), description: Some(description.into()), info: None }
    }

    /// Reads a described error.
    ///
    /// # Errors
    /// If it is not a well-formed one.
    pub fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let found = decoder.read_descriptor()?;
        if found.code() != Some(descriptor::ERROR) {
            return Err(DecodeError::unknown_descriptor(found));
        }
        let mut fields = decoder.read_fields("error", 3)?;
        let error = Self {
            condition: fields.mandatory("condition", Decoder::read_symbol)?.into(),
            description: fields.optional(Decoder::read_str)?.map(str::to_owned),
            info: fields.optional(Decoder::read_owned_map)?,
        };
        fields.finish()?;
        Ok(error)
    }

    /// Appends the described error.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::ERROR);
        list.field(|out| encode::symbol(out, self.condition.as_str()));
        list.optional(self.description.as_deref(), encode::string);
        list.optional(self.info.as_ref(), |out, info| info.encode(out));
        list.finish();
    }
}

impl fmt::Display for ErrorCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.description {
            Some(description) => write!(f, "{} {description}", self.condition),
            None => write!(f, "{}", self.condition),
        }
    }
}

/// The conditions that the specification defines (sections 2.8.15 to 2.8.18 of part 2, 4.5.8 of part 4).
pub mod names {
    /// An internal error occurred.
    pub const INTERNAL_ERROR: &str = "amqp:internal-error";
    /// A peer attempted to work with a remote entity that does not exist.
    pub const NOT_FOUND: &str = "amqp:not-found";
    /// A peer attempted to work with a remote entity to which it has no access.
    pub const UNAUTHORIZED_ACCESS: &str = "amqp:unauthorized-access";
    /// Data could not be decoded.
    pub const DECODE_ERROR: &str = "amqp:decode-error";
    /// A peer exceeded its resource allocation.
    pub const RESOURCE_LIMIT_EXCEEDED: &str = "amqp:resource-limit-exceeded";
    /// The peer tried to use a frame in a manner that is inconsistent with the specification.
    pub const NOT_ALLOWED: &str = "amqp:not-allowed";
    /// An invalid field was passed in a frame body, and the operation could not proceed.
    pub const INVALID_FIELD: &str = "amqp:invalid-field";
    /// The peer tried to use functionality that is not implemented in its partner.
    pub const NOT_IMPLEMENTED: &str = "amqp:not-implemented";
    /// The client attempted to work with an entity that another client has exclusive access to.
    pub const RESOURCE_LOCKED: &str = "amqp:resource-locked";
    /// A precondition of the request was not met.
    pub const PRECONDITION_FAILED: &str = "amqp:precondition-failed";
    /// An entity the client is working with was deleted.
    pub const RESOURCE_DELETED: &str = "amqp:resource-deleted";
    /// The peer sent a frame that is not permitted in the current state.
    pub const ILLEGAL_STATE: &str = "amqp:illegal-state";
    /// The peer cannot send a frame because the smallest encoding of the performative exceeds the peer's maximum.
    pub const FRAME_SIZE_TOO_SMALL: &str = "amqp:frame-size-too-small";
    /// An operator intervened to close the connection.
    pub const CONNECTION_FORCED: &str = "amqp:connection:forced";
    /// A valid frame header cannot be formed from the incoming bytes.
    pub const FRAMING_ERROR: &str = "amqp:connection:framing-error";
    /// The container is no longer available on this connection.
    pub const CONNECTION_REDIRECT: &str = "amqp:connection:redirect";
    /// The peer violated the incoming window of the session.
    pub const WINDOW_VIOLATION: &str = "amqp:session:window-violation";
    /// Input was received for a link that was detached with an error.
    pub const ERRANT_LINK: &str = "amqp:session:errant-link";
    /// An attach was received with a handle in use.
    pub const HANDLE_IN_USE: &str = "amqp:session:handle-in-use";
    /// A frame with an unattached handle was received.
    pub const UNATTACHED_HANDLE: &str = "amqp:session:unattached-handle";
    /// An operator intervened to detach.
    pub const DETACH_FORCED: &str = "amqp:link:detach-forced";
    /// The peer sent more message transfers than the link's credit allows.
    pub const TRANSFER_LIMIT_EXCEEDED: &str = "amqp:link:transfer-limit-exceeded";
    /// The peer sent a larger message than is supported on the link.
    pub const MESSAGE_SIZE_EXCEEDED: &str = "amqp:link:message-size-exceeded";
    /// The address of the link has moved.
    pub const LINK_REDIRECT: &str = "amqp:link:redirect";
    /// The link was attached elsewhere, which stole it from here.
    pub const STOLEN: &str = "amqp:link:stolen";
    /// The transaction identifier is not known.
    pub const TRANSACTION_UNKNOWN_ID: &str = "amqp:transaction:unknown-id";
    /// The transaction was rolled back for an unspecified reason.
    pub const TRANSACTION_ROLLBACK: &str = "amqp:transaction:rollback";
    /// The work represented by the transaction took too long.
    pub const TRANSACTION_TIMEOUT: &str = "amqp:transaction:timeout";
}
