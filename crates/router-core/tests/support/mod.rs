//! A host that writes down what the core asks of it, and a router around it to play with.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(unreachable_pub, reason = "a module of the tests")]

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use amqp::performative::Manner;
use amqp::state::Modified;
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Map, Symbol};
use router_core::*;

/// Number of a link as the host knows it.
pub type L = u32;

/// What the core asked for.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there are few of these, and tests read better so")]
pub enum Call {
    Answer {
        link: L,
        source: Option<Source>,
        target: Option<TargetTerminus>,
    },
    Detach {
        link: L,
        closed: bool,
        error: Option<ErrorCondition>,
    },
    Credit(L, u32),
    Drain(L, bool),
    HoldUp(L, bool),
    Drained(L),
    Transmit {
        link: L,
        message: u64,
        settled: bool,
    },
    Abort(L),
    /// To a sender: link, delivery id, state, settled.
    Incoming(L, u32, Option<DeliveryState>, bool),
    /// To a receiver: link, message, state, settled.
    Outgoing(L, u64, Option<DeliveryState>, bool),
    Subscriber(SubscriberId, u64),
    SayWithFlow(L, Map),
}

/// A transmission in all detail.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    pub link: L,
    pub key: OutKey,
    pub message: u64,
    pub settled: bool,
    pub tag: u64,
    pub to_override: Option<String>,
    pub phase: u8,
    pub annotate: bool,
    pub anew: bool,
    pub routed_tag: Option<Vec<u8>>,
    pub state: Option<DeliveryState>,
    pub manner: Manner,
}

#[derive(Default)]
pub struct FakeHost {
    pub calls: Vec<Call>,
    pub sent: Vec<Sent>,
    pub logs: Vec<String>,
    /// Links of the router's own that it wants: connection, key, attach.
    pub opened: Vec<(u32, LinkKey, OpenLink)>,
    /// Addresses that other routers are told of, and whether there are consumers.
    pub announced: Vec<(String, bool)>,
    /// The message now being offered.
    pub offered: u64,
    /// Its subject.
    pub subject: Option<String>,
    /// Links whose messages are to be seen as far as their properties.
    pub deeper: Vec<L>,
    /// Links that take a message only in part.
    pub slow: Vec<L>,
    /// Links that accept what is not settled as it comes.
    pub eager: Vec<L>,
    /// Messages that subscribers cannot read.
    pub unreadable: Vec<u64>,
    /// Where deliveries to subscribers came from.
    pub from: Vec<SubscriberDelivery>,
}

impl Host for FakeHost {
    type Conn = u32;
    type Link = L;
    type Content = Arc<u64>;

    fn attach_answer(&mut self, link: L, source: Option<Source>, target: Option<TargetTerminus>) {
        self.calls.push(Call::Answer { link, source, target });
    }
    fn open_link(&mut self, conn: Self::Conn, key: LinkKey, open: OpenLink) -> L {
        self.opened.push((conn, key, open));
        0
    }

    fn network(&mut self, event: NetworkEvent<'_>) {
        if let NetworkEvent::LocalAddress { key, present, .. } = event {
            self.announced.push((key.to_owned(), present));
        }
    }

