//! One end of a connection.

use std::sync::Arc;

use amqp::performative::{Open, ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Map};

use crate::{ConnectionConfig, Event, Input, LinkId, Now, SecurityLayer, SessionId, Side};

/// Why a session cannot be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// The opens are not exchanged yet, or the connection is closing.
    #[error("the connection is not open")]
    NotOpen,
    /// As many sessions exist as both ends allow.
    #[error("no channel is free: at most {0} sessions are allowed on this connection (channel-max)")]
    ChannelMax(u32),
}

/// Why a link cannot be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// The session is not there, or is ending.
    #[error("the session is not open")]
    NoSession,
    /// As many links exist in the session as the peer allows.
    #[error("no handle is free: the peer allows at most {0} links in this session (handle-max)")]
    HandleMax(u64),
    /// A link of this name and direction is attached in the session, or not yet detached by the peer.
    #[error("a link of this name and direction is attached in this session already")]
    NameInUse,
}

/// A link to be attached by this end.
#[derive(Clone, Debug)]
pub struct NewLink {
    /// Unique among the links of its direction in the session.
    pub name: String,
    /// True: we send on it.
    pub sender: bool,
    /// When the sender settles.
    pub snd_settle_mode: SenderSettleMode,
    /// When the receiver settles.
    pub rcv_settle_mode: ReceiverSettleMode,
    /// Where messages come from.
    pub source: Option<Source>,
    /// Where messages go to.
    pub target: Option<TargetTerminus>,
    /// Bytes; `None`: no limit.
    pub max_message_size: Option<u64>,
    /// Properties of the link, symbol keys.
    pub properties: Option<Map>,
}

/// A link as the owner may ask about it.
#[derive(Clone, Copy, Debug)]
pub struct LinkInfo<'c> {
    /// Its name.
    pub name: &'c str,
    /// Its session.
    pub session: SessionId,
    /// True: we send on it.
    pub sender: bool,
    /// When the sender settles.
    pub snd_settle_mode: SenderSettleMode,
    /// When the receiver settles.
    pub rcv_settle_mode: ReceiverSettleMode,
    /// Unused credit: what we may still send, or what the peer may.
    pub credit: u32,
    /// See [`Connection::set_link_context`].
    pub context: u64,
}

/// A delivery to send.
#[derive(Clone, Copy, Debug)]
pub struct NewDelivery<'d> {
    /// Comes back in [`Event::Outcome`]; unique among the unsettled deliveries of the session. Unused if `settled`.
    pub key: u64,
    /// Delivery tag, at most 32 bytes.
    pub tag: &'d [u8],
    /// Message format; 0 is AMQP's own.
    pub message_format: u32,
    /// Sent settled: no state is kept.
    pub settled: bool,
    /// The delivery's state at the sender.
    pub state: Option<&'d DeliveryState>,
}

/// One end of a connection.
pub struct Connection {
    config: ConnectionConfig,
    side: Side,
    output: Vec<u8>,
    remote_open: Option<Arc<Open>>,
}

