//! A network of engines. Messages travel as the routing core moves them: greetings to the neighbour, advertisements
//! flooded, address news along the valid origins, the rest along the routes.

use router_net::wire::{ALL_MOBILE_ADDRESS, ALL_ROUTERS_ADDRESS, ControlMessage, HELLO_ADDRESS, SYNC_ADDRESS};
use router_net::{Config, Hint, Level, LinkRef, NodeIndex, Output, PathEngine};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// One router: its engine, and what the engine has told its core.
pub(crate) struct Router {
    pub(crate) engine: PathEngine,
    pub(crate) ids: BTreeMap<NodeIndex, String>,
    pub(crate) routes: BTreeMap<NodeIndex, (LinkRef, u32, Vec<NodeIndex>)>,
    pub(crate) addresses: BTreeMap<NodeIndex, BTreeSet<String>>,
    pub(crate) radius: u32,
    pub(crate) log: Vec<(Level, String)>,
    pub(crate) sent: usize,
    /// How often it has said what, by opcode.
    pub(crate) said: BTreeMap<&'static str, usize>,
    /// Set when this is another start of the router.
    generation: u64,
    local: BTreeMap<String, Hint>,
}

/// A connection between two routers.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) ends: [String; 2],
    /// Nothing passes from the first to the second end, or back.
    pub(crate) stalled: [bool; 2],
}

struct Flying {
    to: String,
    generation: u64,
    wire: u64,
    address: String,
    content: Vec<u8>,
    origin: String,
    trace: Vec<String>,
}

pub(crate) struct Network {
    pub(crate) now: Duration,
    pub(crate) routers: BTreeMap<String, Router>,
    pub(crate) wires: BTreeMap<u64, Wire>,
    flying: BTreeMap<(Duration, u64), Flying>,
    counter: u64,
    random: u64,
    /// Of 1,000 messages, so many are lost.
    pub(crate) loss: u64,
    /// Milliseconds that a message takes at most.
    pub(crate) delay: u64,
    pub(crate) max_routers: u16,
    /// Routers that share what they know with neighbours that do.
    pub(crate) sharing: BTreeSet<String>,
}

