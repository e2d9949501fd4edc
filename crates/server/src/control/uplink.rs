//! An edge router's side of the edge protocol: which connection is its uplink, and what goes over it.

use crate::control::protocol::{Core, log};
use crate::shard::{
    EdgeUpdate, LinkRef as ParkedLink, LookUp, NetworkUpdate, ShardHost, Shards, SubscriberMessage, Verdict,
};
use amqp::terminus::{Source, TargetTerminus};
use router_core::{Bound, ConnKey, LinkClass, LinkKey, LinkTerms, OpenLink, SubscriberId};
use router_net::LinkRef;
use router_net::edge::{LinkId, LookupResult, Purpose, Uplink, UplinkOutput};
use std::collections::BTreeMap;
use std::time::Duration;

/// The capability of receivers that take phase 0 of an address.
const FIRST_WAYPOINT: &str = "qd.waypoint.1";

/// Where what has no consumer here goes.
const TO_INTERIOR: &str = "L_edge";
/// How many conversations the interior has with the protocol itself: tracking, look-ups, management.
const CONVERSATIONS: usize = 3;

/// The uplink of an edge router.
pub(crate) struct EdgeUplink {
    shards: Shards,
    id: String,
    uplink: Uplink,
    /// The core's keys of the links that were opened.
    keys: BTreeMap<LinkId, LinkKey>,
    /// The same the other way round, by the key's number.
    links: BTreeMap<u64, LinkId>,
    conversations: [Conversation; CONVERSATIONS],
    /// Requests that went out unsettled, by their deliveries.
    requests: BTreeMap<u64, String>,
    /// Attaches of clients that wait for an answer, by what they are known by.
    parked: BTreeMap<u64, ParkedLink>,
}

/// Whose messages a subscriber gets.
struct Conversation {
    subscriber: SubscriberId,
    /// The link that they come on now.
    link: Option<LinkId>,
}

impl EdgeUplink {
    pub(crate) fn start(shards: &Shards, id: &str) -> Self {
        let conversation =
            |_| Conversation { subscriber: shards.with_core(|core, _, _| core.subscribe_links()), link: None };
        Self {
            shards: shards.clone(),
            id: id.to_owned(),
            uplink: Uplink::new(id),
            keys: BTreeMap::new(),
            links: BTreeMap::new(),
            requests: BTreeMap::new(),
            conversations: std::array::from_fn(conversation),
            parked: BTreeMap::new(),
        }
    }

    /// The core has news of what is attached here.
    pub(crate) fn network_update(&mut self, update: &NetworkUpdate) {
        let NetworkUpdate::LocalAddress { key, present, .. } = update else { return };
        let now = self.shards.now();
        if key.starts_with('M') {
            self.uplink.consumers(now, key, *present);
        } else if key.starts_with(['C', 'D', 'E', 'F']) {
            self.uplink.link_route(now, key, *present);
        }
        self.carry_out();
    }

    /// The core has news of connections and links to the interior.
    pub(crate) fn update(&mut self, update: EdgeUpdate) {
        let now = self.shards.now();
        match update {
            EdgeUpdate::UplinkOpened { conn, id } => self.uplink.connection_opened(now, conn.into(), id),
            EdgeUpdate::ConnectionLost { conn } => self.uplink.connection_lost(now, conn.into()),
            EdgeUpdate::LinkAnswered { link, address } => {
                if let Some(&link) = self.links.get(&link.0) {
                    self.uplink.link_answered(now, link, address.as_deref());
                }
            }
            EdgeUpdate::Outcome { delivery, accepted } => {
                if let Some(request) = self.requests.remove(&delivery.0) {
                    self.uplink.outcome(now, &request, accepted);
                }
            }
            EdgeUpdate::LinkLost { link } => {
                if let Some(link) = self.links.remove(&link.0) {
                    self.keys.remove(&link);
                    self.uplink.link_lost(now, link);
                }
            }
            EdgeUpdate::Producers { key, present } => self.uplink.producers(now, &key, present),
            // For interior routers.
            EdgeUpdate::Producer { .. }
            | EdgeUpdate::Destinations { .. }
            | EdgeUpdate::Tracking { .. }
            | EdgeUpdate::HeartbeatLink { .. }
            | EdgeUpdate::Heartbeat { .. } => {}
        }
        self.carry_out();
    }

    /// An attach waits for what the interior knows.
    pub(crate) fn look_up(&mut self, look_up: LookUp) {
        let LookUp { token, link, address, client_sends } = look_up;
        self.parked.insert(token, link);
        self.uplink.look_up(self.shards.now(), token, &address, client_sends);
        self.carry_out();
    }

    /// A message has come for one of the core's subscribers. False: it is not for the edge protocol.
    pub(crate) fn receive(&mut self, message: &SubscriberMessage) -> bool {
        let found = self.conversations.iter().find(|it| it.subscriber == message.subscriber);
        let Some(conversation) = found else { return false };
        if let Some(link) = conversation.link {
            self.uplink.receive(self.shards.now(), link, &message.message);
            self.carry_out();
        }
        true
    }

