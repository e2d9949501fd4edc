//! An edge router's connections to interior routers: which one is in use, and what goes over it.

use super::link_routes::{LinkRoutes, ManagementReply};
use super::lookup::{LookupResult, Lookups};
use super::wire::{LookupReply, Tracking, encode_heartbeat};
use super::{LinkId, Purpose};
use crate::{Level, LinkRef, Module};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// What is to be done on an edge router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UplinkOutput {
    /// This connection is the uplink from now on; `None`: there is none.
    Active(Option<LinkRef>),
    /// A link is to be opened.
    Open {
        /// What it is called from now on.
        link: LinkId,
        /// The connection.
        on: LinkRef,
        /// What it is for, from which its termini follow.
        purpose: Purpose,
    },
    /// A link is to be detached.
    Close {
        /// The link.
        link: LinkId,
    },
    /// A message is to be sent.
    Send {
        /// The link.
        link: LinkId,
        /// The encoded message.
        content: Vec<u8>,
        /// It goes out unsettled, and what becomes of it is to be told by this name ([`Uplink::outcome`]). `None`: it goes
        /// out settled.
        request: Option<String>,
    },
    /// Deliveries for an address may go out by its [`Purpose::ProducerProxy`] from now on, or may not any more, because
    /// nobody takes them.
    Bind {
        /// The link.
        link: LinkId,
        /// The address's key.
        key: String,
        /// They may.
        bound: bool,
    },
    /// A look-up has ended.
    LookedUp {
        /// What it was called.
        token: u64,
        /// What is to become of the link.
        result: LookupResult,
    },
    /// A line for the log.
    Log {
        /// Where it belongs.
        module: Module,
        /// How grave it is.
        level: Level,
        /// The line.
        text: String,
    },
}

/// The edge router's side of the edge protocol.
///
/// After each call the owner takes what [`Uplink::poll_output`] has, in order, until there is no more, and calls
/// [`Uplink::handle_timeout`] when [`Uplink::next_timeout`] has come.
#[derive(Debug)]
pub struct Uplink {
    id: String,
    now: Duration,
    /// Connections to interior routers with their numbers for the log, in the order in which they came about. The first
    /// is in use.
    connections: Vec<(LinkRef, u64)>,
    links: BTreeMap<LinkId, Link>,
    by_purpose: BTreeMap<Purpose, LinkId>,
    last_link: u64,
    /// Links that the interior has refused or detached, and when they are opened again.
    again: BTreeMap<Purpose, Duration>,
    consumers: BTreeSet<String>,
    producers: BTreeSet<String>,
    lookups: Lookups,
    link_routes: LinkRoutes,
    heartbeat_at: Option<Duration>,
    heartbeats: i32,
    outputs: VecDeque<UplinkOutput>,
}

#[derive(Debug)]
struct Link {
    purpose: Purpose,
    /// The address that the interior has given it.
    address: Option<String>,
    answered: bool,
    /// Of a producer's proxy: deliveries may go out.
    bound: bool,
}

impl Uplink {
    /// How often the interior is shown that this router is still there.
    const HEARTBEAT: Duration = Duration::from_secs(2);
    /// A link that is lost while its connection is not is opened again after this time.
    const AGAIN: Duration = Duration::from_secs(1);

