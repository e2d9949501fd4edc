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
pub use transfer::{Manner, Transfer};

use crate::codec::{CompactFields, DecodeError, Decoder, ReadFields};
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

    #[inline(always)]
    fn read<'a, F: ReadFields<'a>>(fields: &mut F) -> Result<Self, F::Error> {
        match fields.boolean()? {
            Some(true) => Ok(Self::Receiver),
            Some(false) => Ok(Self::Sender),
            None => Err(fields.missing("role")),
        }
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
    fn read<'a, F: ReadFields<'a>>(fields: &mut F) -> Result<Self, F::Error> {
        match fields.ubyte()? {
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
    #[inline(always)]
    fn read<'a, F: ReadFields<'a>>(fields: &mut F) -> Result<Option<Self>, F::Error> {
        match fields.ubyte()? {
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
        if let Some(decoded) = Self::decode_compact(body) { Ok(decoded) } else { Self::decode_any(body) }
    }

    /// Reads what is frequent; `None` for everything else.
    #[inline(always)]
    fn decode_compact(body: &'a [u8]) -> Option<(Self, &'a [u8])> {
        const TRANSFER: u8 = descriptor::TRANSFER as u8;
        const DISPOSITION: u8 = descriptor::DISPOSITION as u8;
        const FLOW: u8 = descriptor::FLOW as u8;
        let (code, mut fields, payload) = CompactFields::new(body).ok()?;
        let performative = match code {
            TRANSFER => Self::Transfer(Transfer::read(&mut fields).ok()?),
            DISPOSITION => Self::Disposition(Disposition::read(&mut fields).ok()?),
            FLOW => Self::Flow(Flow::read(&mut fields).ok()?),
            _ => return None,
        };
        fields.finish().ok()?;
        Some((performative, payload))
    }

    #[cold]
    fn decode_any(body: &'a [u8]) -> Result<(Self, &'a [u8]), DecodeError> {
        let mut decoder = Decoder::new(body);
        let found = decoder.read_descriptor()?;
        let performative = match found.code() {
            Some(descriptor::OPEN) => Self::Open(Box::new(Open::decode(&mut decoder)?)),
            Some(descriptor::BEGIN) => Self::Begin(Begin::decode(&mut decoder)?),
            Some(descriptor::ATTACH) => Self::Attach(Box::new(Attach::decode(&mut decoder)?)),
            Some(descriptor::FLOW) => Self::Flow(Flow::decode(&mut decoder)?),
            Some(descriptor::TRANSFER) => Self::Transfer(Transfer::decode(&mut decoder)?),
            Some(descriptor::DISPOSITION) => Self::Disposition(Disposition::decode(&mut decoder)?),
            Some(descriptor::DETACH) => Self::Detach(Detach::decode(&mut decoder)?),
            Some(descriptor::END) => Self::End(End::decode(&mut decoder)?),
            Some(descriptor::CLOSE) => Self::Close(Close::decode(&mut decoder)?),
            _ => return Err(DecodeError::unknown_descriptor(found)),
        };
        Ok((performative, decoder.rest()))
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
