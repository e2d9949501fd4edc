//! A whole router: the routing core, the routing protocol, and a host that knows only simulated connections.

use std::rc::Rc;

use router_core::{
    AttachInfo, ConnKey, ConnectionInfo, Core, Level, LinkKey, LinkTerms, Mode, NetworkEvent, NewAddressConfig, Now,
    Offer, Offered, OutKey, Role, RouterSettings, Treatment,
};
use router_net::{Config, LinkRef, NodeIndex, Output, PathEngine};

use crate::frame::{Attach, Frame, Transfer, WireLink};
use crate::host::{Conn, SimHost, Told, print_line};
use crate::message::Message;
use crate::random::Random;

/// Routers that an old router knows at most.
const MASK_BITS: u16 = 128;
/// Credit for senders.
const LINK_CAPACITY: u32 = 250;
/// The routing protocol's own addresses.
const CONTROL_KEYS: [&str; 6] =
    ["Lqdhello", "Tqdrouter", "Lqdrouter", "Tqdrouter.ma", "Lqdrouter.ma", "Lwaystation.sync"];
/// Addresses that begin so are multicast, or closest; all others are balanced.
const PREFIXES: [(&str, Treatment); 2] = [("multicast", Treatment::Multicast), ("closest", Treatment::Closest)];

/// What the routing protocol of one router has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlTraffic {
    /// Messages, each once for each neighbour that it went to.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A router.
pub struct Router {
    /// Its id.
    pub id: String,
    /// The routing core.
    pub core: Core<SimHost>,
    /// The routing protocol.
    pub engine: PathEngine,
    pub(crate) host: SimHost,
    pub(crate) control: ControlTraffic,
    /// It shares what it knows with neighbours that do.
    shares: bool,
}

impl Router {
    pub(crate) fn new(now: Now, id: &str, instance: i64, max_routers: u16, random: &mut Random) -> Self {
        let mut numbers = Random::new(random.number());
        let mut core = Core::new(RouterSettings {
            router_id: id.to_owned(),
            mode: Mode::Interior,
            default_treatment: Treatment::Balanced,
            test_hooks: false,
            allow_resumable_link_route: true,
            random: Box::new(move || u128::from(numbers.number()) << 64 | u128::from(numbers.number())),
        });
        let mut host = SimHost::new(Some(format!("0/{id}")));
        for (prefix, distribution) in PREFIXES {
            let new = NewAddressConfig { prefix: Some(prefix.into()), distribution, ..NewAddressConfig::default() };
            core.create_address_config(&mut host, new).expect("these do not contradict each other");
        }
        for key in CONTROL_KEYS {
            core.subscribe_control(now, &mut host, key);
        }
        let config = Config { max_routers, ..Config::new(id.to_owned(), instance) };
        let engine = PathEngine::new(config, now);
        let mut router =
            Self { id: id.to_owned(), core, engine, host, control: ControlTraffic::default(), shares: true };
        router.carry_on(now);
        router
    }

    /// It sends multicasts as old routers do, and takes all that come.
    pub(crate) fn make_old(&mut self) {
        self.host.tells_copies = false;
        self.shares = false;
    }

    /// It speaks the old protocol only.
    pub(crate) fn share_nothing(&mut self) {
        self.shares = false;
    }

    /// Prints what it logs, from this level on.
    pub(crate) fn set_log(&mut self, from: Option<Level>) {
        self.host.logged = from;
        self.engine.log_traces(from == Some(Level::Trace));
    }

    /// When it is to be called next by time alone.
    pub(crate) fn next_timeout(&self) -> Option<Now> {
        [self.engine.next_timeout(), self.core.next_timeout()].into_iter().flatten().min()
    }

    pub(crate) fn handle_timeout(&mut self, now: Now) {
        if self.core.next_timeout().is_some_and(|due| due <= now) {
            self.core.handle_timeout(now, &mut self.host);
        }
        if self.engine.next_timeout().is_some_and(|due| due <= now) {
            self.engine.handle_timeout(now);
        }
        self.carry_on(now);
    }

