//! Frames and protocol headers (part 2, sections 2.2 and 2.3).

/// The eight bytes that begin a protocol layer.
pub const AMQP_HEADER: [u8; 8] = *b"AMQP\x00\x01\x00\x00";
/// SASL layer header (part 5, section 5.3.1).
pub const SASL_HEADER: [u8; 8] = *b"AMQP\x03\x01\x00\x00";
/// TLS layer header (part 5, section 5.2.1).
pub const TLS_HEADER: [u8; 8] = *b"AMQP\x02\x01\x00\x00";
/// No peer may ask for less (section 2.4.1).
pub const MIN_MAX_FRAME_SIZE: u32 = 512;

/// Whether a frame belongs to AMQP or to SASL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind { Amqp, Sasl }

/// One whole frame: its channel and what follows the extended header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> { pub kind: FrameKind, pub channel: u16, pub body: &'a [u8] }
// Helper to write:
//   pub enum Split<'a> { Frame { frame: Frame<'a>, used: usize }, NeedMore { total: Option<usize> } }
//   pub fn split(input: &[u8], max_frame_size: u32) -> Result<Split<'_>, FrameError>   (FrameError: too large, bad doff, unknown type)
//   pub fn write_frame(out: &mut Vec<u8>, kind, channel, |out| body)   -- back-patches the size
//   pub fn write_transfer(out: &mut Vec<u8>, channel, &Transfer<'_>, parts: &[&[u8]])  -- hot path, one reserve, no allocation beyond `out`
//   pub fn write_empty(out)  -- heartbeat
