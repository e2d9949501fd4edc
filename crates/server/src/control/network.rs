//! The routing protocol at work: its engine is told what happens and when, and what it wants is carried out.

use crate::control::protocol::{Core, is_traced, log};
use crate::shard::{NetworkUpdate, Shards, SubscriberMessage};
use config::RouterConfig;
use router_core::{ConnKey, SubscriberId};
use router_net::{Config, LinkRef, NodeView, Output, PathEngine};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Routers in a network. The old router knows 128 of them at most, and ignores those that it hears of later.
const MAX_ROUTERS: u16 = 1024;

/// Where messages of the routing protocol come in: greetings first, advertisements to all, requests and answers to this router;
/// the same for addresses; and what neighbours share.
const CONTROL_ADDRESSES: [&str; 6] =
    ["Lqdhello", "Tqdrouter", "Lqdrouter", "Tqdrouter.ma", "Lqdrouter.ma", "Lwaystation.sync"];
/// How many outputs are carried out in one go: messages that pass do not wait for all of a large network to be told of.
const BATCH: usize = 256;
/// The routing protocol of an interior router.
pub(crate) struct Network {
    shards: Shards,
    engine: PathEngine,
    subscribers: Vec<SubscriberId>,
}

impl Network {
    /// Begins to take part in the network.
    pub(crate) fn start(shards: &Shards, router: &RouterConfig) -> Self {
        let mut engine = PathEngine::new(settings(router), shards.now());
        engine.log_traces(is_traced());
        let subscribe = |key: &&str| shards.with_core(|core, host, now| core.subscribe_control(now, host, key));
        let subscribers: Vec<SubscriberId> = CONTROL_ADDRESSES.iter().map(subscribe).collect();
        shards.take_apart(&subscribers);
        let mut network = Self { shards: shards.clone(), engine, subscribers };
        network.carry_out();
        network
    }

    /// The core has news.
    pub(crate) fn update(&mut self, update: NetworkUpdate) {
        let now = self.shards.now();
        self.engine.network_event(now, (&update).into());
        self.carry_out();
    }

    /// Whether a message is a neighbour's greeting, which must not wait: without it the neighbour is taken to be lost.
    pub(crate) fn is_greeting(&self, message: &SubscriberMessage) -> bool {
        self.subscribers.first() == Some(&message.subscriber)
    }

    /// A message has come for one of the core's subscribers. False: it is not for the routing protocol.
    pub(crate) fn receive(&mut self, message: &SubscriberMessage) -> bool {
        if !self.subscribers.contains(&message.subscriber) {
            return false;
        }
        let from = message.from.conn.map(LinkRef::from);
        self.engine.receive(self.shards.now(), from, &message.message);
        self.carry_out();
        true
    }

    /// When [`Network::handle_timeout`] is to be called.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.engine.next_timeout()
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self) {
        self.engine.log_traces(is_traced());
        self.engine.handle_timeout(self.shards.now());
        self.carry_out();
    }

    /// All routers of the network, this one first.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeView<'_>> {
        self.engine.nodes()
    }

    fn carry_out(&mut self) {
        loop {
            let mut orders = Vec::new();
            while orders.len() < BATCH
                && let Some(output) = self.engine.poll_output()
            {
                match output {
                    Output::Log { module, level, text } => log(module, level, &text),
                    order => orders.push(order),
                }
            }
            if orders.is_empty() {
                return;
            }
            self.shards.with_core(|core, host, now| {
                for order in orders {
                    let left = order.carry_out(core, host, now, |_, bytes| Shards::content(&bytes));
                    if let Some(Output::LeadsHere { link }) = left {
                        complain_of_circle(core, now, link.into());
                    }
                }
            });
        }
    }
}

/// Tells whoever runs the router that one of its connections leads back to it.
fn complain_of_circle(core: &Core, now: Duration, link: ConnKey) {
    // Both ends of the connection are here; the one that connected can be named.
    let Some(connection) = core.connection(now, link).filter(|connection| !connection.incoming) else { return };
    let (id, host, own) = (connection.id, connection.host, connection.container);
    let name = connection.configured_name.unwrap_or_default();
    logging::log!(
        ROUTER,
        Error,
        "[C{id}] Connector {name} of router {own} leads to {host}, which is router {own} itself: give the connector the \
         host and port of another router, or remove it"
    );
}

fn settings(router: &RouterConfig) -> Config {
    // A clock that stands before 1970 is as good as any other time.
    let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let instance = i64::try_from(start.as_secs()).unwrap_or(i64::MAX);
    let millis = u64::try_from(start.as_millis()).unwrap_or(u64::MAX);
    let engine = Config::new(router.id.clone().unwrap_or_default(), instance).started_at(millis);
    Config {
        max_routers: MAX_ROUTERS,
        hello_interval: router.hello_interval,
        hello_max_age: router.hello_max_age,
        ra_interval: router.ra_interval,
        ra_interval_flux: router.ra_interval_flux,
        remote_ls_max_age: router.remote_ls_max_age,
        ..engine
    }
}
