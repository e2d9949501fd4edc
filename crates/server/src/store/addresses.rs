//! What is at an address: of queues on both sides that have the same one, which of the two is found.

use std::collections::BTreeMap;
use std::sync::Arc;

use queue_core::Node as Found;

use super::collectors::COLLECTOR;
use super::links::{Destination, Place, Side};
use super::node::Node;
use super::shadows::which_is_found;

impl Node {
    /// Where a link's messages go, by address.
    pub(super) fn find(&self, address: &str) -> Option<Destination> {
        let found = Side::BOTH.map(|side| self.brokers[side as usize].node(address));
        match found {
            _ if address.starts_with(COLLECTOR) && self.is_collector(found) => None,
            [Some(Found::Queue(logged)), Some(Found::Queue(memory))] => {
                let places =
                    [(Side::Logged, logged), (Side::Memory, memory)].map(|(side, queue)| Place { side, queue });
                let found = match places.map(|place| self.settings(place)) {
                    [Some(logged), Some(memory)] => which_is_found(logged, memory),
                    _ => Side::Logged,
                };
                Some(Destination::Queue(places[found as usize]))
            }
            [Some(Found::Queue(queue)), _] => Some(Destination::Queue(Place { side: Side::Logged, queue })),
            [_, Some(Found::Queue(queue))] => Some(Destination::Queue(Place { side: Side::Memory, queue })),
            [Some(Found::Topic(logged)), Some(Found::Topic(memory))] => Some(Destination::Topic([logged, memory])),
            _ => None,
        }
    }

    /// All queues, by address; no shadows, and none of those in which dead letters for topics wait.
    pub(super) fn queues(&self) -> BTreeMap<Arc<str>, Place> {
        let of = |side: Side| {
            let all = self.brokers[side as usize].queues().filter(|(_, settings)| !settings.is_collector());
            all.map(move |(queue, settings)| (Arc::clone(&settings.address), Place { side, queue }))
        };
        let mut all: BTreeMap<_, _> = of(Side::Memory).collect();
        for (address, place) in of(Side::Logged) {
            if !all.contains_key(&address) || !self.is_shadow(place) {
                all.insert(address, place);
            }
        }
        all
    }
}
