//! Routers in one memory, joined by connections that pass on what their cores ask for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{DeliveryState, Symbol};
use router_core::*;

use crate::host::{Call, Event, MeshHost, Message};

/// A link of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Client {
    pub(crate) router: usize,
    pub(crate) link: u32,
}

/// Who is at the other end of a link.
#[derive(Clone, Copy, Debug)]
enum Far {
    Client,
    /// The link of that number on that router.
    Router(usize, u32),
}

struct Wire {
    peer: usize,
    peer_conn: usize,
    cost: u32,
}

/// A delivery that came in.
struct Offering {
    /// The router that sent it, and its key there; `None`: a client.
    from: Option<(usize, OutKey)>,
    key: Option<InKey>,
    message: u64,
}

/// What a receiver got.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) receiver: Client,
    pub(crate) key: OutKey,
    pub(crate) message: Message,
    pub(crate) settled: bool,
}

#[derive(Default)]
struct Links {
    keys: BTreeMap<u32, LinkKey>,
    far: BTreeMap<u32, Far>,
    conn: BTreeMap<u32, usize>,
}

pub(crate) struct Router {
    pub(crate) core: Core<MeshHost>,
    pub(crate) host: MeshHost,
    links: Links,
    conns: Vec<Option<ConnKey>>,
    wires: BTreeMap<usize, Wire>,
    next_link: u32,
    /// Deliveries that came in, by the id they were offered with.
    offered: BTreeMap<u32, Offering>,
    next_delivery: u32,
    /// Transmissions that are not complete: the link, the key, the message.
    partial: Vec<(u32, OutKey, Message)>,
    /// Consumers as announced.
    announced: BTreeMap<String, Treatment>,
    /// Announcements that others have heard.
    heard: BTreeMap<usize, BTreeSet<String>>,
}

pub(crate) struct Mesh {
    pub(crate) routers: Vec<Router>,
    pub(crate) now: Duration,
    next_message: u64,
    pub(crate) received: Vec<Received>,
    /// What senders were told, by message.
    pub(crate) told: BTreeMap<u64, (Option<DeliveryState>, bool)>,
}

/// Routers whose ids say so are edge routers.
fn is_edge(id: &str) -> bool {
    id.starts_with("edge")
}

impl Mesh {
    /// Routers with these ids, joined by nothing.
    pub(crate) fn of(ids: &[&str]) -> Self {
        Self::with(ids, |_| ())
    }

    /// The same with test hooks.
    pub(crate) fn with_hooks(ids: &[&str]) -> Self {
        Self::with_settings(ids, true, |_| ())
    }

    pub(crate) fn with(ids: &[&str], configure: impl Fn(&mut Router)) -> Self {
        Self::with_settings(ids, false, configure)
    }

    fn with_settings(ids: &[&str], test_hooks: bool, configure: impl Fn(&mut Router)) -> Self {
        let router = |id: &&str| {
            // The same numbers every time, but such as a hash may be keyed with.
            let mut random = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210_u128;
            let settings = RouterSettings {
                router_id: (*id).to_owned(),
                mode: if is_edge(id) { Mode::Edge } else { Mode::Interior },
                default_treatment: Treatment::Balanced,
                test_hooks,
                allow_resumable_link_route: true,
                random: Box::new(move || {
                    random = random.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
                    random
                }),
            };
            let mut router = Router {
                core: Core::new(settings),
                host: MeshHost { id: (*id).to_owned(), is_edge: is_edge(id), ..MeshHost::default() },
                links: Links::default(),
                conns: Vec::new(),
                wires: BTreeMap::new(),
                next_link: 0,
                offered: BTreeMap::new(),
                next_delivery: 0,
                partial: Vec::new(),
                announced: BTreeMap::new(),
                heard: BTreeMap::new(),
            };
            configure(&mut router);
            router
        };
        Self {
            routers: ids.iter().map(router).collect(),
            now: Duration::from_secs(1_000),
            next_message: 0,
            received: Vec::new(),
            told: BTreeMap::new(),
        }
    }