    fn detach(&mut self, link: L, closed: bool, error: Option<ErrorCondition>) {
        self.calls.push(Call::Detach { link, closed, error });
    }
    fn add_credit(&mut self, link: L, credit: u32) {
        self.calls.push(Call::Credit(link, credit));
    }
    fn drain(&mut self, link: L, drain: bool) {
        self.calls.push(Call::Drain(link, drain));
    }
    fn hold_up(&mut self, link: L, hold: bool) {
        self.calls.push(Call::HoldUp(link, hold));
    }
    fn drained(&mut self, link: L) {
        self.calls.push(Call::Drained(link));
    }
    fn say_with_flow(&mut self, link: L, properties: Map) {
        self.calls.push(Call::SayWithFlow(link, properties));
    }
    fn subject<'a>(&'a self, _content: Option<&'a Arc<u64>>) -> Option<&'a str> {
        self.subject.as_deref()
    }
    fn look_deeper(&mut self, link: L) {
        self.deeper.push(link);
    }
    fn retain(&mut self) -> Arc<u64> {
        Arc::new(self.offered)
    }
    fn transmit(&mut self, link: L, key: OutKey, content: Option<&Arc<u64>>, how: &Transmit<'_>) -> Transmitted {
        let message = content.map_or(self.offered, |content| **content);
        self.calls.push(Call::Transmit { link, message, settled: how.settled });
        self.sent.push(Sent {
            link,
            key,
            message,
            settled: how.settled,
            tag: how.tag,
            to_override: how.to_override.map(str::to_owned),
            phase: how.phase,
            annotate: how.annotate,
            anew: how.anew,
            routed_tag: how.routed_tag.map(<[u8]>::to_vec),
            state: how.state.cloned(),
            manner: how.manner,
        });
        match how.settled {
            _ if self.slow.contains(&link) => Transmitted::Partial,
            false if self.eager.contains(&link) => Transmitted::Accepted,
            _ => Transmitted::Complete,
        }
    }
    fn abort(&mut self, link: L, _key: OutKey) {
        self.calls.push(Call::Abort(link));
    }
    fn update_incoming(&mut self, link: L, delivery_id: u32, state: Option<DeliveryState>, settled: bool) {
        self.calls.push(Call::Incoming(link, delivery_id, state, settled));
    }
    fn update_outgoing(&mut self, link: L, key: OutKey, state: Option<DeliveryState>, settled: bool) {
        let message = self.sent.iter().find(|sent| sent.key == key).map_or(u64::MAX, |sent| sent.message);
        self.calls.push(Call::Outgoing(link, message, state, settled));
    }
    fn to_subscriber(
        &mut self,
        subscriber: SubscriberId,
        content: Option<&Arc<u64>>,
        from: &SubscriberDelivery,
    ) -> Result<(), ErrorCondition> {
        let message = content.map_or(self.offered, |content| **content);
        self.calls.push(Call::Subscriber(subscriber, message));
        self.from.push(from.clone());
        match self.unreadable.contains(&message) {
            true => Err(ErrorCondition::new("amqp:decode-error", "Parse error in message content")),
            false => Ok(()),
        }
    }
    fn log_enabled(&self, _module: Module, level: Level) -> bool {
        level >= Level::Info
    }
    fn log(&mut self, _module: Module, _level: Level, text: fmt::Arguments<'_>) {
        self.logs.push(text.to_string());
    }
}

/// A link of the test.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub key: LinkKey,
    pub id: L,
}

/// A router and its host.
pub struct World {
    pub core: Core<FakeHost>,
    pub host: FakeHost,
    pub now: Duration,
    next_link: L,
    next_message: u64,
}

impl World {
    pub fn new() -> Self {
        Self::with(|_| ())
    }

    pub fn with(change: impl FnOnce(&mut RouterSettings)) -> Self {
        let mut random = 0;
        let mut settings = RouterSettings {
            router_id: "QDR".into(),
            mode: Mode::Standalone,
            default_treatment: Treatment::Balanced,
            test_hooks: false,
            allow_resumable_link_route: true,
            random: Box::new(move || {
                random += 1;
                random
            }),
        };
        change(&mut settings);
        Self {
            core: Core::new(settings),
            host: FakeHost::default(),
            now: Duration::from_secs(1_000),
            next_link: 0,
            next_message: 0,
        }
    }

    /// A router where `prefix` is distributed so.
    pub fn distributing(prefix: &str, distribution: Treatment) -> Self {
        let mut world = Self::new();
        world.configure(NewAddressConfig { prefix: Some(prefix.into()), distribution, ..Default::default() });
        world
    }

    pub fn configure(&mut self, new: NewAddressConfig) -> u64 {
        self.core.create_address_config(&mut self.host, new).expect("the test's configuration is valid")
    }

    pub fn connect(&mut self) -> ConnKey {
        self.connect_with(|_| ())
    }

