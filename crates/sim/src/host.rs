//! A router's host: what the core asks for becomes frames on simulated connections.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};
use router_core::{
    ConnKey, Host, InKey, Level, LinkKey, Module, NetworkEvent, OpenLink, OutKey, SubscriberDelivery, SubscriberId,
    Transmit, Transmitted, Treatment,
};

use crate::frame::{Attach, Frame, Transfer, WireLink};
use crate::message::Message;

/// A router's end of a connection.
pub(crate) struct Conn {
    /// Which end it is.
    pub(crate) side: usize,
    /// Once the opens were exchanged.
    pub(crate) key: Option<ConnKey>,
    /// The peer is a router.
    pub(crate) to_router: bool,
    /// Links by what both ends call them.
    pub(crate) links: BTreeMap<WireLink, u32>,
    next_link: u32,
    /// Deliveries that came in and are not settled, by the number the core knows them by.
    pub(crate) incoming: BTreeMap<u32, Incoming>,
    /// Their numbers, by the sending end's names.
    pub(crate) by_name: BTreeMap<u64, u32>,
    next_delivery: u32,
}

/// A delivery that came in.
pub(crate) struct Incoming {
    pub(crate) name: u64,
    pub(crate) key: Option<InKey>,
}

impl Conn {
    pub(crate) fn new(side: usize, to_router: bool) -> Self {
        Self {
            side,
            key: None,
            to_router,
            links: BTreeMap::new(),
            next_link: 0,
            incoming: BTreeMap::new(),
            by_name: BTreeMap::new(),
            next_delivery: 0,
        }
    }

    /// Numbers a delivery that comes in.
    pub(crate) fn number(&mut self, name: u64) -> u32 {
        self.next_delivery += 1;
        self.incoming.insert(self.next_delivery, Incoming { name, key: None });
        self.by_name.insert(name, self.next_delivery);
        self.next_delivery
    }

    /// Forgets a delivery that came in.
    pub(crate) fn forget(&mut self, number: u32) -> Option<u64> {
        let name = self.incoming.remove(&number)?.name;
        self.by_name.remove(&name);
        Some(name)
    }
}

/// A link as the router's end of its connection knows it.
pub(crate) struct Link {
    pub(crate) key: LinkKey,
    pub(crate) conn: u32,
    pub(crate) wire: WireLink,
    /// The peer sends.
    pub(crate) incoming: bool,
    /// What whoever sends may still send.
    pub(crate) credit: u32,
    pub(crate) draining: bool,
    /// This end has detached it and waits for the answer.
    pub(crate) detached: bool,
}

/// What the routing protocol is to hear.
#[derive(Debug)]
pub(crate) enum Told {
    Up(ConnKey, u32, bool),
    Lost(ConnKey),
    Local(String, Treatment, bool),
    Control(Option<ConnKey>, Rc<Message>),
}

/// The host of one router.
pub struct SimHost {
    /// As it stands in ingress and trace; `None` for an edge router.
    pub(crate) name: Option<String>,
    pub(crate) conns: BTreeMap<u32, Conn>,
    pub(crate) links: BTreeMap<u32, Link>,
    next_link: u32,
    /// The message being offered to the core.
    pub(crate) offered: Option<Rc<Message>>,
    /// Frames to be sent.
    pub(crate) out: Vec<(u32, Frame)>,
    /// Links that the core is to hear are attached.
    pub(crate) opened: VecDeque<(LinkKey, u32)>,
    pub(crate) told: VecDeque<Told>,
    /// It can tell a multicast message that came before from another one.
    pub(crate) tells_copies: bool,
    /// Lines of the log from this level on are printed.
    pub(crate) logged: Option<Level>,
}

impl SimHost {
    pub(crate) fn new(name: Option<String>) -> Self {
        Self {
            name,
            conns: BTreeMap::new(),
            links: BTreeMap::new(),
            next_link: 0,
            offered: None,
            out: Vec::new(),
            opened: VecDeque::new(),
            told: VecDeque::new(),
            tells_copies: true,
            logged: None,
        }
    }

    /// Adds a link.
    pub(crate) fn add_link(&mut self, conn: u32, wire: WireLink, incoming: bool, key: LinkKey) -> u32 {
        self.next_link += 1;
        let link = Link { key, conn, wire, incoming, credit: 0, draining: false, detached: false };
        self.links.insert(self.next_link, link);
        if let Some(conn) = self.conns.get_mut(&conn) {
            conn.links.insert(wire, self.next_link);
        }
        self.next_link
    }

    /// Forgets a link.
    pub(crate) fn forget_link(&mut self, link: u32) {
        if let Some(gone) = self.links.remove(&link)
            && let Some(conn) = self.conns.get_mut(&gone.conn)
        {
            conn.links.remove(&gone.wire);
        }
    }

    /// A link that is there on both ends; calls may name others.
    fn live(&mut self, link: u32) -> Option<&mut Link> {
        self.links.get_mut(&link).filter(|link| !link.detached)
    }

    fn message(&self, content: Option<&Rc<Message>>) -> Rc<Message> {
        match (content, &self.offered) {
            (Some(content), _) => Rc::clone(content),
            (None, Some(offered)) => Rc::clone(offered),
            (None, None) => panic!("the core means a message being offered, and there is none"),
        }
    }
}

impl Host for SimHost {
    type Conn = u32;
    type Link = u32;
    type Content = Rc<Message>;

    fn attach_answer(&mut self, link: u32, source: Option<Source>, target: Option<TargetTerminus>) {
        if let Some(Link { conn, wire, .. }) = self.live(link) {
            let frame = (*conn, Frame::Answer { link: *wire, source, target });
            self.out.push(frame);
        }
    }

