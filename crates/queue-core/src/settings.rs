//! How a queue behaves.

use crate::ids::{Millis, TopicId};
use std::sync::Arc;

/// What happens when a queue has reached one of its limits. Written as its ordinal: another one comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Overflow {
    /// Senders get no more credit than there is room ([`Broker::room`](crate::Broker::room)). What comes nevertheless is
    /// taken: a message that had credit is never refused.
    #[default]
    Hold,
    /// The message is refused ([`Refused::Full`](crate::Refused::Full)).
    Reject,
    /// The oldest message leaves for the dead-letter address, or is dropped if there is none.
    DropHead,
    /// The oldest message is dropped.
    Ring,
}

/// When a queue is deleted by itself (the lifetime policies of part 3, sections 3.5.10 to 3.5.13). Written as its ordinal:
/// another one comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lifetime {
    /// Only when somebody asks for it.
    #[default]
    Manual,
    /// When its owner goes ([`Broker::owner_gone`](crate::Broker::owner_gone)).
    OnClose,
    /// When it has no links any more.
    Unused,
    /// When it has no messages any more.
    Empty,
    /// When it has neither links nor messages any more.
    UnusedAndEmpty,
}

/// All settings of a queue. The default is what `queue { address: … }` means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// The address; no two queues have the same.
    pub address: Arc<str>,
    /// It survives a restart. Told to the host only: it logs the commands of such queues, or does not.
    pub durable: bool,
    /// Messages of higher priority go first (0 to 9). If off, messages go in the order of arrival.
    pub priorities: bool,
    /// The most messages it holds.
    pub max_messages: Option<u64>,
    /// The most bytes of messages it holds.
    pub max_bytes: Option<u64>,
    /// What happens at these limits.
    pub overflow: Overflow,
    /// Milliseconds to live of messages that do not say.
    pub default_ttl: Option<Millis>,
    /// The most milliseconds to live of any message.
    pub max_ttl: Option<Millis>,
    /// Where expired messages go; dropped if absent.
    pub expiry_address: Option<Arc<str>>,
    /// Where messages go that are rejected, or have been delivered in vain too often. If absent, rejected messages are
    /// dropped, and there is no limit of deliveries.
    pub dead_letter_address: Option<Arc<str>>,
    /// How many deliveries may fail before a message goes to the dead-letter address. 0: any number.
    pub delivery_limit: u32,
    /// Milliseconds before a message whose delivery failed is delivered again.
    pub redelivery_delay: Millis,
    /// By how much, in percent, this grows from each failed delivery to the next: 100 for not at all.
    pub redelivery_multiplier: u32,
    /// The most it grows to; ten times `redelivery_delay` if absent.
    pub max_redelivery_delay: Option<Millis>,
    /// Messages with a group-id go in order to one consumer, as long as it has unsettled ones of that group.
    pub groups: bool,
    /// A new message takes the place of the older one that has the same value of this application property, or message
    /// annotation if it begins with `x-opt-`, and goes to the tail.
    pub last_value_key: Option<Arc<str>>,
    /// How many ids of messages are remembered, so that one that comes again is taken for a duplicate. 0: none.
    pub duplicate_count: u32,
    /// For how many milliseconds; 0: for as long as they are among those remembered.
    pub duplicate_time: Millis,
    /// A selector that messages must satisfy to be enqueued. Evaluated by the host.
    pub filter: Option<Arc<str>>,
    /// A container whose own messages are not to be enqueued. Told to the host only.
    pub no_local: Option<Arc<str>>,
    /// The topic whose messages come here, too.
    pub topic: Option<TopicId>,
    /// Only one consumer at a time is given messages; when it goes, the next one is.
    pub single_active: bool,
    /// The most consumers that may be attached at once.
    pub max_consumers: Option<u32>,
    /// Every consumer browses.
    pub browse_only: bool,
    /// When it is deleted by itself.
    pub lifetime: Lifetime,
    /// Milliseconds that it must have been unused, or empty, before it is.
    pub auto_delete_delay: Millis,
    /// Whose going deletes it, with [`Lifetime::OnClose`]. A number of the host's.
    pub owner: Option<u64>,
    /// It was made because a dead-letter or expiry address led nowhere ([`QueueSettings::grave`]): nobody has said what it
    /// is to be like.
    pub auto_created: bool,
}

/// How many deliveries may fail if nothing else is said: what Artemis has; RabbitMQ has 20.
pub const DEFAULT_DELIVERY_LIMIT: u32 = 10;

