//! What the control plane asks of the store, and what it learns of it, in words of its own: neither the configuration's nor
//! those of the queues' state machine.

use std::path::PathBuf;
use std::time::Duration;

use queue_core::QueueSettings;

/// Where and how queues are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreSettings {
    /// The directory of the log; made if it is not there.
    pub(crate) path: PathBuf,
    /// Bytes of a segment of the log.
    pub(crate) segment_bytes: u64,
    /// Bytes of messages that may stay in memory beside those that are on their way.
    pub(crate) cache_bytes: u64,
    /// Bytes from which on a message has a file of its own.
    pub(crate) large_message_bytes: u64,
}

impl StoreSettings {
    /// What a person would choose.
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            segment_bytes: 64 * 1024 * 1024,
            cache_bytes: 64 * 1024 * 1024,
            large_message_bytes: 1024 * 1024,
        }
    }
}

/// Queues that are made when somebody first attaches to them or sends to them.
#[derive(Clone, Debug)]
pub(crate) struct TemplateSpec {
    /// Which addresses: tokens between `.` and `/`; `*` is one of them, `#` any number.
    pub(crate) pattern: String,
    /// What they are like; its address is not looked at.
    pub(crate) queue: QueueSettings,
}

/// An address of which each subscription gets its own copies.
#[derive(Clone, Debug)]
pub(crate) struct TopicSpec {
    /// Its address.
    pub(crate) address: String,
    /// What the queues of its subscriptions are like; address and lifetime are not looked at.
    pub(crate) subscription: QueueSettings,
}

/// A queue as it is.
#[derive(Clone, Debug)]
pub(crate) struct QueueView {
    /// As it was given.
    pub(crate) settings: QueueSettings,
    /// Messages.
    pub(crate) messages: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Those of them that consumers have and have not settled.
    pub(crate) acquired: u64,
    /// Those that wait for their time.
    pub(crate) delayed: u64,
    /// Consumers, browsers included.
    pub(crate) consumers: u64,
    /// Links that send to it.
    pub(crate) producers: u64,
    /// Age of the oldest message.
    pub(crate) oldest: Option<Duration>,
    /// Messages that have come since the start of the process.
    pub(crate) enqueued: u64,
    /// Messages that consumers have taken since then.
    pub(crate) dequeued: u64,
    /// Those that went out a second time or more often.
    pub(crate) redelivered: u64,
    /// Those that went to the dead-letter address, or would have.
    pub(crate) dead_lettered: u64,
    /// Those whose time was up.
    pub(crate) expired: u64,
    /// Those that were refused or dropped for want of room.
    pub(crate) dropped: u64,
}

/// A message in a queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MessageView {
    /// Its number in the queue: those that came later have higher ones.
    pub(crate) sequence: u64,
    /// All its sections, as it came; of a large one only the beginning.
    pub(crate) bytes: Vec<u8>,
    /// All its bytes.
    pub(crate) size: u64,
    /// Failed attempts to deliver it.
    pub(crate) delivery_count: u32,
    /// A consumer has it.
    pub(crate) acquired: bool,
}

/// Which messages of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Which {
    /// Those that this selector fits; `None`: all.
    pub(crate) selector: Option<String>,
    /// From this number on.
    pub(crate) from: u64,
    /// At most so many.
    pub(crate) most: Option<u64>,
}

/// Why the store does not do what it was asked to. The texts say what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreError {
    /// Nothing is there.
    #[error("There is no queue, topic or template '{0}'")]
    NotFound(String),
    /// Something is there.
    #[error("There is a queue, topic or template '{0}' already")]
    Exists(String),
    /// It is not empty, or somebody uses it.
    #[error("'{0}' is in use: {1}")]
    InUse(String, &'static str),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// The log takes nothing now.
    #[error("{0}")]
    Unavailable(String),
}
