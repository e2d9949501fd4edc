//! Which links does this delivery go to, and who may send? Addresses, links, deliveries, credit, settlement, forwarding.
//!
//! The core is one deterministic state machine: same calls, same results. It deliberately sees no bytes of messages, no
//! sockets and no clock: contents are opaque handles of its [`Host`], and time is a [`Now`] passed in.
#![forbid(unsafe_code)]

/// Monotonic time since an arbitrary start.
pub type Now = std::time::Duration;

// ---------------------------------------------------------------- agreed interface (to be split in files by idea)
use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};

/// Key of a connection in the core: slab index and generation, so that a stale key is noticed, never confused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)] pub struct ConnKey(pub u64);
/// Key of a link in the core (see `Link::id` for the number that logs and management show).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)] pub struct LinkKey(pub u64);
/// Key of an incoming delivery that is unsettled or unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)] pub struct InKey(pub u64);
/// Key of an outgoing delivery that is unsettled or unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)] pub struct OutKey(pub u64);
/// An in-process subscriber (the management agent, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)] pub struct SubscriberId(pub u32);

/// What the core asks of its surroundings. Calls happen while the core is being called; an implementation must not call
/// the core back. `Conn` and `Link` are the host's own references (e.g. shard, slot), given when they are registered.
pub trait Host {
    type Conn: Copy + std::fmt::Debug;
    type Link: Copy + std::fmt::Debug;
    /// A message that outlives the call it came with (cheap to clone: a reference count).
    type Content: Clone;

    /// Answers an attach. A refused one has the local terminus null and is followed by `detach`.
    fn attach_answer(&mut self, link: Self::Link, source: Option<Source>, target: Option<TargetTerminus>);
    /// Detaches, or answers the peer's detach.
    fn detach(&mut self, link: Self::Link, closed: bool, error: Option<ErrorCondition>);
    /// Grants more credit to the peer that sends on `link`.
    fn add_credit(&mut self, link: Self::Link, credit: u32);
    /// Asks the sending peer to drain (`true`), or stops asking.
    fn drain(&mut self, link: Self::Link, drain: bool);
    /// We have nothing (more) to send: give the unused credit back to the receiving peer that drains.
    fn drained(&mut self, link: Self::Link);

    /// Turns the content of the delivery now being offered to [`Core::deliver`] into a handle to keep.
    fn retain(&mut self) -> Self::Content;
    /// Sends a delivery on an outgoing link which has credit and no other delivery in progress. `content: None` means
    /// the one now being offered. The settled flag is what to put on the wire.
    /// Returns whether all of it was taken; if not, the core regards the link as busy until [`Core::transmitted`].
    fn transmit(&mut self, link: Self::Link, key: OutKey, content: Option<&Self::Content>, how: &Transmit<'_>) -> Transmitted;
    /// Aborts a delivery that `transmit` began and that is not yet complete.
    fn abort(&mut self, link: Self::Link, key: OutKey);
    /// Passes a state and/or settlement to the peer that sent this delivery.
    fn update_incoming(&mut self, link: Self::Link, delivery_id: u32, state: Option<DeliveryState>, settled: bool);
    /// Passes a state and/or settlement of the sender on to the peer that receives.
    fn update_outgoing(&mut self, link: Self::Link, key: OutKey, state: Option<DeliveryState>, settled: bool);
    /// Hands a message to an in-process subscriber. `content: None` means the one now being offered.
    fn to_subscriber(&mut self, subscriber: SubscriberId, content: Option<&Self::Content>, from: &SubscriberDelivery);
    /// Nobody needs the kept content any longer by reason other than transmission (dropped, aborted); default: just drop it.
    fn log_enabled(&self, module: Module, level: Level) -> bool;
    fn log(&mut self, module: Module, level: Level, text: std::fmt::Arguments<'_>);
}

/// How a delivery goes out.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    pub settled: bool,
    /// Delivery tag: the router-wide counter, eight bytes little-endian (spec/router.md 2.8).
    pub tag: u64,
    /// Router annotations to put in, when the connection's stripAnnotations lets them out.
    pub to_override: Option<&'a str>,
    pub phase: u8,
    /// The outgoing link's connection keeps router annotations (stripAnnotations no or in).
    pub annotate: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmitted { Complete, Partial }

/// Log modules the core writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)] pub enum Module { Router, RouterCore }
/// Log levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level { Trace, Debug, Info, Notice, Warning, Error, Critical }

/// What an in-process subscriber learns beside the content.
#[derive(Clone, Debug)]
pub struct SubscriberDelivery { pub conn: Option<ConnKey>, pub conn_id: u64 }

/// An incoming delivery as offered to the core, once its message is complete or is to be streamed.
pub struct Offer<'a> {
    /// The endpoint's id, handed back in `update_incoming`.
    pub delivery_id: u32,
    pub settled: bool,
    /// All bytes are there. If not, [`Core::received`] or [`Core::aborted`] follows.
    pub complete: bool,
    /// `to` of the message's properties; only needed (and looked at) for anonymous links.
    pub to: Option<&'a str>,
    /// Router annotations, where the incoming connection's stripAnnotations keeps them.
    pub to_override: Option<&'a str>,
    pub phase: Option<u8>,
    pub ingress: Option<&'a str>,
    pub priority: u8,
    /// The sender's delivery state, if its transfer carried one.
    pub state: Option<DeliveryState>,
}

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// The core will refer to it; keep the key (endpoint: `set_incoming_key`) until `update_incoming(settled)` or, when the
    /// message is incomplete, until `received`.
    Tracked(InKey),
    /// It is over: settled already, or rejected/released (told through the host), or dropped. If it is incomplete, discard the rest.
    Done,
}

