//! Which ids of messages are known, so that one that comes again is taken for a duplicate. Replicated: the same on every
//! machine, for it depends on commands and their times only.

use crate::ids::Millis;
use crate::settings::QueueSettings;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The ids that a queue remembers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Duplicates {
    /// In the order in which they came, and when.
    order: VecDeque<(Millis, Arc<[u8]>)>,
    known: BTreeSet<Arc<[u8]>>,
}

impl Duplicates {
    /// Forgets what is too old or too much.
    fn forget(&mut self, settings: &QueueSettings, now: Millis) {
        while let Some((time, id)) = self.order.front() {
            let old = settings.duplicate_time > 0 && time.saturating_add(settings.duplicate_time) <= now;
            if !old && self.order.len() <= settings.duplicate_count as usize {
                return;
            }
            self.known.remove(id);
            self.order.pop_front();
        }
    }

    /// Whether an id is known at this time.
    pub(crate) fn has(&mut self, id: &[u8], settings: &QueueSettings, now: Millis) -> bool {
        self.forget(settings, now);
        self.known.contains(id)
    }

    /// Remembers an id.
    pub(crate) fn add(&mut self, id: &Arc<[u8]>, settings: &QueueSettings, now: Millis) {
        if settings.duplicate_count > 0 && self.known.insert(id.clone()) {
            self.order.push_back((now, id.clone()));
        }
        self.forget(settings, now);
    }

    /// In the order in which they came.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &(Millis, Arc<[u8]>)> {
        self.order.iter()
    }

    pub(crate) fn restore(&mut self, time: Millis, id: Arc<[u8]>) {
        if self.known.insert(id.clone()) {
            self.order.push_back((time, id));
        }
    }
}