    /// Routers in a line, where `prefix` is distributed so everywhere.
    pub(crate) fn line(ids: &[&str], prefix: &str, distribution: Treatment) -> Self {
        let mut mesh = Self::distributing(ids, prefix, distribution);
        (1..ids.len()).for_each(|at| mesh.join(at - 1, at));
        mesh.converge();
        mesh
    }

    /// Routers joined by nothing, where `prefix` is distributed so.
    pub(crate) fn distributing(ids: &[&str], prefix: &str, distribution: Treatment) -> Self {
        Self::with(ids, |router| {
            let new = NewAddressConfig { prefix: Some(prefix.into()), distribution, ..Default::default() };
            router.core.create_address_config(&mut router.host, new).expect("valid");
        })
    }

    /// The first router connects to the second.
    pub(crate) fn join(&mut self, from: usize, to: usize) {
        self.join_at(from, to, 1);
    }

    pub(crate) fn join_at(&mut self, from: usize, to: usize, cost: u32) {
        self.join_with(from, to, |info| info.cost = cost);
    }

    pub(crate) fn join_with(&mut self, from: usize, to: usize, change: impl Fn(&mut ConnectionInfo)) {
        let ends = [(from, self.routers[from].conns.len()), (to, self.routers[to].conns.len())];
        for (at, [(router, conn), (peer, peer_conn)]) in [(0, ends), (1, [ends[1], ends[0]])] {
            let mut info = ConnectionInfo {
                id: self.routers[router].core.next_connection_id(),
                role: Role::InterRouter,
                incoming: at == 1,
                container: self.routers[peer].host.id.clone(),
                cost: 1,
                link_capacity: 250,
                ..Default::default()
            };
            change(&mut info);
            let Router { core, host, conns, wires, .. } = &mut self.routers[router];
            wires.insert(conn, Wire { peer, peer_conn, cost: info.cost });
            // The initiator's links are attached when both sides are there.
            conns.push(Some(core.open_connection(self.now, host, conn, info)));
        }
        self.settle();
    }

    /// The connection that joins two routers, as the first one knows it.
    pub(crate) fn connection(&self, router: usize, peer: usize) -> ConnKey {
        let router = &self.routers[router];
        let wire = router.wires.iter().find(|(_, wire)| wire.peer == peer);
        router.conns[*wire.expect("joined").0].expect("open")
    }

    /// Cuts the connection between two routers: both notice.
    pub(crate) fn cut(&mut self, router: usize, peer: usize) {
        let wire = self.routers[router].wires.iter().find(|(_, wire)| wire.peer == peer);
        let (conn, peer_conn) = wire.map(|(conn, wire)| (*conn, wire.peer_conn)).expect("joined");
        for (router, conn) in [(router, conn), (peer, peer_conn)] {
            let record = &mut self.routers[router];
            record.wires.remove(&conn);
            let gone: Vec<_> = record.links.conn.iter().filter(|(_, of)| **of == conn).map(|(link, _)| *link).collect();
            for link in &gone {
                record.links.keys.remove(link);
                record.links.far.remove(link);
            }
            record.partial.retain(|(link, ..)| !gone.contains(link));
            let key = record.conns[conn].take().expect("open");
            record.core.close_connection(self.now, &mut record.host, key);
        }
        self.settle();
    }

    /// A client's connection to a router.
    pub(crate) fn connect(&mut self, router: usize) -> usize {
        let Router { core, host, conns, .. } = &mut self.routers[router];
        let id = core.next_connection_id();
        let info = ConnectionInfo { id, incoming: true, link_capacity: 250, ..Default::default() };
        conns.push(Some(core.open_connection(self.now, host, conns.len(), info)));
        conns.len() - 1
    }

    fn attach(&mut self, router: usize, attach: AttachInfo) -> Client {
        let conn = self.connect(router);
        let record = &mut self.routers[router];
        record.next_link += 1;
        let link = record.next_link;
        record.links.far.insert(link, Far::Client);
        record.links.conn.insert(link, conn);
        let key =
            record.core.attach(self.now, &mut record.host, record.conns[conn].expect("just opened"), link, attach);
        record.links.keys.insert(link, key);
        self.settle();
        Client { router, link }
    }

