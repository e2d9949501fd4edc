//! Queues as whoever manages them sees them.

use std::collections::HashMap;
use std::time::Duration;

use super::links::{Destination, Place, Role, Sender};
use super::node::Node;
use super::spec::QueueView;

impl Node {
    /// All queues as they are, in the order of their addresses; no more than so many.
    pub(super) fn views(&mut self, most: usize) -> Vec<QueueView> {
        let mut producers: HashMap<Place, u64> = HashMap::new();
        for (_, link) in &self.links {
            if let Role::Sender(Sender { to: Destination::Queue(place), relays: false, .. }) = &link.role {
                *producers.entry(*place).or_default() += 1;
            }
        }
        let places = self.queues().into_values().take(most);
        places.filter_map(|place| self.view_with(place, producers.get(&place).copied().unwrap_or(0))).collect()
    }

    /// A queue as it is.
    pub(super) fn view(&mut self, place: Place) -> Option<QueueView> {
        let sends = |role: &Role| matches!(role, Role::Sender(sender) if sender.to == Destination::Queue(place) && !sender.relays);
        let producers = self.links.iter().filter(|(_, link)| sends(&link.role)).count() as u64;
        self.view_with(place, producers)
    }

    fn view_with(&mut self, place: Place, producers: u64) -> Option<QueueView> {
        let settings = self.settings(place).cloned()?;
        let now = self.clock();
        let found = self.broker(place.side).statistics(place.queue)?;
        Some(QueueView {
            settings: (*settings).clone(),
            messages: found.depth,
            bytes: found.bytes,
            acquired: found.acquired,
            delayed: found.delayed,
            consumers: found.consumers,
            producers,
            oldest: found.oldest.map(|came| Duration::from_millis(now.saturating_sub(came))),
            enqueued: found.totals.enqueued,
            dequeued: found.totals.accepted,
            delivered: found.delivered,
            redelivered: found.redelivered,
            dead_lettered: found.totals.dead_lettered,
            expired: found.totals.expired,
            dropped: found.totals.dropped + found.totals.refused,
            full: found.full,
        })
    }
}
