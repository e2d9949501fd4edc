//! Messages that leave a queue for its dead-letter or expiry address: exactly one copy for each queue behind it.

use super::Context;
use crate::broker::{Broker, Node};
use crate::ids::QueueId;
use crate::output::Event;
use crate::overlay::{Death, Overlay, Reason};
use crate::queue::Queue;
use crate::settings::{Overflow, QueueSettings};
use crate::store::Entry;
use std::sync::Arc;

/// A message that has left a queue.
pub(super) struct Corpse {
    from: QueueId,
    /// The queue's, which may be gone.
    settings: Arc<QueueSettings>,
    entry: Entry,
    reason: Reason,
    /// What its consumer said.
    error: Option<Arc<str>>,
}

impl Corpse {
    pub(super) fn new(
        from: QueueId,
        settings: &Arc<QueueSettings>,
        entry: Entry,
        reason: Reason,
        error: Option<Arc<str>>,
    ) -> Self {
        Self { from, settings: settings.clone(), entry, reason, error }
    }

    fn address(&self) -> Option<&Arc<str>> {
        match self.reason {
            Reason::Expired => self.settings.expiry_address.as_ref(),
            _ => self.settings.dead_letter_address.as_ref(),
        }
    }
}

impl Queue {
    /// A message that comes from another queue: it keeps what it is, but begins anew.
    pub(super) fn adopt(&self, entry: &Entry, time: u64) -> Entry {
        let mut entry = entry.clone();
        entry.arrived = time;
        entry.failed = 0;
        entry.expires = self.settings.expiry(time, None).unwrap_or(crate::store::entry::NEVER);
        entry.set_deliver_at(None);
        entry
    }
}

impl Broker {
    /// Takes all messages that have left their queues to where they go.
    pub(super) fn bury_all(&mut self, context: &mut Context<'_>) {
        // Each message goes to an address once without a consumer's doing, so this ends.
        while let Some(corpse) = context.dead.pop_front() {
            self.bury(corpse, context);
        }
    }

    fn bury(&mut self, mut corpse: Corpse, context: &mut Context<'_>) {
        let (from, reason) = (corpse.from, corpse.reason);
        let death = Death {
            address: corpse.settings.address.clone(),
            reason,
            count: 1,
            time: context.time,
            error: corpse.error.take(),
        };
        corpse.entry.change(|extra| {
            let overlay: &mut Arc<Overlay> = extra.overlay.get_or_insert_default();
            Arc::make_mut(overlay).die(death);
        });
        let queues = self.graves(&corpse, context);
        let Some((first, others)) = queues.split_first() else {
            self.release_body(corpse.entry.gone(), context.events);
            // Those that have expired are counted as such.
            self.count(from, |queue| queue.totals.dropped += u64::from(reason != Reason::Expired));
            context.events.push(Event::Dropped { queue: from, reason });
            return;
        };
        self.count(from, |queue| queue.totals.dead_lettered += u64::from(reason != Reason::Expired));
        context.events.push(Event::DeadLettered { queue: from, reason });
        let entry = &mut corpse.entry;
        entry.shared = self.share_body(entry.body(), others.len() as u32, entry.shared);
        for id in std::iter::once(first).chain(others) {
            if let Some(queue) = self.queues.get(id) {
                let entry = queue.adopt(entry, context.time);
                self.join(*id, entry, context);
            }
        }
    }

    pub(super) fn count(&mut self, id: QueueId, count: impl FnOnce(&mut Queue)) {
        if let Some(queue) = self.queues.get_mut(&id) {
            count(queue);
        }
    }

    /// The queues that a message goes to. None: it is to be dropped.
    fn graves(&mut self, corpse: &Corpse, context: &mut Context<'_>) -> Vec<QueueId> {
        let mut next = corpse.address().cloned();
        let mut tried: Vec<Arc<str>> = vec![corpse.settings.address.clone()];
        while let Some(address) = next.take() {
            let overlay = corpse.entry.overlay();
            if tried.contains(&address)
                || overlay.is_some_and(|overlay| overlay.goes_in_a_circle(&address, corpse.reason))
            {
                return Vec::new();
            }
            let id = match self.node(&address) {
                Some(Node::Queue(id)) => id,
                Some(Node::Topic(topic)) => {
                    if let Some(collector) = self.collector(topic) {
                        return vec![collector];
                    }
                    let size = corpse.entry.size();
                    let full = |id: &QueueId| self.queues.get(id).is_some_and(|queue| queue.is_full(1, size));
                    return self.bound(topic).filter(|id| *id != corpse.from && !full(id)).collect();
                }
                None => {
                    let Ok(id) = self.create_queue(&corpse.settings.grave(address.clone())) else {
                        return Vec::new();
                    };
                    context.events.push(Event::QueueMade(id));
                    id
                }
            };
            let Some(queue) = self.queues.get(&id) else { return Vec::new() };
            if !queue.is_full(1, corpse.entry.size()) {
                return vec![id];
            }
            // Full: on to where its own dead letters go.
            next = queue.settings.dead_letter_address.clone();
            tried.push(address);
        }
        Vec::new()
    }

    /// Makes a queue that drops its oldest messages as small as it may be.
    pub(super) fn evict(&mut self, id: QueueId, context: &mut Context<'_>) {
        while let Some(queue) = self.queues.get_mut(&id)
            && matches!(queue.settings.overflow, Overflow::DropHead | Overflow::Ring)
            && queue.is_beyond(0, 0)
        {
            let Some(seq) = queue.oldest() else { return };
            let settings = queue.settings.clone();
            let dead = settings.overflow == Overflow::DropHead && settings.dead_letter_address.is_some();
            let Some(entry) = self.leave(id, seq, !dead, context) else { return };
            if dead {
                context.dead.push_back(Corpse::new(id, &settings, entry, Reason::Overflow, None));
            } else {
                self.count(id, |queue| queue.totals.dropped += 1);
            }
        }
    }
}
