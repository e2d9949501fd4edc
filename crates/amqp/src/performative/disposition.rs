//! Disposition (section 2.7.6).

use super::Role;
use crate::codec::{Decoder, ListEncoder, ReadFields, WriteFields};
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
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("disposition", 6)?;
        let disposition = Self::read(&mut fields)?;
        fields.finish()?;
        Ok(disposition)
    }

    #[inline(always)]
    pub(super) fn read<'a, F: ReadFields<'a>>(fields: &mut F) -> Result<Self, F::Error> {
        Ok(Self {
            role: Role::read(fields)?,
            first: fields.mandatory_uint("first")?,
            last: fields.uint()?,
            settled: fields.flag()?,
            state: fields.state()?,
            batchable: fields.flag()?,
        })
    }

    /// Appends the performative.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::DISPOSITION);
        self.write(&mut list);
        list.finish();
    }

    #[inline(always)]
    pub(crate) fn write(&self, fields: &mut impl WriteFields) {
        fields.boolean(Some(self.role.is_receiver()));
        fields.uint(Some(self.first));
        fields.uint(self.last);
        fields.flag(self.settled);
        fields.state(self.state.as_ref());
        fields.flag(self.batchable);
    }
}
