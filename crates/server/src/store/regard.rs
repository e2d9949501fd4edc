//! What has to be looked at in a sender's messages: it depends on where they go, and is found out only when that has changed.

use queue_core::{QueueSettings, Target as To};

use super::links::{Destination, Look, Place, Role, Side};
use super::node::Node;

impl Node {
    /// Brings what a sender's messages are looked at for up to date.
    pub(super) fn refresh_look(&mut self, link: u32) {
        let Some(Role::Sender(sender)) = self.links.get(link as usize).map(|link| &link.role) else { return };
        if sender.look.epoch == self.epoch {
            return;
        }
        let look = self.look_of(sender.to);
        if let Some(sender) = self.sender_mut(link) {
            sender.look = look;
        }
    }

    pub(super) fn look_of(&self, to: Destination) -> Look {
        let mut look = self.look_by_queues(to);
        look.wanted.ahead = self.clock.ahead();
        look
    }

    fn look_by_queues(&self, to: Destination) -> Look {
        let epoch = self.epoch;
        match to {
            Destination::Queue(place) => {
                let settings = self.settings(place);
                let is_limited = |settings: &QueueSettings| {
                    settings.overflow == queue_core::Overflow::Hold
                        && (settings.max_messages.is_some() || settings.max_bytes.is_some())
                };
                Look {
                    epoch,
                    wanted: self.brokers[place.side as usize].wanted([&To::Queue(place.queue)]),
                    filtered: self.filters.contains_key(&place),
                    sides: [false; 2],
                    limited: settings.is_some_and(|settings| is_limited(settings)),
                }
            }
            Destination::Topic(topics) => {
                let target = |side: Side| To::Topic { topic: topics[side as usize], except: Vec::new() };
                let mut wanted = self.brokers[0].wanted([&target(Side::Logged)]);
                let more = self.brokers[1].wanted([&target(Side::Memory)]);
                wanted.duplicates |= more.duplicates;
                wanted.keys.extend(more.keys);
                let bound = |side: Side| self.brokers[side as usize].bound(topics[side as usize]);
                let filtered = Side::BOTH
                    .into_iter()
                    .any(|side| bound(side).any(|queue| self.filters.contains_key(&Place { side, queue })));
                let sides = Side::BOTH.map(|side| bound(side).next().is_some());
                Look { epoch, wanted, filtered, sides, limited: false }
            }
            Destination::Named => Look { epoch, ..Look::default() },
        }
    }
}
