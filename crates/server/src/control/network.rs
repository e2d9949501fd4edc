//! The routing protocol at work: its engine is told what happens and when, and what it wants is carried out.

use crate::control::protocol::{Core, conn_of, hint_of, is_traced, link_of, log, treatment_of};
use crate::shard::{NetworkUpdate, Shards, SubscriberMessage};
use config::RouterConfig;
use router_core::{Route, RouterIndex, SubscriberId};
use router_net::{Config, NodeIndex, NodeView, Output, PathEngine};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Routers in a network. The old router knows 128 of them at most, and ignores those that it hears of later.
const MAX_ROUTERS: u16 = 1024;

/// Where messages of the routing protocol come in: greetings, advertisements to all, requests and answers to this router;
/// the same for addresses.
const CONTROL_ADDRESSES: [&str; 5] = ["Lqdhello", "Tqdrouter", "Lqdrouter", "Tqdrouter.ma", "Lqdrouter.ma"];
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
        let subscribers = CONTROL_ADDRESSES.iter().map(subscribe).collect();
        let mut network = Self { shards: shards.clone(), engine, subscribers };
        network.carry_out();
        network
    }

    /// The core has news.
    pub(crate) fn update(&mut self, update: NetworkUpdate) {
        let now = self.shards.now();
        match update {
            NetworkUpdate::NeighborUp { conn, cost } => self.engine.neighbor_up(now, link_of(conn), cost),
            NetworkUpdate::NeighborLost { conn } => self.engine.neighbor_lost(now, link_of(conn)),
            NetworkUpdate::LocalAddress { key, treatment, present } => {
                self.engine.local_address(now, &key, hint_of(treatment), present);
            }
        }
        self.carry_out();
    }

    /// A message has come for one of the core's subscribers. False: it is not for the routing protocol.
    pub(crate) fn receive(&mut self, message: &SubscriberMessage) -> bool {
        if !self.subscribers.contains(&message.subscriber) {
            return false;
        }
        let from = message.from.conn.map(link_of);
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
                    obey(core, host, now, order);
                }
            });
        }
    }
}

fn obey(core: &mut Core, host: &mut crate::shard::ShardHost, now: Duration, order: Output) {
    match order {
        Output::Send { to, on, content } => {
            // Nobody there: then there is nobody to tell.
            core.send_control(now, host, &to, on.map(conn_of), Shards::content(&content));
        }
        Output::RouterAdded { index, id } => core.add_router(now, host, router_of(index), &id),
        Output::RouterRemoved { index } => core.remove_router(now, host, router_of(index)),
        Output::Route { index, next_hop, cost, comes_by, valid_origins } => {
            let valid_origins = valid_origins.into_iter().map(router_of).collect();
            let comes_by = comes_by.map(|index| RouterIndex(index.0));
            let route = Route { next_hop: conn_of(next_hop), cost, comes_by, valid_origins };
            core.set_route(now, host, router_of(index), Some(route));
        }
        Output::Unreachable { index } => core.set_route(now, host, router_of(index), None),
        Output::Radius(radius) => core.set_radius(radius),
        Output::RemoteAddress { index, key, hint, present: true } => {
            core.add_remote_address(now, host, router_of(index), &key, hint.map(treatment_of));
        }
        Output::RemoteAddress { index, key, .. } => core.remove_remote_address(now, host, router_of(index), &key),
        Output::Flush { index } => core.flush_remote_addresses(now, host, router_of(index)),
        Output::Log { module, level, text } => log(module, level, &text),
    }
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

fn router_of(index: NodeIndex) -> RouterIndex {
    RouterIndex(index.0)
}
