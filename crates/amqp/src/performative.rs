//! The nine performatives (part 2, section 2.7).

use crate::terminus::{Source, TargetTerminus};
use crate::{DeliveryState, ErrorCondition, Map, Symbol};

/// The role of the peer that sends a frame: `Sender` = false on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role { Sender, Receiver }

/// Settlement policy of a sender (section 2.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SenderSettleMode { Unsettled = 0, Settled = 1, #[default] Mixed = 2 }

/// Settlement policy of a receiver (section 2.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReceiverSettleMode { #[default] First = 0, Second = 1 }

/// A decoded performative. Only a transfer borrows, from the frame it came in.
#[derive(Clone, Debug, PartialEq)]
pub enum Performative<'a> {
    Open(Box<Open>),
    Begin(Begin),
    Attach(Box<Attach>),
    Flow(Flow),
    Transfer(Transfer<'a>),
    Disposition(Disposition),
    Detach(Detach),
    End(End),
    Close(Close),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    pub container_id: String,
    pub hostname: Option<String>,
    /// Bytes; `u32::MAX` when the field is absent.
    pub max_frame_size: u32,
    pub channel_max: u16,
    /// Milliseconds.
    pub idle_time_out: Option<u32>,
    pub outgoing_locales: Vec<Symbol>,
    pub incoming_locales: Vec<Symbol>,
    pub offered_capabilities: Vec<Symbol>,
    pub desired_capabilities: Vec<Symbol>,
    pub properties: Option<Map>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Begin {
    pub remote_channel: Option<u16>,
    pub next_outgoing_id: u32,
    pub incoming_window: u32,
    pub outgoing_window: u32,
    /// `u32::MAX` when absent.
    pub handle_max: u32,
    pub offered_capabilities: Vec<Symbol>,
    pub desired_capabilities: Vec<Symbol>,
    pub properties: Option<Map>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Attach {
    pub name: String,
    pub handle: u32,
    pub role: Role,
    pub snd_settle_mode: SenderSettleMode,
    pub rcv_settle_mode: ReceiverSettleMode,
    pub source: Option<Source>,
    pub target: Option<TargetTerminus>,
    pub unsettled: Option<Map>,
    pub incomplete_unsettled: bool,
    pub initial_delivery_count: Option<u32>,
    /// Bytes; 0 or absent: no limit.
    pub max_message_size: Option<u64>,
    pub offered_capabilities: Vec<Symbol>,
    pub desired_capabilities: Vec<Symbol>,
    pub properties: Option<Map>,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Flow {
    pub next_incoming_id: Option<u32>,
    pub incoming_window: u32,
    pub next_outgoing_id: u32,
    pub outgoing_window: u32,
    pub handle: Option<u32>,
    pub delivery_count: Option<u32>,
    pub link_credit: Option<u32>,
    pub available: Option<u32>,
    pub drain: bool,
    pub echo: bool,
    pub properties: Option<Box<Map>>,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Transfer<'a> {
    pub handle: u32,
    pub delivery_id: Option<u32>,
    pub delivery_tag: Option<&'a [u8]>,
    pub message_format: Option<u32>,
    pub settled: Option<bool>,
    pub more: bool,
    pub rcv_settle_mode: Option<ReceiverSettleMode>,
    pub state: Option<DeliveryState>,
    pub resume: bool,
    pub aborted: bool,
    pub batchable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Disposition {
    pub role: Role,
    pub first: u32,
    pub last: Option<u32>,
    pub settled: bool,
    pub state: Option<DeliveryState>,
    pub batchable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Detach { pub handle: u32, pub closed: bool, pub error: Option<ErrorCondition> }

#[derive(Clone, Debug, PartialEq, Default)]
pub struct End { pub error: Option<ErrorCondition> }

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Close { pub error: Option<ErrorCondition> }
// Helper to write:
//   impl<'a> Performative<'a> { pub fn decode(body: &'a [u8]) -> Result<(Performative<'a>, &'a [u8] /* payload */), DecodeError> }
//   pub fn encode(&self, out: &mut Vec<u8>) on every struct (body only; `frame::write_frame` adds the frame header).
//   Default for Open/Begin/Attach where that helps builders.