    pub fn connect_with(&mut self, change: impl FnOnce(&mut ConnectionInfo)) -> ConnKey {
        let id = self.core.next_connection_id();
        let mut info = ConnectionInfo { id, incoming: true, link_capacity: 250, ..Default::default() };
        change(&mut info);
        self.core.open_connection(self.now, &mut self.host, id as u32, info)
    }

    /// The link of the router's own that was asked for last is attached, and has this number.
    pub fn open_last(&mut self) -> Link {
        self.next_link += 1;
        let id = self.next_link;
        let (_, key, _) = *self.host.opened.last().expect("a link was asked for");
        self.core.link_opened(self.now, &mut self.host, key, id);
        Link { key, id }
    }

    /// Its peer answers with the same termini.
    pub fn answer_last(&mut self) {
        let (_, key, open) = self.host.opened.last().cloned().expect("a link was asked for");
        self.core.attach_answered(self.now, &mut self.host, key, open.source, open.target, open.terms);
    }

    pub fn attach(&mut self, conn: ConnKey, attach: AttachInfo) -> Link {
        self.next_link += 1;
        let id = self.next_link;
        Link { key: self.core.attach(self.now, &mut self.host, conn, id, attach), id }
    }

    /// A sender to `address` on this connection.
    pub fn sender_on(&mut self, conn: ConnKey, address: &str) -> Link {
        self.attach(conn, sender_to(address))
    }

    /// A sender to `address` on a connection of its own.
    pub fn sender(&mut self, address: &str) -> Link {
        let conn = self.connect();
        self.sender_on(conn, address)
    }

    pub fn anonymous_sender(&mut self) -> Link {
        let conn = self.connect();
        self.attach(conn, AttachInfo { target: Some(TargetTerminus::Target(Target::default())), ..sender_to("") })
    }

    /// A receiver from `address`, without credit, on this connection.
    pub fn receiver_on(&mut self, conn: ConnKey, address: &str) -> Link {
        self.attach(conn, receiver_from(address))
    }

    /// A receiver from `address` with this credit, on a connection of its own.
    pub fn receiver(&mut self, address: &str, credit: u32) -> Link {
        let conn = self.connect();
        let link = self.receiver_on(conn, address);
        if credit > 0 {
            self.credit(link, credit);
        }
        link
    }

    pub fn credit(&mut self, link: Link, credit: u32) {
        self.core.credit(self.now, &mut self.host, link.key, credit, false);
    }

    /// Offers the next message, which becomes the delivery with the same number.
    pub fn offer(&mut self, link: Link, change: impl FnOnce(&mut Offer<'_>)) -> Offered {
        self.host.offered = self.next_message;
        let mut offer = plain_offer(self.next_message as u32);
        self.next_message += 1;
        change(&mut offer);
        self.core.deliver(self.now, &mut self.host, link.key, offer)
    }

    /// Sends an unsettled message.
    pub fn send(&mut self, link: Link) -> Offered {
        self.offer(link, |_| ())
    }

    /// Sends unsettled messages.
    pub fn send_times(&mut self, link: Link, count: usize) {
        for _ in 0..count {
            self.send(link);
        }
    }

    /// Sends settled messages.
    pub fn send_settled(&mut self, link: Link, count: usize) {
        for _ in 0..count {
            self.offer(link, |offer| offer.settled = true);
        }
    }

    /// Begins a message that is not complete yet.
    pub fn begin(&mut self, link: Link) -> InKey {
        match self.offer(link, |offer| offer.complete = false) {
            Offered::Tracked(key) => key,
            Offered::Done => panic!("a message that is not complete was not tracked"),
        }
    }

    pub fn received(&mut self, delivery: InKey) {
        self.core.received(self.now, &mut self.host, delivery, false);
    }

    pub fn aborted(&mut self, delivery: InKey) {
        self.core.aborted(self.now, &mut self.host, delivery);
    }

    /// The receiver of the `at`th transmission says this of it.
    pub fn outcome(&mut self, at: usize, state: Option<DeliveryState>, settled: bool) {
        let key = self.host.sent[at].key;
        self.core.outcome(self.now, &mut self.host, key, state, settled);
    }

    /// The receiver of the `at`th transmission accepts and settles.
    pub fn accept(&mut self, at: usize) {
        self.outcome(at, Some(DeliveryState::Accepted), true);
    }

    pub fn transmitted(&mut self, at: usize) {
        let key = self.host.sent[at].key;
        self.core.transmitted(self.now, &mut self.host, key);
    }

    pub fn lose(&mut self, link: Link) {
        self.core.link_lost(self.now, &mut self.host, link.key);
    }

    pub fn memory_is_short(&mut self, short: bool) {
        self.core.set_memory_short(self.now, &mut self.host, short);
    }

    pub fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }

