//! Flow (section 2.7.4).

use crate::codec::{Decoder, ListEncoder, ReadFields, WriteFields};
use crate::{DecodeError, Map, descriptor};

/// Updates a session's window and, with a handle, a link's credit.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Flow {
    /// The id of the transfer frame that the sender expects next; absent before it has seen the peer's begin.
    pub next_incoming_id: Option<u32>,
    /// Transfer frames that it accepts from there on.
    pub incoming_window: u32,
    /// The id of its own next transfer frame.
    pub next_outgoing_id: u32,
    /// Transfer frames that it can send from there on.
    pub outgoing_window: u32,
    /// Its handle for the link that the fields below are about.
    pub handle: Option<u32>,
    /// The delivery-count that `link_credit` counts from.
    pub delivery_count: Option<u32>,
    /// Deliveries that may be sent from there on.
    pub link_credit: Option<u32>,
    /// Deliveries that wait for credit.
    pub available: Option<u32>,
    /// Credit is to be used now or given up.
    pub drain: bool,
    /// The peer is asked for its own flow.
    pub echo: bool,
    /// More about the link's state.
    pub properties: Option<Box<Map>>,
}

impl Flow {
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("flow", 11)?;
        let flow = Self::read(&mut fields)?;
        fields.finish()?;
        Ok(flow)
    }

    #[inline(always)]
    pub(super) fn read<'a, F: ReadFields<'a>>(fields: &mut F) -> Result<Self, F::Error> {
        Ok(Self {
            next_incoming_id: fields.uint()?,
            incoming_window: fields.mandatory_uint("incoming-window")?,
            next_outgoing_id: fields.mandatory_uint("next-outgoing-id")?,
            outgoing_window: fields.mandatory_uint("outgoing-window")?,
            handle: fields.uint()?,
            delivery_count: fields.uint()?,
            link_credit: fields.uint()?,
            available: fields.uint()?,
            drain: fields.flag()?,
            echo: fields.flag()?,
            properties: fields.map()?.map(Box::new),
        })
    }

    /// Appends the performative. A link's drain is written even when false, as the old router does.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::FLOW);
        self.write(&mut list);
        list.finish();
    }

    #[inline(always)]
    pub(crate) fn write(&self, fields: &mut impl WriteFields) {
        fields.uint(self.next_incoming_id);
        fields.uint(Some(self.incoming_window));
        fields.uint(Some(self.next_outgoing_id));
        fields.uint(Some(self.outgoing_window));
        fields.uint(self.handle);
        fields.uint(self.delivery_count);
        fields.uint(self.link_credit);
        fields.uint(self.available);
        fields.boolean((self.drain || self.handle.is_some()).then_some(self.drain));
        fields.flag(self.echo);
        fields.map(self.properties.as_deref());
    }
}
