//! One router, its clients, and the broker; what happens next is chosen by a seed.

use std::time::Duration;

use amqp::DeliveryState;
use amqp::terminus::{Source, Target, TargetTerminus};
use router_core::*;

use crate::host::{BooksHost, End, Frame, L, RouterLink};
use crate::peers::{Peer, Queues};

/// Connections of clients.
const CLIENTS: usize = 4;
/// The connection of the broker, and then those of its later lives.
const BROKER: usize = CLIENTS;
/// A plain address, one with a queue behind auto-links, and two of which links are passed on to the broker.
const ADDRESSES: [&str; 4] = ["plain", "waypoint", "queue.a", "queue.b"];
/// More than there are messages under way: no sender waits for what another one's messages wait for.
const CAPACITY: u32 = 1_000;
/// Long enough for auto-links to be tried again.
const RETRY: Duration = Duration::from_secs(6);

pub(crate) struct World {
    random: u64,
    core: Core<BooksHost>,
    host: BooksHost,
    now: Duration,
    clients: Vec<(ConnKey, Peer)>,
    /// The broker's connection and number of it, while it is alive.
    broker: Option<(ConnKey, usize)>,
    broker_peer: Peer,
    queues: Queues,
    next_conn: usize,
    next_link: L,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut names = 0;
        let mut core = Core::new(RouterSettings {
            router_id: "QDR".into(),
            mode: Mode::Standalone,
            default_treatment: Treatment::Balanced,
            test_hooks: false,
            allow_resumable_link_route: true,
            random: Box::new(move || {
                names += 1;
                names
            }),
        });
        let (mut host, now) = (BooksHost::default(), Duration::from_secs(100));
        configure(&mut core, &mut host, now);
        let mut world = Self {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            core,
            host,
            now,
            clients: Vec::new(),
            broker: None,
            broker_peer: Peer::default(),
            queues: Queues::default(),
            next_conn: BROKER,
            next_link: 0,
        };
        for at in 0..CLIENTS {
            let key = world.open_connection(at, Role::Normal, "client");
            world.clients.push((key, Peer::default()));
        }
        world
    }

    fn open_connection(&mut self, at: usize, role: Role, container: &str) -> ConnKey {
        let id = self.core.next_connection_id();
        let container = format!("{container}{}", if role == Role::Normal { at.to_string() } else { String::new() });
        let info = ConnectionInfo {
            id,
            role,
            container,
            incoming: true,
            link_capacity: CAPACITY,
            ..ConnectionInfo::default()
        };
        self.core.open_connection(self.now, &mut self.host, at, info)
    }

    /// A number below `below`.
    fn below(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % below
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() { None } else { Some(from[self.below(from.len())]) }
    }

    pub(crate) fn step(&mut self) {
        let client = self.below(CLIENTS);
        match self.below(100) {
            0..=29 => {
                let conn = self.below(BROKER + 1);
                self.frame_to_peer(conn, true);
            }
            30..=59 => {
                let conn = self.below(BROKER + 1);
                self.frame_to_router(conn);
            }
            60..=62 => self.open_one(),
            63..=66 => self.client_attaches(client),
            67..=75 => self.client_sends(client),
            76..=82 => self.client_gives_credit(client),
            83..=87 => self.client_settles(client),
            88 => self.client_detaches(client),
            89..=97 => drop(self.broker_acts()),
            98 if self.below(4) == 0 => self.toggle_broker(),
            98 => {}
            _ => {
                self.now += Duration::from_secs(1);
                self.core.handle_timeout(self.now, &mut self.host);
            }
        }
    }

    // What clients do.

    fn client_attaches(&mut self, client: usize) {
        if self.clients[client].1.links.len() >= 4 {
            return;
        }
        let address = ADDRESSES[self.below(ADDRESSES.len())];
        let (sends, supply) = (self.below(2) == 0, self.below(6) as u32 + 1);
        self.next_link += 1;
        self.clients[client].1.attach(self.next_link, address, sends, supply);
    }

    fn some_link(&mut self, client: usize, sends: bool) -> Option<L> {
        let links = self.clients[client].1.links.iter().filter(|(_, link)| link.end.sends == sends && !link.refused);
        let links: Vec<L> = links.map(|(link, _)| *link).collect();
        self.pick(&links)
    }

    fn client_sends(&mut self, client: usize) {
        let Some(link) = self.some_link(client, true) else { return };
        self.clients[client].1.send(link, &mut self.queues);
    }

    fn client_gives_credit(&mut self, client: usize) {
        let (credit, drain) = (self.below(4) as u64, self.below(4) == 0);
        let Some(link) = self.some_link(client, false) else { return };
        self.clients[client].1.give_credit(link, credit, drain);
    }

    fn client_settles(&mut self, client: usize) {
        let accept = self.below(5) > 0;
        let Some(link) = self.some_link(client, false) else { return };
        self.clients[client].1.settle(link, accept, &mut self.queues);
    }

    fn client_detaches(&mut self, client: usize) {
        let sends = self.below(2) == 0;
        let Some(link) = self.some_link(client, sends) else { return };
        self.clients[client].1.detach(link);
    }

    // What the broker does.

    fn toggle_broker(&mut self) {
        match self.broker.take() {
            None => {
                let at = self.next_conn;
                self.next_conn += 1;
                self.broker_peer = Peer { is_broker: true, ..Peer::default() };
                self.broker = Some((self.open_connection(at, Role::RouteContainer, "broker"), at));
            }
            Some((key, at)) => {
                self.broker_peer.crash(&mut self.queues);
                self.broker_peer = Peer::default();
                self.host.frames.remove(&at);
                self.host.openings.retain(|(conn, ..)| *conn != at);
                self.host.links.retain(|_, link| link.conn != at);
                self.core.close_connection(self.now, &mut self.host, key);
            }
        }
    }

    /// Sends or settles on one of its links, if it can.
    fn broker_acts(&mut self) -> bool {
        let links: Vec<L> = self.broker_peer.links.keys().copied().collect();
        let Some(link) = self.pick(&links) else { return false };
        self.broker_peer.settle(link, true, &mut self.queues) || self.broker_peer.send(link, &mut self.queues)
    }

    // What passes between them.

    /// The number of a connection: the broker's is that of its life now.
    fn conn(&self, conn: usize) -> Option<usize> {
        if conn < BROKER { Some(conn) } else { self.broker.map(|(_, at)| at) }
    }

    /// Attaches the next link that the core wants.
    fn open_one(&mut self) {
        let Some((conn, key, open)) = self.host.openings.pop_front() else { return };
        if self.core.link_id(key).is_none() {
            return;
        }
        self.next_link += 1;
        let (link, sends) = (self.next_link, !open.incoming);
        let end = End { sends, attached: true, ..End::default() };
        self.host.links.insert(link, RouterLink { conn, key, end });
        let address = match (&open.source, &open.target) {
            (Some(Source { address: Some(address), .. }), _) if open.incoming => address.clone(),
            (_, Some(TargetTerminus::Target(Target { address: Some(address), .. }))) => address.clone(),
            other => panic!("no address: {other:?}"),
        };
        self.host.send(conn, Frame::Attach { link, address, sends });
        self.core.link_opened(self.now, &mut self.host, key, link);
    }

    fn frame_to_peer(&mut self, conn: usize, may_refuse: bool) -> bool {
        let Some(at) = self.conn(conn) else { return false };
        let Some(frame) = self.host.frames.get_mut(&at).and_then(|frames| frames.pop_front()) else { return false };
        let refuse = may_refuse && self.below(10) == 0;
        let peer = if conn < BROKER { &mut self.clients[conn].1 } else { &mut self.broker_peer };
        peer.receive(frame, refuse, &mut self.queues);
        true
    }

    fn frame_to_router(&mut self, conn: usize) -> bool {
        let Some(at) = self.conn(conn) else { return false };
        let peer = if conn < BROKER { &mut self.clients[conn].1 } else { &mut self.broker_peer };
        let Some(frame) = peer.frames.pop_front() else { return false };
        self.router_receives(conn, at, frame);
        true
    }

    fn router_receives(&mut self, conn: usize, at: usize, frame: Frame) {
        let now = self.now;
        let (core, host) = (&mut self.core, &mut self.host);
        match frame {
            Frame::Attach { link, address, sends } => {
                let end = End { sends: !sends, peer_attached: true, ..End::default() };
                host.links.insert(link, RouterLink { conn: at, key: LinkKey::DEAD, end });
                let attach = attach(link, &address, sends);
                let key = core.attach(now, host, self.clients[conn].0, link, attach);
                if let Some(there) = host.links.get_mut(&link) {
                    there.key = key;
                }
            }
            Frame::Answer { link, refused } => {
                let Some(there) = host.links.get_mut(&link) else { return };
                there.end.peer_attached = true;
                let (key, sends, detached) = (there.key, there.end.sends, there.end.detached);
                if detached {
                    return;
                }
                if there.end.untold {
                    host.tell_credit(link);
                }
                let AttachInfo { mut source, mut target, terms, .. } = attach(link, "answered", sends);
                match (refused, sends) {
                    (true, true) => target = None,
                    (true, false) => source = None,
                    _ => {}
                }
                core.attach_answered(now, host, key, source, target, terms);
            }
            Frame::Detach { link } => {
                let Some(there) = host.links.get_mut(&link) else { return };
                there.end.peer_detached = true;
                let key = there.key;
                if there.end.detached {
                    host.links.remove(&link);
                    core.detach_answered(now, host, key, true, None);
                } else {
                    core.detach(now, host, key, true, None);
                }
            }
            other => self.router_hears(other),
        }
    }

    /// What is said of a link that is attached.
    fn router_hears(&mut self, frame: Frame) {
        let now = self.now;
        let (core, host) = (&mut self.core, &mut self.host);
        let (Frame::Credit { link, .. }
        | Frame::Count { link, .. }
        | Frame::Transfer { link, .. }
        | Frame::Outcome { link, .. }) = frame
        else {
            return;
        };
        let Some(there) = host.links.get_mut(&link).filter(|there| !there.end.detached) else { return };
        let (key, end) = (there.key, &mut there.end);
        match frame {
            Frame::Credit { upto, drain, .. } => {
                (end.upto, end.drain) = (upto.max(end.count), drain);
                let credit = end.credit();
                core.credit(now, host, key, credit, drain);
            }
            Frame::Count { count, .. } => {
                assert!(count <= end.upto, "gave back more credit than it had");
                let returned = (count - end.count) as u32;
                end.count = count;
                let drained = end.drain && end.credit() == 0;
                end.drain &= !drained;
                if drained || returned > 0 {
                    core.drained(now, host, key, returned);
                }
            }
            Frame::Transfer { delivery, message, .. } => {
                end.count += 1;
                assert!(end.count <= end.upto, "sent without credit");
                let used_up = end.drain && end.credit() == 0;
                end.drain &= !used_up;
                host.offered = message;
                core.deliver(now, host, key, offer(delivery as u32));
                if used_up {
                    core.drained(now, host, key, 0);
                }
            }
            Frame::Outcome { delivery, state, settled, .. } => {
                core.outcome(now, host, OutKey(delivery), state, settled);
            }
            _ => {}
        }
    }

    // Rest.

    /// Lets all frames arrive, and everyone do what may be done without new credit and new links, until nothing moves.
    pub(crate) fn come_to_rest(&mut self) {
        if self.broker.is_none() {
            self.toggle_broker();
        }
        // Links that were refused are tried again.
        for _ in 0..3 {
            self.now += RETRY;
            self.core.handle_timeout(self.now, &mut self.host);
            while self.moves() {}
        }
    }

    fn moves(&mut self) -> bool {
        let mut moved = !self.host.openings.is_empty();
        while !self.host.openings.is_empty() {
            self.open_one();
        }
        for conn in 0..=BROKER {
            while self.frame_to_peer(conn, false) {
                moved = true;
            }
            while self.frame_to_router(conn) {
                moved = true;
            }
        }
        let Self { clients, broker_peer, queues, .. } = self;
        for peer in clients.iter_mut().map(|(_, peer)| peer).chain([broker_peer]) {
            for link in peer.links.keys().copied().collect::<Vec<_>>() {
                moved |= peer.settle(link, true, queues) || peer.send(link, queues);
            }
        }
        moved
    }

    /// What must hold when nothing moves any more.
    pub(crate) fn check_rest(&self) {
        for link in self.core.links(self.now) {
            let queued = link.undelivered_count > 0 && link.credit_available > 0;
            assert!(!queued, "something waits for a link that has credit: {link:?}");
        }
        for (at, (_, client)) in self.clients.iter().enumerate() {
            for (number, link) in client.links.iter().filter(|(_, link)| link.end.is_up()) {
                let what = format!("link {number} of client {at}: {link:?}");
                if link.end.sends {
                    self.check_sender(&link.address, link.supply, &what);
                } else {
                    assert!(!link.end.drain, "a drain does not end: {what}");
                    let waiting = self.queues.messages.get(&link.address).is_some_and(|queue| !queue.is_empty());
                    assert!(!waiting || link.end.credit() == 0, "a message waits for a receiver with credit: {what}");
                    self.check_pair(*number, &what);
                }
            }
        }
        assert!(self.core.auto_links().iter().all(|auto| auto.state == AutoLinkState::Active));
    }

    /// A sender has sent all it has, if there is anyone to take it.
    fn check_sender(&self, address: &str, supply: u32, what: &str) {
        let taken = address != "plain" || self.core.address("M0plain").is_some_and(|plain| plain.subscriber_count > 0);
        assert!(!taken || supply == 0, "a sender does not get on: {what}");
    }

    /// Of two links that are one, the end that sends has the credit of the end that receives.
    fn check_pair(&self, receiver: L, what: &str) {
        let Some(near) = self.host.links.get(&receiver) else { return };
        let Some(peer) = self.core.link(self.now, near.key).and_then(|link| link.peer) else { return };
        let far = self.core.links(self.now).into_iter().find(|link| link.id == peer).expect("the other one is there");
        let far = self.host.links.values().find(|link| link.key == far.key).expect("and attached");
        assert_eq!(far.end.credit(), near.end.credit(), "the credit of two links that are one differs: {what}");
    }

    /// All connections end, and nothing is left but what is configured.
    pub(crate) fn end(mut self) {
        for (key, _) in std::mem::take(&mut self.clients) {
            self.core.close_connection(self.now, &mut self.host, key);
        }
        if let Some((key, _)) = self.broker.take() {
            self.core.close_connection(self.now, &mut self.host, key);
        }
        let counts = self.core.object_counts();
        assert_eq!((counts.connections, counts.links, counts.deliveries), (0, 0, 0));
    }
}

