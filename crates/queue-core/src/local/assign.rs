//! Giving messages to consumers.

use super::candidates::{Found, Search};
use super::matcher::Matcher;
use crate::acquire::Acquisitions;
use crate::body::BodyRef;
use crate::broker::Broker;
use crate::consumer::{Consumer, Mode};
use crate::ids::{AcqId, ConsumerId, Millis, QueueId, Seq};
use crate::overlay::Overlay;
use crate::queue::{Local, Queue};
use crate::store::Entry;
use crate::store::entry::NEVER;
use slab::Slab;
use std::sync::Arc;

/// How many messages are looked at in one call at most before others get their turn.
const PATIENCE: u32 = 4096;

/// A message for a consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Who gets it.
    pub consumer: ConsumerId,
    /// By what to say what became of it. `None` for a browser: nothing need be said.
    pub acquisition: Option<AcqId>,
    /// The queue.
    pub queue: QueueId,
    /// Its place.
    pub seq: Seq,
    /// Where its bytes are.
    pub body: BodyRef,
    /// How many there are.
    pub size: u64,
    /// Failed deliveries here, to be added to what its header says.
    pub delivery_count: u32,
    /// It has been delivered before: the header's first-acquirer is false.
    pub redelivered: bool,
    /// When it came.
    pub arrived: Millis,
    /// When it expires, if it does: the header's ttl is what is left until then.
    pub expires_at: Option<Millis>,
    /// What is to be added to it.
    pub overlay: Option<Arc<Overlay>>,
}

impl Assignment {
    #[inline]
    pub(crate) fn new(
        queue: QueueId,
        consumer: ConsumerId,
        seq: Seq,
        acquisition: Option<AcqId>,
        entry: &Entry,
        returned: bool,
    ) -> Self {
        Self {
            consumer,
            acquisition,
            queue,
            seq,
            body: entry.body(),
            size: entry.size(),
            delivery_count: entry.failed,
            redelivered: returned || entry.failed > 0,
            arrived: entry.arrived,
            expires_at: Some(entry.expires).filter(|expires| *expires != NEVER),
            overlay: entry.overlay().cloned(),
        }
    }
}

/// What a turn of a queue gave.
enum Turn {
    Gave(Assignment),
    /// There is nothing for anybody.
    Done,
    /// It has to go on another time.
    Tired,
}

impl Broker {
    /// The next message for a consumer that has credit for it; the consumer has one credit less. To be called until
    /// there is none. What it costs does not grow with the number of queues, nor with messages that nobody can take.
    /// Queues take turns, and so do the consumers of each that have the same priority.
    ///
    /// If filters have to look at very many messages, it stops for now, and [`next_timeout`](Self::next_timeout) is at
    /// once.
    pub fn next_delivery(&mut self, now: Millis, matcher: &mut dyn Matcher) -> Option<Assignment> {
        let mut search = Search { now, matcher, patience: PATIENCE };
        while let Some(&id) = self.ready.front() {
            let Some(queue) = self.queues.get_mut(&id) else {
                self.ready.pop_front();
                continue;
            };
            if let Some(assignment) = queue.give_plain(now, &mut self.consumers, &mut self.acquisitions) {
                if self.ready.len() > 1 {
                    self.ready.rotate_left(1);
                }
                return Some(assignment);
            }
            let mut giving = Giving { consumers: &mut self.consumers, acquisitions: &mut self.acquisitions };
            let turn = giving.turn(queue, &mut search);
            let found_expired = !queue.local.expired.is_empty();
            match &turn {
                // The others' turn.
                Turn::Gave(_) | Turn::Tired if self.ready.len() > 1 => self.ready.rotate_left(1),
                Turn::Gave(_) | Turn::Tired => {}
                Turn::Done => {
                    queue.local.listed = false;
                    self.ready.pop_front();
                    queue.drain(&mut self.consumers, &mut self.drained);
                }
            }
            if found_expired {
                self.retime(id);
            }
            match turn {
                Turn::Gave(assignment) => return Some(assignment),
                Turn::Done => {}
                Turn::Tired => return None,
            }
        }
        None
    }
}