    /// No connections. `id`: this router's.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            now: Duration::ZERO,
            connections: Vec::new(),
            links: BTreeMap::new(),
            by_purpose: BTreeMap::new(),
            last_link: 0,
            again: BTreeMap::new(),
            consumers: BTreeSet::new(),
            producers: BTreeSet::new(),
            lookups: Lookups::default(),
            link_routes: LinkRoutes::default(),
            heartbeat_at: None,
            heartbeats: 0,
            outputs: VecDeque::new(),
        }
    }

    /// The connection in use.
    pub fn active(&self) -> Option<LinkRef> {
        self.connections.first().map(|(on, _)| *on)
    }

    /// A connection to an interior router is open. `number`: as the log shows it.
    pub fn connection_opened(&mut self, now: Duration, on: LinkRef, number: u64) {
        self.now = self.now.max(now);
        if self.connections.iter().any(|(known, _)| *known == on) {
            return;
        }
        self.connections.push((on, number));
        if self.connections.len() == 1 {
            self.info(format!("Edge connection (id={number}) to interior established"));
            self.activate();
        }
    }

    /// A connection to an interior router is gone, and all links on it.
    pub fn connection_lost(&mut self, now: Duration, on: LinkRef) {
        self.now = self.now.max(now);
        let Some(at) = self.connections.iter().position(|(known, _)| *known == on) else { return };
        let (_, number) = self.connections.remove(at);
        if at > 0 {
            return;
        }
        self.deactivate();
        match self.connections.first() {
            Some((_, next)) => {
                let text = format!("Edge connection (id={number}) to interior lost, activating alternate id={next}");
                self.info(text);
                self.activate();
            }
            None => {
                let text = format!("Edge connection (id={number}) to interior lost, no alternate connection available");
                self.info(text);
                self.outputs.push_back(UplinkOutput::Active(None));
            }
        }
    }

    /// The interior has answered the attach of a link. `address`: that of the peer's source, of use where it is dynamic.
    pub fn link_answered(&mut self, now: Duration, link: LinkId, address: Option<&str>) {
        self.now = self.now.max(now);
        let Some(known) = self.links.get_mut(&link) else { return };
        known.answered = true;
        known.address = address.map(str::to_owned);
        if known.purpose == Purpose::Heartbeats {
            self.heartbeat_at = Some(self.now);
        }
        self.work();
    }

    /// The interior has refused or detached a link, while its connection is still there.
    pub fn link_lost(&mut self, now: Duration, link: LinkId) {
        self.now = self.now.max(now);
        let Some(lost) = self.links.remove(&link) else { return };
        self.by_purpose.remove(&lost.purpose);
        match &lost.purpose {
            Purpose::Heartbeats => self.heartbeat_at = None,
            Purpose::ManagementRequests | Purpose::ManagementReplies => self.link_routes.reset(),
            _ => {}
        }
        self.again.insert(lost.purpose, self.now + Self::AGAIN);
    }

    /// A message came in on a link of the edge protocol's own.
    pub fn receive(&mut self, now: Duration, link: LinkId, message: &[u8]) {
        self.now = self.now.max(now);
        let Some(purpose) = self.links.get(&link).map(|link| link.purpose.clone()) else { return };
        let error = match purpose {
            Purpose::Tracking => Tracking::decode(message).map(|tracking| self.tracked(tracking)).err(),
            Purpose::LookupReplies => LookupReply::decode(message).map(|reply| self.looked_up(&reply)).err(),
            Purpose::ManagementReplies => {
                let now = self.now;
                ManagementReply::decode(message).map(|reply| self.link_routes.answered(now, reply)).err()
            }
            _ => None,
        };
        if let Some(error) = error {
            let text = format!("Malformed message on an edge link was dropped: {error}");
            self.outputs.push_back(UplinkOutput::Log { module: Module::RouterCore, level: Level::Error, text });
        }
        self.work();
    }

    /// A request that went out unsettled was accepted, or not: then it is sent again.
    pub fn outcome(&mut self, now: Duration, request: &str, accepted: bool) {
        self.now = self.now.max(now);
        if !accepted {
            self.link_routes.refused(self.now, request);
            self.work();
        }
    }

    /// A mobile address has its first consumer here, or has lost its last. What takes from the uplink is no consumer.
    pub fn consumers(&mut self, now: Duration, key: &str, present: bool) {
        self.now = self.now.max(now);
        if present {
            self.consumers.insert(key.to_owned());
        } else {
            self.consumers.remove(key);
        }
        self.set_proxy(Purpose::ConsumerProxy(key.to_owned()), present);
    }

    /// A mobile address has its first producer here, or has lost its last. What comes from the uplink is no producer.
    pub fn producers(&mut self, now: Duration, key: &str, present: bool) {
        self.now = self.now.max(now);
        if present {
            self.producers.insert(key.to_owned());
        } else {
            self.producers.remove(key);
        }
        self.set_proxy(Purpose::ProducerProxy(key.to_owned()), present);
    }

    /// A link route (a key of class `C`, `D`, `E` or `F`) has its first container here, or has lost its last.
    pub fn link_route(&mut self, now: Duration, key: &str, present: bool) {
        self.now = self.now.max(now);
        self.link_routes.set(key, present);
        self.work();
    }

    /// A client attaches a link to an address: what is to become of it? `token`: what the answer is to be known by.
    pub fn look_up(&mut self, now: Duration, token: u64, address: &str, client_sends: bool) {
        self.now = self.now.max(now);
        if self.active().is_none() || !self.lookups.open(self.now, token, address, client_sends) {
            return self.outputs.push_back(UplinkOutput::LookedUp { token, result: LookupResult::Local });
        }
        self.work();
    }

    /// The answer to a look-up is of no use any more.
    pub fn cancel_look_up(&mut self, token: u64) {
        self.lookups.cancel(token);
    }

    /// When [`Uplink::handle_timeout`] is to be called.
    pub fn next_timeout(&self) -> Option<Duration> {
        let link_routes = self.link_routes.next_timeout().filter(|_| self.management().is_some());
        let again = self.again.values().copied();
        [self.heartbeat_at, self.lookups.next_timeout(), link_routes].into_iter().flatten().chain(again).min()
    }

    /// Does what is due. Calling it early does no harm.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.now = self.now.max(now);
        for token in self.lookups.expired(Some(self.now)) {
            self.outputs.push_back(UplinkOutput::LookedUp { token, result: LookupResult::Local });
        }
        let due: Vec<Purpose> =
            self.again.iter().filter(|(_, at)| **at <= self.now).map(|(purpose, _)| purpose.clone()).collect();
        for purpose in due {
            self.again.remove(&purpose);
            self.open(purpose);
        }
        self.work();
    }

    /// What is to be done next.
    pub fn poll_output(&mut self) -> Option<UplinkOutput> {
        self.outputs.pop_front()
    }

    fn activate(&mut self) {
        self.outputs.push_back(UplinkOutput::Active(self.active()));
        for purpose in Purpose::STANDARD {
            self.open(purpose);
        }
        let consumers = self.consumers.iter().cloned().map(Purpose::ConsumerProxy);
        let producers = self.producers.iter().cloned().map(Purpose::ProducerProxy);
        for purpose in consumers.chain(producers).collect::<Vec<_>>() {
            self.open(purpose);
        }
    }

    /// Forgets all that belonged to the connection that was in use. Its links have ended with it.
    fn deactivate(&mut self) {
        self.links.clear();
        self.by_purpose.clear();
        self.again.clear();
        self.heartbeat_at = None;
        self.link_routes.reset();
        for token in self.lookups.expired(None) {
            self.outputs.push_back(UplinkOutput::LookedUp { token, result: LookupResult::Local });
        }
    }

    fn open(&mut self, purpose: Purpose) {
        let Some(on) = self.active() else { return };
        if self.by_purpose.contains_key(&purpose) {
            return;
        }
        self.last_link += 1;
        let link = LinkId(self.last_link);
        let new = Link { purpose: purpose.clone(), address: None, answered: false, bound: false };
        self.links.insert(link, new);
        self.by_purpose.insert(purpose.clone(), link);
        self.outputs.push_back(UplinkOutput::Open { link, on, purpose });
    }

    fn set_proxy(&mut self, purpose: Purpose, present: bool) {
        if present {
            return self.open(purpose);
        }
        self.again.remove(&purpose);
        if let Some(link) = self.by_purpose.remove(&purpose) {
            self.links.remove(&link);
            self.outputs.push_back(UplinkOutput::Close { link });
        }
    }

    /// Sends whatever can be sent.
    fn work(&mut self) {
        if let (Some(link), Some(reply_to)) =
            (self.answered(&Purpose::LookupRequests), self.reply_to(&Purpose::LookupReplies))
        {
            for request in self.lookups.requests(&reply_to) {
                self.outputs.push_back(UplinkOutput::Send { link, content: request.encode(), request: None });
            }
        }
        if let Some((link, reply_to)) = self.management() {
            for (id, request) in self.link_routes.requests(self.now, &self.id) {
                let content = request.encode(&reply_to, &id);
                self.outputs.push_back(UplinkOutput::Send { link, content, request: Some(id) });
            }
        }
        if let Some(link) = self.answered(&Purpose::Heartbeats)
            && self.heartbeat_at.is_some_and(|at| at <= self.now)
        {
            let content = encode_heartbeat(self.heartbeats);
            self.heartbeats = self.heartbeats.wrapping_add(1);
            self.heartbeat_at = Some(self.now + Self::HEARTBEAT);
            self.outputs.push_back(UplinkOutput::Send { link, content, request: None });
        }
    }

    /// The link for requests to the interior's management, and where its answers go.
    fn management(&self) -> Option<(LinkId, String)> {
        Some((self.answered(&Purpose::ManagementRequests)?, self.reply_to(&Purpose::ManagementReplies)?))
    }

    fn answered(&self, purpose: &Purpose) -> Option<LinkId> {
        let link = *self.by_purpose.get(purpose)?;
        self.links.get(&link).filter(|link| link.answered).map(|_| link)
    }

    fn reply_to(&self, purpose: &Purpose) -> Option<String> {
        self.links.get(&self.answered(purpose)?)?.address.clone()
    }

    fn tracked(&mut self, tracking: Tracking) {
        let Tracking { key, has_destinations: bound } = tracking;
        let Some(&link) = self.by_purpose.get(&Purpose::ProducerProxy(key.clone())) else { return };
        let Some(known) = self.links.get_mut(&link) else { return };
        if std::mem::replace(&mut known.bound, bound) != bound {
            self.outputs.push_back(UplinkOutput::Bind { link, key, bound });
        }
    }

    fn looked_up(&mut self, reply: &LookupReply) {
        if let Some((token, result)) = self.lookups.answered(reply) {
            self.outputs.push_back(UplinkOutput::LookedUp { token, result });
        }
    }

    fn info(&mut self, text: String) {
        self.outputs.push_back(UplinkOutput::Log { module: Module::RouterCore, level: Level::Info, text });
    }
}
