//! Messages for the router itself that may wait: all but the greetings of neighbours, which are heard at once.
//!
//! However many messages come, whatever else is due has its turn between a few of them and the next. How much may wait is
//! bounded where messages are taken in (`shard/backlog`).

use crate::shard::SubscriberMessage;
use std::collections::VecDeque;

/// So many messages are taken in one turn at most.
const MESSAGES: usize = 32;
/// No further one is taken after so many bytes.
const BYTES: usize = 64 * 1024;

/// Messages in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Inbox(VecDeque<SubscriberMessage>);

impl Inbox {
    /// A message waits.
    pub(crate) fn push(&mut self, message: SubscriberMessage) {
        self.0.push_back(message);
    }

    /// Nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next message of a turn in which these have been taken already; `None`: the turn is over.
    pub(crate) fn next(&mut self, turn: &mut Turn) -> Option<SubscriberMessage> {
        if turn.messages >= MESSAGES || turn.bytes >= BYTES {
            return None;
        }
        let message = self.0.pop_front()?;
        turn.messages += 1;
        turn.bytes += message.message.len();
        Some(message)
    }
}

/// What a turn has taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    messages: usize,
    bytes: usize,
}

impl Turn {
    /// Nothing more is taken: that one was much work, however short it was.
    pub(crate) fn end(&mut self) {
        self.messages = MESSAGES;
    }
}