/// What giving messages changes beside the queue.
struct Giving<'b> {
    consumers: &'b mut Slab<Consumer>,
    acquisitions: &'b mut Acquisitions,
}

impl Giving<'_> {
    fn turn(&mut self, queue: &mut Queue, search: &mut Search<'_>) -> Turn {
        // Messages of groups that belong to somebody: nobody else can have them.
        while let Some(owner) = queue.local.groups.owners.pop_first() {
            match self.ask(queue, owner, search) {
                Asked::Gave(assignment) => {
                    let more = self.consumers.get(owner.index()).is_some_and(|c| c.credit > 0 && !c.own.is_empty());
                    if more {
                        queue.local.groups.owners.insert(owner);
                    }
                    return Turn::Gave(assignment);
                }
                Asked::Tired => {
                    queue.local.groups.owners.insert(owner);
                    return Turn::Tired;
                }
                Asked::Nothing | Asked::Cannot => {}
            }
        }
        for at in 0..queue.local.lines.len() {
            while queue.has_free() {
                let Some(id) = queue.local.lines[at].1.ready.pop_front() else { break };
                let asked = self.ask(queue, id, search);
                if let Some(turn) = self.after(queue, Some(at), id, asked) {
                    return turn;
                }
            }
        }
        while let Some(id) = queue.local.browsers.ready.pop_front() {
            let asked = self.ask(queue, id, search);
            if let Some(turn) = self.after(queue, None, id, asked) {
                return turn;
            }
        }
        Turn::Done
    }

    /// Where a consumer stands that was the first in its line.
    fn after(&mut self, queue: &mut Queue, line: Option<usize>, id: ConsumerId, asked: Asked) -> Option<Turn> {
        let to = match line {
            Some(at) => &mut queue.local.lines[at].1,
            None => &mut queue.local.browsers,
        };
        let Some(consumer) = self.consumers.get_mut(id.index()).filter(|consumer| consumer.id == id) else {
            to.met_lost();
            return None;
        };
        let stays = consumer.credit > 0 && !consumer.parked;
        consumer.listed = stays;
        match asked {
            Asked::Gave(assignment) => {
                if stays {
                    to.ready.push_back(id);
                }
                Some(Turn::Gave(assignment))
            }
            Asked::Tired => {
                to.ready.push_front(id);
                Some(Turn::Tired)
            }
            Asked::Nothing | Asked::Cannot => {
                if stays {
                    to.idle.push_back(id);
                }
                None
            }
        }
    }

    /// Looks for a message for one consumer, and gives it.
    fn ask(&mut self, queue: &mut Queue, id: ConsumerId, search: &mut Search<'_>) -> Asked {
        loop {
            let Some(consumer) = self.consumers.get_mut(id.index()).filter(|consumer| consumer.id == id) else {
                return Asked::Cannot;
            };
            if consumer.credit == 0
                || consumer.parked
                || (consumer.settings.mode == Mode::Move && queue.is_inactive(id))
            {
                return Asked::Cannot;
            }
            match search.find(queue, consumer) {
                Found::Message(seq) => return self.give(queue, id, seq).map_or(Asked::Nothing, Asked::Gave),
                Found::Nothing => return Asked::Nothing,
                Found::Tired => return Asked::Tired,
                Found::Wait => {
                    consumer.parked = true;
                    return Asked::Nothing;
                }
                Found::Expired(seq) => {
                    queue.put_aside(seq, self.consumers);
                    if search.tires() {
                        return Asked::Tired;
                    }
                }
            }
        }
    }

    /// Gives a message that was looked at. `None`: it is not there.
    fn give(&mut self, queue: &mut Queue, id: ConsumerId, seq: Seq) -> Option<Assignment> {
        let consumer = self.consumers.get_mut(id.index())?;
        let browses = consumer.settings.mode == Mode::Copy;
        let (entry, returned) = if browses {
            let returned = queue.lanes.was_returned(seq);
            (queue.lanes.get(seq)?, returned)
        } else {
            queue.lanes.take(seq)?
        };
        consumer.credit = consumer.credit.saturating_sub(1);
        if browses {
            return Some(Assignment::new(queue.id, id, seq, None, entry, returned));
        }
        let acquisition = self.acquisitions.add(consumer, seq);
        queue.local.holders.insert(seq, acquisition.index());
        let (assignment, grouped) =
            (Assignment::new(queue.id, id, seq, Some(acquisition), entry, returned), entry.group().is_some());
        if grouped {
            queue.take_into_group(seq, id, self.consumers);
        }
        queue.local.count_delivered(&assignment);
        Some(assignment)
    }
}

