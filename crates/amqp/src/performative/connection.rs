//! Open and close (sections 2.7.1 and 2.7.9).

use crate::codec::{Decoder, ListEncoder, encode};
use crate::{DecodeError, ErrorCondition, Map, Symbol, descriptor};

/// Negotiates the parameters of a connection. The default has an empty container id and no limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// The name of the sending container.
    pub container_id: String,
    /// The host that it wants to reach.
    pub hostname: Option<String>,
    /// Bytes; `u32::MAX` when the field is absent.
    pub max_frame_size: u32,
    /// The highest channel number that it accepts.
    pub channel_max: u16,
    /// Milliseconds.
    pub idle_time_out: Option<u32>,
    /// Locales for the texts it sends.
    pub outgoing_locales: Vec<Symbol>,
    /// Locales it would like to get.
    pub incoming_locales: Vec<Symbol>,
    /// Extensions that it supports.
    pub offered_capabilities: Vec<Symbol>,
    /// Extensions that it would use.
    pub desired_capabilities: Vec<Symbol>,
    /// More about it.
    pub properties: Option<Map>,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            container_id: String::new(),
            hostname: None,
            max_frame_size: u32::MAX,
            channel_max: u16::MAX,
            idle_time_out: None,
            outgoing_locales: Vec::new(),
            incoming_locales: Vec::new(),
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
        }
    }
}

impl Open {
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("open", 10)?;
        let open = Self {
            container_id: fields.mandatory("container-id", Decoder::read_str)?.to_owned(),
            hostname: fields.optional(Decoder::read_str)?.map(str::to_owned),
            max_frame_size: fields.optional(Decoder::read_uint)?.unwrap_or(u32::MAX),
            channel_max: fields.optional(Decoder::read_ushort)?.unwrap_or(u16::MAX),
            idle_time_out: fields.optional(Decoder::read_uint)?,
            outgoing_locales: fields.symbols()?,
            incoming_locales: fields.symbols()?,
            offered_capabilities: fields.symbols()?,
            desired_capabilities: fields.symbols()?,
            properties: fields.optional(Decoder::read_owned_map)?,
        };
        fields.finish()?;
        Ok(open)
    }

    /// Appends the performative.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::OPEN);
        list.field(|out| encode::string(out, &self.container_id));
        list.optional(self.hostname.as_deref(), encode::string);
        list.optional((self.max_frame_size != u32::MAX).then_some(self.max_frame_size), encode::uint);
        list.optional((self.channel_max != u16::MAX).then_some(self.channel_max), encode::ushort);
        list.optional(self.idle_time_out, encode::uint);
        list.symbols(&self.outgoing_locales);
        list.symbols(&self.incoming_locales);
        list.symbols(&self.offered_capabilities);
        list.symbols(&self.desired_capabilities);
        list.optional(self.properties.as_ref(), |out, map| map.encode(out));
        list.finish();
    }
}

/// Closes a connection.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Close {
    /// Why, unless it is the ordinary end.
    pub error: Option<ErrorCondition>,
}

impl Close {
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("close", 1)?;
        let error = fields.optional(ErrorCondition::decode)?;
        fields.finish()?;
        Ok(Self { error })
    }

    /// Appends the performative.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::CLOSE);
        list.optional(self.error.as_ref(), |out, error| error.encode(out));
        list.finish();
    }
}