    /// Its end of a connection that is being made.
    pub(crate) fn add_conn(&mut self, conn: u32, side: usize, to_router: bool) {
        self.host.conns.insert(conn, Conn::new(side, to_router));
        if side == 0 {
            self.host.out.push((conn, Frame::Open { answer: false, container: self.id.clone(), shares: self.shares }));
        }
    }

    /// The other end of a connection is there.
    fn opened(&mut self, now: Now, conn: u32, cost: u32, container: String, shares: bool) {
        let Some(record) = self.host.conns.get(&conn) else { return };
        let (incoming, to_router) = (record.side == 1, record.to_router);
        if incoming {
            self.host.out.push((conn, Frame::Open { answer: true, container: self.id.clone(), shares: self.shares }));
        }
        let info = ConnectionInfo {
            id: self.core.next_connection_id(),
            role: if to_router { Role::InterRouter } else { Role::Normal },
            incoming,
            container,
            link_capacity: LINK_CAPACITY,
            cost,
            streaming_links: to_router,
            shares: shares && self.shares,
            ..ConnectionInfo::default()
        };
        let key = self.core.open_connection(now, &mut self.host, conn, info);
        if let Some(record) = self.host.conns.get_mut(&conn) {
            record.key = Some(key);
        }
    }

    /// A connection is gone.
    pub(crate) fn lost(&mut self, now: Now, conn: u32) {
        let Some(record) = self.host.conns.get(&conn) else { return };
        if let Some(key) = record.key {
            self.core.close_connection(now, &mut self.host, key);
        }
        if let Some(record) = self.host.conns.remove(&conn) {
            for link in record.links.values() {
                self.host.links.remove(link);
            }
        }
        self.carry_on(now);
    }

    /// A frame came.
    pub(crate) fn frame(&mut self, now: Now, conn: u32, cost: u32, frame: Frame) {
        if let Frame::Open { container, shares, .. } = frame {
            self.opened(now, conn, cost, container, shares);
        } else if let Some(key) = self.host.conns.get(&conn).and_then(|conn| conn.key) {
            self.act_on(now, conn, key, frame);
        }
        self.carry_on(now);
    }

    fn find(&self, conn: u32, link: WireLink) -> Option<u32> {
        self.host.conns.get(&conn)?.links.get(&link).copied()
    }

    fn act_on(&mut self, now: Now, conn: u32, key: ConnKey, frame: Frame) {
        match frame {
            Frame::Open { .. } => {}
            Frame::Attach(attach) => self.attach(now, conn, key, *attach),
            Frame::Transfer(transfer) => self.transfer(now, conn, transfer),
            Frame::Outcome { delivery, state, settled } => {
                self.core.outcome(now, &mut self.host, OutKey(delivery), state, settled);
            }
            Frame::SenderOutcome { delivery, state, settled } => {
                let Some(record) = self.host.conns.get_mut(&conn) else { return };
                let Some(&number) = record.by_name.get(&delivery) else { return };
                let incoming = record.incoming.get(&number).and_then(|incoming| incoming.key);
                if settled {
                    record.forget(number);
                }
                if let Some(incoming) = incoming {
                    self.core.sender_outcome(now, &mut self.host, incoming, state, settled);
                }
            }
            Frame::Answer { link, .. }
            | Frame::Detach { link, .. }
            | Frame::Credit { link, .. }
            | Frame::Drain { link, .. }
            | Frame::Drained { link, .. } => {
                if let Some(number) = self.find(conn, link) {
                    self.act_on_link(now, number, frame);
                }
            }
        }
    }

    fn act_on_link(&mut self, now: Now, number: u32, frame: Frame) {
        let Some(link) = self.host.links.get_mut(&number) else { return };
        let key = link.key;
        match frame {
            Frame::Answer { source, target, .. } => {
                self.core.attach_answered(now, &mut self.host, key, source, target, LinkTerms::default());
            }
            Frame::Detach { closed, error, answer, .. } => {
                let both = std::mem::replace(&mut link.detached, true);
                if both || answer {
                    self.host.forget_link(number);
                } else {
                    self.core.detach(now, &mut self.host, key, closed, error);
                }
            }
            _ if link.detached => {}
            Frame::Credit { more, .. } => {
                link.credit += more;
                let (credit, drain) = (link.credit, link.draining);
                self.core.credit(now, &mut self.host, key, credit, drain);
            }
            Frame::Drain { on, .. } => {
                link.draining = on;
                let credit = link.credit;
                self.core.credit(now, &mut self.host, key, credit, on);
            }
            Frame::Drained { returned, .. } => {
                link.credit -= returned;
                self.core.drained(now, &mut self.host, key, returned);
            }
            _ => {}
        }
    }

