//! Attach and detach (sections 2.7.3 and 2.7.7).

use super::{ReceiverSettleMode, Role, SenderSettleMode};
use crate::codec::{Decoder, ListEncoder, encode};
use crate::terminus::{Source, TargetTerminus};
use crate::{DecodeError, ErrorCondition, Map, Symbol, descriptor};

/// Attaches a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Attach {
    /// The link's name, unique for both containers and the direction.
    pub name: String,
    /// The sender's handle for it in this session.
    pub handle: u32,
    /// Which end of the link sends this frame.
    pub role: Role,
    /// The sending end's settlement policy.
    pub snd_settle_mode: SenderSettleMode,
    /// The receiving end's settlement policy.
    pub rcv_settle_mode: ReceiverSettleMode,
    /// Where messages come from; absent in the answer that refuses a link.
    pub source: Option<Source>,
    /// Where messages go to; absent in the answer that refuses a link.
    pub target: Option<TargetTerminus>,
    /// Delivery tags and states of the deliveries that the end holds for unsettled.
    pub unsettled: Option<Map>,
    /// Not all of them are listed.
    pub incomplete_unsettled: bool,
    /// Where the sender's delivery-count begins. The sending end must give it; the old router takes 0 where it does not.
    pub initial_delivery_count: Option<u32>,
    /// Bytes; 0 or absent: no limit.
    pub max_message_size: Option<u64>,
    /// Extensions that the end supports.
    pub offered_capabilities: Vec<Symbol>,
    /// Extensions that it would use.
    pub desired_capabilities: Vec<Symbol>,
    /// More about the link.
    pub properties: Option<Map>,
}

impl Attach {
    /// An attach with only what is mandatory, everything else at its default.
    pub fn new(name: impl Into<String>, handle: u32, role: Role) -> Self {
        Self {
            name: name.into(),
            handle,
            role,
            snd_settle_mode: SenderSettleMode::default(),
            rcv_settle_mode: ReceiverSettleMode::default(),
            source: None,
            target: None,
            unsettled: None,
            incomplete_unsettled: false,
            initial_delivery_count: (role == Role::Sender).then_some(0),
            max_message_size: None,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
        }
    }

    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("attach", 14)?;
        let name = fields.mandatory("name", Decoder::read_str)?.to_owned();
        let handle = fields.mandatory("handle", Decoder::read_uint)?;
        let role = Role::read(&mut fields)?;
        let attach = Self {
            name,
            handle,
            role,
            snd_settle_mode: SenderSettleMode::read(&mut fields)?,
            rcv_settle_mode: ReceiverSettleMode::read(&mut fields)?.unwrap_or_default(),
            source: fields.optional(Source::decode)?,
            target: fields.optional(TargetTerminus::decode)?,
            unsettled: fields.optional(Decoder::read_owned_map)?,
            incomplete_unsettled: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            initial_delivery_count: fields.optional(Decoder::read_uint)?,
            max_message_size: fields.optional(Decoder::read_ulong)?,
            offered_capabilities: fields.symbols()?,
            desired_capabilities: fields.symbols()?,
            properties: fields.optional(Decoder::read_owned_map)?,
        };
        fields.finish()?;
        Ok(attach)
    }

    /// Appends the performative.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::ATTACH);
        list.field(|out| encode::string(out, &self.name));
        list.field(|out| encode::uint(out, self.handle));
        list.field(|out| encode::boolean(out, self.role.is_receiver()));
        list.field(|out| encode::ubyte(out, self.snd_settle_mode as u8));
        list.field(|out| encode::ubyte(out, self.rcv_settle_mode as u8));
        list.optional(self.source.as_ref(), |out, source| source.encode(out));
        list.optional(self.target.as_ref(), |out, target| target.encode(out));
        list.optional(self.unsettled.as_ref(), |out, map| map.encode(out));
        list.flag(self.incomplete_unsettled);
        list.optional(self.initial_delivery_count, encode::uint);
        list.optional(self.max_message_size, encode::ulong);
        list.symbols(&self.offered_capabilities);
        list.symbols(&self.desired_capabilities);
        list.optional(self.properties.as_ref(), |out, map| map.encode(out));
        list.finish();
    }
}

/// Detaches a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Detach {
    /// The sender's handle for the link.
    pub handle: u32,
    /// The link is closed for good, its terminus gone.
    pub closed: bool,
    /// Why, unless it is the ordinary end.
    pub error: Option<ErrorCondition>,
}

impl Detach {
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("detach", 3)?;
        let detach = Self {
            handle: fields.mandatory("handle", Decoder::read_uint)?,
            closed: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            error: fields.optional(ErrorCondition::decode)?,
        };
        fields.finish()?;
        Ok(detach)
    }

    /// Appends the performative.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::DETACH);
        list.field(|out| encode::uint(out, self.handle));
        list.flag(self.closed);
        list.optional(self.error.as_ref(), |out, error| error.encode(out));
        list.finish();
    }
}
