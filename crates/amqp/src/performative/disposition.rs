//! Disposition (section 2.7.6).

use super::Role;
use crate::codec::{Decoder, ListEncoder, encode};
use crate::{DecodeError, DeliveryState, descriptor};

/// Tells the state of a range of deliveries.
#[derive(Clone, Debug, PartialEq)]
pub struct Disposition {
    /// Which end of the link sends this frame.
    pub role: Role,
    /// The first delivery id.
    pub first: u32,
    /// The last delivery id; absent if there is only the first.
    pub last: Option<u32>,
    /// The deliveries are settled.
    pub settled: bool,
    /// Their state.
    pub state: Option<DeliveryState>,
    /// The peer need not hurry with its own disposition.
    pub batchable: bool,
}

impl Disposition {
    #[inline]
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("disposition", 6)?;
        let disposition = Self {
            role: fields.mandatory("role", Role::decode)?,
            first: fields.mandatory("first", Decoder::read_uint)?,
            last: fields.optional(Decoder::read_uint)?,
            settled: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            state: fields.optional(DeliveryState::decode)?,
            batchable: fields.optional(Decoder::read_bool)?.unwrap_or(false),
        };
        fields.finish()?;
        Ok(disposition)
    }

    /// Appends the performative.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::DISPOSITION);
        list.field(|out| encode::boolean(out, self.role.is_receiver()));
        list.field(|out| encode::uint(out, self.first));
        list.optional(self.last, encode::uint);
        list.flag(self.settled);
        list.optional(self.state.as_ref(), |out, state| state.encode(out));
        list.flag(self.batchable);
        list.finish();
    }
}
