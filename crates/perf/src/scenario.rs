//! What is sent, and how it is spread over turns and links.

use crate::client::{Receiver, Sender};
use crate::router::{Router, Way};
use crate::serve::Serve;
use crate::served::Served;
use amqp::message::Properties;
use security::policy::{AddressRules, Addresses};
use std::sync::Arc;

/// Who sends.
const USER: &str = "user";

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
    way: Way,
    /// What is beside that.
    more: More,
    /// What routes them.
    by: By,
}

/// What routes the messages of a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Endpoints and core in memory.
    Core,
    /// The server's shard.
    Server,
    /// The server's shard, and the address is a queue.
    Queue { durable: bool },
}

/// What some scenarios have beside the rest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    /// Nothing: messages have a body, and no more.
    Nothing,
    /// Messages have properties such as clients write.
    Properties,
    /// The same, and policy is in force.
    Policy,
    /// The sender is anonymous: its messages say where they go.
    Anonymous,
    /// The same, and policy is in force, with a thousand rules.
    AnonymousPolicy,
}

/// What the others are like, but for one thing.
const PLAIN: Scenario = Scenario {
    name: "unsettled",
    size: 100,
    settled: false,
    per_turn: 50,
    links: 1,
    way: Way::Address,
    more: More::Nothing,
    by: By::Core,
};

pub(crate) const SCENARIOS: &[Scenario] = &[
    PLAIN,
    Scenario { name: "presettled", settled: true, ..PLAIN },
    Scenario { name: "unsettled-paced", per_turn: 1, ..PLAIN },
    Scenario { name: "unsettled-16KiB", size: 16 * 1024, per_turn: 4, ..PLAIN },
    Scenario { name: "unsettled-1000-links", links: 1000, ..PLAIN },
    Scenario { name: "unsettled-auto-link", way: Way::AutoLink, ..PLAIN },
    Scenario { name: "unsettled-link-route", way: Way::LinkRoute, ..PLAIN },
    Scenario { name: "unsettled-properties", more: More::Properties, ..PLAIN },
    Scenario { name: "unsettled-policy", more: More::Policy, ..PLAIN },
    Scenario { name: "unsettled-anonymous", more: More::Anonymous, ..PLAIN },
    Scenario { name: "unsettled-anonymous-policy", more: More::AnonymousPolicy, ..PLAIN },
    Scenario { name: "served", by: By::Server, ..PLAIN },
    Scenario { name: "served-queue", by: By::Queue { durable: false }, ..PLAIN },
    Scenario { name: "served-queue-durable", by: By::Queue { durable: true }, ..PLAIN },
    Scenario { name: "served-queue-durable-1KiB", by: By::Queue { durable: true }, size: 1024, ..PLAIN },
];

/// A thousand rules, by one of which the address is allowed.
fn policy() -> (Addresses, &'static str) {
    let rules: Vec<String> = (0..500).flat_map(|rule| [format!("a{rule}"), format!("address-{rule}*")]).collect();
    let rules = rules.iter().map(String::as_str).chain(["address/*"]);
    (Addresses::new(&Arc::new(AddressRules::of_list(rules)), Some(USER)), USER)
}

impl Scenario {
    fn properties(&self) -> Properties {
        if self.more == More::Nothing {
            return Properties::default();
        }
        Properties {
            message_id: Some("5a2cd2c1".into()),
            user_id: Some(USER.into()),
            to: Some("address/0".to_owned()),
            content_type: Some("application/json".into()),
            ..Properties::default()
        }
    }

    /// Sends so many messages and waits until all have arrived and been settled.
    pub(crate) fn run(&self, messages: usize) {
        match self.by {
            By::Core => {
                let policed = matches!(self.more, More::Policy | More::AnonymousPolicy);
                let mut router = Router::new(self.way, policed.then(policy));
                self.run_on(&mut router, messages, Router::lead_to_container);
            }
            By::Server => self.run_on(&mut Served::new(), messages, |_, _| {}),
            By::Queue { durable } => {
                let mut served = Served::new();
                served.make_queue("address/0", durable);
                self.run_on(&mut served, messages, |_, _| {});
            }
        }
    }

    fn run_on<R: Serve>(&self, router: &mut R, messages: usize, lead_to_container: impl Fn(&mut R, &str)) {
        let mut receiver = Receiver::new(router);
        let mut sender = Sender::new(router, self.size, self.settled, self.properties());
        let anonymous = matches!(self.more, More::Anonymous | More::AnonymousPolicy);
        for link in 0..self.links {
            let address = format!("address/{link}");
            match self.way {
                Way::Address => receiver.attach(router, &address),
                Way::AutoLink | Way::LinkRoute => {
                    lead_to_container(router, &address);
                    receiver.exchange(router);
                }
            }
            sender.attach(router, (!anonymous).then_some(&*address));
            // The container answers, then the router.
            receiver.exchange(router);
            sender.exchange(router);
        }
        let mut sent = 0;
        while sent < messages {
            // Queues give little credit until they know how large a sender's messages are.
            let batch = if sent == 0 { 1 } else { self.per_turn.min(messages - sent) };
            for _ in 0..batch {
                sender.send();
            }
            sent += batch;
            // Messages go to the receiver, its outcomes back to the sender. A queue does that in its own order, and waits for
            // its disk meanwhile.
            loop {
                sender.exchange(router);
                receiver.exchange(router);
                sender.exchange(router);
                if receiver.received() == sent && sender.unsettled() == 0 || !router.wait() {
                    break;
                }
            }
        }
        assert_eq!(receiver.received(), messages, "messages were lost");
        assert_eq!(sender.unsettled(), 0, "outcomes were lost");
    }
}
