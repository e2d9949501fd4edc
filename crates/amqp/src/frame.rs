//! Frames and protocol headers (part 2, sections 2.2 and 2.3).

mod split;
mod write;

pub use split::{FrameError, Split, split};
pub use write::{
    write_disposition, write_empty, write_flow, write_frame, write_performative, write_sasl, write_transfer,
};

/// The eight bytes that begin a protocol layer.
pub const AMQP_HEADER: [u8; 8] = *b"AMQP\x00\x01\x00\x00";
/// SASL layer header (part 5, section 5.3.1).
pub const SASL_HEADER: [u8; 8] = *b"AMQP\x03\x01\x00\x00";
/// TLS layer header (part 5, section 5.2.1).
pub const TLS_HEADER: [u8; 8] = *b"AMQP\x02\x01\x00\x00";
/// No peer may ask for less (section 2.4.1).
pub const MIN_MAX_FRAME_SIZE: u32 = 512;
/// Bytes of a frame's header without an extended header.
pub const FRAME_HEADER_SIZE: usize = 8;

/// Whether a frame belongs to AMQP or to SASL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// AMQP (section 2.3).
    Amqp,
    /// SASL (part 5, section 5.3.2).
    Sasl,
}

/// One whole frame: its channel and what follows the extended header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What it belongs to.
    pub kind: FrameKind,
    /// The channel; without meaning in a SASL frame.
    pub channel: u16,
    /// Performative and payload; empty in a heartbeat.
    pub body: &'a [u8],
}
