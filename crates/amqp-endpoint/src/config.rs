//! What one end is told about itself before it begins.

use std::time::Duration;

use amqp::{Map, Symbol};

use crate::{SaslClient, SaslServer};

/// What this end says in its open, and its limits.
#[derive(Clone, Debug)]
pub struct ConnectionConfig {
    /// Name of this end's container.
    pub container_id: String,
    /// The host this end wants to speak to (initiators only).
    pub hostname: Option<String>,
    /// Bytes; the largest frame this end accepts. Raised to 512 if smaller.
    pub max_frame_size: u32,
    /// The highest channel number this end accepts; it bounds the sessions to this number plus one.
    pub channel_max: u16,
    /// The highest handle this end accepts; it bounds the links of a session to this number plus one.
    pub handle_max: u32,
    /// This end drops the connection after hearing nothing for this long; half of it is announced. `None`: never.
    pub idle_time_out: Option<Duration>,
    /// Frames; the incoming window announced for each session.
    pub session_window: u32,
    /// Deliveries beyond its credit that a link takes before it is detached with `amqp:link:transfer-limit-exceeded`; as
    /// many again after each credit that is given. 0: none. Brokers that count what is in flight late need it.
    pub credit_tolerance: u32,
    /// Extensions this end supports.
    pub offered_capabilities: Vec<Symbol>,
    /// Extensions this end would use if the peer supports them.
    pub desired_capabilities: Vec<Symbol>,
    /// Properties of the connection, symbol keys.
    pub properties: Option<Map>,
    /// Close with `amqp:not-allowed` "Timeout waiting for initial handshake" if the peer's open has not come by then.
    pub handshake_time_out: Option<Duration>,
    /// A peer that negotiates no security layer by SASL is refused: nothing else encrypts, and something must
    /// (acceptors only).
    pub security_layer_required: bool,
}

impl Default for ConnectionConfig {
    /// The old router's defaults: 16 KiB frames, channels to 32767, an idle time-out of 16 seconds, and no bound on
    /// handles, the session window, or the handshake.
    fn default() -> Self {
        Self {
            container_id: String::new(),
            hostname: None,
            max_frame_size: 16384,
            channel_max: 32767,
            handle_max: u32::MAX,
            idle_time_out: Some(Duration::from_secs(16)),
            session_window: i32::MAX as u32,
            credit_tolerance: 0,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
            handshake_time_out: None,
            security_layer_required: false,
        }
    }
}

/// Who speaks first, and what of SASL.
pub enum Side {
    /// We were connected to.
    Acceptor {
        /// What the SASL layer offers; `None`: a peer that asks for SASL is refused.
        sasl: Option<Box<dyn SaslServer>>,
        /// Refuse a peer that skips SASL.
        sasl_required: bool,
    },
    /// We connected.
    Initiator {
        /// How to authenticate; `None`: SASL is skipped.
        sasl: Option<Box<dyn SaslClient>>,
    },
}
