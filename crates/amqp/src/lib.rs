//! What is on the wire? AMQP 1.0 types, performatives, frames and message sections, and their encodings
//! (OASIS AMQP 1.0, parts 1, 2, 3 and 5).
//!
//! Decoding never trusts a length or a count: nesting is bounded by [`MAX_DEPTH`], and no allocation is larger than
//! what the bytes at hand can justify. What is hot (transfers, flows, dispositions) is decoded without allocating and
//! borrows from the buffer; what is rare (open, attach) is decoded to owned values.
//!
//! This crate deliberately knows nothing of sockets, clocks, connections, sessions or routers.
#![forbid(unsafe_code)]

pub mod codec;
pub mod condition;
pub mod descriptor;
pub mod frame;
pub mod message;
pub mod performative;
pub mod sasl;
pub mod state;
pub mod terminus;
pub mod trace;
pub mod value;

pub use codec::{DecodeError, DecodeErrorKind, Decoder};
pub use condition::ErrorCondition;
pub use performative::Performative;
pub use state::DeliveryState;
pub use value::{Array, Described, Map, Symbol, Value};

/// How deep lists, maps, arrays and described values may nest; deeper input is refused with
/// [`DecodeErrorKind::TooDeep`].
pub const MAX_DEPTH: usize = 32;
