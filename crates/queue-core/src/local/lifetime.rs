//! Queues that are deleted when they are not needed any more.

use crate::broker::Broker;
use crate::command::{Command, Orphans};
use crate::ids::{Millis, QueueId};
use crate::queue::Queue;
use crate::settings::Lifetime;

impl Queue {
    /// Whether its lifetime is over.
    pub(crate) fn has_outlived_its_use(&self) -> bool {
        let unused = self.local.used && self.local.links == 0 && self.local.consumers.is_empty();
        let empty = self.totals.enqueued > 0 && self.count == 0;
        match self.settings.lifetime {
            Lifetime::Manual | Lifetime::OnClose => false,
            Lifetime::Unused => unused,
            Lifetime::Empty => empty,
            Lifetime::UnusedAndEmpty => unused && self.count == 0,
        }
    }
}

impl Broker {
    /// A link of a sender was attached to a queue.
    pub fn link_attached(&mut self, queue: QueueId) {
        if let Some(queue) = self.queues.get_mut(&queue) {
            queue.local.links += 1;
            queue.local.used = true;
            queue.local.delete_at = None;
        }
        self.retime(queue);
    }

    /// A link of a sender was detached.
    pub fn link_detached(&mut self, queue: QueueId, now: Millis) {
        if let Some(queue) = self.queues.get_mut(&queue) {
            queue.local.links = queue.local.links.saturating_sub(1);
        }
        self.check_lifetime(queue, now);
        self.retime(queue);
    }

    /// The owner of queues is gone (see [`QueueSettings::owner`](crate::QueueSettings::owner)): those that are to be
    /// deleted then are. The commands for it are appended to `out`.
    pub fn owner_gone(&mut self, owner: u64, out: &mut Vec<Command>) {
        for (_, id) in self.owned.range((owner, QueueId(0))..=(owner, QueueId(u64::MAX))) {
            let Some(queue) = self.queues.get_mut(id) else { continue };
            if queue.settings.lifetime == Lifetime::OnClose && !queue.local.deleting {
                queue.local.deleting = true;
                out.push(Command::DeleteQueue { queue: *id, if_empty: false, orphans: Orphans::DeadLetter });
            }
        }
    }

    /// After a link or message went: whether the queue is to be deleted, and when.
    pub(crate) fn check_lifetime(&mut self, id: QueueId, now: Millis) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        if queue.settings.lifetime != Lifetime::Manual && !queue.local.deleting {
            let over = queue.has_outlived_its_use();
            let at = now.saturating_add(queue.settings.auto_delete_delay);
            queue.local.delete_at = over.then(|| queue.local.delete_at.unwrap_or(at));
        }
    }
}
