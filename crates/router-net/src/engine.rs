//! The engine: its calls, and its clock.

mod addresses;
mod hello;
mod link_states;
mod nodes;
mod routes;
mod say;
mod sharing;
#[cfg(test)]
mod tests;

use crate::local_addresses::LocalAddresses;
use crate::neighbor::Links;
use crate::node::NodeTable;
use crate::throttle::{Throttle, Topic};
use crate::trunks::Trunks;
use crate::wire::{Body, ControlMessage, WireError};
use crate::{Config, Hint, Level, LinkRef, LinkState, Module, NodeView, Output};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// The routing protocol of an interior router.
///
/// After each call the owner takes what [`PathEngine::poll_output`] has, in order, until there is no more, and calls
/// [`PathEngine::handle_timeout`] when [`PathEngine::next_timeout`] has come. Time never runs backwards: what is earlier
/// than before counts as the time before.
#[derive(Debug)]
pub struct PathEngine {
    config: Config,
    started: Duration,
    now: Duration,
    outputs: VecDeque<Output>,
    /// Trace and debug lines are wanted.
    traces: bool,
    links: Links,
    nodes: NodeTable,
    /// This router's own link state.
    own: LinkState,
    /// The sequence number of the link state that everybody was told last.
    flooded: i64,
    addresses: LocalAddresses,
    /// Everybody is told everything by the old protocol.
    flooding: bool,
    /// When neighbours were last asked to compare what they know.
    compared_at: Duration,
    advertise_at: Duration,
    /// The topology has changed not long ago: advertisements are frequent.
    flux_until: Option<Duration>,
    trunks: Trunks,
    compute_at: Option<Duration>,
    computed_at: Option<Duration>,
    radius: u32,
    /// When the topology changed last.
    changed_at: Option<Duration>,
    /// Who is out of reach, or who is spoken of, may have changed.
    look_for_lost: bool,
    /// What the log was told of what may go on for long.
    throttle: Throttle,
    /// Sender and opcode of messages of later versions, of which the log has been told.
    versions: BTreeSet<(String, String)>,
    /// Another router with this router's id has been heard of from afar: its instance, and how often.
    namesake: Option<(i64, u32)>,
}

impl PathEngine {
    /// How many senders of messages of later versions are remembered.
    const MAX_VERSIONS: usize = 1024;

    /// An engine without neighbours.
    pub fn new(config: Config, now: Duration) -> Self {
        let mut engine = Self {
            started: now,
            now,
            outputs: VecDeque::new(),
            traces: false,
            links: Links::default(),
            nodes: NodeTable::new(config.max_routers),
            own: LinkState { id: config.id.clone(), ls_seq: config.first_ls_seq, ..LinkState::default() },
            flooded: config.first_ls_seq,
            addresses: LocalAddresses::new(config.first_mobile_seq),
            flooding: true,
            compared_at: now,
            advertise_at: now,
            flux_until: None,
            trunks: Trunks::default(),
            compute_at: None,
            computed_at: None,
            radius: 0,
            changed_at: None,
            look_for_lost: false,
            throttle: Throttle::default(),
            versions: BTreeSet::new(),
            namesake: None,
            config,
        };
        let Config { id, instance, max_routers, .. } = &engine.config;
        let text = format!("Router Engine Instantiated: id={id} instance={instance} max_routers={max_routers}");
        engine.log(Module::Router, Level::Info, text);
        engine
    }

    /// Whether lines of level `trace` and `debug` are to be made. They cost some work for each message. Off at first.
    pub fn log_traces(&mut self, wanted: bool) {
        self.traces = wanted;
    }

    /// Both control links of a connection are there. If the connection is known, only its cost is taken.
    pub fn neighbor_up(&mut self, now: Duration, link: LinkRef, cost: u32) {
        self.advance(now);
        self.links.add(link, cost.max(1), self.now);
        self.greet(link);
        self.update_own_link_state();
        self.work();
    }

    /// The control links of a connection are gone.
    pub fn neighbor_lost(&mut self, now: Duration, link: LinkRef) {
        self.advance(now);
        if let Some(lost) = self.links.remove(link) {
            self.link_lost(&lost);
            self.look_for_lost = true;
            self.update_own_link_state();
        }
        self.work();
    }

    /// An address that other routers are to know has its first consumer on this router (`present`), another hint, or
    /// no consumer any more.
    pub fn local_address(&mut self, now: Duration, key: &str, hint: Hint, present: bool) {
        self.advance(now);
        if self.addresses.set(self.now, key, present.then_some(hint)) {
            let what = if present { "Became Local Dest" } else { "No Longer Local Dest" };
            self.trace(Module::RouterMa, Level::Debug, || format!("{what}: {key}"));
        }
        self.work();
    }

