//! Whether a message is one that a consumer asked for. The answer is the host's: it has the bytes.

use crate::body::BodyRef;
use crate::ids::{ConsumerId, QueueId, Seq};
use crate::overlay::Overlay;

/// A message that a consumer might be given.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The queue.
    pub queue: QueueId,
    /// Its place.
    pub seq: Seq,
    /// Where its bytes are.
    pub body: BodyRef,
    /// How many there are.
    pub size: u64,
    /// Failed deliveries here. The header has those before.
    pub delivery_count: u32,
    /// It has been delivered before.
    pub redelivered: bool,
    /// What is to be added to it.
    pub overlay: Option<&'a Overlay>,
}

/// Whether a message is one that a consumer asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It is.
    Yes,
    /// It is not, and never will be.
    No,
    /// The bytes have to be fetched first. The consumer gets nothing until
    /// [`Broker::fetched`](crate::Broker::fetched) is called for it; then it is asked again.
    Unknown,
}

/// Says whether messages are what consumers with a filter asked for.
pub trait Matcher {
    /// Whether this message is for this consumer.
    fn matches(&mut self, consumer: ConsumerId, candidate: &Candidate<'_>) -> Match;

    /// Whether looking has taken long enough for now: what is left is looked at in another call. Asked after each message.
    fn tires(&mut self) -> bool {
        false
    }
}

/// For hosts without filters: every message is for everybody.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatchAll;

impl Matcher for MatchAll {
    fn matches(&mut self, _: ConsumerId, _: &Candidate<'_>) -> Match {
        Match::Yes
    }
}
