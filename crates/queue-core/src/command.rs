//! What is written to the log: everything that changes the replicated half of the state.

mod codec;

pub use codec::{decode_batch, encode_batch};

use crate::body::{Body, BodyRef};
use crate::facts::Facts;
use crate::ids::{QueueId, Seq, TopicId};
use crate::overlay::Overlay;
use crate::peek::Peeked;
use crate::ranges::Ranges;
use crate::settings::QueueSettings;
use smallvec::SmallVec;
use std::sync::Arc;

/// Where a message goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To a queue.
    Queue(QueueId),
    /// To all queues that are bound to a topic when the command is applied.
    Topic {
        /// The topic.
        topic: TopicId,
        /// But not to these, whose filter the message does not satisfy.
        except: Vec<QueueId>,
    },
}

/// A message for one or more queues. It comes into each of them once, but into none that is full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enqueue {
    /// Where it goes.
    pub to: SmallVec<[Target; 1]>,
    /// What the queues must know of it.
    pub facts: Facts,
    /// Where its bytes are.
    pub body: Body,
}

/// A message that leaves a queue of another broker: it keeps what it is, with what was added to it there, and begins anew, as
/// a message does that goes from one queue of this broker to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopt {
    /// Where it goes.
    pub to: Target,
    /// Not into a queue that is full and refuses what comes then.
    pub if_room: bool,
    /// Bytes of the message.
    pub size: u64,
    /// The header's.
    pub priority: u8,
    /// The header's.
    pub durable: bool,
    /// The group-id.
    pub group: Option<Arc<str>>,
    /// What it replaces others by, in last-value queues.
    pub key: Option<Arc<[u8]>>,
    /// What is to be added to it when it is delivered.
    pub overlay: Option<Arc<Overlay>>,
    /// Where its bytes are.
    pub body: Body,
}

impl Adopt {
    /// What is to be said of a message that lies in another broker. Of its bytes the host sees to it that they are where the
    /// command says: with it, or in the same file.
    pub fn of(peeked: &Peeked, to: Target, if_room: bool) -> Self {
        let Peeked { size, priority, durable, .. } = *peeked;
        let body = match peeked.body {
            BodyRef::Log { .. } => Body::Here,
            BodyRef::Large { file } => Body::Large { file },
        };
        let (group, key, overlay) = (peeked.group.clone(), peeked.key.clone(), peeked.overlay.clone());
        Self { to, if_room, size, priority, durable, group, key, overlay, body }
    }
}

/// What is said of messages that were delivered. What AMQP calls an outcome (part 3, section 3.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done with: the message leaves the queue.
    Accepted,
    /// Not taken: it is as if it had never been delivered.
    Released,
    /// Cannot be processed: it goes to the dead-letter address, or is dropped if there is none.
    Rejected {
        /// Why, in the consumer's words (the error's description, or its condition).
        error: Option<Arc<str>>,
    },
    /// It stays, changed.
    Modified {
        /// The delivery counts as failed.
        failed: bool,
        /// It must not be delivered again to the consumers of this name (see
        /// [`ConsumerSettings::name`](crate::ConsumerSettings::name)). Set by [`Broker::outcome`](crate::Broker::outcome)
        /// if `undeliverable_here` is.
        undeliverable_here: bool,
        /// Message annotations to be merged into the message's own: keys and values in turn, encoded.
        annotations: Option<Arc<[u8]>>,
    },
}

impl Outcome {
    /// What is said of a message whose consumer went away without a word.
    pub fn lost() -> Self {
        Self::Modified { failed: true, undeliverable_here: false, annotations: None }
    }

    /// Whether it changes nothing that outlives the acquisition.
    pub(crate) fn is_release(&self) -> bool {
        matches!(self, Self::Released | Self::Modified { failed: false, undeliverable_here: false, annotations: None })
    }
}

/// The outcome of messages of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// The queue.
    pub queue: QueueId,
    /// Which of its messages.
    pub items: Ranges,
    /// What is said of them.
    pub outcome: Outcome,
    /// The name of the consumer that says it, where that matters (undeliverable here).
    pub by: Option<Arc<str>>,
}

/// Which messages of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them, delivered ones too.
    All,
    /// The first so many in the order of delivery, delivered ones too.
    First(u64),
    /// These, if they are still there.
    These(Ranges),
}

/// What becomes of the messages of a queue that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// They are dropped.
    Drop,
    /// They go to the dead-letter address, if there is one.
    DeadLetter,
}

