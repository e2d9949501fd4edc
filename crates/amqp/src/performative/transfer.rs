//! Transfer (section 2.7.5).

use super::ReceiverSettleMode;
use crate::codec::{Decoder, ListEncoder, encode};
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

impl<'a> Transfer<'a> {
    #[inline]
    pub(super) fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("transfer", 11)?;
        let transfer = Self {
            handle: fields.mandatory("handle", Decoder::read_uint)?,
            delivery_id: fields.optional(Decoder::read_uint)?,
            delivery_tag: fields.optional(Decoder::read_binary)?,
            message_format: fields.optional(Decoder::read_uint)?,
            settled: fields.optional(Decoder::read_bool)?,
            more: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            rcv_settle_mode: ReceiverSettleMode::decode_field(&mut fields)?,
            state: fields.optional(DeliveryState::decode)?,
            resume: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            aborted: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            batchable: fields.optional(Decoder::read_bool)?.unwrap_or(false),
        };
        fields.finish()?;
        Ok(transfer)
    }

    /// Appends the performative, without payload. See [`crate::frame::write_transfer`] for the whole frame.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::TRANSFER);
        list.field(|out| encode::uint(out, self.handle));
        list.optional(self.delivery_id, encode::uint);
        list.optional(self.delivery_tag, encode::binary);
        list.optional(self.message_format, encode::uint);
        list.optional(self.settled, encode::boolean);
        list.flag(self.more);
        list.optional(self.rcv_settle_mode, |out, mode| encode::ubyte(out, mode as u8));
        list.optional(self.state.as_ref(), |out, state| state.encode(out));
        list.flag(self.resume);
        list.flag(self.aborted);
        list.flag(self.batchable);
        list.finish();
    }
}
