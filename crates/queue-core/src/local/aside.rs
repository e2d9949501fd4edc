//! Messages that a command of management is about: from the moment they are chosen no consumer is given them, so that none
//! is with a consumer and somewhere else, too.

use crate::broker::{Broker, Node};
use crate::ids::{Millis, QueueId, Seq};
use crate::ranges::Ranges;

/// What was set aside of some messages of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Aside {
    /// These: a command about them is to be applied or withdrawn.
    pub items: Ranges,
    /// How many they are.
    pub count: u64,
    /// How many were left where they are, for consumers hold them.
    pub held: u64,
    /// Where to go on, if there were more than were wanted.
    pub rest: Option<Seq>,
}

impl Broker {
    /// Sets messages aside, at most so many: those of `items` that nobody holds. They are offered to consumers again if the
    /// command that is then made about them does not remove them, or is withdrawn. `back`: only dead letters whose queue is
    /// still there.
    pub fn set_aside(&mut self, id: QueueId, items: &Ranges, most: u64, back: bool) -> Aside {
        let mut aside = Aside::default();
        for (first, last) in items.iter() {
            let mut next = first;
            while let Some(seq) = self.queues.get(&id).and_then(|queue| queue.lanes.present_from(next))
                && seq <= last
            {
                if aside.count == most {
                    aside.rest = Some(seq);
                    return aside;
                }
                next = seq.next();
                if back && self.origin(id, seq).is_none() {
                    continue;
                }
                let Some(queue) = self.queues.get_mut(&id) else { return aside };
                if queue.lanes.is_held(seq) {
                    // Not those that have expired, or that another command is about.
                    aside.held += u64::from(queue.local.holders.get(seq).is_some());
                    continue;
                }
                queue.withhold(seq, &mut self.consumers);
                queue.lanes.set_held(seq, true);
                aside.items.push(seq);
                aside.count += 1;
            }
        }
        aside
    }

    /// Messages that were set aside are offered again, unless they have left.
    pub(crate) fn end_aside(&mut self, id: QueueId, items: &Ranges, now: Millis) {
        self.for_each(id, items, |broker, seq| broker.give_back_unheld(id, seq, now));
        self.touched(id);
    }

    /// The queue that a dead letter came from, if it is another one and still there.
    pub(crate) fn origin(&mut self, id: QueueId, seq: Seq) -> Option<QueueId> {
        let entry = self.queues.get_mut(&id)?.lanes.get(seq)?;
        let address = entry.overlay()?.deaths.first()?.address.clone();
        match self.node(&address)? {
            Node::Queue(to) if to != id => Some(to),
            _ => None,
        }
    }
}
