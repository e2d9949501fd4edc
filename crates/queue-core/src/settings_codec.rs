//! Settings as bytes: what differs from the default, each behind a number of its own, which is never given to another one. A
//! reader that does not know a number refuses the whole: a queue must not behave differently from what was agreed.
//!
//! So a default can never change: what is not written would mean something else from then on.

use crate::ids::TopicId;
use crate::settings::{Lifetime, Overflow, QueueSettings};
use crate::wire::{CodecError, Put, Reader};

impl QueueSettings {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.text(&self.address);
        let mut writer = Writer { out, default: &Self::new("") };
        let w = &mut writer;
        w.flag(1, |s| s.durable, self);
        w.flag(2, |s| s.priorities, self);
        w.number(3, |s| s.max_messages, self);
        w.number(4, |s| s.max_bytes, self);
        w.number(5, |s| Some(s.overflow as u64), self);
        w.number(6, |s| s.default_ttl, self);
        w.number(7, |s| s.max_ttl, self);
        w.text(8, |s| s.expiry_address.as_deref(), self);
        w.text(9, |s| s.dead_letter_address.as_deref(), self);
        w.number(10, |s| Some(s.delivery_limit.into()), self);
        w.number(11, |s| Some(s.redelivery_delay), self);
        w.number(12, |s| Some(s.redelivery_multiplier.into()), self);
        w.number(13, |s| s.max_redelivery_delay, self);
        w.flag(14, |s| s.groups, self);
        w.text(15, |s| s.last_value_key.as_deref(), self);
        w.number(16, |s| Some(s.duplicate_count.into()), self);
        w.number(17, |s| Some(s.duplicate_time), self);
        w.text(18, |s| s.filter.as_deref(), self);
        w.number(19, |s| s.topic.map(|topic| topic.0), self);
        w.flag(20, |s| s.single_active, self);
        w.number(21, |s| s.max_consumers.map(u64::from), self);
        w.flag(22, |s| s.browse_only, self);
        w.number(23, |s| Some(s.lifetime as u64), self);
        w.number(24, |s| Some(s.auto_delete_delay), self);
        w.number(25, |s| s.owner, self);
        w.flag(26, |s| s.auto_created, self);
        w.text(27, |s| s.no_local.as_deref(), self);
        out.byte(0);
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let mut s = Self::new(reader.shared_text()?);
        loop {
            let wrong = reader.wrong("setting of a queue");
            match reader.byte()? {
                0 => return Ok(s),
                1 => s.durable = reader.flag()?,
                2 => s.priorities = reader.flag()?,
                3 => s.max_messages = reader.optional()?,
                4 => s.max_bytes = reader.optional()?,
                5 => s.overflow = overflow(reader)?,
                6 => s.default_ttl = reader.optional()?,
                7 => s.max_ttl = reader.optional()?,
                8 => s.expiry_address = reader.optional_text()?,
                9 => s.dead_letter_address = reader.optional_text()?,
                10 => s.delivery_limit = small(reader)?,
                11 => s.redelivery_delay = present(reader)?,
                12 => s.redelivery_multiplier = small(reader)?,
                13 => s.max_redelivery_delay = reader.optional()?,
                14 => s.groups = reader.flag()?,
                15 => s.last_value_key = reader.optional_text()?,
                16 => s.duplicate_count = small(reader)?,
                17 => s.duplicate_time = present(reader)?,
                18 => s.filter = reader.optional_text()?,
                19 => s.topic = reader.optional()?.map(TopicId),
                20 => s.single_active = reader.flag()?,
                21 => s.max_consumers = reader.optional()?.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
                22 => s.browse_only = reader.flag()?,
                23 => s.lifetime = lifetime(reader)?,
                24 => s.auto_delete_delay = present(reader)?,
                25 => s.owner = reader.optional()?,
                26 => s.auto_created = reader.flag()?,
                27 => s.no_local = reader.optional_text()?,
                _ => return Err(wrong),
            }
        }
    }
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    default: &'a QueueSettings,
}

impl Writer<'_> {
    fn flag(&mut self, tag: u8, field: fn(&QueueSettings) -> bool, settings: &QueueSettings) {
        if field(settings) != field(self.default) {
            self.out.byte(tag);
            self.out.flag(field(settings));
        }
    }

    fn number(&mut self, tag: u8, field: fn(&QueueSettings) -> Option<u64>, settings: &QueueSettings) {
        if field(settings) != field(self.default) {
            self.out.byte(tag);
            self.out.optional(field(settings));
        }
    }

    fn text(&mut self, tag: u8, field: for<'s> fn(&'s QueueSettings) -> Option<&'s str>, settings: &QueueSettings) {
        if field(settings) != field(self.default) {
            self.out.byte(tag);
            self.out.optional_bytes(field(settings).map(str::as_bytes));
        }
    }
}

fn present(reader: &mut Reader<'_>) -> Result<u64, CodecError> {
    let wrong = reader.wrong("number");
    reader.optional()?.ok_or(wrong)
}

fn small(reader: &mut Reader<'_>) -> Result<u32, CodecError> {
    let wrong = reader.wrong("number of 32 bits");
    u32::try_from(present(reader)?).map_err(|_| wrong)
}

fn overflow(reader: &mut Reader<'_>) -> Result<Overflow, CodecError> {
    let wrong = reader.wrong("policy for limits");
    let known = [Overflow::Hold, Overflow::Reject, Overflow::DropHead, Overflow::Ring];
    known.get(present(reader)? as usize).copied().ok_or(wrong)
}

fn lifetime(reader: &mut Reader<'_>) -> Result<Lifetime, CodecError> {
    let wrong = reader.wrong("lifetime policy");
    let known = [Lifetime::Manual, Lifetime::OnClose, Lifetime::Unused, Lifetime::Empty, Lifetime::UnusedAndEmpty];
    known.get(present(reader)? as usize).copied().ok_or(wrong)
}
