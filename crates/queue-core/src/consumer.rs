//! Who takes messages from queues. Local: gone after a restart.

use crate::ids::{ConsumerId, PRIORITIES, QueueId, Seq};
use crate::store::Lanes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How a consumer gets messages (the distribution-mode of its source).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// They are its own until it says what became of them.
    #[default]
    Move,
    /// It sees each message once, and later ones as they come; they stay where they are.
    Copy,
}

/// What a consumer is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerSettings {
    /// Whether it takes messages or looks at them.
    pub mode: Mode,
    /// Nobody else may take messages while it is there.
    pub exclusive: bool,
    /// Those with a higher one get messages first, as long as they have credit. 0 is usual.
    pub priority: i32,
    /// Each message is shown to the [`Matcher`](crate::Matcher) first.
    pub filter: bool,
    /// By what it is known if it says that messages are undeliverable here: its container and its link's name. The same
    /// when it comes back.
    pub name: Arc<str>,
}

impl ConsumerSettings {
    /// A consumer that takes messages, with nothing special.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self { mode: Mode::Move, exclusive: false, priority: 0, filter: false, name: name.into() }
    }

    /// One that looks at them.
    pub fn browser(name: impl Into<Arc<str>>) -> Self {
        Self { mode: Mode::Copy, ..Self::new(name) }
    }
}

/// Why a consumer cannot be attached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubscribeError {
    /// The queue is not there (`amqp:not-found`).
    #[error("there is no such queue")]
    NoQueue,
    /// An exclusive consumer has it (`amqp:resource-locked`).
    #[error("{queue} has an exclusive consumer, {holder}")]
    Exclusive {
        /// The address.
        queue: Arc<str>,
        /// The name of the consumer that has it.
        holder: Arc<str>,
    },
    /// It wants the queue for itself, and there are others (`amqp:resource-locked`).
    #[error("{queue} has {others} consumers: it cannot be had exclusively")]
    NotAlone {
        /// The address.
        queue: Arc<str>,
        /// How many there are.
        others: usize,
    },
    /// The queue has as many as its settings allow (`amqp:resource-limit-exceeded`).
    #[error("{queue} has {most} consumers, all that its maxConsumers allows")]
    TooMany {
        /// The address.
        queue: Arc<str>,
        /// How many may be there.
        most: u32,
    },
}

/// A consumer of a queue.
#[derive(Debug)]
pub(crate) struct Consumer {
    pub(crate) id: ConsumerId,
    pub(crate) queue: QueueId,
    pub(crate) settings: ConsumerSettings,
    /// How many more messages it may be given.
    pub(crate) credit: u32,
    /// It wants its credit used up or given back at once.
    pub(crate) drain: bool,
    /// It is in one of the lists of those that may get a message.
    pub(crate) listed: bool,
    /// It waits for the bytes of a message to be fetched.
    pub(crate) parked: bool,
    /// How far it has looked, if it looks at every message rather than take the first.
    pub(crate) view: Option<Box<View>>,
    /// The first messages of the groups that are its own.
    pub(crate) own: BTreeSet<Seq>,
    /// The state of the groups when it found nothing for it among them.
    pub(crate) groups_seen: u64,
    /// How far it has looked through the groups, if it is not done, or has found something.
    pub(crate) group_search: Option<Box<GroupSearch>>,
    /// One of the messages it holds; the others are linked to it.
    pub(crate) first: usize,
    /// How many it holds.
    pub(crate) held: u32,
}

/// How far a consumer has looked.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// In each lane: what has a lower number has been looked at.
    cursors: [u64; PRIORITIES],
    /// But these are to be looked at again, for they are back, or due.
    again: BTreeSet<Seq>,
    /// A browser passed these by because they were not due.
    delayed: BTreeSet<Seq>,
}

/// How far a consumer has looked through the groups.
#[derive(Debug)]
pub(crate) struct GroupSearch {
    /// The state of the groups when it began, and when it was left off.
    pub(crate) changes: u64,
    pub(crate) left: u64,
    /// It was left off only so that others have their turn: it goes on from there whatever has changed since.
    pub(crate) goes_on: bool,
    /// Groups that begin before this place have been looked through.
    pub(crate) from: Seq,
    /// Of the group that begins there, the next message to be looked at; `None`: the first.
    pub(crate) next: Option<Seq>,
    /// The first message for it, of those that were looked at.
    pub(crate) best: Option<Seq>,
}

impl GroupSearch {
    pub(crate) fn new(changes: u64) -> Self {
        Self { changes, left: changes, goes_on: false, from: Seq::FIRST, next: None, best: None }
    }
}

impl Consumer {
    /// A message of a group may be given out: who is beyond it in the groups begins anew.
    pub(crate) fn look_at_group_again(&mut self, seq: Seq) {
        let is_beyond = |search: &GroupSearch| {
            seq < search.next.unwrap_or(search.from) || search.best.is_some_and(|best| seq < best)
        };
        if self.group_search.as_deref().is_some_and(is_beyond) {
            self.group_search = None;
        }
    }
}

/// The most messages that are to be looked at again one by one.
const MAX_AGAIN: usize = 1024;

impl View {
    /// The next message to be looked at: free ones, or any for a browser. Remembers that it was.
    pub(crate) fn next(&mut self, lanes: &Lanes, browse: bool) -> Option<Seq> {
        while let Some(&seq) = self.again.first()
            && !(if browse { lanes.contains(seq) } else { lanes.is_free(seq) })
        {
            self.again.pop_first();
        }
        let ahead = (0..PRIORITIES).find_map(|lane| {
            let from = self.cursors[lane];
            if browse { lanes.present_in(lane, from) } else { lanes.free_in(lane, from) }
        });
        match (ahead, self.again.first().copied()) {
            (Some(ahead), again) if again.is_none_or(|again| ahead < again) => {
                self.cursors[ahead.lane()] = ahead.number() + 1;
                Some(ahead)
            }
            (_, Some(again)) => {
                self.again.pop_first();
                Some(again)
            }
            (_, None) => None,
        }
    }

    /// A message that has been looked at is to be looked at again. One that is still ahead comes anyway.
    pub(crate) fn look_again(&mut self, seq: Seq) {
        if seq.number() >= self.cursors[seq.lane()] {
            return;
        }
        self.again.insert(seq);
        if self.again.len() > MAX_AGAIN {
            // Too many to be remembered: look at all again that are behind the first of them.
            for seq in std::mem::take(&mut self.again) {
                let cursor = &mut self.cursors[seq.lane()];
                *cursor = (*cursor).min(seq.number());
            }
        }
    }

    /// A browser passed a message that is not due.
    pub(crate) fn pass_delayed(&mut self, seq: Seq) {
        self.delayed.insert(seq);
    }

    /// A message is due now.
    pub(crate) fn due(&mut self, seq: Seq) {
        if self.delayed.remove(&seq) {
            self.again.insert(seq);
        }
    }

    /// A message is gone.
    pub(crate) fn forget(&mut self, seq: Seq) {
        self.again.remove(&seq);
        self.delayed.remove(&seq);
    }
}