    /// A receiver with this credit, of which all routers have heard.
    pub(crate) fn receiver(&mut self, router: usize, address: &str, credit: u32) -> Client {
        let receiver = self.receiver_only(router, address);
        if credit > 0 {
            self.credit(receiver, credit);
        }
        self.converge();
        receiver
    }

    /// A receiver of which nobody has heard.
    pub(crate) fn receiver_only(&mut self, router: usize, address: &str) -> Client {
        self.receiver_with(router, address, Vec::new())
    }

    /// A receiver at the fallback of an address.
    pub(crate) fn fallback_receiver(&mut self, router: usize, address: &str, credit: u32) -> Client {
        let receiver = self.receiver_with(router, address, vec!["qd.fallback".into()]);
        self.credit(receiver, credit);
        self.converge();
        receiver
    }

    fn receiver_with(&mut self, router: usize, address: &str, capabilities: Vec<Symbol>) -> Client {
        let source = Source { address: Some(address.into()), capabilities, ..Source::default() };
        let attach = AttachInfo {
            name: String::new(),
            incoming: false,
            source: Some(source),
            target: Some(TargetTerminus::Target(Target::default())),
            send_settled: false,
            terms: LinkTerms::default(),
        };
        self.attach(router, attach)
    }

    pub(crate) fn credit(&mut self, receiver: Client, credit: u32) {
        let record = &mut self.routers[receiver.router];
        let all = record.host.credit.entry(receiver.link).or_default();
        *all += credit;
        let all = *all;
        record.core.credit(self.now, &mut record.host, record.links.keys[&receiver.link], all, false);
        self.settle();
    }

    /// A sender to an address; to none: anonymous.
    pub(crate) fn sender(&mut self, router: usize, address: &str) -> Client {
        let target = Target { address: Some(address.to_owned()).filter(|text| !text.is_empty()), ..Target::default() };
        self.attach(
            router,
            AttachInfo {
                name: String::new(),
                incoming: true,
                source: Some(Source::default()),
                target: Some(TargetTerminus::Target(target)),
                send_settled: false,
                terms: LinkTerms::default(),
            },
        )
    }

    /// Sends a message and lets it come to rest. Its number.
    pub(crate) fn send(&mut self, sender: Client) -> u64 {
        self.send_with(sender, |_| (), false)
    }

    pub(crate) fn send_settled(&mut self, sender: Client) -> u64 {
        self.send_with(sender, |_| (), true)
    }

    pub(crate) fn send_to(&mut self, sender: Client, to: &str) -> u64 {
        self.send_with(sender, |message| message.to = Some(to.to_owned()), false)
    }

    /// Begins a message that does not end yet.
    pub(crate) fn begin(&mut self, sender: Client) -> u64 {
        self.send_with(sender, |message| message.complete.store(false, Ordering::Relaxed), false)
    }

    pub(crate) fn send_with(&mut self, sender: Client, change: impl FnOnce(&mut Message), settled: bool) -> u64 {
        let mut message = Message::new(self.next_message, None, 4);
        self.next_message += 1;
        change(&mut message);
        let number = message.number;
        self.offer(sender.router, sender.link, message, settled, None);
        self.settle();
        number
    }

    fn offer(&mut self, router: usize, link: u32, message: Message, settled: bool, from: Option<(usize, OutKey)>) {
        let record = &mut self.routers[router];
        let id = record.next_delivery;
        record.next_delivery += 1;
        let Some(&key) = record.links.keys.get(&link) else { return };
        record.host.offered = Some(message.clone());
        let annotations = message.router();
        let offer = Offer {
            delivery_id: id,
            settled,
            complete: message.is_complete(),
            to: message.to.as_deref(),
            to_override: annotations.to,
            phase: (annotations.phase != 0).then_some(annotations.phase),
            ingress: annotations.ingress,
            trace: annotations.trace,
            priority: message.priority,
            state: None,
            tag: None,
            manner: Default::default(),
        };
        record.offered.insert(id, Offering { from, key: None, message: message.number });
        let offered = record.core.deliver(self.now, &mut record.host, key, offer);
        record.host.offered = None;
        if let Offered::Tracked(key) = offered
            && let Some(kept) = record.offered.get_mut(&id)
        {
            kept.key = Some(key);
        }
    }

