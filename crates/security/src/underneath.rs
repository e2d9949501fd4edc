//! What SASL stands on.

use std::net::SocketAddr;

/// What the layers under SASL have shown of a connection, when its mechanisms are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Underneath {
    /// A layer such as TLS keeps others from reading along.
    pub encrypted: bool,
    /// The strength of that layer in bits, as SASL counts it (`ssf`); 0 without one.
    pub strength: u32,
    /// On the server's side: the name that the peer's certificate gives it, in the form that `uidFormat` asks for.
    /// On the client's side: present when this end has shown a certificate. EXTERNAL rests on it.
    pub identity: Option<String>,
    /// The address of the peer.
    pub peer: Option<SocketAddr>,
    /// The address of this end.
    pub local: Option<SocketAddr>,
}
