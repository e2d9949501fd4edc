//! What takes effect at once, for a host that does not log: messages that come, and those that are accepted. It comes to the
//! same as applying an entry that holds nothing else; but what most messages need is done in one go.

use super::Context;
use crate::body::{Body, BodyRef};
use crate::broker::Broker;
use crate::command::{Enqueue, Target};
use crate::consumer::Consumer;
use crate::facts::Facts;
use crate::ids::{AcqId, ConsumerId, EntryIndex, Millis, QueueId, Seq};
use crate::local::Assignment;
use crate::output::{Event, Refused};
use crate::queue::Queue;
use crate::settings::Lifetime;
use crate::store::Entry;
use slab::Slab;
use smallvec::smallvec;
use std::collections::VecDeque;

/// Who has a message that came in at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// Nobody yet.
    Waits,
    /// A consumer, with one credit less. [`Broker::assignment`] says more of the message: it is as it came.
    Given {
        /// Who has it.
        consumer: ConsumerId,
        /// By what to say what became of it.
        acquisition: AcqId,
    },
}

/// What became of messages that were accepted at once. To be reused: what is in it is added to.
#[derive(Debug, Default)]
pub struct AcceptedAtOnce {
    /// The queues that they have left.
    pub queues: Vec<QueueId>,
    /// Their bytes, as far as nobody needs them any more.
    pub gone: Vec<BodyRef>,
    /// Those to which there is more: they take commands.
    pub left: Vec<AcqId>,
}

impl Broker {
    /// Has a message come into a queue at once, with its bytes at an entry of its own. If a consumer waits there for whatever
    /// comes, it has it: that is what [`next_delivery`](Self::next_delivery) would give it next.
    ///
    /// # Errors
    /// If the queue does not take it.
    pub fn enqueue_at_once(
        &mut self,
        at: EntryIndex,
        time: Millis,
        to: QueueId,
        facts: Facts,
        events: &mut Vec<Event>,
    ) -> Result<Came, Refused> {
        let body = BodyRef::Log { entry: at.0, part: 0 };
        let queue =
            self.queues.get_mut(&to).filter(|queue| facts.duplicate_id.is_none() && !queue.is_full(1, facts.size));
        if let Some(queue) = queue {
            let entry = queue.entry(&facts, body, time);
            if queue.is_plain(&entry) {
                if let Some((line, consumer)) = queue.next_taker(&mut self.consumers) {
                    let lane = queue.lane_of(&entry);
                    let acquisition = self.acquisitions.add(consumer, Seq::new(lane, queue.lanes.next_in(lane)));
                    queue.pass_plain(lane, entry, acquisition, (line, consumer), events);
                    return Ok(Came::Given { consumer: consumer.id, acquisition });
                }
                if queue.join_plain(entry, events) {
                    self.ready.push_back(to);
                }
                return Ok(Came::Waits);
            }
        }
        let enqueue = Enqueue { to: smallvec![Target::Queue(to)], facts, body: Body::Here };
        let mut context = Context { at, time, part: 0, promised: false, dead: VecDeque::new(), events };
        let applied = self.enqueue(&enqueue, &mut context);
        self.bury_all(&mut context);
        events.append(&mut self.late);
        applied.map(|_| Came::Waits)
    }

    /// What a consumer holds.
    pub fn assignment(&mut self, acquisition: AcqId) -> Option<Assignment> {
        let held = self.acquisitions.get_mut(acquisition)?;
        let (consumer, seq) = (held.consumer, held.seq);
        let queue = self.queues.get_mut(&held.queue)?;
        let (id, returned) = (queue.id, queue.lanes.was_returned(seq));
        Some(Assignment::new(id, consumer, seq, Some(acquisition), queue.lanes.get(seq)?, returned))
    }

    /// Has messages that consumers hold be accepted at once.
    pub fn accept_at_once(&mut self, accepted: &[AcqId], out: &mut AcceptedAtOnce, events: &mut Vec<Event>) {
        let mut rest = accepted;
        while let Some(first) = rest.first() {
            let queue = self.acquisitions.get_mut(*first).map(|held| held.queue);
            let count = queue.map_or(0, |queue| self.accept_some(queue, rest, out, events));
            if count == 0 {
                out.left.push(*first);
            }
            rest = rest.get(count.max(1)..).unwrap_or_default();
        }
        events.append(&mut self.late);
    }

    /// Has the first of these messages be accepted, as far as they are of one queue and there is no more to them. How many.
    fn accept_some(
        &mut self,
        id: QueueId,
        accepted: &[AcqId],
        out: &mut AcceptedAtOnce,
        events: &mut Vec<Event>,
    ) -> usize {
        let Self { queues, acquisitions, consumers, kept, .. } = self;
        let queue = queues.get_mut(&id).filter(|queue| queue.settings.lifetime == Lifetime::Manual);
        let Some(queue) = queue else { return 0 };
        // What others may need, too.
        let mut needed = Vec::new();
        let mut count = 0;
        for of in accepted {
            let held = acquisitions.get_mut(*of).filter(|held| held.queue == id && held.is_simple());
            let Some(seq) = held.map(|held| held.seq) else { break };
            let Some(gone) = queue.accept_plain(seq, events) else { break };
            queue.local.holders.remove(seq);
            acquisitions.remove(of.index(), consumers);
            count += 1;
            match gone.shared || !kept.is_empty() {
                true => needed.push(gone),
                false => out.gone.push(gone.body),
            }
        }
        for gone in needed {
            if self.released(gone) {
                out.gone.push(gone.body);
            }
        }
        if count > 0 {
            out.queues.push(id);
        }
        count
    }
}

impl Queue {
    /// The consumer that is to be given what comes next, whatever that is, if nothing is before it. Only where that is so without
    /// looking further: nobody browses, and nobody waits to hear that there is nothing.
    #[inline]
    fn next_taker<'c>(&mut self, consumers: &'c mut Slab<Consumer>) -> Option<(usize, &'c mut Consumer)> {
        if self.has_free() || !self.local.browsers.is_empty() || !self.local.draining.is_empty() {
            return None;
        }
        self.local.lines.iter_mut().for_each(|(_, line)| line.wake());
        self.first_in_line(consumers)
    }

    /// Puts a plain message behind all others of its priority, held by the consumer that is the next to be given one.
    #[inline]
    fn pass_plain(
        &mut self,
        lane: usize,
        entry: Entry,
        acquisition: AcqId,
        (line, consumer): (usize, &mut Consumer),
        events: &mut Vec<Event>,
    ) {
        self.count_in(entry.size());
        let seq = self.lanes.push_held(lane, entry);
        self.was_given(line, consumer, seq, acquisition);
        self.local.delivered += 1;
        if let Some(event) = self.fullness() {
            events.push(event);
        }
    }
}