impl Network {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            now: SECOND * 100,
            routers: BTreeMap::new(),
            wires: BTreeMap::new(),
            flying: BTreeMap::new(),
            counter: 0,
            random: seed | 1,
            loss: 0,
            delay: 3,
            max_routers: 128,
            sharing: BTreeSet::new(),
        }
    }

    /// A network of the routers that the edges name.
    pub(crate) fn of(edges: &[(&str, &str, u32)]) -> Self {
        Self::new(1).with(edges)
    }

    /// The same; all but `old` share what they know.
    pub(crate) fn sharing(edges: &[(&str, &str, u32)], old: &[&str]) -> Self {
        let mut network = Self::new(1);
        let ids = edges.iter().flat_map(|(a, b, _)| [a, b]).filter(|id| !old.contains(id));
        network.sharing = ids.map(|id| (*id).to_owned()).collect();
        network.with(edges)
    }

    fn with(self, edges: &[(&str, &str, u32)]) -> Self {
        let mut network = self;
        for (a, b, cost) in edges {
            for id in [a, b] {
                if !network.routers.contains_key(*id) {
                    network.start(id, 1_000);
                }
            }
            network.join(a, b, *cost);
        }
        network
    }

    /// Starts a router, or starts it again.
    pub(crate) fn start(&mut self, id: &str, instance: i64) {
        self.start_at(id, Config::new(id, instance));
    }

    /// The same with settings of its own.
    pub(crate) fn start_at(&mut self, id: &str, config: Config) {
        let config = Config { max_routers: self.max_routers, ..config };
        self.counter += 1;
        let router = Router {
            engine: PathEngine::new(config, self.now),
            ids: BTreeMap::new(),
            routes: BTreeMap::new(),
            addresses: BTreeMap::new(),
            radius: 0,
            log: Vec::new(),
            sent: 0,
            said: BTreeMap::new(),
            generation: self.counter,
            local: BTreeMap::new(),
        };
        self.routers.insert(id.to_owned(), router);
        self.settle(id);
    }

    /// Ends a router without a word. Its connections end if `closed`.
    pub(crate) fn kill(&mut self, id: &str, closed: bool) {
        self.routers.remove(id);
        let wires: Vec<u64> =
            self.wires.iter().filter(|(_, wire)| wire.ends.iter().any(|end| end == id)).map(|(at, _)| *at).collect();
        for wire in wires {
            if closed {
                self.cut(wire);
            } else {
                self.wires.get_mut(&wire).unwrap().stalled = [true, true];
            }
        }
    }

    pub(crate) fn join(&mut self, a: &str, b: &str, cost: u32) -> u64 {
        self.counter += 1;
        let at = self.counter;
        let wire = Wire { ends: [a.to_owned(), b.to_owned()], stalled: [false, false] };
        self.wires.insert(at, wire);
        let shares = [a, b].iter().all(|id| self.sharing.contains(*id));
        for id in [a, b] {
            if let Some(router) = self.routers.get_mut(id) {
                if shares {
                    router.engine.neighbor_shares(LinkRef(at));
                }
                router.engine.neighbor_up(self.now, LinkRef(at), cost);
                self.settle(id);
            }
        }
        at
    }

    /// Closes a connection. Both ends notice.
    pub(crate) fn cut(&mut self, at: u64) {
        let wire = self.wires.remove(&at).unwrap();
        for id in &wire.ends {
            if let Some(router) = self.routers.get_mut(id) {
                router.engine.neighbor_lost(self.now, LinkRef(at));
                self.settle(id);
            }
        }
    }

    pub(crate) fn wire(&self, a: &str, b: &str) -> u64 {
        let joins = |wire: &Wire| wire.ends.iter().all(|end| end == a || end == b);
        *self.wires.iter().find(|(_, wire)| joins(wire)).unwrap().0
    }

    pub(crate) fn address(&mut self, id: &str, key: &str, present: bool) {
        let router = self.routers.get_mut(id).unwrap();
        if present {
            router.local.insert(key.to_owned(), Hint::Balanced);
        } else {
            router.local.remove(key);
        }
        router.engine.local_address(self.now, key, Hint::Balanced, present);
        self.settle(id);
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let message = self.flying.keys().next().map(|(at, _)| *at);
            let timers = self.routers.values().filter_map(|router| router.engine.next_timeout());
            let Some(next) = timers.chain(message).min().filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
            while let Some(first) = self.flying.first_entry().filter(|first| first.key().0 <= self.now) {
                let flying = first.remove();
                self.arrive(flying);
            }
            let due = |router: &Router| router.engine.next_timeout().is_some_and(|at| at <= self.now);
            let due: Vec<String> =
                self.routers.iter().filter(|(_, router)| due(router)).map(|(id, _)| id.clone()).collect();
            for id in due {
                self.routers.get_mut(&id).unwrap().engine.handle_timeout(self.now);
                self.settle(&id);
            }
        }
        self.now = end;
    }

    /// Carries out what an engine wants.
    fn settle(&mut self, id: &str) {
        while let Some(output) = self.routers.get_mut(id).unwrap().engine.poll_output() {
            let router = self.routers.get_mut(id).unwrap();
            match output {
                Output::Send { to, on, content } => {
                    router.sent += 1;
                    let opcode = ControlMessage::decode(&content).map(|message| message.body.opcode()).unwrap();
                    *router.said.entry(opcode).or_default() += 1;
                    let message = (to, content, id.to_owned(), vec![id.to_owned()]);
                    match on {
                        Some(link) => self.transmit(id, link.0, message),
                        None => self.forward(id, message),
                    }
                }
                Output::RouterAdded { index, id } => {
                    assert!(router.ids.insert(index, id).is_none(), "a number is given twice");
                }
                Output::RouterRemoved { index } => {
                    router.ids.remove(&index).unwrap();
                    router.routes.remove(&index);
                    router.addresses.remove(&index);
                }
                Output::Route { index, next_hop, cost, valid_origins, .. } => {
                    assert!(router.ids.contains_key(&index));
                    router.routes.insert(index, (next_hop, cost, valid_origins));
                }
                Output::Unreachable { index } => _ = router.routes.remove(&index).unwrap(),
                Output::Radius(radius) => router.radius = radius,
                Output::RemoteAddress { index, key, present, .. } => {
                    let keys = router.addresses.entry(index).or_default();
                    if present {
                        keys.insert(key)
                    } else {
                        keys.remove(&key)
                    };
                }
                Output::Flush { index } => _ = router.addresses.remove(&index),
                Output::LeadsHere { .. } => {}
                Output::Log { level, text, .. } => router.log.push((level, text)),
            }
        }
    }

    fn arrive(&mut self, flying: Flying) {
        let Flying { to, generation, wire, address, content, origin, mut trace } = flying;
        if self.routers.get(&to).is_none_or(|router| router.generation != generation) || !self.wires.contains_key(&wire)
        {
            return;
        }
        let own = [format!("amqp:/_topo/0/{to}/qdrouter"), format!("amqp:/_topo/0/{to}/qdrouter.ma")];
        assert!(
            address != SYNC_ADDRESS || self.sharing.contains(&to),
            "a router of the old kind is told what it cannot read"
        );
        let for_neighbor = [HELLO_ADDRESS, SYNC_ADDRESS].contains(&address.as_str());
        if for_neighbor || is_for_all(&address) || own.contains(&address) {
            let router = self.routers.get_mut(&to).unwrap();
            router.engine.receive(self.now, Some(LinkRef(wire)), &content);
            self.settle(&to);
        }
        if !for_neighbor && !own.contains(&address) && self.routers.contains_key(&to) {
            trace.push(to.clone());
            self.forward(&to, (address, content, origin, trace));
        }
    }

    fn forward(&mut self, at: &str, message: (String, Vec<u8>, String, Vec<String>)) {
        let router = &self.routers[at];
        let (address, _, origin, trace) = &message;
        let links: BTreeSet<u64> = if address == ALL_ROUTERS_ADDRESS {
            self.wires.iter().filter(|(_, wire)| wire.ends.iter().any(|end| end == at)).map(|(link, _)| *link).collect()
        } else if address == ALL_MOBILE_ADDRESS {
            let from_here = |origins: &[NodeIndex]| {
                origins.iter().any(|index| match router.ids.get(index) {
                    Some(id) => id == origin,
                    None => origin == at,
                })
            };
            router.routes.values().filter(|(_, _, origins)| from_here(origins)).map(|(link, ..)| link.0).collect()
        } else {
            let target = address.split('/').nth(3).unwrap();
            let index = router.ids.iter().find(|(_, id)| *id == target).map(|(index, _)| index);
            index.and_then(|index| router.routes.get(index)).map(|(link, ..)| link.0).into_iter().collect()
        };
        for link in links {
            let Some(wire) = self.wires.get(&link) else { continue };
            if !wire.ends.iter().any(|end| end != at && trace.contains(end)) {
                self.transmit(at, link, message.clone());
            }
        }
    }

    fn transmit(&mut self, at: &str, link: u64, message: (String, Vec<u8>, String, Vec<String>)) {
        let lost = self.random() % 1_000 < self.loss;
        let delay = Duration::from_millis(1 + self.random() % self.delay.max(1));
        let Some(wire) = self.wires.get(&link) else { return };
        let direction = usize::from(wire.ends[0] != at);
        let to = wire.ends[1 - direction].clone();
        if wire.stalled[direction] || lost {
            return;
        }
        let Some(receiver) = self.routers.get(&to) else { return };
        let generation = receiver.generation;
        self.counter += 1;
        let (address, content, origin, trace) = message;
        let flying = Flying { to, generation, wire: link, address, content, origin, trace };
        self.flying.insert((self.now + delay, self.counter), flying);
    }

    pub(crate) fn random(&mut self) -> u64 {
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }

    pub(crate) fn one_in(&mut self, chances: u64) -> bool {
        self.random().is_multiple_of(chances)
    }

    // === what the tests look at

    pub(crate) fn index(&self, at: &str, of: &str) -> Option<NodeIndex> {
        self.routers[at].ids.iter().find(|(_, id)| *id == of).map(|(index, _)| *index)
    }

    pub(crate) fn reaches(&self, at: &str, of: &str) -> bool {
        self.index(at, of).is_some_and(|index| self.routers[at].routes.contains_key(&index))
    }

    /// The keys that a router knows of another.
    pub(crate) fn known(&self, at: &str, of: &str) -> BTreeSet<String> {
        let index = self.index(at, of);
        index.and_then(|index| self.routers[at].addresses.get(&index)).cloned().unwrap_or_default()
    }

    /// The neighbour that is next on the way.
    pub(crate) fn next_hop(&self, at: &str, of: &str) -> Option<String> {
        let (link, ..) = self.routers[at].routes.get(&self.index(at, of)?)?;
        let wire = self.wires.get(&link.0)?;
        wire.ends.iter().find(|end| *end != at).cloned()
    }

    /// Everything that must hold once nothing happens any more: who is joined reaches each other, by ways without loops,
    /// and knows all addresses.
    pub(crate) fn assert_converged(&self) {
        for at in self.routers.keys() {
            for of in self.routers.keys().filter(|of| *of != at) {
                assert_eq!(self.reaches(at, of), self.joined(at, of), "whether {at} reaches {of} at {:?}", self.now);
                if self.joined(at, of) {
                    self.assert_way(at, of);
                    let local: BTreeSet<String> = self.routers[of].local.keys().cloned().collect();
                    assert_eq!(self.known(at, of), local, "the addresses of {of} at {at}");
                }
            }
            // Where something passes in one direction, advertisements of a router out of reach may still come in.
            let one_way = self.wires.values().any(|wire| wire.stalled[0] != wire.stalled[1]);
            for of in self.routers[at].ids.values() {
                assert!(self.joined(at, of) || one_way, "{at} has not forgotten {of}");
            }
        }
    }

    fn assert_way(&self, from: &str, to: &str) {
        let mut at = from.to_owned();
        let mut hops = 0;
        while at != to {
            at = self.next_hop(&at, to).unwrap();
            hops += 1;
            assert!(hops <= self.routers.len(), "a loop between {from} and {to}");
        }
        assert!(hops <= self.routers[from].radius as usize);
    }

    /// Whether connections that work in both directions lead from one to the other.
    fn joined(&self, from: &str, to: &str) -> bool {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for wire in self.wires.values().filter(|wire| wire.stalled == [false, false]) {
                if let Some(mine) = wire.ends.iter().position(|end| end == at) {
                    let other = wire.ends[1 - mine].as_str();
                    if self.routers.contains_key(other) && seen.insert(other) {
                        open.push(other);
                    }
                }
            }
        }
        seen.contains(to)
    }
}

fn is_for_all(address: &str) -> bool {
    address == ALL_ROUTERS_ADDRESS || address == ALL_MOBILE_ADDRESS
}
