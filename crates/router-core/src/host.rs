//! What the core asks of its surroundings, and what a delivery looks like on its way through.

use std::cell::Cell;

use amqp::message::Trace;
use amqp::performative::Manner;
use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Map};

use crate::{ConnKey, EdgeEvent, InKey, LinkKey, LinkTerms, NetworkEvent, OpenLink, OutKey, SubscriberId};

/// What the core asks of its surroundings.
///
/// Calls happen while the core is being called; an implementation must not call the core back. `Conn` and `Link` are the
/// host's own references (for instance shard and slot), given when they are registered. A call may name a link or
/// connection that the host has lost but not yet told the core about: it is to be ignored.
pub trait Host {
    /// The host's reference to a connection.
    type Conn: Copy + std::fmt::Debug;
    /// The host's reference to a link.
    type Link: Copy + std::fmt::Debug;
    /// A message that outlives the call it came with (cheap to clone: a reference count).
    type Content: Clone;

    /// Answers an attach. A refused one has the local terminus null and is followed by [`Host::detach`].
    fn attach_answer(&mut self, link: Self::Link, source: Option<Source>, target: Option<TargetTerminus>);
    /// Answers an attach that was passed on, as its far end did. From here on nothing of what passes may be changed.
    fn answer_routed(
        &mut self,
        link: Self::Link,
        source: Option<Source>,
        target: Option<TargetTerminus>,
        terms: LinkTerms,
    ) {
        let _ = terms;
        self.attach_answer(link, source, target);
    }
    /// Attaches a link of the router's own. What is returned stands for it until the host says, with
    /// [`Core::link_opened`](crate::Core::link_opened), where it is: later, for this call may come while the connection is
    /// another thread's. Calls that name the stand-in are to be ignored.
    fn open_link(&mut self, conn: Self::Conn, key: LinkKey, link: OpenLink) -> Self::Link;
    /// Detaches, or answers the peer's detach.
    fn detach(&mut self, link: Self::Link, closed: bool, error: Option<ErrorCondition>);
    /// Grants `credit` more to the peer that sends on `link`.
    fn add_credit(&mut self, link: Self::Link, credit: u32);
    /// Asks the sending peer to drain (`true`), or stops asking.
    fn drain(&mut self, link: Self::Link, drain: bool);
    /// The peer that sends on this link is to stop for a while, whatever credit it has, or may go on: messages take too much
    /// memory, and its own are among those that wait. Not all that is on its way can be stopped.
    fn hold_up(&mut self, _link: Self::Link, _hold: bool) {}
    /// There is nothing (more) to send: give the unused credit back to the receiving peer that drains.
    fn drained(&mut self, link: Self::Link);

    /// What was held up on the other one of two links that are one has gone: more can be sent on this link of the
    /// surroundings' own ([`ConnectionInfo::internal`](crate::ConnectionInfo)), as
    /// [`Core::may_send`](crate::Core::may_send) says.
    fn room(&mut self, _link: Self::Link) {}

    /// The opposite, told where a delivery was passed on ([`Transmitted::Passed`]).
    fn no_room(&mut self, _link: Self::Link) {}

    /// Passes on what a flow of the peer of the other one of two links that are one had as properties.
    fn say_with_flow(&mut self, _link: Self::Link, _properties: Map) {}