    /// A message came in for one of the addresses of the routing protocol: all its bytes. `from`: the connection, without
    /// which a greeting is of no use.
    pub fn receive(&mut self, now: Duration, from: Option<LinkRef>, message: &[u8]) {
        self.advance(now);
        match ControlMessage::decode(message) {
            Ok(message) => self.handle(from, message),
            Err(error) => self.complain(error, message.len()),
        }
        self.work();
    }

    /// When [`PathEngine::handle_timeout`] is to be called.
    pub fn next_timeout(&self) -> Option<Duration> {
        let single = [Some(self.advertise_at), self.flux_until, self.compute_at, self.addresses.due];
        let many = [self.links.next_due(), self.nodes.next_due()];
        single.into_iter().chain(many).flatten().min()
    }

    /// Does what is due. Calling it early does no harm.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
        self.greet_all();
        self.expire_neighbors();
        self.age_link_states();
        if self.flux_until.is_some_and(|until| until <= self.now) {
            self.flux_until = None;
            self.trace(Module::Router, Level::Trace, || "Exited Router Flux Mode".to_owned());
        }
        self.work();
    }

    /// What the engine wants done next.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// All routers, this one first, for management.
    pub fn nodes(&self) -> impl Iterator<Item = NodeView<'_>> {
        std::iter::once(self.own_view()).chain(self.nodes.iter().map(|(index, node)| self.view(index, node)))
    }

    fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    /// What may be due after any call, in the order in which one leads to the other.
    fn work(&mut self) {
        if self.compute_at.is_some_and(|at| at <= self.now) {
            self.compute();
        }
        if std::mem::take(&mut self.look_for_lost) {
            self.mark_lost();
        }
        self.file();
        self.look_for_old();
        for index in self.nodes.due(self.now) {
            self.attend(index);
        }
        if self.addresses.due.is_some_and(|due| due <= self.now) {
            self.announce();
        }
        if self.advertise_at <= self.now {
            self.advertise();
        }
        self.share_due();
        self.file();
    }

    /// Notes when something is to be done next: only what has changed is looked at, so that no message costs more because
    /// there are many routers.
    fn file(&mut self) {
        let Self { nodes, links, config, .. } = self;
        nodes.file(|node| node.timeout(config));
        links.file(config.hello_max_age);
    }

    fn handle(&mut self, from: Option<LinkRef>, message: ControlMessage) {
        let ControlMessage { id, body } = &message;
        if self.traces {
            self.trace_received(&message);
        }
        if let Body::Hello { instance, seen } = body {
            if let Some(link) = from {
                self.hello(link, id, *instance, seen);
            }
            return;
        }
        // What a refused router says would be taken for the words of the one whose id it uses.
        if from.and_then(|link| self.links.get(link)).is_some_and(|link| link.refused.is_some()) {
            return;
        }
        if *id == self.config.id {
            if let Body::Advertisement { instance, .. } = body {
                self.namesake_advertised(*instance);
            }
            return;
        }
        match message.body {
            Body::Advertisement { instance, ls_seq, mobile_seq } => {
                self.advertised(&message.id, instance, ls_seq, mobile_seq)
            }
            Body::LinkState { instance, state } => self.link_state(instance, state),
            Body::LinkStateRequest => self.link_state_requested(&message.id),
            Body::AddressChange { mobile_seq, add, del } => self.address_change(&message.id, mobile_seq, add, &del),
            Body::Addresses { mobile_seq, exist } => self.all_addresses(&message.id, mobile_seq, exist),
            Body::AddressRequest { .. } => self.addresses_requested(&message.id),
            Body::Sync(sync) => {
                if let Some(link) = from {
                    self.shared(link, sync);
                }
            }
            Body::Hello { .. } => {}
        }
    }

    fn complain(&mut self, error: WireError, length: usize) {
        if let WireError::Version { opcode, version, id } = error {
            let known = (id.clone(), opcode.clone());
            if self.versions.len() < Self::MAX_VERSIONS && self.versions.insert(known) {
                let text = format!("Received {opcode} at protocol version {version} from {id}.  Ignoring.");
                self.log(Module::Router, Level::Warning, text);
            }
            return;
        }
        let opcode = error.opcode();
        if !self.throttle.says(self.now, Topic::Malformed, &format!("{opcode} {error}")) {
            return;
        }
        self.log(Module::Router, Level::Error, format!("Exception in control message processing: {error}"));
        let text = format!("Control message error: opcode={opcode} body={length} bytes");
        self.log(Module::Router, Level::Error, text);
    }
}
