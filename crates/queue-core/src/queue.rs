//! One queue: its messages, and what is known of them beside.

use crate::consumer::Consumer;
use crate::duplicates::Duplicates;
use crate::groups::Groups;
use crate::holders::Holders;
use crate::ids::{ConsumerId, Millis, QueueId, Seq};
use crate::line::Line;
use crate::output::Event;
use crate::settings::QueueSettings;
use crate::stats::Totals;
use crate::store::entry::NEVER;
use crate::store::{Entry, Lanes};
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A queue.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) id: QueueId,
    pub(crate) settings: Arc<QueueSettings>,
    pub(crate) lanes: Lanes,
    /// Messages, held ones too.
    pub(crate) count: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    pub(crate) totals: Totals,
    pub(crate) known: Duplicates,
    /// The message of each key, in last-value queues. Follows from the messages.
    pub(crate) last_values: BTreeMap<Arc<[u8]>, Seq>,
    pub(crate) local: Local,
}

/// What is gone after a restart, or follows from the rest.
#[derive(Debug, Default)]
pub(crate) struct Local {
    /// By priority, the highest first.
    pub(crate) lines: Vec<(i32, Line)>,
    pub(crate) browsers: Line,
    /// All consumers.
    pub(crate) consumers: BTreeSet<ConsumerId>,
    /// How many of them take messages.
    pub(crate) takers: usize,
    /// The one that has the queue for itself.
    pub(crate) exclusive: Option<ConsumerId>,
    /// Those who take messages, if only one at a time may: the first is the one.
    pub(crate) candidates: BTreeSet<(std::cmp::Reverse<i32>, ConsumerId)>,
    /// Those who look at every message rather than take the first, browsers included.
    pub(crate) viewers: BTreeSet<ConsumerId>,
    /// Those who want their credit used up or given back.
    pub(crate) draining: Vec<ConsumerId>,
    /// Who holds which message: indices of acquisitions.
    pub(crate) holders: Holders,
    pub(crate) groups: Groups,
    /// Messages that are not due.
    pub(crate) delayed: BTreeSet<(Millis, Seq)>,
    /// When the first message of a chunk expires; the place is the chunk's first.
    pub(crate) expiry: BTreeSet<(Millis, Seq)>,
    /// Messages that were found to have expired, held until they are removed.
    pub(crate) expired: Vec<Seq>,
    /// When it is to be looked after, as the broker has it on its list.
    pub(crate) timer: Option<Millis>,
    /// It is on the broker's list of those that may have something for somebody.
    pub(crate) listed: bool,
    /// Links other than those of consumers.
    pub(crate) links: u64,
    /// It has had a link.
    pub(crate) used: bool,
    /// When it is to be deleted.
    pub(crate) delete_at: Option<Millis>,
    /// Its deletion is under way.
    pub(crate) deleting: bool,
    /// It was full, and there has not been much room since.
    pub(crate) full: bool,
    /// Deliveries of messages that had been delivered before.
    pub(crate) redelivered: u64,
    /// Deliveries.
    pub(crate) delivered: u64,
}

/// The first place of the chunk of a place.
fn chunk_of(seq: Seq) -> Seq {
    let chunk = crate::store::CHUNK as u64;
    Seq::new(seq.lane(), seq.number() / chunk * chunk)
}

impl Queue {
    pub(crate) fn new(id: QueueId, settings: Arc<QueueSettings>) -> Self {
        Self {
            id,
            settings,
            lanes: Lanes::default(),
            count: 0,
            bytes: 0,
            totals: Totals::default(),
            known: Duplicates::default(),
            last_values: BTreeMap::new(),
            local: Local::default(),
        }
    }

    /// Whether it holds more than its limits allow after `messages` and `bytes` more.
    pub(crate) fn is_beyond(&self, messages: u64, bytes: u64) -> bool {
        self.settings.max_messages.is_some_and(|most| self.count.saturating_add(messages) > most)
            || self.settings.max_bytes.is_some_and(|most| self.bytes.saturating_add(bytes) > most)
    }

    /// That it has become full, or has room again. It has only when there is some, so that it is not told over and over.
    #[inline]
    pub(crate) fn fullness(&mut self) -> Option<Event> {
        let has_limits = self.settings.max_messages.is_some() || self.settings.max_bytes.is_some();
        if has_limits || self.local.full { self.fullness_within_limits() } else { None }
    }

    fn fullness_within_limits(&mut self) -> Option<Event> {
        let limits = [(self.settings.max_messages, self.count), (self.settings.max_bytes, self.bytes)];
        let mut limits = limits.into_iter().filter_map(|(most, has)| Some((most?, has)));
        let turns = match self.local.full {
            true => limits.all(|(most, has)| has < most - most / 8),
            false => limits.any(|(most, has)| has >= most),
        };
        turns.then(|| self.turn_full(!self.local.full))
    }