impl Connection {
    /// A connection whose transport has just been set up.
    pub fn new(config: ConnectionConfig, side: Side, now: Now) -> Self {
        let _ = now;
        Self { config, side, output: Vec::new(), remote_open: None }
    }
    /// The next event, or `None`: more input is needed.
    pub fn poll<'a>(&mut self, now: Now, input: &mut Input<'a>) -> Option<Event<'a>> {
        let _ = (now, input.rest(), &self.config, &self.side);
        input.consume(0);
        None
    }
    /// The transport reached its end (the peer closed its half, reset, or error). Polling with empty input then yields
    /// `LinkLost` for each link and `Failed` ("connection aborted"), unless the connection was closed.
    pub fn transport_closed(&mut self) {}
    /// When to call [`Connection::handle_timeout`] at the latest.
    pub fn next_timeout(&self) -> Option<Now> {
        None
    }
    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Now) {
        let _ = now;
    }
    /// Turns what was coalesced into frames.
    pub fn flush(&mut self, now: Now) {
        let _ = now;
    }
    /// Bytes for the peer.
    pub fn output(&self) -> &[u8] {
        &self.output
    }
    /// Forgets the first `count` bytes of the output. The buffer is freed when it becomes empty.
    pub fn consume_output(&mut self, count: usize) {
        self.output.drain(..count);
    }
    /// Nothing more will happen once the output is written.
    pub fn is_finished(&self) -> bool {
        false
    }
    /// From now on each frame, in and out, is told as text.
    pub fn trace(&mut self, on: bool) {
        let _ = on;
    }
    /// The frames told since the last call.
    pub fn take_traces(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// Asks a pending SASL mechanism again; what comes of it is in the output, and told by the next poll.
    pub fn poke_sasl(&mut self) {}
    /// The security layer that SASL negotiated; see the crate's head.
    pub fn take_security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        None
    }
    /// A peer that asks for TLS gets it, as [`Event::StartTls`]; otherwise it is refused. Acceptors only.
    pub fn allow_tls(&mut self) {}
    /// An acceptor's answer to the peer's open. Policy may have changed the limits: `config_override`.
    pub fn open(&mut self, config_override: Option<ConnectionConfig>) {
        let _ = config_override;
    }
    /// Closes the connection, after opening it if need be. Nothing is sent after it.
    pub fn close(&mut self, error: Option<ErrorCondition>) {
        let _ = error;
    }
    /// The peer's open.
    pub fn remote_open(&self) -> Option<&Arc<Open>> {
        self.remote_open.as_ref()
    }
    /// Bytes; the largest frame the peer accepts.
    pub fn remote_max_frame_size(&self) -> u32 {
        512
    }
    /// Begins a session; links may be attached at once.
    pub fn begin_session(&mut self) -> Result<SessionId, BeginError> {
        Err(BeginError::NotOpen)
    }
    /// Ends a session with all its links.
    pub fn end_session(&mut self, session: SessionId, error: Option<ErrorCondition>) {
        let _ = (session, error);
    }
    /// Announces an incoming window of 0, or the normal one again.
    pub fn hold_session(&mut self, session: SessionId, hold: bool) {
        let _ = (session, hold);
    }
    /// Attaches a link.
    pub fn attach(&mut self, session: SessionId, link: NewLink) -> Result<LinkId, AttachError> {
        let _ = (session, link);
        Err(AttachError::NoSession)
    }
    /// Answers the peer's attach. A refusal has the local terminus `None` and is followed by [`Connection::detach`].
    pub fn attach_answer(
        &mut self,
        link: LinkId,
        source: Option<Source>,
        target: Option<TargetTerminus>,
        max_message_size: Option<u64>,
    ) {
        let _ = (link, source, target, max_message_size);
    }
    /// Detaches a link, or answers the peer's detach.
    pub fn detach(&mut self, link: LinkId, closed: bool, error: Option<ErrorCondition>) {
        let _ = (link, closed, error);
    }
    /// A value of the owner's that comes back in every event of the link; 0 at first.
    pub fn set_link_context(&mut self, link: LinkId, context: u64) {
        let _ = (link, context);
    }
    /// What is known of a link; `None` if it is gone.
    pub fn link(&self, link: LinkId) -> Option<LinkInfo<'_>> {
        let _ = link;
        None
    }
    /// All links.
    pub fn links(&self) -> impl Iterator<Item = (LinkId, LinkInfo<'_>)> {
        std::iter::empty()
    }
    /// Lets the peer begin `credit` more deliveries. Coalesced until flush, and held back while the peer has more
    /// credit left than would be added.
    pub fn add_credit(&mut self, link: LinkId, credit: u32) {
        let _ = (link, credit);
    }
    /// Announces all credit at the next flush, however little it is.
    pub fn announce_credit(&mut self, link: LinkId) {
        let _ = link;
    }
    /// Asks the sending peer to use its credit or give it back (until [`Event::Drained`]), or stops asking.
    pub fn drain(&mut self, link: LinkId, drain: bool) {
        let _ = (link, drain);
    }
    /// A value of the owner's that comes back in [`Event::SenderOutcome`].
    pub fn set_incoming_key(&mut self, link: LinkId, delivery_id: u32, key: u64) {
        let _ = (link, delivery_id, key);
    }
    /// Tells the sending peer a state and/or settlement. Coalesced until flush. Nothing happens if the delivery is
    /// settled already.
    pub fn update_incoming(&mut self, link: LinkId, delivery_id: u32, state: Option<DeliveryState>, settled: bool) {
        let _ = (link, delivery_id, state, settled);
    }
    /// Sends a whole delivery in one frame, payload given in parts; false (and nothing done) if the session window is
    /// closed, there is no credit, a delivery is in progress on the link, or it does not fit the peer's frame size.
    pub fn try_send(&mut self, link: LinkId, delivery: &NewDelivery<'_>, parts: &[&[u8]]) -> bool {
        let _ = (link, delivery, parts);
        false
    }
    /// Begins a delivery of any number of frames; uses one credit. False (and nothing done) if there is no credit or a
    /// delivery is in progress on the link. No frame is sent yet.
    pub fn begin_delivery(&mut self, link: LinkId, delivery: &NewDelivery<'_>) -> bool {
        let _ = (link, delivery);
        false
    }
    /// Sends bytes of the delivery begun, and says how many were taken: fewer than given when the session window
    /// closes. All taken and `more` false: the delivery is complete.
    pub fn send_payload(&mut self, link: LinkId, payload: &[u8], more: bool) -> usize {
        self.send_payload_parts(link, &[payload], more)
    }
    /// As [`Connection::send_payload`], with the bytes given in parts.
    pub fn send_payload_parts(&mut self, link: LinkId, parts: &[&[u8]], more: bool) -> usize {
        let _ = (link, parts, more);
        0
    }
    /// A delivery is in progress on the link: begun, and neither complete nor aborted.
    pub fn is_sending(&self, link: LinkId) -> bool {
        let _ = link;
        false
    }
    /// Gives up the delivery in progress. If no frame of it was sent, it never was: its credit is there again.
    pub fn abort_delivery(&mut self, link: LinkId) {
        let _ = link;
    }
    /// Gives the unused credit back to the peer that drains.
    pub fn drained(&mut self, link: LinkId) {
        let _ = link;
    }
    /// Tells the receiving peer a state and/or settlement of a delivery that we sent. Coalesced until flush. Nothing
    /// happens if the delivery is settled already.
    pub fn update_outgoing(&mut self, link: LinkId, key: u64, state: Option<DeliveryState>, settled: bool) {
        let _ = (link, key, state, settled);
    }
    /// Frees memory kept for bursts; worth calling when the connection has been quiet for a while.
    pub fn trim(&mut self) {}
}