    /// A number that tells the body of the message now being offered from others, whatever its annotations say: copies of
    /// one message that come by several ways have the same. `None`: they cannot be told apart. Asked for only where the
    /// routing protocol floods the network, and of multicasts while routes change.
    fn digest(&self) -> Option<u64> {
        None
    }
    /// The subject of a message; `content: None` means the one now being offered. `None`: it has none, or it cannot be read.
    /// Asked for only where an exchange takes the message.
    fn subject<'a>(&'a self, content: Option<&'a Self::Content>) -> Option<&'a str> {
        let _ = content;
        None
    }
    /// From now on messages on this incoming link that are still coming are to be offered only when they can be seen as far
    /// as their properties.
    fn look_deeper(&mut self, _link: Self::Link) {}
    /// Turns the content of the delivery now being offered to [`Core::deliver`](crate::Core::deliver) into a handle to keep.
    fn retain(&mut self) -> Self::Content;
    /// Sends a delivery on an outgoing link which has credit and no other delivery in progress; one credit is used.
    ///
    /// `content: None` means the message now being offered. Returns whether all of it was taken; if not, the core
    /// regards the link as busy until [`Core::transmitted`](crate::Core::transmitted), and the host goes on by itself.
    fn transmit(
        &mut self,
        link: Self::Link,
        key: OutKey,
        content: Option<&Self::Content>,
        how: &Transmit<'_>,
    ) -> Transmitted;
    /// Aborts a delivery that `transmit` began and that is not yet complete.
    fn abort(&mut self, link: Self::Link, key: OutKey);
    /// Passes a state and/or settlement to the peer that sent this delivery.
    fn update_incoming(&mut self, link: Self::Link, delivery_id: u32, state: Option<DeliveryState>, settled: bool);
    /// Passes a state and/or settlement of the sender on to the peer that receives.
    fn update_outgoing(&mut self, link: Self::Link, key: OutKey, state: Option<DeliveryState>, settled: bool);
    /// Hands a complete message to an in-process subscriber. `content: None` means the one now being offered.
    ///
    /// # Errors
    /// A message that the subscriber cannot read: the delivery is rejected with this error instead of accepted.
    fn to_subscriber(
        &mut self,
        subscriber: SubscriberId,
        content: Option<&Self::Content>,
        from: &SubscriberDelivery,
    ) -> Result<(), ErrorCondition>;

    /// Tells the routing protocol.
    fn network(&mut self, event: NetworkEvent<'_>);

    /// Tells the edge protocol. A host without connections of role edge has nothing to do.
    fn edge(&mut self, _event: EdgeEvent<'_>) {}

    /// Whether a line of this module and level would be written anywhere.
    fn log_enabled(&self, module: Module, level: Level) -> bool;
    /// Writes a log line.
    fn log(&mut self, module: Module, level: Level, text: std::fmt::Arguments<'_>);
}

/// How a delivery goes out.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    /// The settled flag to put on the wire.
    pub settled: bool,
    /// Delivery tag: the router-wide counter, to be sent as eight bytes, little-endian ([`Transmit::own_tag`]).
    pub tag: u64,
    /// What tells a multicast message from all others wherever it goes, for neighbours that share what they know; 0: nothing.
    pub stamp: u64,
    /// Value of the router annotation `x-opt-qd.to`, when the connection lets router annotations out.
    pub to_override: Option<&'a str>,
    /// Value of the router annotation `x-opt-qd.phase` (0: leave it out).
    pub phase: u8,
    /// The outgoing link's connection keeps router annotations (stripAnnotations no or in).
    pub annotate: bool,
    /// Its way begins here: what its annotations say of where it came from is left out.
    pub anew: bool,
    /// The link is one with another, and nothing of the delivery may be changed: this is the tag its sender gave it.
    pub routed_tag: Option<&'a [u8]>,
    /// The sender's delivery state, if its transfer carried one.
    pub state: Option<&'a DeliveryState>,
    /// How the sender wants it dealt with, if the link is one with another.
    pub manner: Manner,
    /// The answer may be [`Transmitted::Passed`], if here is said as what the message goes on.
    pub passing: Option<&'a Passing>,
}

impl Transmit<'_> {
    /// The router's own delivery tag: the counter, and the stamp if there is one. (A tag goes no further than the neighbour,
    /// so that nobody who does not know stamps sees one, and no message is changed.)
    #[inline]
    pub fn own_tag(&self) -> OwnTag {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.tag.to_le_bytes());
        bytes[8..].copy_from_slice(&self.stamp.to_le_bytes());
        OwnTag { bytes, length: if self.stamp == 0 { 8 } else { 16 } }
    }
}

/// A delivery tag of the router's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnTag {
    bytes: [u8; 16],
    length: u8,
}

