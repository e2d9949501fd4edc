//! Who may speak, and what may they do? SASL mechanisms and policy.
//!
//! This crate deliberately knows nothing of connections: it fills the slots that `amqp-endpoint` has for mechanisms.
#![forbid(unsafe_code)]

mod client;
pub mod policy;
mod server;
mod underneath;

pub use client::ClientMechanisms;
pub use server::{Credentials, ServerMechanisms, UserChecker, Verdict};
pub use underneath::Underneath;
