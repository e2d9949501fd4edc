//! The model of queues: lists.

use queue_core::*;
use std::collections::BTreeMap;

/// A message. Its size is its name.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: u64,
    /// The priority by which it is ordered.
    pub(crate) level: u8,
    pub(crate) priority: u8,
    /// Its place.
    pub(crate) seq: Seq,
    pub(crate) arrived: Millis,
    pub(crate) expires: Option<Millis>,
    pub(crate) due: Option<Millis>,
    pub(crate) failed: u32,
    pub(crate) group: Option<String>,
    /// What last-value queues know it by, with the name of the property.
    pub(crate) key: Option<(String, String)>,
    /// Address, reason, count; the last first.
    pub(crate) deaths: Vec<(String, Reason, u32)>,
    pub(crate) undeliverable: Vec<String>,
    /// Number of the consumer.
    pub(crate) holder: Option<usize>,
    /// A command to remove it, for it has expired, is under way.
    pub(crate) aside: bool,
    /// It has been held.
    pub(crate) returned: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(crate) id: QueueId,
    pub(crate) settings: QueueSettings,
    pub(crate) messages: Vec<Message>,
    /// Ids of messages by which duplicates are known, and when they came.
    pub(crate) known: Vec<(Millis, String)>,
    /// How many messages have come at each level.
    pub(crate) came: [u64; 10],
}

/// All queues by address, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    pub(crate) all: BTreeMap<String, Queue>,
    /// The queues that are bound to the one topic there is.
    pub(crate) topic: Option<TopicId>,
    pub(crate) now: Millis,
    /// Messages on their way from a queue to another: where they come from and why.
    pub(crate) dead: Vec<(String, QueueSettings, Message, Reason)>,
}

pub(crate) const TOPIC: &str = "t";

impl Queue {
    pub(crate) fn new(id: QueueId, settings: QueueSettings) -> Self {
        Self { id, settings, messages: Vec::new(), known: Vec::new(), came: [0; 10] }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.messages.iter().map(|message| message.id).sum()
    }

    pub(crate) fn is_beyond(&self, messages: u64, bytes: u64) -> bool {
        self.settings.max_messages.is_some_and(|most| self.messages.len() as u64 + messages > most)
            || self.settings.max_bytes.is_some_and(|most| self.bytes() + bytes > most)
    }

    pub(crate) fn is_full(&self, messages: u64, bytes: u64) -> bool {
        self.settings.overflow == Overflow::Reject && self.is_beyond(messages, bytes)
    }

    pub(crate) fn position(&self, seq: Seq) -> Option<usize> {
        self.messages.iter().position(|message| message.seq == seq)
    }

    /// Forgets ids that are too old or too many; whether this one is known then.
    pub(crate) fn knows(&mut self, id: &str, now: Millis) -> bool {
        self.forget(now);
        self.settings.duplicate_count > 0 && self.known.iter().any(|(_, known)| known == id)
    }

    pub(crate) fn learn(&mut self, id: &str, now: Millis) {
        if self.settings.duplicate_count > 0 && !self.known.iter().any(|(_, known)| known == id) {
            self.known.push((now, id.to_owned()));
        }
        self.forget(now);
    }

    fn forget(&mut self, now: Millis) {
        let time = self.settings.duplicate_time;
        while let Some((came, _)) = self.known.first()
            && (time > 0 && came + time <= now || self.known.len() > self.settings.duplicate_count as usize)
        {
            self.known.remove(0);
        }
    }

    pub(crate) fn expiry(&self, now: Millis, own: Option<Millis>) -> Option<Millis> {
        let own = own.or(self.settings.default_ttl.map(|ttl| now + ttl));
        let most = self.settings.max_ttl.map(|ttl| now + ttl);
        own.into_iter().chain(most).min()
    }

    pub(crate) fn has_key(&self, message: &Message) -> bool {
        let name = self.settings.last_value_key.as_deref();
        message.key.as_ref().is_some_and(|(of, _)| Some(of.as_str()) == name)
    }
}

impl Queues {
    pub(crate) fn by_id(&self, id: QueueId) -> Option<String> {
        self.all.iter().find(|(_, queue)| queue.id == id).map(|(address, _)| address.clone())
    }
}