    /// After some seconds more of a message comes to all routers that have begun to see it.
    pub(crate) fn more(&mut self, number: u64, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        for record in &mut self.routers {
            let keys = record.offered.values().filter(|offered| offered.message == number);
            for key in keys.filter_map(|offered| offered.key) {
                record.core.moved(self.now, key);
            }
        }
    }

    /// Lets time pass and does what is due.
    pub(crate) fn pass_time(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        for record in &mut self.routers {
            record.core.handle_timeout(self.now, &mut record.host);
        }
        self.settle();
    }

    /// The sender of a message that has not ended gives it up.
    pub(crate) fn abort(&mut self, sender: Client, number: u64) {
        let record = &mut self.routers[sender.router];
        let offered = record.offered.values().find(|offered| offered.from.is_none() && offered.message == number);
        let key = offered.and_then(|offered| offered.key).expect("begun");
        record.core.aborted(self.now, &mut record.host, key);
        self.settle();
    }

    /// The rest of a message is there.
    pub(crate) fn end(&mut self, number: u64) {
        let partial = self.routers.iter().flat_map(|router| &router.partial);
        let message = partial.map(|(.., message)| message).find(|message| message.number == number);
        if let Some(message) = message {
            message.complete.store(true, Ordering::Relaxed);
        }
        for router in 0..self.routers.len() {
            self.received_rest(router, None, number);
        }
        self.settle();
    }

    /// What was offered by `from` is there as a whole now.
    fn received_rest(&mut self, router: usize, from: Option<(usize, OutKey)>, number: u64) {
        let record = &mut self.routers[router];
        let all = record.offered.values().filter(|offered| offered.from == from && offered.message == number);
        let keys: Vec<_> = all.filter_map(|offered| offered.key).collect();
        for key in keys {
            record.core.received(self.now, &mut record.host, key, false);
        }
    }

    /// Lets the receivers of a message accept it.
    pub(crate) fn accept(&mut self, number: u64) {
        self.outcome(number, DeliveryState::Accepted);
    }

    pub(crate) fn outcome(&mut self, number: u64, state: DeliveryState) {
        let got: Vec<_> = self.received.iter().filter(|got| got.message.number == number).cloned().collect();
        assert!(!got.is_empty(), "nobody received message {number}");
        got.iter().for_each(|got| self.outcome_of(got, state.clone()));
    }

    /// One receiver settles its copy so.
    pub(crate) fn outcome_of(&mut self, got: &Received, state: DeliveryState) {
        let record = &mut self.routers[got.receiver.router];
        record.core.outcome(self.now, &mut record.host, got.key, Some(state), true);
        self.settle();
    }

    /// A client's link is lost, and all routers hear of it.
    pub(crate) fn lose(&mut self, client: Client) {
        self.lose_only(client);
        self.converge();
    }

    pub(crate) fn lose_only(&mut self, client: Client) {
        let record = &mut self.routers[client.router];
        let key = record.links.keys.remove(&client.link).expect("there");
        record.links.far.remove(&client.link);
        record.core.link_lost(self.now, &mut record.host, key);
        self.settle();
    }

    /// How many messages each of these receivers got.
    pub(crate) fn counts<const N: usize>(&self, receivers: [Client; N]) -> [usize; N] {
        receivers.map(|receiver| self.received.iter().filter(|got| got.receiver == receiver).count())
    }

    pub(crate) fn told(&self, number: u64) -> Option<DeliveryState> {
        self.told.get(&number).and_then(|(state, _)| state.clone())
    }