    /// Lets time pass and does what is due.
    pub fn pass_and_scan(&mut self, seconds: u64) {
        self.pass(seconds * 1_000);
        self.core.handle_timeout(self.now, &mut self.host);
    }

    /// The calls since the last time.
    pub fn calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.host.calls)
    }

    /// The calls since the last time, without those about credit.
    pub fn calls_but_credit(&mut self) -> Vec<Call> {
        let mut calls = self.calls();
        calls.retain(|call| !matches!(call, Call::Credit(..)));
        calls
    }

    /// Messages sent to each of these links so far.
    pub fn counts<const N: usize>(&self, links: [Link; N]) -> [usize; N] {
        links.map(|link| self.host.sent.iter().filter(|sent| sent.link == link.id).count())
    }

    /// Messages in the order in which they went out.
    pub fn messages(&self) -> Vec<u64> {
        self.host.sent.iter().map(|sent| sent.message).collect()
    }

    pub fn link(&self, link: Link) -> LinkSnapshot<'_> {
        self.core.link(self.now, link.key).expect("the link is there")
    }

    pub fn address(&self, key: &str) -> AddressSnapshot<'_> {
        self.core.address(key).expect("the address is there")
    }

    pub fn statistics(&self) -> RouterStatistics {
        self.core.statistics()
    }
}

pub fn plain_offer<'a>(delivery_id: u32) -> Offer<'a> {
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
        state: None,
        stamp: 0,
        tag: None,
        manner: Default::default(),
    }
}

pub fn sender_to(address: &str) -> AttachInfo {
    AttachInfo {
        name: format!("to {address}"),
        incoming: true,
        source: Some(Source::default()),
        target: Some(TargetTerminus::Target(Target { address: Some(address.into()), ..Target::default() })),
        send_settled: false,
        terms: LinkTerms::default(),
    }
}

pub fn receiver_from(address: &str) -> AttachInfo {
    AttachInfo {
        name: format!("from {address}"),
        incoming: false,
        source: Some(Source { address: Some(address.into()), ..Source::default() }),
        target: Some(TargetTerminus::Target(Target::default())),
        send_settled: false,
        terms: LinkTerms::default(),
    }
}

pub fn with_capability(mut attach: AttachInfo, capability: &str) -> AttachInfo {
    let capability = Symbol::from(capability);
    match (&mut attach.source, &mut attach.target) {
        (Some(source), _) if !attach.incoming => source.capabilities.push(capability),
        (_, Some(TargetTerminus::Target(target))) if attach.incoming => target.capabilities.push(capability),
        _ => panic!("no terminus on our side"),
    }
    attach
}

pub fn rejected(condition: &str, description: &str) -> DeliveryState {
    DeliveryState::Rejected(Some(Box::new(ErrorCondition::new(condition, description))))
}

/// The modified outcome that the router itself gives.
pub fn failed() -> DeliveryState {
    DeliveryState::Modified(Box::new(Modified { delivery_failed: true, ..Modified::default() }))
}

/// What a sender is told when its delivery ends.
pub fn settled(link: Link, delivery: u32, state: DeliveryState) -> Call {
    Call::Incoming(link.id, delivery, Some(state), true)
}

/// Shorthand for a transmission of an unsettled message.
pub fn transmit(link: Link, message: u64) -> Call {
    Call::Transmit { link: link.id, message, settled: false }
}
