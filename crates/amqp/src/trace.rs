//! Frames and values as text, in the form that scripts parse: that of the frame trace of Proton 0.37, on which the old
//! router stands.

mod dump;
mod names;
mod number;

use crate::codec::Decoder;
use crate::sasl::SaslFrame;
use crate::value::Value;
use dump::{Dump, MAX_TEXT, Style};

/// Which way a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From this end to the peer: `->`.
    Outgoing,
    /// From the peer: `<-`.
    Incoming,
}

impl Direction {
    fn arrow(self) -> &'static str {
        match self {
            Self::Outgoing => "->",
            Self::Incoming => "<-",
        }
    }
}

/// Characters of payload that are shown.
const MAX_PAYLOAD: usize = 512;

/// Appends an AMQP frame, such as `0 -> @open(16) [container-id="QDR"]`: the fields that are present, and how many
/// bytes of payload follow, with the first of them. Never fails: what cannot be decoded is shown as `!!`, its size and
/// its bytes.
pub fn frame(out: &mut String, direction: Direction, channel: u16, body: &[u8]) {
    prefix(out, direction, channel);
    if body.is_empty() {
        out.push_str("(EMPTY FRAME)");
    } else {
        self::body(&mut Dump::new(out, Style::Frame, MAX_TEXT), body);
    }
}

/// Appends a SASL frame. What could be a password is shown as `***`.
pub fn sasl_frame(out: &mut String, direction: Direction, body: &[u8]) {
    prefix(out, direction, 0);
    let mut dump = Dump::new(out, Style::Frame, MAX_TEXT);
    match SaslFrame::decode(body) {
        // What ANONYMOUS sends is for the log.
        Ok(SaslFrame::Init { mechanism, .. }) if mechanism == "ANONYMOUS" => {}
        // Bytes that are no SASL frame may hold a password all the same.
        Err(_) => return dump.text("!!"),
        Ok(_) => dump.hide_secrets(),
    }
    self::body(&mut dump, body);
}

/// Appends what is not a frame: a protocol header by its name (`AMQP`, `SASL`, `TLS`), or the end of the stream (`EOS`).
pub fn event(out: &mut String, direction: Direction, what: &str) {
    for text in ["  ", direction.arrow(), " ", what] {
        out.push_str(text);
    }
}

/// Appends a value as the old router prints values in logs other than frame traces, such as
/// `{:product="x", :"qd.conn-id"=2}`. There, unlike in traces, unsigned numbers are decimal.
pub fn value(out: &mut String, value: &Value) {
    let mut dump = Dump::new(out, Style::Data, MAX_TEXT);
    dump.value(value);
    dump.finish();
}

fn prefix(out: &mut String, direction: Direction, channel: u16) {
    out.push_str(&channel.to_string());
    for text in [" ", direction.arrow(), " "] {
        out.push_str(text);
    }
}

fn body(dump: &mut Dump<'_>, body: &[u8]) {
    let mut decoder = Decoder::new(body);
    let payload = match decoder.read_value() {
        Ok(performative) => {
            dump.value(&performative);
            dump.finish();
            decoder.rest()
        }
        Err(_) => {
            dump.text("!!");
            body
        }
    };
    if !payload.is_empty() {
        dump.payload(payload, MAX_PAYLOAD);
    }
}

#[cfg(test)]
mod tests;