    /// When [`EdgeUplink::handle_timeout`] is to be called.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.uplink.next_timeout()
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self) {
        self.uplink.handle_timeout(self.shards.now());
        self.carry_out();
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.uplink.poll_output() {
            match output {
                UplinkOutput::Open { link, on, purpose } => self.open(link, on, &purpose),
                UplinkOutput::Close { link } => {
                    self.on_link(link, |core, host, now, key| core.close_link(now, host, key));
                    if let Some(key) = self.keys.remove(&link) {
                        self.links.remove(&key.0);
                    }
                }
                UplinkOutput::Send { link, content, request: Some(request) } => {
                    let content = Shards::content(&content);
                    let mut asked = None;
                    self.on_link(link, |core, host, now, key| asked = core.ask_on(now, host, key, content));
                    self.requests.extend(asked.map(|delivery| (delivery.0, request)));
                }
                UplinkOutput::Send { link, content, request: None } => {
                    let content = Shards::content(&content);
                    self.on_link(link, |core, host, now, key| _ = core.send_on(now, host, key, content));
                }
                UplinkOutput::Bind { link, key: address, bound } => {
                    let address = bound.then_some(address.as_str());
                    self.on_link(link, |core, host, now, key| core.bind_link(now, host, key, address));
                }
                UplinkOutput::Active(active) => {
                    // All links of the connection before are gone with it.
                    self.forget_links();
                    self.shards.ask_interior(active.is_some());
                }
                UplinkOutput::LookedUp { token, result } => {
                    if let Some(link) = self.parked.remove(&token) {
                        let verdict = match (result, self.uplink.active().map(ConnKey::from)) {
                            (LookupResult::Local, _) => Verdict::Local,
                            (LookupResult::Route, Some(uplink)) => Verdict::Route(uplink),
                            (LookupResult::Route | LookupResult::NoDestination, _) => Verdict::NoRoute,
                        };
                        self.shards.looked_up(link, token, verdict);
                    }
                }
                UplinkOutput::Log { module, level, text } => log(module, level, &text),
            }
        }
    }

    fn forget_links(&mut self) {
        self.conversations.iter_mut().for_each(|conversation| conversation.link = None);
        self.keys.clear();
        self.links.clear();
        self.requests.clear();
    }

    fn open(&mut self, link: LinkId, on: LinkRef, purpose: &Purpose) {
        let bound = match purpose {
            Purpose::Anonymous => Bound::Address(TO_INTERIOR.to_owned()),
            Purpose::Downlink => Bound::Anonymous,
            Purpose::Tracking => self.conversation(0, link),
            Purpose::LookupReplies => self.conversation(1, link),
            Purpose::ManagementReplies => self.conversation(2, link),
            Purpose::ConsumerProxy(key) => Bound::Address(key.clone()),
            Purpose::ManagementRequests | Purpose::LookupRequests | Purpose::Heartbeats | Purpose::ProducerProxy(_) => {
                Bound::Nothing
            }
        };
        let open = OpenLink {
            name: link_name(),
            incoming: purpose.is_incoming(),
            class: if purpose.is_conversation() { LinkClass::CoreEndpoint } else { LinkClass::Endpoint },
            source: self.source(purpose),
            target: purpose.target().map(TargetTerminus::Target),
            terms: LinkTerms::default(),
        };
        let credit = purpose.credit();
        let opened =
            self.shards.with_core(|core, host, now| core.open_own_link(now, host, on.into(), open, bound, credit));
        // Without the connection its loss is about to be told.
        if let Some(key) = opened {
            self.keys.insert(link, key);
            self.links.insert(key.0, link);
        }
    }

    fn conversation(&mut self, index: usize, link: LinkId) -> Bound {
        let conversation = &mut self.conversations[index];
        conversation.link = Some(link);
        Bound::Subscriber(conversation.subscriber)
    }

    /// The source of a link. One for an address whose plain receivers take a later phase has to ask for phase 0.
    fn source(&self, purpose: &Purpose) -> Option<Source> {
        let mut source = purpose.source(&self.id)?;
        if let Purpose::ConsumerProxy(key) = purpose
            && let Some(text) = key.strip_prefix("M0")
            && self.shards.with_core(|core, _, _| core.egress_phase(text)) != 0
        {
            source.capabilities.push(FIRST_WAYPOINT.into());
        }
        Some(source)
    }

    fn on_link(&self, link: LinkId, call: impl FnOnce(&mut Core, &mut ShardHost, Duration, LinkKey)) {
        if let Some(&key) = self.keys.get(&link) {
            self.shards.with_core(|core, host, now| call(core, host, now, key));
        }
    }
}

/// A name that no other link has.
fn link_name() -> String {
    format!("qdlink.{}", crate::boot::random_text())
}
