//! SASL mechanisms for both sides.

mod client;
mod cyrus_client;
mod cyrus_server;
mod log;
mod offload;
mod plain;
mod server;
#[cfg(test)]
mod testing;
mod workers;

pub use client::{ClientMechanisms, Credentials};
pub use cyrus_server::{CyrusServer, CyrusTerms};
pub use log::tell as tell_cyrus;
pub use offload::{OffloadedClient, OffloadedServer, Wake};
pub use plain::claimed_user;
pub use server::ServerMechanisms;
pub use workers::{Busy, Workers};

use amqp_endpoint::SaslServer;

/// Mechanisms that know more of a failure than the peer is told.
pub trait Mechanisms: SaslServer {
    /// Why the peer was refused, for the log.
    fn reason(&self) -> Option<String>;
}
