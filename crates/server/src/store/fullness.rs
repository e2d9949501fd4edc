//! Queues that are full: the log says so once, with what can be done, and once that they have room again.

use std::collections::HashMap;

use queue_core::{Overflow, QueueSettings};

use super::links::{Place, Side};
use super::node::Node;
use super::seldom::Seldom;

/// What was said of queues that are full, or were.
#[derive(Default)]
pub(super) struct Fullness(HashMap<Place, Told>);

#[derive(Default)]
struct Told {
    /// That it is full.
    full: bool,
    seldom: Seldom,
}

impl Fullness {
    /// A queue is gone.
    pub(super) fn forget(&mut self, place: Place) {
        self.0.remove(&place);
    }
}

impl Node {
    /// Says of those queues that were full from the start that they are.
    pub(super) fn tell_who_is_full(&mut self) {
        for side in Side::BOTH {
            for queue in self.broker(side).find_full() {
                self.has_filled(Place { side, queue });
            }
        }
    }

    /// A queue is full. Said of each queue once a minute at most.
    pub(super) fn has_filled(&mut self, place: Place) {
        let now = self.clock();
        let told = self.fullness.0.entry(place).or_default();
        if told.seldom.speaks(now).is_none() {
            return;
        }
        told.full = true;
        let broker = &mut self.brokers[place.side as usize];
        let (Some(settings), Some(found)) = (broker.settings(place.queue).cloned(), broker.statistics(place.queue))
        else {
            return;
        };
        let text = text(&settings, found.depth, found.bytes);
        match settings.overflow {
            // Which it is made for.
            Overflow::Ring => logging::log!(ROUTER_CORE, Info, "{text}"),
            _ => logging::log!(ROUTER_CORE, Warning, "{text}"),
        }
    }

    /// A queue has room again. Said if it was said that it had none.
    pub(super) fn has_emptied(&mut self, place: Place) {
        let was_told = self.fullness.0.get_mut(&place).is_some_and(|told| std::mem::take(&mut told.full));
        if let Some(settings) = self.settings(place).filter(|_| was_told) {
            logging::log!(ROUTER_CORE, Notice, "The queue '{}' has room again", settings.address);
        }
    }
}

/// Which queue, which limit, what happens now, and what to do.
fn text(settings: &QueueSettings, messages: u64, bytes: u64) -> String {
    let limit = match (settings.max_messages, settings.max_bytes) {
        (Some(most), _) if messages >= most => format!("maxMessages is {most}"),
        (_, Some(most)) => format!("maxBytes is {most}"),
        (most, None) => format!("maxMessages is {}", most.unwrap_or_default()),
    };
    let (overflow, so) = match (settings.overflow, &settings.dead_letter_address) {
        (Overflow::Hold, _) => ("hold", "senders wait until there is room".to_owned()),
        (Overflow::Reject, _) => ("reject", "messages for it are rejected until there is room".to_owned()),
        (Overflow::DropHead, Some(address)) => {
            ("dropHead", format!("for each new message the oldest goes to '{address}'"))
        }
        (Overflow::DropHead, None) => ("dropHead", "for each new message the oldest is dropped".to_owned()),
        (Overflow::Ring, _) => ("ring", "for each new message the oldest is dropped".to_owned()),
    };
    let address = &settings.address;
    format!(
        "The queue '{address}' is full: it has {messages} messages of {bytes} bytes, and its {limit}. As its overflow is \
         {overflow}, {so}: have more taken from it, or raise the limit"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_which_limit_and_what_happens() {
        let with = |overflow, dead: Option<&str>| QueueSettings {
            max_messages: Some(5),
            max_bytes: Some(1000),
            overflow,
            dead_letter_address: dead.map(Into::into),
            ..QueueSettings::new("orders")
        };
        let all = [
            (text(&with(Overflow::Hold, None), 5, 10), "maxMessages is 5. As its overflow is hold, senders wait"),
            (
                text(&with(Overflow::Reject, None), 4, 999),
                "maxBytes is 1000. As its overflow is reject, messages for it",
            ),
            (
                text(&with(Overflow::DropHead, Some("d")), 5, 10),
                "dropHead, for each new message the oldest goes to 'd'",
            ),
            (text(&with(Overflow::Ring, Some("d")), 5, 10), "ring, for each new message the oldest is dropped"),
        ];
        for (text, part) in all {
            assert!(text.contains("'orders'") && text.contains(part), "{text}");
        }
    }
}