fn configure(core: &mut Core<BooksHost>, host: &mut BooksHost, now: Duration) {
    let waypoint = NewAddressConfig { prefix: Some("waypoint".into()), waypoint: true, ..NewAddressConfig::default() };
    core.create_address_config(host, waypoint).expect("valid");
    let via = || RouteVia::Container("broker".into());
    for (direction, phase) in [(RouteDirection::Out, 0), (RouteDirection::In, 1)] {
        let auto = NewAutoLink {
            name: None,
            address: "waypoint".into(),
            direction,
            phase,
            via: via(),
            external_address: None,
            fallback: false,
            on_demand: None,
        };
        core.create_auto_link(now, host, auto).expect("valid");
        let route = NewLinkRoute {
            name: None,
            prefix: Some("queue".into()),
            pattern: None,
            direction,
            via: via(),
            add_external_prefix: None,
            del_external_prefix: None,
        };
        core.create_link_route(now, host, route).expect("valid");
    }
}

/// An attach; `sends`: the one who attaches.
fn attach(link: L, address: &str, sends: bool) -> AttachInfo {
    let address = |wanted: bool| wanted.then(|| address.to_owned());
    AttachInfo {
        name: format!("link {link}"),
        incoming: sends,
        source: Some(Source { address: address(!sends), ..Source::default() }),
        target: Some(TargetTerminus::Target(Target { address: address(sends), ..Target::default() })),
        send_settled: false,
        terms: LinkTerms::default(),
    }
}

fn offer<'a>(delivery_id: u32) -> Offer<'a> {
    Offer {
        delivery_id,
        settled: false,
        complete: true,
        to: None,
        to_override: None,
        phase: None,
        ingress: None,
        trace: amqp::message::Trace::default(),
        priority: 4,
        state: None::<DeliveryState>,
        stamp: 0,
        tag: Some(b"tag"),
        manner: Default::default(),
    }
}
