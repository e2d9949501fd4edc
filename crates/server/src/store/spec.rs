//! What the control plane asks of the store, and what it learns of it, in words of its own: neither the configuration's nor
//! those of the queues' state machine.

use std::path::PathBuf;
use std::time::Duration;

use queue_core::{Death, Millis, QueueSettings, Seq};
use queue_log::{Condition, Stats};

/// Where and how queues are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreSettings {
    /// The directory of the log; made if it is not there.
    pub(crate) path: PathBuf,
    /// Bytes of a segment of the log.
    pub(crate) segment_bytes: u64,
    /// Bytes that the log may take at most; `None`: what the disk has.
    pub(crate) max_bytes: Option<u64>,
    /// Bytes of messages that may stay in memory beside those that are on their way.
    pub(crate) cache_bytes: u64,
    /// Bytes from which on a message has a file of its own.
    pub(crate) large_message_bytes: u64,
}

impl StoreSettings {
    /// What a person would choose.
    #[cfg(any(test, feature = "measure"))]
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            segment_bytes: 64 * 1024 * 1024,
            max_bytes: None,
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
    /// What they are like; the address in it is not looked at.
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
    /// Those that went out to consumers.
    pub(crate) delivered: u64,
    /// Those that went out a second time or more often.
    pub(crate) redelivered: u64,
    /// Those that went to the dead-letter address.
    pub(crate) dead_lettered: u64,
    /// Those whose time was up.
    pub(crate) expired: u64,
    /// Those that were refused or dropped for want of room, or as dead letters without an address.
    pub(crate) dropped: u64,
    /// It has reached a limit, and has little room since.
    pub(crate) full: bool,
}

/// A message in a queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MessageView {
    /// Where it is in the queue.
    pub(crate) place: Seq,
    /// All its sections, as it came; of a large one only the beginning.
    pub(crate) bytes: Vec<u8>,
    /// All its bytes.
    pub(crate) size: u64,
    /// When it came.
    pub(crate) arrived: Millis,
    /// When it expires, if it does.
    pub(crate) expires_at: Option<Millis>,
    /// Before when it is not delivered.
    pub(crate) deliver_at: Option<Millis>,
    /// Failed attempts to deliver it.
    pub(crate) delivery_count: u32,
    /// A consumer has it.
    pub(crate) acquired: bool,
    /// Which queues it left as a dead letter, or expired, the last one first.
    pub(crate) deaths: Vec<Death>,
}

/// Which messages of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Which {
    /// Those that this selector fits; `None`: all.
    pub(crate) selector: Option<String>,
    /// From this place on; `None`: from the front.
    pub(crate) from: Option<Seq>,
    /// At most so many.
    pub(crate) most: Option<u64>,
}

/// What became of a request about messages: one looks at so many only.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part<T> {
    /// What was found, or how many.
    pub(crate) done: T,
    /// Where to go on if there may be more.
    pub(crate) next: Option<Seq>,
}

/// What became of a request to do something with messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handled {
    /// With how many it was done.
    pub(crate) done: u64,
    /// How many stay, for consumers hold them.
    pub(crate) held: u64,
    /// Where to go on if there may be more.
    pub(crate) next: Option<Seq>,
}

/// The store as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoreView {
    /// As it was opened.
    pub(crate) settings: StoreSettings,
    /// Whether it takes messages.
    pub(crate) condition: Condition,
    /// What the log has counted.
    pub(crate) log: Stats,
    /// Queues.
    pub(crate) queues: u64,
    /// Messages in them.
    pub(crate) messages: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
}

/// Why the store does not do what it was asked to. The texts say what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreError {
    /// Nothing is there.
    #[error("There is no queue, topic or template '{0}'")]
    NotFound(String),
    /// Something is there.
    #[error("There is a {0} '{1}' already")]
    Exists(&'static str, String),
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
