//! What is in each queue, and who gets what next? Queues, topics, messages, consumers, outcomes, transactions.
//!
//! [`Broker`] is one deterministic state machine for all queues of one store. Its replicated half changes only by
//! [`Broker::apply`], which takes commands in the order of a log, with the time that each entry of the log carries: same
//! snapshot and same entries, same state, on any machine. Its local half (consumers, credit, who holds what) is never
//! logged, and gone after a restart.
//!
//! It deliberately sees no bytes of messages once their [`Facts`] have been read, no disks, no sockets and no clock: bodies
//! are named by [`BodyRef`], time is passed in, and whether a message satisfies a filter is asked of a [`Matcher`].
//!
//! # Where things are
//! - `facts`: what is read from a message at arrival; `overlay`: what is added to it at delivery;
//! - `command`: what is logged, and its encoding; `apply/*`: what each command does;
//! - `store/*`: the messages of a queue, in little memory; `snapshot`: all of the replicated half as bytes;
//! - `queue`, `groups`, `duplicates`: one queue; `broker`: all of them;
//! - `local/*`: consumers, and the way of a message to one of them; `head`: how it begins when it is delivered; `peek`: looking
//!   into queues.
//!
//! # What always holds
//! - A message in a queue is free, in a group, delayed, or held: in exactly one of these.
//! - A message keeps its place, by which it is ordered, until it leaves the queue.
//! - The replicated half never depends on the local half.
#![forbid(unsafe_code)]

mod acquire;
mod apply;
mod body;
mod broker;
mod command;
mod consumer;
mod duplicates;
mod facts;
mod groups;
mod head;
mod holders;
mod ids;
mod line;
mod local;
mod output;
mod overlay;
mod peek;
mod queue;
mod ranges;
mod settings;
mod settings_codec;
mod snapshot;
mod stats;
mod store;
mod topics;
mod wire;

pub use apply::{AcceptedAtOnce, Came};
pub use body::{Body, BodyRef};
pub use broker::{Broker, Node, Room};
pub use command::{Adopt, Command, Enqueue, Orphans, Outcome, Selection, Settle, Target, decode_batch, encode_batch};
pub use consumer::{ConsumerSettings, Mode, SubscribeError};
pub use facts::{Facts, MAX_NAME, Malformed, Wanted};
pub use head::{
    DEAD_LETTER_COUNT, DEAD_LETTER_ERROR, DEAD_LETTER_ORIGIN, DEAD_LETTER_REASON, DEAD_LETTER_TIME, ORIGINAL_ADDRESS,
    ORIGINAL_QUEUE,
};
pub use ids::{AcqId, BadSeq, ConsumerId, DEFAULT_PRIORITY, EntryIndex, Millis, QueueId, Seq, TopicId};
pub use local::{Aside, Assignment, Candidate, Match, MatchAll, Matcher};
pub use output::{Applied, Done, Event, Output, Refused};
pub use overlay::{Death, MAX_ANNOTATIONS, Overlay, Reason};
pub use peek::{Extent, Living, Peeked};
pub use ranges::Ranges;
pub use settings::{DEFAULT_DELIVERY_LIMIT, Lifetime, Overflow, QueueSettings};
pub use snapshot::{InFile, Restore, RestoreError, Snapshot};
pub use stats::{Statistics, Totals};
pub use topics::subscription_address;
pub use wire::CodecError;