    fn open_link(&mut self, conn: u32, key: LinkKey, link: OpenLink) -> u32 {
        let Some(record) = self.conns.get_mut(&conn) else { return u32::MAX };
        let wire = WireLink { side: record.side, number: record.next_link };
        record.next_link += 1;
        let number = self.add_link(conn, wire, link.incoming, key);
        let OpenLink { name, incoming, class, source, target, .. } = link;
        let attach = Attach { link: wire, name, sends: !incoming, class: Some(class), source, target };
        self.out.push((conn, Frame::Attach(Box::new(attach))));
        self.opened.push_back((key, number));
        number
    }

    fn network(&mut self, event: NetworkEvent<'_>) {
        self.told.push_back(match event {
            NetworkEvent::NeighborUp { conn, cost, shares } => Told::Up(conn, cost, shares),
            NetworkEvent::NeighborLost { conn } => Told::Lost(conn),
            NetworkEvent::LocalAddress { key, treatment, present } => Told::Local(key.to_owned(), treatment, present),
        });
    }

    fn detach(&mut self, link: u32, closed: bool, error: Option<ErrorCondition>) {
        // The core forgets the link with this call; a peer that detached first has been forgotten by its frame.
        if let Some(Link { conn, wire, detached, .. }) = self.links.get_mut(&link) {
            let frame = (*conn, Frame::Detach { link: *wire, closed, error, answer: *detached });
            if std::mem::replace(detached, true) {
                self.forget_link(link);
            }
            self.out.push(frame);
        }
    }

    fn add_credit(&mut self, link: u32, credit: u32) {
        if let Some(link) = self.live(link) {
            assert!(link.incoming && credit > 0, "credit for a link on which this end sends");
            link.credit += credit;
            let frame = (link.conn, Frame::Credit { link: link.wire, more: credit });
            self.out.push(frame);
        }
    }

    fn drain(&mut self, link: u32, drain: bool) {
        if let Some(link) = self.live(link) {
            let frame = (link.conn, Frame::Drain { link: link.wire, on: drain });
            self.out.push(frame);
        }
    }

    fn drained(&mut self, link: u32) {
        if let Some(link) = self.live(link) {
            let returned = std::mem::take(&mut link.credit);
            let frame = (link.conn, Frame::Drained { link: link.wire, returned });
            self.out.push(frame);
        }
    }

    fn digest(&self) -> Option<u64> {
        let offered = self.offered.as_ref()?;
        let mut hasher = DefaultHasher::new();
        match (offered.control(), offered.looks) {
            (Some(body), _) => hasher.write(body),
            (None, looks) => hasher.write_u64(looks.filter(|_| self.tells_copies)?),
        }
        Some(hasher.finish())
    }

    fn retain(&mut self) -> Rc<Message> {
        self.message(None)
    }

    fn transmit(&mut self, link: u32, key: OutKey, content: Option<&Rc<Message>>, how: &Transmit<'_>) -> Transmitted {
        let message = Rc::new(self.message(content).sent_on(how, self.name.as_deref()));
        if let Some(link) = self.live(link) {
            assert!(!link.incoming && link.credit > 0, "sent without credit");
            link.credit -= 1;
            let (settled, stamp) = (how.settled, how.stamp);
            let transfer = Transfer { link: link.wire, delivery: key.0, settled, stamp, message };
            let frame = (link.conn, Frame::Transfer(transfer));
            self.out.push(frame);
        }
        Transmitted::Complete
    }

    fn abort(&mut self, _link: u32, _key: OutKey) {
        unreachable!("every transmission is complete at once");
    }

    fn update_incoming(&mut self, link: u32, delivery_id: u32, state: Option<DeliveryState>, settled: bool) {
        let Some(conn) = self.links.get(&link).map(|link| link.conn) else { return };
        let Some(record) = self.conns.get_mut(&conn) else { return };
        let Some(name) = record.incoming.get(&delivery_id).map(|incoming| incoming.name) else {
            panic!("a delivery that is settled, or was never offered, is updated");
        };
        if settled {
            record.forget(delivery_id);
        }
        self.out.push((conn, Frame::Outcome { delivery: name, state, settled }));
    }

    fn update_outgoing(&mut self, link: u32, key: OutKey, state: Option<DeliveryState>, settled: bool) {
        if let Some(conn) = self.live(link).map(|link| link.conn) {
            self.out.push((conn, Frame::SenderOutcome { delivery: key.0, state, settled }));
        }
    }

    fn to_subscriber(
        &mut self,
        _subscriber: SubscriberId,
        content: Option<&Rc<Message>>,
        from: &SubscriberDelivery,
    ) -> Result<(), ErrorCondition> {
        let message = self.message(content);
        if message.control().is_some() {
            self.told.push_back(Told::Control(from.conn, message));
        }
        Ok(())
    }

    fn log_enabled(&self, _module: Module, level: Level) -> bool {
        self.logged.is_some_and(|from| level >= from)
    }

    fn log(&mut self, module: Module, level: Level, text: fmt::Arguments<'_>) {
        if self.log_enabled(module, level) {
            let name = self.name.as_deref().unwrap_or_default();
            print_line(&format!("{name} {module:?} ({level:?}) {text}"));
        }
    }
}

/// Prints a line that a router has logged.
#[expect(clippy::print_stdout, reason = "somebody asked to see it")]
pub(crate) fn print_line(line: &str) {
    println!("{line}");
}