/// What came of asking a consumer.
enum Asked {
    Gave(Assignment),
    Nothing,
    /// It has no credit, or waits, or is not the active one, or is gone.
    Cannot,
    Tired,
}

impl Local {
    #[inline]
    fn count_delivered(&mut self, assignment: &Assignment) {
        self.delivered += 1;
        self.redelivered += u64::from(assignment.redelivered);
    }
}

impl Consumer {
    /// Whether the first free message of a queue is the next for it, whatever that is.
    #[inline]
    pub(crate) fn takes_the_first(&self, queue: &Queue) -> bool {
        self.settings.mode == Mode::Move
            && !self.settings.filter
            && self.view.is_none()
            && self.own.is_empty()
            && queue.local.groups.heads.is_empty()
    }
}

impl Queue {
    /// Gives the first message to the first consumer, if there is nothing special about either: what most messages are, for most
    /// consumers. It comes to the same as a turn.
    fn give_plain(
        &mut self,
        now: Millis,
        consumers: &mut Slab<Consumer>,
        acquisitions: &mut Acquisitions,
    ) -> Option<Assignment> {
        let (line, consumer) = self.first_in_line(consumers)?;
        let (seq, entry, returned) = self.lanes.take_first_plain(now)?;
        let acquisition = acquisitions.add(consumer, seq);
        let assignment = Assignment::new(self.id, consumer.id, seq, Some(acquisition), entry, returned);
        self.was_given(line, consumer, seq, acquisition);
        self.local.count_delivered(&assignment);
        Some(assignment)
    }

    /// The first consumer in the first line that has one, and which line that is, if it takes whatever is the first, and nobody
    /// comes before it.
    #[inline]
    pub(crate) fn first_in_line<'c>(&self, consumers: &'c mut Slab<Consumer>) -> Option<(usize, &'c mut Consumer)> {
        if !self.local.groups.owners.is_empty() {
            return None;
        }
        let mut lines = self.local.lines.iter().enumerate();
        let (at, id) = lines.find_map(|(at, (_, line))| Some((at, *line.ready.front()?)))?;
        let consumer = consumers.get_mut(id.index()).filter(|consumer| consumer.id == id)?;
        let takes = consumer.credit > 0 && !consumer.parked && consumer.takes_the_first(self) && !self.is_inactive(id);
        takes.then_some((at, consumer))
    }

    /// The first consumer of a line was given a message: it is the last one from now on, as long as it has credit.
    #[inline(always)] // Each message comes by here.
    pub(crate) fn was_given(&mut self, line: usize, consumer: &mut Consumer, seq: Seq, acquisition: AcqId) {
        self.local.holders.insert(seq, acquisition.index());
        consumer.credit -= 1;
        consumer.listed = consumer.credit > 0;
        if let Some((_, line)) = self.local.lines.get_mut(line) {
            line.had_turn(consumer.listed);
        }
    }

    /// Whether there is a message that not only one consumer can have.
    #[inline]
    pub(crate) fn has_free(&self) -> bool {
        self.lanes.free() > 0 || !self.local.groups.heads.is_empty()
    }

    /// A message that has expired is held, until it is removed when there is time.
    pub(crate) fn put_aside(&mut self, seq: Seq, consumers: &mut Slab<Consumer>) {
        self.withhold(seq, consumers);
        self.lanes.set_held(seq, true);
        self.local.expired.push(seq);
    }
}
