//! What is sent, and how it is spread over turns and links.

use crate::client::{Receiver, Sender};
use crate::router::Router;

/// A load.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Bytes in the body of a message.
    size: usize,
    settled: bool,
    /// Messages that a turn finds in the sender's socket: many when the router is busy, one when it is not.
    per_turn: usize,
    /// Links, each to an address of its own.
    links: usize,
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario { name: "unsettled", size: 100, settled: false, per_turn: 50, links: 1 },
    Scenario { name: "presettled", size: 100, settled: true, per_turn: 50, links: 1 },
    Scenario { name: "unsettled-paced", size: 100, settled: false, per_turn: 1, links: 1 },
    Scenario { name: "unsettled-16KiB", size: 16 * 1024, settled: false, per_turn: 4, links: 1 },
    Scenario { name: "unsettled-1000-links", size: 100, settled: false, per_turn: 50, links: 1000 },
];

impl Scenario {
    /// Sends so many messages and waits until all have arrived and been settled.
    pub(crate) fn run(&self, messages: usize) {
        let mut router = Router::new();
        let mut receiver = Receiver::new(&mut router);
        let mut sender = Sender::new(&mut router, self.size, self.settled);
        for link in 0..self.links {
            receiver.attach(&mut router, &format!("address/{link}"));
            sender.attach(&mut router, &format!("address/{link}"));
        }
        let mut sent = 0;
        while sent < messages {
            let batch = self.per_turn.min(messages - sent);
            for _ in 0..batch {
                sender.send();
            }
            sent += batch;
            // Messages go to the receiver, its outcomes back to the sender.
            sender.exchange(&mut router);
            receiver.exchange(&mut router);
            sender.exchange(&mut router);
        }
        assert_eq!(receiver.received(), messages, "messages were lost");
        assert_eq!(sender.unsettled(), 0, "outcomes were lost");
    }
}
