//! What applying commands gives back.

use crate::body::BodyRef;
use crate::ids::{ConsumerId, QueueId, TopicId};
use crate::overlay::Reason;
use std::sync::Arc;

/// A command that was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The queue has this id.
    Created(QueueId),
    /// The topic has this id.
    TopicCreated(TopicId),
    /// The queue has its new settings.
    Changed,
    /// The queue or topic is gone.
    Deleted,
    /// The message is in so many queues. 0: the topic has no queues now.
    Enqueued {
        /// How many.
        copies: u32,
    },
    /// So many messages left their place, or changed. Others were not there any more.
    Messages {
        /// How many.
        count: u64,
    },
    /// All of the transaction is done.
    Committed,
}

/// A command that changed nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such queue (any more).
    #[error("there is no such queue: it has been deleted")]
    NoQueue,
    /// There is no such topic (any more).
    #[error("there is no such topic: it has been deleted")]
    NoTopic,
    /// The queue is full and its settings say that then messages are refused.
    #[error("queue {queue} is full: it holds all that maxMessages or maxBytes allow")]
    Full {
        /// The address.
        queue: Arc<str>,
    },
    /// There is no template for this pattern (any more).
    #[error("there is no such template: it has been deleted")]
    NoTemplate,
    /// As [`Refused::Full`], but the message is in the other queues that it was for.
    #[error("queue {queue} is full, and has not taken the message; the others that it was for have it")]
    PartlyFull {
        /// The address.
        queue: Arc<str>,
    },
    /// The message has been here before. Not an error to its sender: it is to be accepted, and has been dropped.
    #[error("the message is a duplicate of one that is known")]
    Duplicate,
    /// The address is another queue's or topic's.
    #[error("{0} is there already")]
    Exists(Arc<str>),
    /// The settings cannot be.
    #[error("{0}")]
    BadSettings(&'static str),
    /// The queue has messages, and was to be deleted only without.
    #[error("the queue is not empty")]
    NotEmpty,
    /// Queues are bound to the topic.
    #[error("queues are bound to the topic: delete them first")]
    InUse,
    /// A message that the transaction settles is not there any more: it has expired, or was removed.
    #[error("a message of the transaction is not in its queue any more")]
    Gone,
    /// The command cannot be part of a transaction.
    #[error("only sending and settling can be part of a transaction")]
    NotInTransaction,
}

/// What became of one command.
pub type Applied = Result<Done, Refused>;

/// What happened besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// No queue has the message any more: its bytes are not needed.
    BodyGone {
        /// Where they are.
        body: BodyRef,
        /// How many.
        size: u64,
    },
    /// A dead-letter or expiry address led nowhere when a message was to go there, and a queue was made for it.
    QueueMade(QueueId),
    /// A queue is gone, with its consumers: their links are to be detached with `amqp:resource-deleted`.
    QueueDeleted {
        /// The queue.
        queue: QueueId,
        /// Its address.
        address: Arc<str>,
        /// Its consumers. They need not be cancelled.
        consumers: Vec<ConsumerId>,
    },
    /// A queue has reached one of its limits, or refused a message because of it.
    Full(QueueId),
    /// A queue that was full has room again, an eighth of what it may hold at least.
    Room(QueueId),
    /// A message left a queue for the dead-letter or expiry address.
    DeadLettered {
        /// The queue.
        queue: QueueId,
        /// Why.
        reason: Reason,
    },
    /// A message left a queue in the same way, but was dropped: no address is set, or it leads to where it came from, or
    /// to a full queue.
    Dropped {
        /// The queue.
        queue: QueueId,
        /// Why it left.
        reason: Reason,
    },
}

/// What applying a batch gives back. To be reused: appending to it needs no memory once it has grown.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// One for each command, in order.
    pub applied: Vec<Applied>,
    /// What happened besides, in order.
    pub events: Vec<Event>,
}

impl Output {
    /// Makes it empty, but keeps its memory.
    pub fn clear(&mut self) {
        self.applied.clear();
        self.events.clear();
    }
}