impl OwnTag {
    /// Its bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

/// The stamp in a delivery tag of a neighbour that shares what it knows; 0: none.
#[inline]
pub fn stamp_of(tag: &[u8]) -> u64 {
    match tag.split_at_checked(8) {
        Some((_, stamp)) => stamp.try_into().map_or(0, u64::from_le_bytes),
        None => 0,
    }
}

/// How far a transmission got at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmitted {
    /// All of the message was taken.
    Complete,
    /// All of it was taken, and its receiver has accepted and settled it at once: nothing more is said of it. Only for messages
    /// that are complete and not settled.
    Accepted,
    /// As `Accepted`, and the message now being offered goes on as it is, as a delivery of the surroundings' own:
    /// [`Transmit::passing`].
    Passed,
    /// The host goes on by itself and calls [`Core::transmitted`](crate::Core::transmitted) at the end.
    Partial,
}

/// Where it is said how a message goes on. It is not part of [`Transmitted`], so that this fits a register.
pub type Passing = Cell<Option<PassedOn>>;

/// A delivery of the surroundings' own that comes of one to them. The core's key for it is the number of the key that the other
/// one was given: see [`Host::transmit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassedOn {
    /// The link that it comes on.
    pub link: LinkKey,
    /// Handed back in [`Host::update_incoming`].
    pub id: u32,
    /// Delivery tag.
    pub tag: [u8; 8],
}

/// Log modules the core writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// `ROUTER`
    Router,
    /// `ROUTER_CORE`
    RouterCore,
    /// `DEFAULT`
    Default,
    /// `AGENT`
    Agent,
}

/// Log levels, low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `trace`
    Trace,
    /// `debug`
    Debug,
    /// `info`
    Info,
    /// `notice`
    Notice,
    /// `warning`
    Warning,
    /// `error`
    Error,
    /// `critical`
    Critical,
}

/// What an in-process subscriber learns beside the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberDelivery {
    /// The connection that the message came in on; `None` if it came from within the router.
    pub conn: Option<ConnKey>,
    /// That connection's identity as logs and management show it; 0 without a connection.
    pub conn_id: u64,
}

/// An incoming delivery as offered to the core, once its message is complete or is to be streamed.
#[derive(Debug)]
pub struct Offer<'a> {
    /// The endpoint's id, handed back in [`Host::update_incoming`].
    pub delivery_id: u32,
    /// Settled by the sender.
    pub settled: bool,
    /// All bytes are there. If not, [`Core::received`](crate::Core::received) or
    /// [`Core::aborted`](crate::Core::aborted) follows.
    pub complete: bool,
    /// `to` of the message's properties; only looked at for anonymous links.
    pub to: Option<&'a str>,
    /// Router annotation `x-opt-qd.to`, where the incoming connection's stripAnnotations keeps it.
    pub to_override: Option<&'a str>,
    /// Router annotation `x-opt-qd.phase`, likewise.
    pub phase: Option<u8>,
    /// Router annotation `x-opt-qd.ingress`, likewise.
    pub ingress: Option<&'a str>,
    /// Router annotation `x-opt-qd.trace`, likewise: the routers it passed, first one first.
    pub trace: Trace<'a>,
    /// Message priority (header; 4 when absent, at most 9).
    pub priority: u8,
    /// The sender's delivery state, if its transfer carried one.
    pub state: Option<DeliveryState>,
    /// What tells a multicast message from all others, as a neighbour that shares what it knows has said it ([`stamp_of`]); 0: nothing.
    pub stamp: u64,
    /// Delivery tag, if the link is one with another.
    pub tag: Option<&'a [u8]>,
    /// How its sender wants it dealt with, likewise.
    pub manner: Manner,
}

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// The core will refer to it: keep the key until `update_incoming(settled)` or, when the message is incomplete,
    /// until [`Core::received`](crate::Core::received) or [`Core::aborted`](crate::Core::aborted).
    Tracked(InKey),
    /// It is over: settled already, or rejected or released (told through the host), or dropped. If the message is
    /// incomplete, discard the rest.
    Done,
}
