//! What is left of a queue that was deleted with many messages: they go bit by bit, so that no command takes long.

use super::Context;
use super::bury::Corpse;
use crate::broker::Broker;
use crate::ids::{QueueId, Seq};
use crate::output::{Applied, Done, Refused};
use crate::overlay::Reason;
use crate::queue::Queue;

/// How many messages of a deleted queue go at once.
pub(crate) const AT_ONCE: u64 = 1024;

/// A queue that was deleted, and what is left in it. Nobody finds it by its address, and it has no consumers.
#[derive(Debug)]
pub(crate) struct Doomed {
    pub(crate) queue: Box<Queue>,
    /// Its messages go to the dead-letter address.
    pub(crate) bury: bool,
    /// Local: a command to remove some of them is on its way.
    pub(crate) sweeping: bool,
}

impl Broker {
    /// Those messages of a queue that leave it in the moment it is deleted: all if there are few, and those that are held.
    pub(super) fn leaving_at_once(&self, id: QueueId) -> Vec<Seq> {
        let Some(queue) = self.queues.get(&id) else { return Vec::new() };
        if queue.count > AT_ONCE {
            return queue.local.holders.iter().map(|(seq, _)| seq).collect();
        }
        let first = queue.lanes.present_from(Seq::FIRST);
        std::iter::successors(first, |seq| queue.lanes.present_from(seq.next())).collect()
    }

    /// What is left in a deleted queue goes later.
    pub(super) fn doom(&mut self, rest: Option<Box<Queue>>, bury: bool) {
        if let Some(mut queue) = rest.filter(|queue| queue.count > 0) {
            queue.local = crate::queue::Local::default();
            self.doomed.insert(queue.id, Doomed { queue, bury, sweeping: false });
        }
    }

    pub(super) fn sweep(&mut self, id: QueueId, most: u64, context: &mut Context<'_>) -> Applied {
        let mut doomed = self.doomed.remove(&id).ok_or(Refused::NoQueue)?;
        let Doomed { queue, bury, sweeping } = &mut doomed;
        *sweeping = false;
        let mut count = 0;
        while count < most
            && let Some(seq) = queue.lanes.present_from(Seq::FIRST)
            && let Some(entry) = queue.lanes.remove(seq)
        {
            count += 1;
            self.written -= entry.written();
            if *bury {
                context.dead.push_back(Corpse::new(id, &queue.settings, entry, Reason::QueueDeleted, None));
            } else {
                self.release_body(entry.gone(), context.events);
            }
        }
        queue.count = queue.count.saturating_sub(count);
        if doomed.queue.count > 0 {
            self.doomed.insert(id, doomed);
        }
        Ok(Done::Messages { count })
    }
}
