//! Begin and end (sections 2.7.2 and 2.7.8).

use crate::codec::{Decoder, ListEncoder, encode};
use crate::{DecodeError, ErrorCondition, Map, Symbol, descriptor};

/// Begins a session. The default has windows of 0 and no limit of handles.
#[derive(Clone, Debug, PartialEq)]
pub struct Begin {
    /// The channel of the begin that this answers.
    pub remote_channel: Option<u16>,
    /// The id of the sender's first transfer frame.
    pub next_outgoing_id: u32,
    /// Transfer frames that the sender accepts.
    pub incoming_window: u32,
    /// Transfer frames that the sender can send.
    pub outgoing_window: u32,
    /// The highest handle that it accepts; `u32::MAX` when absent.
    pub handle_max: u32,
    /// Extensions that it supports.
    pub offered_capabilities: Vec<Symbol>,
    /// Extensions that it would use.
    pub desired_capabilities: Vec<Symbol>,
    /// More about it.
    pub properties: Option<Map>,
}

impl Default for Begin {
    fn default() -> Self {
        Self {
            remote_channel: None,
            next_outgoing_id: 0,
            incoming_window: 0,
            outgoing_window: 0,
            handle_max: u32::MAX,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
        }
    }
}

impl Begin {
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("begin", 8)?;
        let begin = Self {
            remote_channel: fields.optional(Decoder::read_ushort)?,
            next_outgoing_id: fields.mandatory("next-outgoing-id", Decoder::read_uint)?,
            incoming_window: fields.mandatory("incoming-window", Decoder::read_uint)?,
            outgoing_window: fields.mandatory("outgoing-window", Decoder::read_uint)?,
            handle_max: fields.optional(Decoder::read_uint)?.unwrap_or(u32::MAX),
            offered_capabilities: fields.symbols()?,
            desired_capabilities: fields.symbols()?,
            properties: fields.optional(Decoder::read_owned_map)?,
        };
        fields.finish()?;
        Ok(begin)
    }

    /// Appends the performative.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::BEGIN);
        list.optional(self.remote_channel, encode::ushort);
        list.field(|out| encode::uint(out, self.next_outgoing_id));
        list.field(|out| encode::uint(out, self.incoming_window));
        list.field(|out| encode::uint(out, self.outgoing_window));
        list.optional((self.handle_max != u32::MAX).then_some(self.handle_max), encode::uint);
        list.symbols(&self.offered_capabilities);
        list.symbols(&self.desired_capabilities);
        list.optional(self.properties.as_ref(), |out, map| map.encode(out));
        list.finish();
    }
}

/// Ends a session.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct End {
    /// Why, unless it is the ordinary end.
    pub error: Option<ErrorCondition>,
}

impl End {
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("end", 1)?;
        let error = fields.optional(ErrorCondition::decode)?;
        fields.finish()?;
        Ok(Self { error })
    }

    /// Appends the performative.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::END);
        list.optional(self.error.as_ref(), |out, error| error.encode(out));
        list.finish();
    }
}
