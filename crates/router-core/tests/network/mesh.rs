//! Routers in one memory, joined by connections that pass on what their cores ask for.

mod clients;
mod own;
mod passing;
mod routes;

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

    /// Lets time pass and does what is due.
    pub(crate) fn pass_time(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        for record in &mut self.routers {
            record.core.handle_timeout(self.now, &mut record.host);
        }
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
}