    pub(crate) fn link(&self, client: Client) -> LinkSnapshot<'_> {
        let record = &self.routers[client.router];
        record.core.link(self.now, record.links.keys[&client.link]).expect("there")
    }

    pub(crate) fn address(&self, router: usize, key: &str) -> AddressSnapshot<'_> {
        self.routers[router].core.address(key).expect("the address is there")
    }

    /// The number by which a router knows another.
    pub(crate) fn index(&self, router: usize, other: usize) -> RouterIndex {
        RouterIndex(if other < router { other + 1 } else { other } as u16)
    }

    /// Does what the cores have asked for until they ask for nothing more.
    pub(crate) fn settle(&mut self) {
        while let Some(router) = self.routers.iter().position(|router| !router.host.calls.is_empty()) {
            // Nothing is passed on before both sides of a connection know each other.
            for call in std::mem::take(&mut self.routers[router].host.calls) {
                self.pass(router, call);
            }
            self.finish_transmissions();
        }
        self.finish_transmissions();
    }

    fn finish_transmissions(&mut self) {
        for router in 0..self.routers.len() {
            let done = self.routers[router].partial.iter().position(|(.., message)| message.is_complete());
            let Some(at) = done else { continue };
            let (link, key, message) = self.routers[router].partial.remove(at);
            let far = self.routers[router].links.far.get(&link).copied();
            if let Some(Far::Router(peer, _)) = far {
                self.received_rest(peer, Some((router, key)), message.number);
            }
            let record = &mut self.routers[router];
            record.core.transmitted(self.now, &mut record.host, key);
            return self.settle();
        }
    }

    fn pass(&mut self, router: usize, call: Call) {
        let record = &mut self.routers[router];
        match call {
            Call::Open(conn, key, open) => self.open(router, conn, key, open),
            Call::Answer(link, source, target) => {
                if let Some(Far::Router(peer, far)) = record.links.far.get(&link).copied() {
                    let record = &mut self.routers[peer];
                    let key = record.links.keys[&far];
                    record.core.attach_answered(self.now, &mut record.host, key, source, target, LinkTerms::default());
                }
            }
            Call::Detach(link, closed, error) => {
                if let Some(Far::Router(peer, far)) = record.links.far.remove(&link) {
                    let record = &mut self.routers[peer];
                    record.links.far.remove(&far);
                    if let Some(key) = record.links.keys.remove(&far) {
                        record.core.detach(self.now, &mut record.host, key, closed, error);
                    }
                }
            }
            Call::Credit(link, credit) => {
                if let Some(Far::Router(peer, far)) = record.links.far.get(&link).copied() {
                    let record = &mut self.routers[peer];
                    let all = record.host.credit.entry(far).or_default();
                    *all += credit;
                    let (all, key) = (*all, record.links.keys[&far]);
                    record.core.credit(self.now, &mut record.host, key, all, false);
                }
            }
            Call::Transmit(link, key, message, settled) => self.transmit(router, link, key, message, settled),
            Call::Abort(link, key) => {
                record.partial.retain(|(_, partial, _)| *partial != key);
                if let Some(Far::Router(peer, _)) = record.links.far.get(&link).copied() {
                    let record = &mut self.routers[peer];
                    let offered = record.offered.values().find(|offered| offered.from == Some((router, key)));
                    if let Some(key) = offered.and_then(|offered| offered.key) {
                        record.core.aborted(self.now, &mut record.host, key);
                    }
                }
            }
            Call::Incoming(delivery, state, settled) => {
                let Offering { from, message: number, .. } = record.offered[&delivery];
                match from {
                    Some((peer, key)) => {
                        let record = &mut self.routers[peer];
                        record.core.outcome(self.now, &mut record.host, key, state, settled);
                    }
                    None => {
                        let before = self.told.insert(number, (state, settled));
                        assert!(!before.is_some_and(|(_, settled)| settled), "settled twice");
                    }
                }
            }
            Call::Outgoing(link, key, state, settled) => {
                if let Some(Far::Router(peer, _)) = record.links.far.get(&link).copied() {
                    let record = &mut self.routers[peer];
                    let offered = record.offered.values().find(|offered| offered.from == Some((router, key)));
                    if let Some(key) = offered.and_then(|offered| offered.key) {
                        record.core.sender_outcome(self.now, &mut record.host, key, state, settled);
                    }
                }
            }
        }
    }

    fn open(&mut self, router: usize, conn: usize, key: LinkKey, open: OpenLink) {
        let record = &mut self.routers[router];
        record.next_link += 1;
        let link = record.next_link;
        record.links.keys.insert(link, key);
        record.links.conn.insert(link, conn);
        let Some(&Wire { peer, peer_conn, .. }) = record.wires.get(&conn) else { return };
        record.core.link_opened(self.now, &mut record.host, key, link);
        let far = &mut self.routers[peer];
        far.next_link += 1;
        let far_link = far.next_link;
        far.links.far.insert(far_link, Far::Router(router, link));
        far.links.conn.insert(far_link, peer_conn);
        let info = AttachInfo {
            name: open.name,
            incoming: !open.incoming,
            source: open.source,
            target: open.target,
            send_settled: false,
            terms: LinkTerms::default(),
        };
        let peer_key = far.conns[peer_conn].expect("both sides are open");
        let far_key = far.core.attach(self.now, &mut far.host, peer_key, far_link, info);
        far.links.keys.insert(far_link, far_key);
        self.routers[router].links.far.insert(link, Far::Router(peer, far_link));
    }

    fn transmit(&mut self, router: usize, link: u32, key: OutKey, message: Message, settled: bool) {
        let record = &mut self.routers[router];
        let Some(far) = record.links.far.get(&link).copied() else { return };
        if !message.is_complete() {
            record.partial.push((link, key, message.clone()));
        }
        match far {
            Far::Router(peer, far) => self.offer(peer, far, message, settled, Some((router, key))),
            Far::Client => self.received.push(Received { receiver: Client { router, link }, key, message, settled }),
        }
    }

    /// What the routing protocol would tell each router now.
    pub(crate) fn converge(&mut self) {
        for record in &mut self.routers {
            for event in std::mem::take(&mut record.host.events) {
                match event {
                    Event::Here(key, treatment) => drop(record.announced.insert(key, treatment)),
                    Event::NotHere(key) => drop(record.announced.remove(&key)),
                    Event::Up(..) | Event::Lost(..) => {}
                }
            }
        }
        let costs = self.costs();
        for router in 0..self.routers.len() {
            let interior = |router: &usize| !self.routers[*router].host.is_edge;
            if !interior(&router) {
                continue;
            }
            let others: Vec<_> = (0..self.routers.len()).filter(|other| *other != router && interior(other)).collect();
            for other in others {
                self.inform(router, other, &costs);
            }
            let hops = (0..self.routers.len()).filter_map(|other| Some(self.path(router, other, &costs)?.len() - 1));
            let radius = hops.max().unwrap_or(0) as u32;
            self.routers[router].core.set_radius(radius);
        }
        self.settle();
    }

    fn inform(&mut self, router: usize, other: usize, costs: &[Vec<Option<u32>>]) {
        let index = self.index(router, other);
        let route = self.path(router, other, costs).map(|path| {
            let origins = (0..self.routers.len()).filter(|origin| {
                *origin == router || self.path(*origin, other, costs).is_some_and(|path| path.contains(&router))
            });
            let valid_origins = origins
                .map(|origin| if origin == router { RouterIndex::SELF } else { self.index(router, origin) })
                .collect();
            let cost = costs[router][other].expect("there is a path");
            let back = self.path(other, router, costs).expect("connections go both ways");
            let comes_by = Some(self.index(router, back[back.len() - 2]));
            Route { next_hop: self.connection(router, path[1]), cost, comes_by, valid_origins }
        });
        let (announced, id) = (self.routers[other].announced.clone(), self.routers[other].host.id.clone());
        let Router { core, host, heard, .. } = &mut self.routers[router];
        let heard = heard.entry(other).or_insert_with(|| {
            core.add_router(self.now, host, index, &id);
            BTreeSet::new()
        });
        core.set_route(self.now, host, index, route.clone());
        if route.is_none() {
            return;
        }
        for key in heard.iter().filter(|key| !announced.contains_key(*key)) {
            core.remove_remote_address(self.now, host, index, key);
        }
        for (key, treatment) in announced.iter().filter(|(key, _)| !heard.contains(*key)) {
            core.add_remote_address(self.now, host, index, key, Some(*treatment));
        }
        *heard = announced.into_keys().collect();
    }

    /// Costs of the ways between all routers.
    fn costs(&self) -> Vec<Vec<Option<u32>>> {
        let count = self.routers.len();
        let mut costs = vec![vec![None; count]; count];
        for (router, record) in self.routers.iter().enumerate() {
            costs[router][router] = Some(0);
            for wire in
                record.wires.values().filter(|wire| !record.host.is_edge && !self.routers[wire.peer].host.is_edge)
            {
                costs[router][wire.peer] = Some(wire.cost);
            }
        }
        for over in 0..count {
            for from in 0..count {
                for to in 0..count {
                    if let (Some(first), Some(second)) = (costs[from][over], costs[over][to])
                        && costs[from][to].is_none_or(|cost| first + second < cost)
                    {
                        costs[from][to] = Some(first + second);
                    }
                }
            }
        }
        costs
    }

    /// The way between two routers, both included: the first neighbour in order among equals.
    fn path(&self, from: usize, to: usize, costs: &[Vec<Option<u32>>]) -> Option<Vec<usize>> {
        let mut path = vec![from];
        let mut at = from;
        while at != to {
            let left = costs[at][to]?;
            let wires = self.routers[at].wires.values();
            let next = wires.filter(|wire| costs[wire.peer][to].is_some_and(|cost| cost + wire.cost == left));
            at = next.map(|wire| wire.peer).min()?;
            path.push(at);
        }
        Some(path)
    }

    /// A link that an edge router attaches on its uplink.
    pub(crate) fn open_uplink(
        &mut self,
        edge: usize,
        to: usize,
        address: Option<&str>,
        incoming: bool,
        bound: Bound,
    ) -> LinkKey {
        self.open_uplink_with(edge, to, address, &[], incoming, bound)
    }

    pub(crate) fn open_uplink_with(
        &mut self,
        edge: usize,
        to: usize,
        address: Option<&str>,
        capabilities: &[&str],
        incoming: bool,
        bound: Bound,
    ) -> LinkKey {
        let conn = self.connection(edge, to);
        let mut source = Source::default();
        let mut target = Target::default();
        let capabilities: Vec<Symbol> = capabilities.iter().map(|text| Symbol::from(*text)).collect();
        if incoming {
            (source.address, source.capabilities) = (address.map(str::to_owned), capabilities);
        } else {
            (target.address, target.capabilities) = (address.map(str::to_owned), capabilities);
        }
        let open = OpenLink {
            name: "qdlink.uplink".into(),
            incoming,
            class: LinkClass::Endpoint,
            source: Some(source),
            target: Some(TargetTerminus::Target(target)),
            terms: LinkTerms::default(),
        };
        let Router { core, host, .. } = &mut self.routers[edge];
        let link = core.open_own_link(self.now, host, conn, open, bound, None).expect("open");
        self.settle();
        link
    }

    /// Sends a message from within a router.
    pub(crate) fn send_local(&mut self, router: usize, to: &str) -> bool {
        let message = Arc::new(Message::new(self.next_message, Some(to), 4));
        self.next_message += 1;
        let Router { core, host, .. } = &mut self.routers[router];
        let sent = core.send_local(self.now, host, to, message);
        self.settle();
        sent
    }

    /// Sends a message of the routing protocol; its number.
    pub(crate) fn send_control(&mut self, router: usize, to: &str, on: Option<ConnKey>) -> u64 {
        let number = self.next_message;
        let message = Arc::new(Message::new(number, Some(to), 4));
        self.next_message += 1;
        let Router { core, host, .. } = &mut self.routers[router];
        assert!(core.send_control(self.now, host, to, on, message), "nobody is there");
        self.settle();
        number
    }

    pub(crate) fn subscribe_control(&mut self, key: &str) {
        for Router { core, host, .. } in &mut self.routers {
            core.subscribe_control(self.now, host, key);
        }
        self.settle();
    }

    /// How often a message came to a subscriber of each router.
    pub(crate) fn subscribed(&self, number: u64) -> Vec<usize> {
        let count = |router: &Router| router.host.subscribed.iter().filter(|(_, got)| *got == number).count();
        self.routers.iter().map(count).collect()
    }
}
