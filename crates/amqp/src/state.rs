//! Delivery states and outcomes (part 3, section 3.4; part 4 states are kept raw so that they can be relayed bit for bit).

use crate::codec::{Decoder, ListEncoder, encode, format};
use crate::descriptor::{ACCEPTED, MODIFIED, RECEIVED, REJECTED, RELEASED};
use crate::{DecodeError, ErrorCondition, Map};

/// The state of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub enum DeliveryState {
    /// How far the message has come (section 3.4.1); not an outcome.
    Received {
        /// The section that comes next, from 0.
        section_number: u32,
        /// Bytes of that section that are there already.
        section_offset: u64,
    },
    /// Processed (section 3.4.2).
    Accepted,
    /// Invalid and unprocessable, with the reason (section 3.4.3).
    Rejected(Option<Box<ErrorCondition>>),
    /// Not and never processed by this receiver (section 3.4.4).
    Released,
    /// Changed in what is said about it, not processed (section 3.4.5).
    Modified(Box<Modified>),
    /// Any other described state (declared, transactional-state, custom), as the encoded bytes that came.
    Other(Box<[u8]>),
}

/// The fields of the modified outcome.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Modified {
    /// Count the transfer as an unsuccessful attempt.
    pub delivery_failed: bool,
    /// Do not deliver to this link again.
    pub undeliverable_here: bool,
    /// To be merged into the message's annotations.
    pub message_annotations: Option<Map>,
}

impl DeliveryState {
    /// Whether this is a terminal outcome (accepted, rejected, released, modified).
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Accepted | Self::Rejected(_) | Self::Released | Self::Modified(_))
    }

    /// Reads a described state.
    ///
    /// # Errors
    /// If it is not described, or a state of part 3 is malformed.
    pub fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut state = decoder.clone();
        match state.read_descriptor()?.code() {
            Some(RECEIVED) => {
                let mut fields = decoder.described_fields("received", 2)?;
                let section_number = fields.mandatory("section-number", Decoder::read_uint)?;
                let section_offset = fields.mandatory("section-offset", Decoder::read_ulong)?;
                fields.finish()?;
                Ok(Self::Received { section_number, section_offset })
            }
            Some(ACCEPTED) => decoder.described_fields("accepted", 0)?.finish().map(|()| Self::Accepted),
            Some(REJECTED) => {
                let mut fields = decoder.described_fields("rejected", 1)?;
                let error = fields.optional(ErrorCondition::decode)?;
                fields.finish()?;
                Ok(Self::Rejected(error.map(Box::new)))
            }
            Some(RELEASED) => decoder.described_fields("released", 0)?.finish().map(|()| Self::Released),
            Some(MODIFIED) => Ok(Self::Modified(Box::new(Modified::decode(decoder)?))),
            _ => Ok(Self::Other(decoder.read_raw()?.into())),
        }
    }

    /// Appends the described state.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Accepted => empty(out, ACCEPTED),
            Self::Released => empty(out, RELEASED),
            Self::Rejected(None) => empty(out, REJECTED),
            Self::Rejected(Some(error)) => {
                let mut list = ListEncoder::described(out, REJECTED);
                list.field(|out| error.encode(out));
                list.finish();
            }
            Self::Received { section_number, section_offset } => {
                let mut list = ListEncoder::described(out, RECEIVED);
                list.field(|out| encode::uint(out, *section_number));
                list.field(|out| encode::ulong(out, *section_offset));
                list.finish();
            }
            Self::Modified(modified) => modified.encode(out),
            Self::Other(raw) => out.extend_from_slice(raw),
        }
    }
}

fn empty(out: &mut Vec<u8>, code: u64) {
    out.extend_from_slice(&[format::DESCRIBED, format::SMALL_ULONG, code as u8, format::LIST_0]);
}

impl Modified {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.described_fields("modified", 3)?;
        let modified = Self {
            delivery_failed: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            undeliverable_here: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            message_annotations: fields.optional(Decoder::read_owned_map)?,
        };
        fields.finish()?;
        Ok(modified)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, MODIFIED);
        list.flag(self.delivery_failed);
        list.flag(self.undeliverable_here);
        list.optional(self.message_annotations.as_ref(), |out, map| map.encode(out));
        list.finish();
    }
}