impl QueueSettings {
    /// The defaults, with an address. They are part of the format of logs and snapshots, which have what differs from them.
    pub fn new(address: impl Into<Arc<str>>) -> Self {
        Self {
            address: address.into(),
            durable: true,
            priorities: true,
            max_messages: None,
            max_bytes: None,
            overflow: Overflow::Hold,
            default_ttl: None,
            max_ttl: None,
            expiry_address: None,
            dead_letter_address: None,
            delivery_limit: DEFAULT_DELIVERY_LIMIT,
            redelivery_delay: 0,
            redelivery_multiplier: 100,
            max_redelivery_delay: None,
            groups: true,
            last_value_key: None,
            duplicate_count: 0,
            duplicate_time: 0,
            filter: None,
            no_local: None,
            topic: None,
            single_active: false,
            max_consumers: None,
            browse_only: false,
            lifetime: Lifetime::Manual,
            auto_delete_delay: 0,
            owner: None,
            auto_created: false,
        }
    }

    /// What the queue at this address is like, if there is none when dead letters or expired messages of a queue with these
    /// settings are to go there.
    pub fn grave(&self, address: Arc<str>) -> Self {
        Self { durable: self.durable, auto_created: true, ..Self::new(address) }
    }

    /// What the queue is like that a host makes where it publishes dead letters and expired messages for a topic itself, as there
    /// are subscriptions elsewhere or filters to be asked: they wait in it ([`Command::Spread`](crate::Command::Spread)). Its address is
    /// none that anything else has.
    pub fn collector(address: &str, topic: TopicId, durable: bool) -> Self {
        Self { durable, auto_created: true, topic: Some(topic), ..Self::new(format!("::{address}/")) }
    }

    /// Whether it is such a queue.
    pub fn is_collector(&self) -> bool {
        self.auto_created && self.topic.is_some()
    }

    /// The addresses that its dead letters and expired messages go to.
    pub fn graves(&self) -> impl Iterator<Item = &Arc<str>> {
        let named = self.dead_letter_address.iter().chain(&self.expiry_address);
        named.filter(|address| **address != self.address)
    }

    /// Milliseconds before a message is delivered again of which `failed` deliveries have failed.
    pub(crate) fn back_off(&self, failed: u32) -> Millis {
        let most = self.max_redelivery_delay.unwrap_or(self.redelivery_delay.saturating_mul(10));
        let mut delay = self.redelivery_delay;
        // It grows to the most in few steps, or not at all.
        for _ in 1..failed {
            let next = (u128::from(delay) * u128::from(self.redelivery_multiplier) / 100).min(most.into()) as Millis;
            if next == delay {
                break;
            }
            delay = next;
        }
        delay.min(most)
    }

    /// When a message that came at `time` and itself expires at `expires` does so here.
    #[inline]
    pub(crate) fn expiry(&self, time: Millis, expires: Option<Millis>) -> Option<Millis> {
        let own = expires.or(self.default_ttl.map(|ttl| time.saturating_add(ttl)));
        match self.max_ttl.map(|ttl| time.saturating_add(ttl)) {
            Some(most) => Some(own.map_or(most, |own| own.min(most))),
            None => own,
        }
    }

    /// How many failed deliveries are too many, if any number is.
    pub(crate) fn limit_of_deliveries(&self) -> Option<u32> {
        (self.delivery_limit > 0 && self.dead_letter_address.is_some()).then_some(self.delivery_limit)
    }

    /// Why these settings cannot be, if they cannot: what is wrong, and what to do.
    pub fn problem(&self) -> Option<&'static str> {
        if self.address.is_empty() {
            return Some("a queue needs an address");
        }
        if self.max_messages == Some(0) || self.max_bytes == Some(0) {
            return Some("maxMessages or maxBytes of 0 would keep out every message: leave it away for no limit");
        }
        if self.overflow != Overflow::Hold && self.max_messages.is_none() && self.max_bytes.is_none() {
            return Some("what happens at a limit is said, but no limit: set maxMessages or maxBytes");
        }
        if self.max_consumers == Some(0) {
            return Some("maxConsumers of 0 would keep out every consumer: leave it away for no limit");
        }
        if self.redelivery_multiplier < 100 {
            return Some("redeliveryMultiplier must be at least 1");
        }
        if self.duplicate_count > MAX_DUPLICATES {
            return Some("duplicateCount is more than the 1000000 ids that can be remembered");
        }
        None
    }
}

/// The most ids that a queue remembers.
const MAX_DUPLICATES: u32 = 1_000_000;