/// A change of the replicated half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A new queue. [`Done::Created`](crate::Done::Created) says its id. The host has the queues made, in the same entry, that
    /// its dead letters and expired messages go to ([`QueueSettings::graves`]), so that they are there before the first of
    /// these; if they are not any more, they are made again then.
    CreateQueue(Box<QueueSettings>),
    /// Other settings for a queue. Its address cannot change. Messages that are there keep their place and their expiry.
    ChangeQueue {
        /// The queue.
        queue: QueueId,
        /// All its settings.
        settings: Box<QueueSettings>,
    },
    /// The end of a queue.
    DeleteQueue {
        /// The queue.
        queue: QueueId,
        /// Refuse if it has messages.
        if_empty: bool,
        /// What becomes of its messages.
        orphans: Orphans,
    },
    /// A new topic: its address, which no queue and no other topic has, and what the queues of its subscriptions are like.
    /// [`Done::TopicCreated`](crate::Done::TopicCreated) says its id.
    CreateTopic(Box<QueueSettings>),
    /// Subscriptions that are made from now on are like this. The address of a topic cannot change.
    ChangeTopic {
        /// The topic.
        topic: TopicId,
        /// All their settings.
        settings: Box<QueueSettings>,
    },
    /// The end of a topic. Refused while queues are bound to it.
    DeleteTopic {
        /// The topic.
        topic: TopicId,
    },
    /// Says what the queues of a pattern are like that are made when they are needed; the pattern stands in the place of the
    /// address. Who makes them is the host.
    SetTemplate {
        /// All their settings.
        settings: Box<QueueSettings>,
        /// Refuse if there is one for this pattern; otherwise refuse if there is none.
        is_new: bool,
    },
    /// The end of a template. Its queues stay.
    DeleteTemplate {
        /// The pattern.
        pattern: Arc<str>,
    },
    /// A message.
    Enqueue(Box<Enqueue>),
    /// A message of another broker.
    Adopt(Box<Adopt>),
    /// What became of deliveries.
    Settle(Box<Settle>),
    /// Messages have expired. Those that have not, by the time of the entry, stay.
    Expire {
        /// The queue.
        queue: QueueId,
        /// Which of its messages.
        items: Ranges,
    },
    /// Drops messages.
    Purge {
        /// The queue.
        queue: QueueId,
        /// Which of its messages.
        what: Selection,
    },
    /// Moves messages from one queue to the tail of another.
    Move {
        /// From where.
        from: QueueId,
        /// To where.
        to: QueueId,
        /// Which messages.
        what: Selection,
    },
    /// Sends dead letters and expired messages back to the queues they came from. Those whose queue is gone, or that were
    /// never in another one, stay.
    Retry {
        /// Where they are now.
        queue: QueueId,
        /// Which messages.
        what: Selection,
    },
    /// A message of a queue leaves it for other queues, of which each gets a copy that is not full and refuses what comes then. If none
    /// does, it is dropped.
    Spread {
        /// The queue.
        from: QueueId,
        /// Its place.
        item: Seq,
        /// The others.
        to: Target,
    },
    /// Removes messages of a queue that was deleted and had many
    /// ([`Broker::handle_timeout`](crate::Broker::handle_timeout) asks for it).
    Sweep {
        /// The queue that was deleted.
        queue: QueueId,
        /// At most so many.
        most: u64,
    },
    /// All of these or none. Only [`Command::Enqueue`] and [`Command::Settle`] can be in it.
    Transaction(Vec<Command>),
    /// The bytes of messages have been copied into this entry, so that the old place can be used again.
    Relocate {
        /// The old place.
        from: BodyRef,
        /// Whose bytes they are.
        of: Vec<(QueueId, Seq)>,
    },
}

impl Command {
    /// A message was accepted.
    pub fn accepted(queue: QueueId, seq: Seq) -> Self {
        Self::Settle(Box::new(Settle { queue, items: Ranges::from(seq), outcome: Outcome::Accepted, by: None }))
    }

    /// As [`Command::absorb`], for what [`Command::accepted`] would give.
    pub fn absorb_accepted(&mut self, queue: QueueId, seq: Seq) -> bool {
        match self {
            Self::Settle(mine) if mine.queue == queue && mine.outcome == Outcome::Accepted && mine.by.is_none() => {
                mine.items.push(seq);
                true
            }
            _ => false,
        }
    }

    /// Takes what another command says into this one, if both settle messages of one queue in the same way: fewer and
    /// shorter commands are logged. `false` if they have nothing in common.
    pub fn absorb(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Settle(mine), Self::Settle(other))
                if mine.queue == other.queue && mine.outcome == other.outcome && mine.by == other.by =>
            {
                mine.items.append(&other.items);
                true
            }
            (Self::Expire { queue, items }, Self::Expire { queue: other, items: more }) if queue == other => {
                items.append(more);
                true
            }
            _ => false,
        }
    }

    /// Whether bytes of a message go with it, in the same entry.
    pub fn carries_body(&self) -> bool {
        match self {
            Self::Enqueue(enqueue) => enqueue.body == Body::Here,
            Self::Adopt(adopt) => adopt.body == Body::Here,
            Self::Relocate { .. } => true,
            _ => false,
        }
    }
}