#[cfg(any())] // signatures for reference until the implementation lands
impl<H: Host> Core<H> {
    pub fn new(settings: RouterSettings) -> Self;

    // connections
    pub fn open_connection(&mut self, now: Now, host: &mut H, conn: H::Conn, info: ConnectionInfo) -> ConnKey;  // after Open was exchanged; ids: ConnectionInfo.id, given by `next_connection_id()` at accept time
    pub fn next_connection_id(&mut self) -> u64;
    pub fn close_connection(&mut self, now: Now, host: &mut H, conn: ConnKey);      // lost or closed: all its links as lost
    pub fn set_writable(&mut self, now: Now, host: &mut H, conn: ConnKey, writable: bool);  // back-pressure: while false nothing is transmitted to it, deliveries queue

    // links
    pub fn attach(&mut self, now: Now, host: &mut H, conn: ConnKey, link: H::Link, attach: AttachInfo) -> LinkKey;  // answers through host.attach_answer
    pub fn detach(&mut self, now: Now, host: &mut H, link: LinkKey, closed: bool, error: Option<ErrorCondition>);   // peer detached; answers through host.detach
    pub fn link_lost(&mut self, now: Now, host: &mut H, link: LinkKey);             // ended with its session

    // hot path
    pub fn deliver(&mut self, now: Now, host: &mut H, link: LinkKey, offer: Offer<'_>) -> Offered;
    pub fn received(&mut self, now: Now, host: &mut H, delivery: InKey, settled: bool);            // the rest of a streamed message is there
    pub fn aborted(&mut self, now: Now, host: &mut H, delivery: InKey);              // sender aborted, or was lost, in mid-message
    pub fn reject(&mut self, now: Now, host: &mut H, link: LinkKey, delivery_id: u32, settled: bool, error: ErrorCondition);  // unparseable etc. (spec 2.7): rejects, counts, gives one credit back
    pub fn outcome(&mut self, now: Now, host: &mut H, delivery: OutKey, state: Option<DeliveryState>, settled: bool);
    pub fn sender_outcome(&mut self, now: Now, host: &mut H, delivery: InKey, state: Option<DeliveryState>, settled: bool);
    pub fn credit(&mut self, now: Now, host: &mut H, link: LinkKey, credit: u32, drain: bool);      // outgoing link: absolute credit left at the endpoint
    pub fn drained(&mut self, now: Now, host: &mut H, link: LinkKey, returned: u32);                // incoming link
    pub fn transmitted(&mut self, now: Now, host: &mut H, delivery: OutKey);                        // a Partial one is complete now

    // in process
    pub fn subscribe(&mut self, address: &str, phase_or_class...) -> SubscriberId;
    pub fn send_local(&mut self, now: Now, host: &mut H, to: &str, content: H::Content) -> bool;     // routed like a presettled delivery of an anonymous in-process sender

    // time: stuck scan (30 s), blocked links (10 s), settle rate
    pub fn next_timeout(&self) -> Option<Now>;
    pub fn handle_timeout(&mut self, now: Now, host: &mut H);

    // management: plain data in and out, in the vocabulary of spec/router.md 4.3 and 5.7
    // address configuration: create / delete / iterate; snapshots: connections(), links(), addresses(), statistics()
}
