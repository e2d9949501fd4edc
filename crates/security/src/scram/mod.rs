//! SCRAM (RFC 5802, RFC 7677): passwords are proved without being shown, by both sides.
//!
//! Without channel binding. The messages are parsed as strictly as the RFC allows, as both sides must see the same bytes.

mod client;
mod hash;
mod message;
mod server;
#[cfg(test)]
mod tests;
mod verifier;

pub(crate) use client::ScramClient;
pub use hash::Hash;
pub(crate) use hash::random;
pub(crate) use message::{ClientFirst, decode, encode};
pub(crate) use server::{ScramServer, ServerAnswer};
pub use verifier::Verifier;

/// What the parsers make of a message, for whoever wants to throw bytes at them.
#[doc(hidden)]
pub fn parse_any(bytes: &[u8]) {
    if let Some(first) = ClientFirst::parse(bytes) {
        assert!(first.user.len() <= bytes.len() && !first.nonce.is_empty());
    }
    drop(message::ClientFinal::parse(bytes));
    drop(message::ServerFirst::parse(bytes));
    drop(message::ServerFinal::parse(bytes));
}