    /// It is full, or not any more.
    pub(crate) fn turn_full(&mut self, full: bool) -> Event {
        self.local.full = full;
        if full { Event::Full(self.id) } else { Event::Room(self.id) }
    }

    /// There may be something for its consumers.
    #[inline]
    pub(crate) fn wake(&mut self) {
        for (_, line) in &mut self.local.lines {
            line.wake();
        }
        self.local.browsers.wake();
    }

    /// A message that is not held may be given to consumers at once, or when it is due.
    pub(crate) fn offer(&mut self, seq: Seq, now: Millis, consumers: &mut Slab<Consumer>) {
        let Some(entry) = self.lanes.get(seq) else { return };
        let group = entry.group().filter(|_| self.settings.groups).cloned();
        let failed = entry.failed > 0;
        if let Some(due) = entry.deliver_at().filter(|due| *due > now) {
            self.local.delayed.insert((due, seq));
            if let Some(group) = group.filter(|_| failed) {
                // Later ones of the group must not overtake it.
                self.local.groups.wait(&group, seq, consumers);
            }
            return;
        }
        match group {
            Some(group) => {
                self.local.groups.add(&group, seq, consumers);
                for id in &self.local.viewers {
                    if let Some(consumer) = consumers.get_mut(id.index()) {
                        consumer.look_at_group_again(seq);
                    }
                }
            }
            None => {
                self.lanes.set_free(seq, true);
                for id in &self.local.viewers {
                    if let Some(consumer) = consumers.get_mut(id.index())
                        && consumer.settings.mode == crate::Mode::Move
                        && let Some(view) = &mut consumer.view
                    {
                        view.look_again(seq);
                    }
                }
            }
        }
        self.wake();
    }

    /// The opposite of [`offer`](Self::offer): nobody may be given the message.
    pub(crate) fn withhold(&mut self, seq: Seq, consumers: &mut Slab<Consumer>) {
        self.lanes.set_free(seq, false);
        let Some(entry) = self.lanes.get(seq) else { return };
        let group = entry.group().filter(|_| self.settings.groups).cloned();
        if let Some(due) = entry.deliver_at() {
            let was_delayed = self.local.delayed.remove(&(due, seq));
            if was_delayed {
                for id in &self.local.viewers {
                    if let Some(view) = consumers.get_mut(id.index()).and_then(|consumer| consumer.view.as_mut()) {
                        view.forget(seq);
                    }
                }
            }
        }
        if let Some(group) = group {
            self.local.groups.remove(&group, seq, consumers);
        }
    }

    /// A message that is not held will expire.
    pub(crate) fn expect_expiry(&mut self, seq: Seq, at: Millis) {
        if at == NEVER {
            return;
        }
        let Some(next) = self.lanes.next_expiry_mut(seq) else { return };
        let first = chunk_of(seq);
        if at < *next {
            self.local.expiry.remove(&(*next, first));
            *next = at;
            self.local.expiry.insert((at, first));
        }
    }

    /// Takes a message out. A chunk that has none any more expects none to expire.
    pub(crate) fn take_out(&mut self, seq: Seq) -> Option<Entry> {
        let expiry = self.lanes.next_expiry_mut(seq).map_or(NEVER, |next| *next);
        let entry = self.lanes.remove(seq)?;
        if expiry != NEVER && self.lanes.chunk(seq).is_none_or(|(chunk, _)| chunk.present.is_empty()) {
            self.local.expiry.remove(&(expiry, chunk_of(seq)));
            if let Some(next) = self.lanes.next_expiry_mut(seq) {
                *next = NEVER;
            }
        }
        Some(entry)
    }

    /// When it is to be looked after next.
    pub(crate) fn next_time(&self) -> Option<Millis> {
        if !self.local.expired.is_empty() {
            return Some(0);
        }
        let first = |times: &BTreeSet<(Millis, Seq)>| times.first().map(|(time, _)| *time);
        let delete = self.local.delete_at.filter(|_| !self.local.deleting);
        [first(&self.local.delayed), first(&self.local.expiry), delete].into_iter().flatten().min()
    }

    /// Whether only one consumer may have messages, and it is another one.
    #[inline]
    pub(crate) fn is_inactive(&self, consumer: ConsumerId) -> bool {
        self.settings.single_active && self.local.candidates.first().is_some_and(|(_, active)| *active != consumer)
    }

    /// The line of a priority.
    pub(crate) fn line(&mut self, priority: i32) -> &mut Line {
        let lines = &mut self.local.lines;
        let at = match lines.binary_search_by(|(other, _)| priority.cmp(other)) {
            Ok(at) => at,
            Err(at) => {
                lines.insert(at, (priority, Line::default()));
                at
            }
        };
        &mut lines[at].1
    }
}
