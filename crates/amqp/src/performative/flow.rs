//! Flow (section 2.7.4).

use crate::codec::{Decoder, ListEncoder, encode};
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
    #[inline]
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("flow", 11)?;
        let flow = Self {
            next_incoming_id: fields.optional(Decoder::read_uint)?,
            incoming_window: fields.mandatory("incoming-window", Decoder::read_uint)?,
            next_outgoing_id: fields.mandatory("next-outgoing-id", Decoder::read_uint)?,
            outgoing_window: fields.mandatory("outgoing-window", Decoder::read_uint)?,
            handle: fields.optional(Decoder::read_uint)?,
            delivery_count: fields.optional(Decoder::read_uint)?,
            link_credit: fields.optional(Decoder::read_uint)?,
            available: fields.optional(Decoder::read_uint)?,
            drain: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            echo: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            properties: fields.optional(Decoder::read_owned_map)?.map(Box::new),
        };
        fields.finish()?;
        Ok(flow)
    }

    /// Appends the performative. A link's drain is written even when false, as the old router does.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::FLOW);
        list.optional(self.next_incoming_id, encode::uint);
        list.field(|out| encode::uint(out, self.incoming_window));
        list.field(|out| encode::uint(out, self.next_outgoing_id));
        list.field(|out| encode::uint(out, self.outgoing_window));
        list.optional(self.handle, encode::uint);
        list.optional(self.delivery_count, encode::uint);
        list.optional(self.link_credit, encode::uint);
        list.optional(self.available, encode::uint);
        list.optional((self.drain || self.handle.is_some()).then_some(self.drain), encode::boolean);
        list.flag(self.echo);
        list.optional(self.properties.as_deref(), |out, map| map.encode(out));
        list.finish();
    }
}
