//! The host of one router of the network: it notes what the core asks for, until the network does it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use amqp::message::{MessageAnnotations, RouterAnnotations, UserAnnotations, write_message_annotations};
use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};
use router_core::*;

/// Bytes before the value of a message-annotations section: its descriptor.
const DESCRIPTOR: usize = 3;

/// A message on one leg of its way: each router puts its own annotations around it.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) number: u64,
    /// What stands for its bytes.
    pub(crate) body: u64,
    pub(crate) to: Option<String>,
    pub(crate) priority: u8,
    pub(crate) subject: Option<String>,
    /// The message-annotations section; empty: none.
    annotations: Vec<u8>,
    /// All of it is there. Shared by all legs.
    pub(crate) complete: Arc<AtomicBool>,
}

impl Message {
    pub(crate) fn new(number: u64, to: Option<&str>, priority: u8) -> Self {
        let complete = Arc::new(AtomicBool::new(true));
        Self {
            number,
            body: number,
            to: to.map(str::to_owned),
            priority,
            subject: None,
            annotations: Vec::new(),
            complete,
        }
    }

    pub(crate) fn router(&self) -> RouterAnnotations<'_> {
        match self.annotations.get(DESCRIPTOR..) {
            Some(value) => MessageAnnotations::decode(value).expect("written by a router").router,
            None => RouterAnnotations::default(),
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Relaxed)
    }

    /// The message as it leaves the router `this`.
    fn leaving(&self, this: &str, is_edge: bool, how: &Transmit<'_>) -> Self {
        let mut annotations = Vec::new();
        if how.annotate {
            let came = if how.anew { RouterAnnotations::default() } else { self.router() };
            let this = format!("0/{this}");
            // Edge routers do not add themselves.
            let this = (!is_edge).then_some(this.as_str());
            let router = RouterAnnotations {
                phase: how.phase,
                stream: false,
                to: how.to_override,
                ingress: came.ingress.or(this),
                trace: came.trace,
            };
            write_message_annotations(&mut annotations, &UserAnnotations::default(), &router, this);
        }
        Self { annotations, ..self.clone() }
    }
}

/// What the core asked for.
#[derive(Debug)]
pub(crate) enum Call {
    Open(usize, LinkKey, OpenLink),
    Answer(u32, Option<Source>, Option<TargetTerminus>),
    Detach(u32, bool, Option<ErrorCondition>),
    Credit(u32, u32),
    Transmit(u32, OutKey, Message, bool),
    Abort(u32, OutKey),
    Incoming(u32, Option<DeliveryState>, bool),
    Outgoing(u32, OutKey, Option<DeliveryState>, bool),
}

/// An event with an owned key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Up(ConnKey, u32),
    Lost(ConnKey),
    Here(String, Treatment),
    NotHere(String),
}

#[derive(Default)]
pub(crate) struct MeshHost {
    pub(crate) id: String,
    pub(crate) is_edge: bool,
    pub(crate) calls: Vec<Call>,
    pub(crate) events: Vec<Event>,
    pub(crate) offered: Option<Message>,
    /// Credit of outgoing links.
    pub(crate) credit: BTreeMap<u32, u32>,
    /// Why subscribers take nothing.
    pub(crate) refuses: Option<&'static str>,
    /// What subscribers were handed.
    pub(crate) subscribed: Vec<(SubscriberId, u64)>,
    pub(crate) logs: Vec<String>,
    /// What the edge protocol was told.
    pub(crate) edge: Vec<String>,
}

impl Host for MeshHost {
    type Conn = usize;
    /// 0 stands in for a link not attached yet.
    type Link = u32;
    type Content = Arc<Message>;

    fn attach_answer(&mut self, link: u32, source: Option<Source>, target: Option<TargetTerminus>) {
        self.calls.push(Call::Answer(link, source, target));
    }
    fn open_link(&mut self, conn: usize, key: LinkKey, link: OpenLink) -> u32 {
        self.calls.push(Call::Open(conn, key, link));
        0
    }
    fn detach(&mut self, link: u32, closed: bool, error: Option<ErrorCondition>) {
        self.calls.push(Call::Detach(link, closed, error));
    }
    fn add_credit(&mut self, link: u32, credit: u32) {
        assert_ne!(link, 0, "credit on a link that is not attached");
        self.calls.push(Call::Credit(link, credit));
    }
    fn drain(&mut self, _: u32, _: bool) {}
    fn drained(&mut self, _: u32) {}
    fn subject<'a>(&'a self, content: Option<&'a Arc<Message>>) -> Option<&'a str> {
        content.map(|content| &**content).or(self.offered.as_ref())?.subject.as_deref()
    }
    fn digest(&self) -> Option<u64> {
        self.offered.as_ref().map(|message| message.body)
    }
    fn retain(&mut self) -> Arc<Message> {
        Arc::new(self.offered.clone().expect("a message is being offered"))
    }
    fn transmit(&mut self, link: u32, key: OutKey, content: Option<&Arc<Message>>, how: &Transmit<'_>) -> Transmitted {
        let credit = self.credit.entry(link).or_default();
        assert!(link != 0 && *credit > 0, "sent without credit");
        *credit -= 1;
        let message = content.map(|content| &**content).or(self.offered.as_ref()).expect("there is a message");
        let leaving = message.leaving(&self.id, self.is_edge, how);
        let complete = leaving.is_complete();
        self.calls.push(Call::Transmit(link, key, leaving, how.settled));
        if complete { Transmitted::Complete } else { Transmitted::Partial }
    }
    fn abort(&mut self, link: u32, key: OutKey) {
        self.calls.push(Call::Abort(link, key));
    }
    fn update_incoming(&mut self, _: u32, delivery: u32, state: Option<DeliveryState>, settled: bool) {
        self.calls.push(Call::Incoming(delivery, state, settled));
    }
    fn update_outgoing(&mut self, link: u32, key: OutKey, state: Option<DeliveryState>, settled: bool) {
        self.calls.push(Call::Outgoing(link, key, state, settled));
    }
    fn to_subscriber(
        &mut self,
        subscriber: SubscriberId,
        content: Option<&Arc<Message>>,
        _: &SubscriberDelivery,
    ) -> Result<(), ErrorCondition> {
        let message = content.map(|content| &**content).or(self.offered.as_ref()).expect("there is a message");
        if let Some(why) = self.refuses {
            return Err(ErrorCondition::new("amqp:resource-limit-exceeded", why));
        }
        self.subscribed.push((subscriber, message.number));
        Ok(())
    }
    fn network(&mut self, event: NetworkEvent<'_>) {
        self.events.push(match event {
            NetworkEvent::NeighborUp { conn, cost, .. } => Event::Up(conn, cost),
            NetworkEvent::NeighborLost { conn } => Event::Lost(conn),
            NetworkEvent::LocalAddress { key, treatment, present: true } => Event::Here(key.to_owned(), treatment),
            NetworkEvent::LocalAddress { key, .. } => Event::NotHere(key.to_owned()),
        });
    }
    fn edge(&mut self, event: EdgeEvent<'_>) {
        self.edge.push(format!("{event:?}"));
    }
    fn log_enabled(&self, _: Module, level: Level) -> bool {
        level >= Level::Info
    }
    fn log(&mut self, _: Module, _: Level, text: fmt::Arguments<'_>) {
        self.logs.push(text.to_string());
    }
}
