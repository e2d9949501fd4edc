//! What the filters of a topic's subscriptions let in. There may be very many of them, so they are asked a few milliseconds at a
//! time, then everybody else has a turn. Messages that wait for that stay in the order of their link, and links take turns.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use amqp::ErrorCondition;
use amqp::condition::names;
use queue_core::{Millis, QueueId, TopicId};

use super::journal::OVERHEAD;
use super::links::{Arrival, Destination, Look, Place, Side};
use super::node::Node;
use super::opaque;
use super::receive::{Bytes, Said};

/// How long filters are asked before everybody else has a turn.
const ASKING: Duration = Duration::from_millis(5);
/// How many are asked at most.
pub(super) const MOST_ASKED: u32 = 4096;

/// A message that has come, and how far it is with the filters of where it goes.
pub(super) struct Asking {
    pub(super) time: Millis,
    pub(super) arrival: Arrival,
    pub(super) bytes: Bytes,
    pub(super) said: Said,
    pub(super) to: Destination,
    pub(super) look: Look,
    /// The container-id of its sender; empty: it is not known.
    pub(super) container: Box<str>,
    pub(super) answers: Answers,
}

/// What filters have answered.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// By side: the subscriptions that do not let the message in.
    pub(super) except: [Vec<QueueId>; 2],
    /// The last one that was asked.
    last: Option<(Side, QueueId)>,
}

/// Messages that wait for filters.
#[derive(Default)]
pub(super) struct Admissions {
    /// By link, in order.
    waiting: HashMap<u32, VecDeque<Asking>>,
    /// Links with such messages, in turn.
    turns: VecDeque<u32>,
    /// The memory that they take.
    bytes: u64,
    /// Since when filters have been asked in this turn, and how many.
    since: Option<Instant>,
    asked: u32,
}

impl Admissions {
    /// Whether no message waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Whether messages of a link wait: later ones wait behind them.
    #[inline]
    pub(super) fn has(&self, link: u32) -> bool {
        !self.is_empty() && self.waiting.contains_key(&link)
    }

    /// Whether a message waits that is part of a transaction.
    pub(super) fn has_of(&self, txn: &[u8]) -> bool {
        self.waiting.values().flatten().any(|asking| asking.said.txn.as_deref() == Some(txn))
    }

    /// The memory that messages take which wait.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.bytes
    }

    /// A turn is over.
    pub(super) fn rest(&mut self) {
        (self.since, self.asked) = (None, 0);
    }

    /// The sender of a delivery waits for nothing any more.
    pub(super) fn forget_arrival(&mut self, key: router_core::OutKey) {
        let mut all = self.waiting.values_mut().flatten();
        if let Some(asking) = all.find(|asking| asking.arrival.key == key) {
            asking.arrival.settled = true;
        }
    }

    /// Notes that a filter is asked. False: that is enough for this turn.
    fn goes_on(&mut self, most: u32) -> bool {
        self.asked += 1;
        let since = *self.since.get_or_insert_with(Instant::now);
        self.asked < most && since.elapsed() < ASKING
    }

    fn is_tired(&self, most: u32) -> bool {
        self.asked >= most || self.since.is_some_and(|since| since.elapsed() >= ASKING)
    }

    fn push(&mut self, asking: Asking) {
        let link = asking.arrival.link;
        self.bytes += asking.memory();
        let of_link = self.waiting.entry(link).or_insert_with(|| {
            self.turns.push_back(link);
            VecDeque::new()
        });
        of_link.push_back(asking);
    }

    /// The first message of the link whose turn it is.
    fn pop(&mut self) -> Option<Asking> {
        let link = self.turns.front()?;
        let asking = self.waiting.get_mut(link)?.pop_front()?;
        self.bytes -= asking.memory();
        Some(asking)
    }

    /// The turn of the link is over; its first message is not done yet.
    fn put_back(&mut self, asking: Asking) {
        self.bytes += asking.memory();
        if let Some(of_link) = self.waiting.get_mut(&asking.arrival.link) {
            of_link.push_front(asking);
        }
    }

    fn next_link(&mut self) {
        let Some(link) = self.turns.pop_front() else { return };
        match self.waiting.get(&link).is_some_and(|of_link| !of_link.is_empty()) {
            true => self.turns.push_back(link),
            false => drop(self.waiting.remove(&link)),
        }
    }
}

