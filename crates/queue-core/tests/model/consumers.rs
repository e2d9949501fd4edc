//! Who may be given what, in the model.

use crate::queues::{Message, Queue};
use queue_core::*;

/// A consumer. Its number is its place in a list from which nothing is removed.
#[derive(Clone, Debug)]
pub(crate) struct Consumer {
    pub(crate) id: ConsumerId,
    pub(crate) queue: QueueId,
    pub(crate) settings: ConsumerSettings,
    pub(crate) credit: u32,
    pub(crate) drain: bool,
    pub(crate) gone: bool,
    /// For the bytes of a message.
    pub(crate) waits: bool,
    /// What it holds: by what it is said, which place, which message, and whether it has spoken of it.
    pub(crate) held: Vec<Held>,
    /// Which places a browser has seen.
    pub(crate) seen: Vec<Seq>,
}

#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) acquisition: AcqId,
    pub(crate) queue: QueueId,
    pub(crate) seq: Seq,
    pub(crate) id: u64,
    pub(crate) spoken: bool,
}

/// What consumers with a filter want: names that can be divided by three.
pub(crate) fn wanted(id: u64) -> bool {
    id.is_multiple_of(3)
}

/// Which consumers of a queue may be given which messages, at a time.
pub(crate) struct View<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) consumers: &'a [Consumer],
    pub(crate) now: Millis,
    /// When it was last looked which messages are due.
    pub(crate) due: Millis,
}

impl View<'_> {
    fn is_delayed(&self, message: &Message) -> bool {
        message.due.is_some_and(|due| due > self.due)
    }

    fn is_expired(&self, message: &Message) -> bool {
        message.expires.is_some_and(|expires| expires <= self.now)
    }

    /// Takers of the queue that are there.
    fn takers(&self) -> impl Iterator<Item = (usize, &Consumer)> {
        let all = self.consumers.iter().enumerate();
        all.filter(|(_, c)| !c.gone && c.queue == self.queue.id && c.settings.mode == Mode::Move)
    }

    fn is_active(&self, number: usize) -> bool {
        // The highest priority, then whoever came first.
        let first = self.takers().min_by_key(|(number, c)| (std::cmp::Reverse(c.settings.priority), *number));
        !self.queue.settings.single_active || first.is_none_or(|(active, _)| active == number)
    }

    /// Whether the group of a message lets this consumer have it.
    fn group_allows(&self, number: usize, message: &Message) -> bool {
        let Some(group) = message.group.as_ref().filter(|_| self.queue.settings.groups) else { return true };
        let same = || self.queue.messages.iter().filter(|other| other.group.as_ref() == Some(group));
        let others_hold = same().any(|other| other.holder.is_some_and(|holder| holder != number));
        // A failed message that waits bars those behind it, if the first that could be given is one of them.
        let free = |m: &&Message| m.holder.is_none() && !m.aside && !self.is_delayed(m);
        let waiting = same().find(|m| m.holder.is_none() && !m.aside && m.failed > 0 && self.is_delayed(m));
        let first = same().find(free);
        let barred = waiting.is_some_and(|waiting| first.is_some_and(|first| waiting.seq < first.seq));
        !others_hold && !barred
    }

    fn is_free(&self, message: &Message) -> bool {
        message.holder.is_none() && !message.aside && !self.is_delayed(message) && !self.is_expired(message)
    }

    /// Whether a consumer may be given a message, credit apart.
    fn may_have(&self, number: usize, message: &Message) -> bool {
        let consumer = &self.consumers[number];
        let wanted = !consumer.settings.filter || wanted(message.id);
        match consumer.settings.mode {
            Mode::Copy => {
                let seen = consumer.seen.contains(&message.seq);
                wanted && !seen && !self.is_delayed(message) && !self.is_expired(message)
            }
            Mode::Move => {
                wanted
                    && self.is_active(number)
                    && self.is_free(message)
                    && !message.undeliverable.iter().any(|name| **name == *consumer.settings.name)
                    && self.group_allows(number, message)
            }
        }
    }

    /// The first message that a consumer may have.
    pub(crate) fn first_for(&self, number: usize) -> Option<&Message> {
        self.queue.messages.iter().find(|message| self.may_have(number, message))
    }

    /// Whether a consumer has the group of a message, so that nobody else can have it.
    fn owns(&self, number: usize, message: &Message) -> bool {
        let Some(group) = message.group.as_ref().filter(|_| self.queue.settings.groups) else { return false };
        let same = self.queue.messages.iter().filter(|other| other.group.as_ref() == Some(group));
        same.into_iter().any(|other| other.holder == Some(number))
    }

    /// Checks that a consumer was rightly given a message.
    pub(crate) fn check(&self, number: usize, seq: Seq) {
        let consumer = &self.consumers[number];
        assert!(consumer.credit > 0 && !consumer.gone, "without credit");
        let first = self.first_for(number);
        assert_eq!(first.map(|first| first.seq), Some(seq), "not its first message: {first:?}");
        if consumer.settings.mode == Mode::Copy {
            return;
        }
        // Nobody of higher priority is passed over; only whoever has a group is asked before all others.
        let owner = self.queue.messages.iter().any(|m| self.owns(number, m) && self.may_have(number, m));
        let better = self.takers().find(|(other, c)| {
            c.settings.priority > consumer.settings.priority
                && c.credit > 0
                && !c.waits
                && self.first_for(*other).is_some()
        });
        assert!(owner || better.is_none(), "{better:?} was passed over");
    }

    /// Checks that nobody is left without what it could have.
    pub(crate) fn check_nothing_left(&self) {
        for (number, consumer) in self.consumers.iter().enumerate() {
            if !consumer.gone && consumer.queue == self.queue.id && consumer.credit > 0 {
                let left = self.first_for(number);
                assert!(left.is_none(), "consumer {number} was not given {left:?}");
            }
        }
    }
}
