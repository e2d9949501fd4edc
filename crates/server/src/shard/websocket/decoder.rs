//! What a client's frames say: payload comes out where the frames were, control frames and mistakes aside.

use std::collections::VecDeque;
use std::io::Cursor;

use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{CloseCode, Control, Data, OpCode};

/// Bytes of the longest frame header that a client sends.
const HEADER: usize = 14;
/// Bytes of the longest payload of a control frame (RFC 6455, section 5.5).
pub(super) const CONTROL: usize = 125;

/// Pings that are kept to be answered.
pub(super) const PINGS: usize = 32;

/// Takes a client's frames apart.
#[derive(Default)]
pub(super) struct Decoder {
    state: State,
    /// A message has begun and not ended.
    in_message: bool,
    /// Pings that came and have not been taken.
    pub(super) pings: VecDeque<Vec<u8>>,
}

/// How the client's frames end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// By a closing frame with this code.
    Closed(CloseCode),
    /// By what is not allowed.
    Violation(CloseCode, &'static str),
}

/// Where in a frame the next byte is.
enum State {
    Header { bytes: [u8; HEADER], filled: usize },
    Data { left: u64, mask: [u8; 4], last: bool },
    Control { code: Control, bytes: [u8; CONTROL], filled: usize, size: usize, mask: [u8; 4] },
}

impl Default for State {
    fn default() -> Self {
        Self::Header { bytes: [0; HEADER], filled: 0 }
    }
}

impl Decoder {
    /// Takes bytes as they came, and leaves payload of binary messages at their beginning: returned is how much. If that
    /// was the end, nothing more is to be decoded.
    pub(super) fn decode(&mut self, bytes: &mut [u8]) -> (usize, Option<Ended>) {
        let (mut from, mut to) = (0, 0);
        while from < bytes.len() {
            match &mut self.state {
                State::Data { left, mask, .. } => {
                    let count = (bytes.len() - from).min(usize::try_from(*left).unwrap_or(usize::MAX));
                    bytes.copy_within(from..from + count, to);
                    unmask(&mut bytes[to..to + count], mask);
                    *left -= count as u64;
                    (from, to) = (from + count, to + count);
                }
                State::Header { bytes: header, filled } => {
                    let size = header_size(&header[..*filled]);
                    from += fill(&mut header[..size], filled, &bytes[from..]);
                }
                State::Control { bytes: payload, filled, size, .. } => {
                    from += fill(&mut payload[..*size], filled, &bytes[from..]);
                }
            }
            if let Err(ended) = self.go_on() {
                return (to, Some(ended));
            }
        }
        (to, None)
    }

    /// Goes on to the next part of a frame, or the next frame, if the part is complete.
    fn go_on(&mut self) -> Result<(), Ended> {
        if let State::Header { bytes, filled } = &self.state {
            let header = &bytes[..*filled];
            if header.len() < header_size(header) {
                return Ok(());
            }
            self.state = begin(header, self.in_message)?;
        }
        match &mut self.state {
            State::Data { left: 0, last, .. } => self.in_message = !*last,
            State::Control { code, bytes, filled, size, mask } if filled == size => {
                let payload = &mut bytes[..*size];
                unmask(payload, mask);
                match code {
                    Control::Close => return Err(closed(payload)),
                    // Of many only the last has to be answered (section 5.5.3).
                    Control::Ping => {
                        if self.pings.len() == PINGS {
                            self.pings.pop_front();
                        }
                        self.pings.push_back(payload.to_vec());
                    }
                    Control::Pong | Control::Reserved(_) => {}
                }
            }
            State::Data { .. } | State::Control { .. } | State::Header { .. } => return Ok(()),
        }
        self.state = State::default();
        Ok(())
    }
}

/// Copies bytes that are missing, as far as they are there; says how many.
fn fill(whole: &mut [u8], filled: &mut usize, bytes: &[u8]) -> usize {
    let count = (whole.len() - *filled).min(bytes.len());
    whole[*filled..*filled + count].copy_from_slice(&bytes[..count]);
    *filled += count;
    count
}

/// How long a header is, as far as its first bytes tell.
fn header_size(begun: &[u8]) -> usize {
    let Some(second) = begun.get(1) else { return 2 };
    let length = match second & 0x7f {
        127 => 8,
        126 => 2,
        _ => 0,
    };
    let mask = if second & 0x80 == 0 { 0 } else { 4 };
    2 + length + mask
}

/// What follows a header.
fn begin(header: &[u8], in_message: bool) -> Result<State, Ended> {
    let violation = |what| Err(Ended::Violation(CloseCode::Protocol, what));
    let Ok(Some((parsed, length))) = FrameHeader::parse(&mut Cursor::new(header)) else {
        return violation("a frame of an unknown kind");
    };
    if parsed.rsv1 || parsed.rsv2 || parsed.rsv3 {
        return violation("a frame with reserved bits, for which no extension was agreed");
    }
    let Some(mask) = parsed.mask else { return violation("a frame that is not masked") };
    if parsed.len(length) != header.len() || length >> 63 != 0 {
        return violation("a frame whose length is not given as it has to be");
    }
    let data = State::Data { left: length, mask, last: parsed.is_final };
    match parsed.opcode {
        OpCode::Control(_) if !parsed.is_final => violation("a control frame in parts"),
        OpCode::Control(_) if length > CONTROL as u64 => violation("a control frame of more than 125 bytes"),
        OpCode::Control(code) => {
            Ok(State::Control { code, bytes: [0; CONTROL], filled: 0, size: length as usize, mask })
        }
        OpCode::Data(Data::Continue) if in_message => Ok(data),
        OpCode::Data(Data::Continue) => violation("a continuation of nothing"),
        OpCode::Data(_) if in_message => violation("a new message within another"),
        OpCode::Data(Data::Binary) => Ok(data),
        OpCode::Data(_) => Err(Ended::Violation(CloseCode::Unsupported, "a message of text: AMQP is binary")),
    }
}

/// What a closing frame says (section 5.5.1).
fn closed(payload: &[u8]) -> Ended {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return match payload {
            [] => Ended::Closed(CloseCode::Status),
            _ => Ended::Violation(CloseCode::Protocol, "a closing frame with half a code"),
        };
    };
    let code = CloseCode::from(u16::from_be_bytes(*code));
    if !code.is_allowed() {
        return Ended::Violation(CloseCode::Protocol, "a closing frame with a code that is not for use");
    }
    if std::str::from_utf8(reason).is_err() {
        return Ended::Violation(CloseCode::Invalid, "a closing frame whose reason is not text");
    }
    Ended::Closed(code)
}

/// Takes the mask off, and leaves it as the following bytes need it (section 5.3).
fn unmask(bytes: &mut [u8], mask: &mut [u8; 4]) {
    let [a, b, c, d] = *mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let mut chunks = bytes.chunks_exact_mut(8);
    for chunk in &mut chunks {
        if let Some(chunk) = chunk.first_chunk_mut::<8>() {
            *chunk = (u64::from_ne_bytes(*chunk) ^ wide).to_ne_bytes();
        }
    }
    let rest = chunks.into_remainder();
    rest.iter_mut().zip([a, b, c, d, a, b, c]).for_each(|(byte, mask)| *byte ^= mask);
    mask.rotate_left(rest.len() % 4);
}
