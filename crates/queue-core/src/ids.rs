//! What things are called: queues, topics, consumers, acquisitions, places in a queue, entries of the log, times.

use std::fmt;
use std::str::FromStr;

/// Milliseconds since the Unix epoch.
pub type Millis = u64;

/// The index of an entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EntryIndex(pub u64);

/// A queue. Never given to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u64);

/// A topic. Never given to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId(pub u64);

/// A consumer. Local: it means nothing on another machine or after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConsumerId(pub(crate) u64);

/// One message held by one consumer. Local: it means nothing on another machine or after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AcqId(pub(crate) u64);

/// Generation and index of something in a slab: the id of what is gone finds nothing.
pub(crate) fn aged(generation: u32, index: usize) -> u64 {
    u64::from(generation) << 32 | index as u64
}

impl ConsumerId {
    /// The id as a number, for tables of the host.
    pub fn raw(self) -> u64 {
        self.0
    }

    /// A small number that no other consumer has as long as it is there, for tables of the host.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as u32 as usize
    }
}

impl AcqId {
    /// The id as a number, for tables of the host.
    pub fn raw(self) -> u64 {
        self.0
    }

    pub(crate) fn index(self) -> usize {
        self.0 as u32 as usize
    }
}

/// Priorities that are told apart: 0 to 9.
pub(crate) const PRIORITIES: usize = 10;

/// The priority of a message whose header does not say (section 3.2.1).
pub const DEFAULT_PRIORITY: u8 = 4;

const NUMBER_BITS: u32 = 60;

/// A message's place in its queue. Places compare in the order of delivery: higher priority first, then earlier arrival.
/// A message keeps its place until it leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(u64);

impl Seq {
    /// Before all places.
    pub const FIRST: Self = Self(0);

    pub(crate) fn new(lane: usize, number: u64) -> Self {
        Self((lane as u64) << NUMBER_BITS | number)
    }

    /// From what [`raw`](Self::raw) gave. A number that is no place names no message.
    pub fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    /// As a number. Within one priority they go up by one with each arrival.
    pub fn raw(self) -> u64 {
        self.0
    }

    /// The priority that the queue gave the message: 0 to 9.
    pub fn priority(self) -> u8 {
        (PRIORITIES - 1).saturating_sub(self.lane()) as u8
    }

    /// 0 for the highest priority.
    pub(crate) fn lane(self) -> usize {
        (self.0 >> NUMBER_BITS) as usize
    }

    /// The ordinal of its arrival within its priority.
    pub(crate) fn number(self) -> u64 {
        self.0 & ((1 << NUMBER_BITS) - 1)
    }

    /// The place behind this one.
    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    /// Priority and ordinal of arrival: `4-17`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.priority(), self.number())
    }
}

/// A text names no place in a queue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no place in a queue: one is written like 4-17, priority and number")]
pub struct BadSeq(String);

impl FromStr for Seq {
    type Err = BadSeq;

    fn from_str(text: &str) -> Result<Self, BadSeq> {
        let bad = || BadSeq(text.chars().take(40).collect());
        let (priority, number) = text.trim().split_once('-').ok_or_else(bad)?;
        let priority: u8 = priority.parse().map_err(|_| bad())?;
        let number: u64 = number.parse().map_err(|_| bad())?;
        if usize::from(priority) >= PRIORITIES || number >> NUMBER_BITS > 0 {
            return Err(bad());
        }
        Ok(Self::new(lane_of(priority), number))
    }
}

/// The lane of a priority: what is above 9 counts as 9.
pub(crate) fn lane_of(priority: u8) -> usize {
    PRIORITIES - 1 - usize::from(priority).min(PRIORITIES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_as_priority_and_number() {
        for place in [Seq::new(0, 0), Seq::new(5, 17), Seq::new(9, (1 << NUMBER_BITS) - 1)] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        assert_eq!(Seq::new(5, 17).to_string(), "4-17");
        for text in ["", "17", "10-1", "4-", "4-x", "4-1152921504606846976", "-1"] {
            assert!(text.parse::<Seq>().is_err(), "{text}");
        }
    }
}
