//! The nine performatives (part 2, section 2.7).

mod attach;
mod connection;
mod disposition;
mod flow;
mod session;
mod transfer;

pub use attach::{Attach, Detach};
pub use connection::{Close, Open};
pub use disposition::Disposition;
pub use flow::Flow;
pub use session::{Begin, End};
pub use transfer::Transfer;

use crate::codec::{DecodeError, Decoder, Fields};
use crate::descriptor;

/// The role of the peer that sends a frame: `Sender` = false on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It sends messages.
    Sender,
    /// It receives messages.
    Receiver,
}

impl Role {
    /// The boolean on the wire.
    pub fn is_receiver(self) -> bool {
        self == Self::Receiver
    }

    #[inline]
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(if decoder.read_bool()? { Self::Receiver } else { Self::Sender })
    }
}

/// Settlement policy of a sender (section 2.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SenderSettleMode {
    /// It sends all deliveries unsettled.
    Unsettled = 0,
    /// It sends all deliveries settled.
    Settled = 1,
    /// It may send either.
    #[default]
    Mixed = 2,
}

impl SenderSettleMode {
    fn decode_field(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        match fields.optional(Decoder::read_ubyte)? {
            None | Some(2) => Ok(Self::Mixed),
            Some(0) => Ok(Self::Unsettled),
            Some(1) => Ok(Self::Settled),
            Some(_) => Err(fields.out_of_range("snd-settle-mode")),
        }
    }
}

/// Settlement policy of a receiver (section 2.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReceiverSettleMode {
    /// It settles at once.
    #[default]
    First = 0,
    /// It settles after the sender has settled.
    Second = 1,
}

impl ReceiverSettleMode {
    #[inline]
    fn decode_field(fields: &mut Fields<'_>) -> Result<Option<Self>, DecodeError> {
        match fields.optional(Decoder::read_ubyte)? {
            None => Ok(None),
            Some(0) => Ok(Some(Self::First)),
            Some(1) => Ok(Some(Self::Second)),
            Some(_) => Err(fields.out_of_range("rcv-settle-mode")),
        }
    }
}

/// A decoded performative. Only a transfer borrows, from the frame it came in.
#[derive(Clone, Debug, PartialEq)]
pub enum Performative<'a> {
    /// Negotiates a connection.
    Open(Box<Open>),
    /// Begins a session.
    Begin(Begin),
    /// Attaches a link.
    Attach(Box<Attach>),
    /// Updates a session's window and a link's credit.
    Flow(Flow),
    /// Transfers a message or a part of it.
    Transfer(Transfer<'a>),
    /// Tells the state of deliveries.
    Disposition(Disposition),
    /// Detaches a link.
    Detach(Detach),
    /// Ends a session.
    End(End),
    /// Closes a connection.
    Close(Close),
}

impl<'a> Performative<'a> {
    /// Reads a performative from the body of a frame; what follows it there, the payload, is given back too.
    /// Transfers, flows, and dispositions with the usual states cost no allocation.
    ///
    /// # Errors
    /// If the body does not begin with a performative, or that is malformed, or a mandatory field is missing.
    #[inline]
    pub fn decode(body: &'a [u8]) -> Result<(Self, &'a [u8]), DecodeError> {
        let mut decoder = Decoder::new(body);
        let found = decoder.read_descriptor()?;
        let performative = match found.code() {
            Some(descriptor::TRANSFER) => Self::Transfer(Transfer::decode(&mut decoder)?),
            Some(descriptor::DISPOSITION) => Self::Disposition(Disposition::decode(&mut decoder)?),
            Some(descriptor::FLOW) => Self::Flow(Flow::decode(&mut decoder)?),
            code => Self::decode_rare(&mut decoder, code)?.ok_or_else(|| DecodeError::unknown_descriptor(found))?,
        };
        Ok((performative, decoder.rest()))
    }

    #[cold]
    fn decode_rare(decoder: &mut Decoder<'a>, code: Option<u64>) -> Result<Option<Self>, DecodeError> {
        Ok(Some(match code {
            Some(descriptor::OPEN) => Self::Open(Box::new(Open::decode(decoder)?)),
            Some(descriptor::BEGIN) => Self::Begin(Begin::decode(decoder)?),
            Some(descriptor::ATTACH) => Self::Attach(Box::new(Attach::decode(decoder)?)),
            Some(descriptor::DETACH) => Self::Detach(Detach::decode(decoder)?),
            Some(descriptor::END) => Self::End(End::decode(decoder)?),
            Some(descriptor::CLOSE) => Self::Close(Close::decode(decoder)?),
            _ => return Ok(None),
        }))
    }

    /// Appends the performative.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Open(open) => open.encode(out),
            Self::Begin(begin) => begin.encode(out),
            Self::Attach(attach) => attach.encode(out),
            Self::Flow(flow) => flow.encode(out),
            Self::Transfer(transfer) => transfer.encode(out),
            Self::Disposition(disposition) => disposition.encode(out),
            Self::Detach(detach) => detach.encode(out),
            Self::End(end) => end.encode(out),
            Self::Close(close) => close.encode(out),
        }
    }
}
