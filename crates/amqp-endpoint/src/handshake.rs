//! What is needed only until the connection is open, and freed then.

use crate::sasl_layer::Sasl;
use crate::{Connection, ConnectionConfig, SecurityLayer, Side};

/// State of the handshake.
pub(crate) struct Handshake {
    pub(crate) config: ConnectionConfig,
    pub(crate) acceptor: bool,
    pub(crate) sasl: Option<Sasl>,
    /// A peer that skips SASL is refused.
    pub(crate) sasl_required: bool,
    /// SASL has succeeded.
    pub(crate) authenticated: bool,
    /// SASL has negotiated a security layer that encrypts.
    pub(crate) protected: bool,
    /// A peer that asks for TLS gets it.
    pub(crate) allow_tls: bool,
    /// Negotiated by SASL, and not yet taken by the owner.
    pub(crate) layer: Option<Box<dyn SecurityLayer>>,
}

impl Handshake {
    pub(crate) fn new(config: ConnectionConfig, side: Side) -> Self {
        let (acceptor, sasl, sasl_required) = match side {
            Side::Acceptor { sasl, sasl_required } => (true, sasl.map(Sasl::server), sasl_required),
            Side::Initiator { sasl } => (false, sasl.map(Sasl::client), false),
        };
        Self {
            config,
            acceptor,
            sasl,
            sasl_required,
            authenticated: false,
            protected: false,
            allow_tls: false,
            layer: None,
        }
    }
}

impl Connection {
    /// Whether SASL has negotiated a security layer that is still to be taken.
    pub fn has_security_layer(&self) -> bool {
        self.handshake.as_ref().is_some_and(|handshake| handshake.layer.is_some())
    }

    /// The security layer that SASL negotiated, once; see the crate's head.
    pub fn take_security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        self.handshake.as_mut()?.layer.take()
    }
}
