//! Who is this, asks whoever has users in Cyrus SASL? The library (`libsasl2`), loaded when it is there: its server and
//! client side, and the security layers that its mechanisms negotiate.
//!
//! Nothing is needed to build this crate: the library is opened at run time ([`Cyrus::load`]). It deliberately knows
//! nothing of AMQP, connections or threads. All calls but those of a [`Layer`] may block, for as long as a name service,
//! saslauthd, a data base or a Kerberos server takes; whoever cannot wait calls them on a thread of its own.
//!
//! This is the one crate that calls C, and so has `unsafe` code. The rules of the library that make its safe types sound
//! are told where they are relied on; all of them are those of `sasl.h`.
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(unsafe_code, reason = "a C library is called")]

mod api;
mod client;
mod connection;
mod error;
mod layer;
mod library;
mod locks;
mod log;
mod server;

pub use client::{Client, ClientStep, Identity};
pub use error::{Failure, LoadError};
pub use layer::Layer;
pub use library::Cyrus;
pub use log::LogLevel;
pub use server::{Server, ServerStep};

/// What lies under an exchange, and what is asked of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Strength of the encryption beneath, in bits; 0 without any.
    pub external_strength: u32,
    /// Who the layer beneath has shown the peer to be (on a client: us). EXTERNAL rests on it.
    pub external_user: Option<String>,
    /// Mechanisms that let anybody in are not used.
    pub no_anonymous: bool,
    /// Only mechanisms that encrypt are used, unless the layer beneath does.
    pub encrypt: bool,
}

/// The service's name, as Kerberos principals and PAM have it.
pub(crate) const SERVICE: &std::ffi::CStr = c"amqp";
