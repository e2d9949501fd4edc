//! Dead letters and expired messages for topics: a topic has subscriptions on both sides, and filters that only the host can ask. So
//! where a queue names a topic for them, the topic has a *collector* on the side of that queue, a queue which nobody sees; they
//! wait there until they are published as what senders send: to all subscriptions that let them in and have room.

use std::collections::BTreeSet;
use std::sync::Arc;

use queue_core::QueueSettings;

use super::links::{Destination, Place, Side};
use super::node::Node;

/// What their addresses begin with.
pub(super) const COLLECTOR: &str = "::";

/// All collectors that there are.
#[derive(Default)]
pub(super) struct Collectors {
    all: BTreeSet<Place>,
    /// Something may have come into one, or into a shadow.
    pub(super) tend: bool,
    /// A topic has come: others may name it.
    pub(super) seek: bool,
}

impl Collectors {
    /// Whether a queue is one.
    pub(super) fn has(&self, place: Place) -> bool {
        self.all.contains(&place)
    }

    /// A queue is gone.
    pub(super) fn forget(&mut self, place: Place) {
        self.all.remove(&place);
    }

    /// There is one.
    pub(super) fn add(&mut self, place: Place) {
        self.all.insert(place);
    }
}

impl Node {
    /// Those of the log are there from the start. What is in them goes when the topics are known on both sides.
    pub(super) fn take_over_collectors(&mut self) {
        let broker = &self.brokers[Side::Logged as usize];
        let found: Vec<_> = broker.topics().filter_map(|(topic, _)| broker.collector(topic)).collect();
        found.into_iter().for_each(|queue| self.collectors.add(Place { side: Side::Logged, queue }));
    }

    /// The collector that a topic is to have for a queue that names it, if it has none.
    pub(super) fn collector_to_make(&self, settings: &QueueSettings, address: &str) -> Option<QueueSettings> {
        let Some(Destination::Topic(topics)) = self.find(address) else { return None };
        let side = Side::of(settings.durable);
        let topic = topics[side as usize];
        let is_missing = self.brokers[side as usize].collector(topic).is_none();
        is_missing.then(|| QueueSettings::collector(address, topic, settings.durable))
    }

    /// Whether this is one that is found at an address: nobody is to.
    pub(super) fn is_collector(&self, found: [Option<queue_core::Node>; 2]) -> bool {
        Side::BOTH.into_iter().zip(found).any(|(side, node)| {
            matches!(node, Some(queue_core::Node::Queue(queue)) if self.collectors.has(Place { side, queue }))
        })
    }

    /// Whether what is in a collector goes to the other side, too: there is a subscription.
    pub(super) fn is_for_both_sides(&self, collector: Place) -> bool {
        let other = collector.side.other() as usize;
        let topic = self.settings(collector).and_then(|settings| settings.topic);
        let topic = topic.and_then(|topic| self.brokers[collector.side as usize].topic(topic));
        let Some(Destination::Topic(topics)) = topic.and_then(|topic| self.find(&topic.address)) else { return false };
        self.brokers[other].bound(topics[other]).next().is_some()
    }

    /// Makes collectors that are missing, and has what is in those that there are published.
    pub(super) fn tend_collectors(&mut self) {
        if std::mem::take(&mut self.collectors.seek) {
            self.make_collectors();
            self.collectors.tend = true;
        }
        if !std::mem::take(&mut self.collectors.tend) {
            return;
        }
        self.wake_shadows();
        let all: Vec<Place> = self.collectors.all.iter().copied().collect();
        for place in all {
            if self.broker(place.side).statistics(place.queue).is_some_and(|found| found.depth > 0) {
                self.empty(place);
            }
        }
    }

    /// Those of topics that queues name.
    fn make_collectors(&mut self) {
        let all: Vec<_> = self.queues().into_values().filter_map(|place| self.settings(place).cloned()).collect();
        let names = |settings: &Arc<QueueSettings>| {
            let of = |address: &Arc<str>| self.collector_to_make(settings, address);
            settings.graves().filter_map(of).collect::<Vec<_>>()
        };
        let mut missing: Vec<_> = all.iter().flat_map(names).collect();
        missing.sort_by(|one, other| (one.durable, &one.address).cmp(&(other.durable, &other.address)));
        missing.dedup();
        self.make_graves(missing);
    }
}