    fn attach(&mut self, now: Now, conn: u32, key: ConnKey, attach: Attach) {
        let number = self.host.add_link(conn, attach.link, attach.sends, LinkKey::DEAD);
        let info = AttachInfo {
            name: attach.name,
            incoming: attach.sends,
            source: attach.source,
            target: attach.target,
            send_settled: false,
            terms: LinkTerms::default(),
        };
        let link = self.core.attach(now, &mut self.host, key, number, info);
        if let Some(record) = self.host.links.get_mut(&number) {
            record.key = link;
        }
    }

    fn transfer(&mut self, now: Now, conn: u32, transfer: Transfer) {
        let Transfer { link, delivery: name, settled, stamp, message } = transfer;
        let Some(number) = self.find(conn, link) else { return };
        let Some(record) = self.host.links.get_mut(&number) else { return };
        if record.detached {
            return;
        }
        assert!(record.incoming && record.credit > 0, "a peer sends without credit");
        record.credit -= 1;
        let key = record.key;
        let Some(record) = self.host.conns.get_mut(&conn) else { return };
        let delivery_id = if settled { 0 } else { record.number(name) };
        let annotations = if record.to_router { message.router() } else { Default::default() };
        self.host.offered = Some(Rc::clone(&message));
        let offer = Offer {
            delivery_id,
            settled,
            complete: true,
            to: message.to.as_deref(),
            to_override: annotations.to,
            phase: (annotations.phase != 0).then_some(annotations.phase),
            ingress: annotations.ingress,
            trace: annotations.trace,
            priority: message.priority,
            state: None,
            stamp,
            tag: None,
            manner: Default::default(),
        };
        let offered = self.core.deliver(now, &mut self.host, key, offer);
        self.host.offered = None;
        if let (Offered::Tracked(key), Some(record)) = (offered, self.host.conns.get_mut(&conn))
            && let Some(incoming) = record.incoming.get_mut(&delivery_id)
        {
            incoming.key = Some(key);
        }
    }

    /// Lets core and routing protocol tell each other what they have to, until both are silent.
    pub(crate) fn carry_on(&mut self, now: Now) {
        loop {
            if let Some((key, link)) = self.host.opened.pop_front() {
                self.core.link_opened(now, &mut self.host, key, link);
            } else if let Some(told) = self.host.told.pop_front() {
                self.tell_engine(now, told);
            } else if let Some(output) = self.engine.poll_output() {
                self.carry_out(now, output);
            } else {
                return;
            }
        }
    }

    fn tell_engine(&mut self, now: Now, told: Told) {
        match told {
            Told::Up(conn, cost, shares) => {
                self.engine.network_event(now, NetworkEvent::NeighborUp { conn, cost, shares });
            }
            Told::Lost(conn) => self.engine.network_event(now, NetworkEvent::NeighborLost { conn }),
            Told::Local(key, treatment, present) => {
                self.engine.network_event(now, NetworkEvent::LocalAddress { key: &key, treatment, present });
            }
            Told::Control(from, message) => {
                self.engine.receive(now, from.map(LinkRef::from), message.control().unwrap_or_default());
            }
        }
    }

    fn carry_out(&mut self, now: Now, output: Output) {
        let output = match output {
            Output::Route { index, next_hop, cost, .. } if !self.host.tells_copies => {
                // To the old router all ways are right.
                let valid_origins = (0..MASK_BITS).map(NodeIndex).collect();
                Output::Route { index, next_hop, cost, comes_by: None, valid_origins }
            }
            other => other,
        };
        let content = |to: &str, bytes| Rc::new(Message::of_router(bytes, to));
        let left = output.carry_out(&mut self.core, &mut self.host, now, content);
        if let Some(Output::Log { module, level, text }) = left
            && self.host.logged.is_some()
        {
            print_line(&format!("{now:?} {} {module:?} ({level:?}) {text}", self.id));
        }
    }
}
