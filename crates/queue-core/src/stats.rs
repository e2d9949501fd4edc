//! Counting what happens in queues.

use crate::ids::Millis;
use crate::wire::{CodecError, Put, Reader};

/// What has happened in a queue since it was made. Replicated: restarts do not reset it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    /// Messages that came in, moved ones too.
    pub enqueued: u64,
    /// Their bytes.
    pub enqueued_bytes: u64,
    /// Messages that consumers accepted.
    pub accepted: u64,
    /// Messages that consumers rejected.
    pub rejected: u64,
    /// Deliveries that failed.
    pub failed: u64,
    /// Messages that went to the dead-letter address.
    pub dead_lettered: u64,
    /// Messages that expired, whether there is an expiry address or not.
    pub expired: u64,
    /// Messages that were dropped: rejected or too many, without an address to go to.
    pub dropped: u64,
    /// Messages whose place was taken by a newer one of the same key.
    pub replaced: u64,
    /// Messages that were removed by hand.
    pub purged: u64,
    /// Messages that were moved elsewhere by hand.
    pub moved: u64,
    /// Messages that were not taken for they were known.
    pub duplicates: u64,
    /// Messages that were not taken for the queue was full.
    pub refused: u64,
}

impl Totals {
    fn fields(&mut self) -> [&mut u64; 13] {
        [
            &mut self.enqueued,
            &mut self.enqueued_bytes,
            &mut self.accepted,
            &mut self.rejected,
            &mut self.failed,
            &mut self.dead_lettered,
            &mut self.expired,
            &mut self.dropped,
            &mut self.replaced,
            &mut self.purged,
            &mut self.moved,
            &mut self.duplicates,
            &mut self.refused,
        ]
    }

    pub(crate) fn encode(mut self, out: &mut Vec<u8>) {
        let fields = self.fields();
        out.number(fields.len() as u64);
        fields.into_iter().for_each(|field| out.number(*field));
    }

    /// Counts that are not known are passed over, those that are missing are 0.
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let mut totals = Self::default();
        let count = reader.count()?;
        for at in 0..count {
            let value = reader.number()?;
            if let Some(field) = totals.fields().get_mut(at) {
                **field = value;
            }
        }
        Ok(totals)
    }
}

/// How a queue is now, and what has happened in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Messages in it, held ones too.
    pub depth: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of them consumers hold.
    pub acquired: u64,
    /// How many of them are not due yet.
    pub delayed: u64,
    /// Consumers, browsers included.
    pub consumers: u64,
    /// It has reached a limit, and has little room since.
    pub full: bool,
    /// When the oldest message came.
    pub oldest: Option<Millis>,
    /// What has happened since it was made.
    pub totals: Totals,
    /// Deliveries since the start.
    pub delivered: u64,
    /// Of these, deliveries of messages that had been delivered before.
    pub redelivered: u64,
}
