//! What a queue must know of a message, read once from its bytes when it arrives.

mod keys;
mod read;

pub use keys::Wanted;
pub(crate) use read::{DELIVERY_DELAY, DELIVERY_TIME, millis, time as time_of};

use crate::ids::Millis;
use crate::wire::{CodecError, Put, Reader};
use std::sync::Arc;

/// The longest group-id, key or id that counts, in bytes; a longer one is as if it were not there.
pub const MAX_NAME: usize = 1024;

/// What a queue must know of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Bytes of the message.
    pub size: u64,
    /// The header's: 0 to 255, 4 if it does not say.
    pub priority: u8,
    /// The header's.
    pub durable: bool,
    /// The header's: unsuccessful deliveries before it came here.
    pub delivery_count: u32,
    /// When it expires: the earlier of the header's ttl from now and the absolute-expiry-time. A ttl too large to be added
    /// to now is one without end.
    pub expires_at: Option<Millis>,
    /// Not to be delivered before: `x-opt-delivery-time`, or `x-opt-delivery-delay` from now.
    pub deliver_at: Option<Millis>,
    /// The group-id.
    pub group: Option<Arc<str>>,
    /// By what it is known to be a duplicate.
    pub duplicate_id: Option<Arc<[u8]>>,
    /// Values of the properties that last-value queues asked for, by name.
    pub keys: Vec<(Arc<str>, Arc<[u8]>)>,
}

/// A message that cannot be enqueued, for it is no AMQP message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message is malformed: {0}")]
pub struct Malformed(#[from] pub amqp::DecodeError);

impl Facts {
    /// A message of so many bytes that says nothing of itself.
    pub fn plain(size: u64) -> Self {
        Self {
            size,
            priority: crate::ids::DEFAULT_PRIORITY,
            durable: false,
            delivery_count: 0,
            expires_at: None,
            deliver_at: None,
            group: None,
            duplicate_id: None,
            keys: Vec::new(),
        }
    }

    pub(crate) fn key(&self, name: &str) -> Option<&Arc<[u8]>> {
        self.keys.iter().find(|(key, _)| &**key == name).map(|(_, value)| value)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        const DURABLE: u8 = 1;
        const COUNT: u8 = 2;
        const EXPIRES: u8 = 4;
        const DELIVER: u8 = 8;
        const GROUP: u8 = 16;
        const DUPLICATE: u8 = 32;
        const KEYS: u8 = 64;
        let mut flags = 0;
        let mut flag = |set: bool, flag: u8| flags |= if set { flag } else { 0 };
        flag(self.durable, DURABLE);
        flag(self.delivery_count > 0, COUNT);
        flag(self.expires_at.is_some(), EXPIRES);
        flag(self.deliver_at.is_some(), DELIVER);
        flag(self.group.is_some(), GROUP);
        flag(self.duplicate_id.is_some(), DUPLICATE);
        flag(!self.keys.is_empty(), KEYS);
        out.byte(flags);
        out.byte(self.priority);
        out.number(self.size);
        if self.delivery_count > 0 {
            out.number(self.delivery_count.into());
        }
        self.expires_at.into_iter().chain(self.deliver_at).for_each(|time| out.number(time));
        if let Some(group) = &self.group {
            out.text(group);
        }
        if let Some(id) = &self.duplicate_id {
            out.bytes(id);
        }
        if !self.keys.is_empty() {
            out.number(self.keys.len() as u64);
            for (name, value) in &self.keys {
                out.text(name);
                out.bytes(value);
            }
        }
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let flags = reader.byte()?;
        let has = |flag: u8| flags & flag != 0;
        if has(128) {
            return Err(reader.wrong("facts of a message"));
        }
        let mut facts = Self { durable: has(1), priority: reader.byte()?, ..Self::plain(reader.number()?) };
        if has(2) {
            facts.delivery_count = reader.small()?;
        }
        facts.expires_at = has(4).then(|| reader.number()).transpose()?;
        facts.deliver_at = has(8).then(|| reader.number()).transpose()?;
        facts.group = has(16).then(|| reader.shared_text()).transpose()?;
        facts.duplicate_id = has(32).then(|| reader.bytes()).transpose()?.map(Arc::from);
        if has(64) {
            for _ in 0..reader.count()? {
                facts.keys.push((reader.shared_text()?, reader.bytes()?.into()));
            }
        }
        Ok(facts)
    }
}