impl Asking {
    fn memory(&self) -> u64 {
        self.bytes.in_memory() + OVERHEAD
    }
}

impl Node {
    /// Takes a message for which filters are to be asked, or one behind such a message of its link.
    pub(super) fn ask(&mut self, mut asking: Asking) {
        let waits = self.admissions.has(asking.arrival.link) || self.admissions.is_tired(self.most_asked);
        if !waits && self.ask_filters(&mut asking) {
            return self.asked(asking);
        }
        if self.finds_no_memory(asking.memory()) {
            let text = "Too many messages wait for the filters of subscriptions. Send the message again later";
            let error = ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, text);
            return self.refuse_bytes(asking.arrival, &asking.bytes, error);
        }
        self.admissions.push(asking);
    }

    /// Goes on with messages that wait, for as long as others may wait for that.
    pub(super) fn go_on_asking(&mut self) {
        while !self.admissions.is_tired(self.most_asked)
            && let Some(mut asking) = self.admissions.pop()
        {
            if self.ask_filters(&mut asking) {
                self.no_longer_waiting(asking);
            } else {
                self.admissions.put_back(asking);
            }
            self.admissions.next_link();
        }
    }

    /// Asks all that is to be asked, however long it takes.
    pub(super) fn finish_asking(&mut self) {
        while let Some(mut asking) = self.admissions.pop() {
            while !self.ask_filters(&mut asking) {
                self.admissions.rest();
            }
            self.no_longer_waiting(asking);
            self.admissions.next_link();
        }
    }

    fn no_longer_waiting(&mut self, asking: Asking) {
        let txn = asking.said.txn.clone();
        self.asked(asking);
        txn.iter().for_each(|txn| self.go_on_ending(txn, false));
    }

    /// Asks filters, from where they were asked last. False: others have their turn.
    pub(super) fn ask_filters(&mut self, asking: &mut Asking) -> bool {
        if asking.look.epoch != self.epoch {
            asking.look = self.look_of(asking.to);
        }
        let Destination::Topic(topics) = asking.to else { return true };
        let Asking { bytes, look, container, answers, .. } = asking;
        self.ask_subscriptions(topics, look, bytes.beginning(), container, answers)
    }

    /// Asks those of a topic's subscriptions, from where they were asked last, whether they let a message in. False: others have their
    /// turn.
    pub(super) fn ask_subscriptions(
        &mut self,
        topics: [TopicId; 2],
        look: &Look,
        kept: &[u8],
        container: &str,
        answers: &mut Answers,
    ) -> bool {
        if !look.filtered {
            return true;
        }
        let Self { brokers, filters, admissions, most_asked, .. } = self;
        let message = opaque::sections(kept);
        for side in Side::BOTH.into_iter().filter(|side| look.sides[*side as usize]) {
            let last = match answers.last {
                Some((before, _)) if before > side => continue,
                Some((before, last)) if before == side => Some(last),
                _ => None,
            };
            for queue in brokers[side as usize].bound_behind(topics[side as usize], last) {
                let Some(filter) = filters.get(&Place { side, queue }) else { continue };
                if !filter.admits(message, container) {
                    answers.except[side as usize].push(queue);
                }
                answers.last = Some((side, queue));
                if !admissions.goes_on(*most_asked) {
                    return false;
                }
            }
        }
        true
    }

    /// All filters have been asked.
    fn asked(&mut self, asking: Asking) {
        let Asking { time, arrival, bytes, said, to, look, container, answers } = asking;
        let commands = self.commands_for(time, to, &look, &container, &bytes, answers);
        self.enqueue(arrival, commands, &bytes, said.txn.as_deref());
    }
}
