//! Transfer (section 2.7.5).

use super::ReceiverSettleMode;
use crate::codec::{Decoder, ListEncoder, ReadFields, WriteFields};
use crate::{DecodeError, DeliveryState, descriptor};

/// Transfers a message or a part of it; the payload follows the performative.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Transfer<'a> {
    /// The sender's handle for the link.
    pub handle: u32,
    /// The delivery's id in the session; mandatory in its first transfer.
    pub delivery_id: Option<u32>,
    /// Identifies the delivery on its link, at most 32 bytes; mandatory in its first transfer.
    pub delivery_tag: Option<&'a [u8]>,
    /// The message's format, 0 for AMQP's own; mandatory in its first transfer.
    pub message_format: Option<u32>,
    /// The sender has settled the delivery; if absent as in the transfer before, or false.
    pub settled: Option<bool>,
    /// More transfers of this delivery follow.
    pub more: bool,
    /// The receiver is to settle in this mode.
    pub rcv_settle_mode: Option<ReceiverSettleMode>,
    /// The delivery's state at the sender.
    pub state: Option<DeliveryState>,
    /// A delivery of a link attached before is resumed.
    pub resume: bool,
    /// The delivery is given up.
    pub aborted: bool,
    /// The peer need not hurry with its disposition.
    pub batchable: bool,
}

/// How a sender wants a delivery dealt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// The receiver is to settle in this mode; if absent in that of the link.
    pub rcv_settle_mode: Option<ReceiverSettleMode>,
    /// The peer need not hurry with its disposition.
    pub batchable: bool,
    /// It goes on with a delivery that was begun before the link was attached anew.
    pub resume: bool,
}

impl<'a> Transfer<'a> {
    /// How its sender wants the delivery dealt with.
    #[inline]
    pub fn manner(&self) -> Manner {
        Manner { rcv_settle_mode: self.rcv_settle_mode, batchable: self.batchable, resume: self.resume }
    }

    pub(super) fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("transfer", 11)?;
        let transfer = Self::read(&mut fields)?;
        fields.finish()?;
        Ok(transfer)
    }

    #[inline(always)]
    pub(super) fn read<F: ReadFields<'a>>(fields: &mut F) -> Result<Self, F::Error> {
        Ok(Self {
            handle: fields.mandatory_uint("handle")?,
            delivery_id: fields.uint()?,
            delivery_tag: fields.binary()?,
            message_format: fields.uint()?,
            settled: fields.boolean()?,
            more: fields.flag()?,
            rcv_settle_mode: ReceiverSettleMode::read(fields)?,
            state: fields.state()?,
            resume: fields.flag()?,
            aborted: fields.flag()?,
            batchable: fields.flag()?,
        })
    }

    /// Appends the performative, without payload. See [`crate::frame::write_transfer`] for the whole frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::TRANSFER);
        self.write(&mut list);
        list.finish();
    }

    #[inline(always)]
    pub(crate) fn write(&self, fields: &mut impl WriteFields) {
        fields.uint(Some(self.handle));
        fields.uint(self.delivery_id);
        fields.binary(self.delivery_tag);
        fields.uint(self.message_format);
        fields.boolean(self.settled);
        fields.flag(self.more);
        fields.ubyte(self.rcv_settle_mode.map(|mode| mode as u8));
        fields.state(self.state.as_ref());
        fields.flag(self.resume);
        fields.flag(self.aborted);
        fields.flag(self.batchable);
    }
}
