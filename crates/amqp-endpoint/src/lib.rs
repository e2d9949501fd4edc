//! What does this connection do next? One end of an AMQP 1.0 connection (parts 2 and 5) as a state machine:
//! bytes and time go in, events and bytes come out.
//!
//! It deliberately knows nothing of sockets, clocks, addresses, routing, or message contents beyond their frames.
//! Time is a [`Now`] that the owner passes in: monotonic, from an arbitrary start.
//!
//! # How to drive it
//! 1. Append what the socket gave to a contiguous buffer, make an [`Input`] over it, and call [`Connection::poll`]
//!    until it returns `None`. An event borrows from the buffer only, never from the connection, so the owner may call
//!    any method between two polls. `Input::consumed()` bytes can then be discarded; the rest must be presented again,
//!    with more appended.
//! 2. Call [`Connection::flush`] once per turn: coalesced dispositions (ranges) and flows become frames.
//! 3. Write [`Connection::output`], then [`Connection::consume_output`].
//! 4. Call [`Connection::handle_timeout`] at or after [`Connection::next_timeout`].
#![forbid(unsafe_code)]

/// Monotonic time since an arbitrary start.
pub type Now = std::time::Duration;

// ---------------------------------------------------------------- agreed interface (to be split in files by idea)

use amqp::performative::{Attach, Open, ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Map, Symbol};

/// Index of a session in its connection. Reused after the session ended on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId(pub u32);

/// Index of a link in its connection (dense over all sessions). Reused after the link is detached on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkId(pub u32);

/// What this end says in its open, and its limits.
#[derive(Clone, Debug)]
pub struct ConnectionConfig {
    pub container_id: String,
    pub hostname: Option<String>,
    /// Bytes; the largest frame this end accepts (at least 512).
    pub max_frame_size: u32,
    pub channel_max: u16,
    pub handle_max: u32,
    /// This end drops the connection after hearing nothing for this long; half of it is announced. `None`: never.
    pub idle_time_out: Option<std::time::Duration>,
    /// Frames; the incoming window announced for each session.
    pub session_window: u32,
    pub offered_capabilities: Vec<Symbol>,
    pub desired_capabilities: Vec<Symbol>,
    pub properties: Option<Map>,
    /// Close with `amqp:not-allowed` "Timeout waiting for initial handshake" if the peer's open has not come by then.
    pub handshake_time_out: Option<std::time::Duration>,
}

/// Who speaks first, and what of SASL.
pub enum Side {
    /// We were connected to. `sasl`: what the SASL layer offers. `sasl_required`: refuse a peer that skips SASL.
    Acceptor { sasl: Option<Box<dyn SaslServer>>, sasl_required: bool },
    /// We connected.
    Initiator { sasl: Option<Box<dyn SaslClient>> },
}

/// Mechanisms on the server's side. Implementations live in the `security` crate. All calls are made in order by one connection.
pub trait SaslServer: Send {
    /// Offered in this order.
    fn mechanisms(&self) -> Vec<Symbol>;
    fn init(&mut self, mechanism: &str, initial_response: Option<&[u8]>, hostname: Option<&str>) -> SaslStep;
    fn response(&mut self, response: &[u8]) -> SaslStep;
    /// Asked after [`SaslStep::Pending`] whenever the owner calls [`Connection::poke_sasl`].
    fn resume(&mut self) -> SaslStep { SaslStep::Pending }
    /// The security layer negotiated, taken once after success.
    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> { None }
}

/// What a mechanism wants to happen next.
pub enum SaslStep {
    Challenge(Vec<u8>),
    Done { user: Option<String>, additional_data: Option<Vec<u8>> },
    Failed(amqp::sasl::SaslCode),
    /// The answer comes later (a remote service, a blocking library).
    Pending,
}

/// Mechanisms on the client's side.
pub trait SaslClient: Send {
    /// Chooses among what is offered: mechanism and initial response; `None`: none fits.
    fn choose(&mut self, offered: &[Symbol]) -> Option<(Symbol, Option<Vec<u8>>)>;
    fn challenge(&mut self, challenge: &[u8]) -> Result<Vec<u8>, amqp::sasl::SaslCode>;
    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> { None }
}

/// Wraps all bytes after SASL (part 5, section 5.3).
pub trait SecurityLayer: Send {
    fn encode(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), String>;
    fn decode(&mut self, wire: &[u8], out: &mut Vec<u8>) -> Result<usize, String>;
}

/// Bytes from the peer, in order, beginning at the first byte not yet consumed.
pub struct Input<'a> { bytes: &'a [u8], at: usize }

/// What happened. `'a` is the life of the input buffer.
pub enum Event<'a> {
    /// The SASL layer is done, or the peer skipped it (`mechanism` is `None`).
    Authenticated { mechanism: Option<Symbol>, user: Option<String> },
    /// The peer's open. An acceptor now answers with [`Connection::open`], or [`Connection::close`] (which opens first).
    Opened(Box<Open>),
    /// The peer began a session; accepted unless the owner calls [`Connection::end_session`] before the next poll.
    SessionBegun(SessionId),
    /// The peer ended a session, or answered our end. A `LinkLost` came for each of its links before. Answered by this end.
    SessionEnded(SessionId, Option<ErrorCondition>),
    /// The peer attached a new link: answer with [`Connection::attach_answer`]. `attach.role` is the peer's role.
    Attached(LinkId, Box<Attach>),
    /// The peer answered our [`Connection::attach`].
    AttachAnswered(LinkId, Box<Attach>),
    /// The peer detached (or answered our detach, `answer`). If not `answer`, the owner replies with [`Connection::detach`].
    Detached { link: LinkId, context: u64, closed: bool, error: Option<ErrorCondition>, answer: bool },
    /// A link ended with its session or connection, without a detach.
    LinkLost { link: LinkId, context: u64 },
    /// The peer's credit for a link on which we send: how many deliveries we may begin now. With `drain`, use it or call
    /// [`Connection::drained`]. `echo`: the peer wants an answering flow (this end sends it in any case).
    Credit { link: LinkId, context: u64, credit: u32, drain: bool, properties: Option<Box<Map>> },
    /// The peer, sender on this link, gave back `credit` unused credit (it advanced its delivery-count while draining).
    Drained { link: LinkId, context: u64, returned: u32 },
    /// A transfer frame on a link on which we receive.
    Transfer(IncomingTransfer<'a>),
    /// The peer's disposition for one delivery that we sent; `key` as given to [`Connection::begin_delivery`].
    /// After `settled` the endpoint has forgotten the delivery.
    Outcome { key: u64, state: Option<DeliveryState>, settled: bool },
    /// The sending peer's disposition for one delivery that we received; `key` as given to [`Connection::set_incoming_key`].
    SenderOutcome { key: u64, state: Option<DeliveryState>, settled: bool },
    /// A session that had no window left for us to send has some again.
    SessionWritable(SessionId),
    /// The peer's close. Answered by this end.
    Closed(Option<ErrorCondition>),
    /// The connection cannot go on (protocol violation, idle time-out, SASL failure). A close, SASL outcome or
    /// protocol header that tells the peer is in the output; drop the socket once it is written. `LinkLost` came for each link before.
    Failed(ErrorCondition),
}

/// One transfer frame.
pub struct IncomingTransfer<'a> {
    pub link: LinkId,
    /// The link's context, see [`Connection::set_link_context`].
    pub context: u64,
    /// Session-scoped id of the delivery, also on continuation frames.
    pub delivery_id: u32,
    /// The first frame of its delivery; `tag` and `message_format` are meaningful only then.
    pub first: bool,
    pub tag: &'a [u8],
    pub message_format: u32,
    /// Settled by the sender (may come true with the last frame only).
    pub settled: bool,
    pub more: bool,
    pub aborted: bool,
    pub state: Option<DeliveryState>,
    pub payload: &'a [u8],
}

/// A link to be attached by this end.
pub struct NewLink {
    pub name: String,
    /// True: we send on it.
    pub sender: bool,
    pub snd_settle_mode: SenderSettleMode,
    pub rcv_settle_mode: ReceiverSettleMode,
    pub source: Option<Source>,
    pub target: Option<TargetTerminus>,
    pub max_message_size: Option<u64>,
    pub properties: Option<Map>,
}

/// A link as the owner may ask about it.
pub struct LinkInfo<'c> {
    pub name: &'c str,
    pub session: SessionId,
    /// True: we send on it.
    pub sender: bool,
    pub snd_settle_mode: SenderSettleMode,
    pub rcv_settle_mode: ReceiverSettleMode,
    /// Unused credit: what we may still send, or what the peer may.
    pub credit: u32,
    pub context: u64,
}

/// One end of a connection.
pub struct Connection { /* private */ }

#[cfg(any())] // signatures for reference until the implementation lands
impl Connection {
    pub fn new(config: ConnectionConfig, side: Side, now: Now) -> Self;
    pub fn poll<'a>(&mut self, now: Now, input: &mut Input<'a>) -> Option<Event<'a>>;
    /// The transport reached its end (peer closed its half, reset, or error).
    pub fn transport_closed(&mut self);          // then poll with empty input yields LinkLost... and Failed(amqp:connection:framing-error, "connection aborted") unless closed
    pub fn next_timeout(&self) -> Option<Now>;
    pub fn handle_timeout(&mut self, now: Now);
    pub fn flush(&mut self, now: Now);
    pub fn output(&self) -> &[u8];
    pub fn consume_output(&mut self, count: usize);   // frees the buffer when it is empty and larger than a few KiB
    pub fn is_finished(&self) -> bool;                // nothing more will happen once the output is written
    pub fn trace(&mut self, on: bool);                // then each frame, in and out, is told to the sink as text
    pub fn take_traces(&mut self) -> Vec<String>;
    pub fn poke_sasl(&mut self);

    pub fn open(&mut self, config_override: Option<ConnectionConfig>);   // acceptor's answer; policy may have changed limits
    pub fn close(&mut self, error: Option<ErrorCondition>);
    pub fn remote_open(&self) -> Option<&Open>;
    pub fn remote_max_frame_size(&self) -> u32;

    pub fn begin_session(&mut self) -> SessionId;                    // channel and handle limits: Result with a named error
    pub fn end_session(&mut self, session: SessionId, error: Option<ErrorCondition>);
    pub fn hold_session(&mut self, session: SessionId, hold: bool);  // announce an incoming window of 0 / the normal one again

    pub fn attach(&mut self, session: SessionId, link: NewLink) -> LinkId;   // Result
    pub fn attach_answer(&mut self, link: LinkId, source: Option<Source>, target: Option<TargetTerminus>, max_message_size: Option<u64>);
    pub fn detach(&mut self, link: LinkId, closed: bool, error: Option<ErrorCondition>);
    pub fn set_link_context(&mut self, link: LinkId, context: u64);
    pub fn link(&self, link: LinkId) -> Option<LinkInfo<'_>>;
    pub fn links(&self) -> impl Iterator<Item = (LinkId, LinkInfo<'_>)>;

    // receiving
    pub fn add_credit(&mut self, link: LinkId, credit: u32);        // coalesced until flush
    pub fn drain(&mut self, link: LinkId, drain: bool);             // flow with drain=true; cleared by Drained or by drain(false)
    pub fn set_incoming_key(&mut self, link: LinkId, delivery_id: u32, key: u64);
    pub fn update_incoming(&mut self, link: LinkId, delivery_id: u32, state: Option<DeliveryState>, settled: bool);  // coalesced until flush

    // sending
    /// Sends a whole delivery in one frame, payload given in parts; false (and nothing done) if the session window is
    /// closed, there is no credit, a delivery is in progress on the link, or it does not fit the peer's frame size.
    pub fn try_send(&mut self, link: LinkId, delivery: &NewDelivery<'_>, parts: &[&[u8]]) -> bool;
    pub fn begin_delivery(&mut self, link: LinkId, delivery: &NewDelivery<'_>) -> bool;       // uses one credit; no frame yet
    pub fn send_payload(&mut self, link: LinkId, payload: &[u8], more: bool) -> usize;        // bytes taken, bounded by the session window
    pub fn abort_delivery(&mut self, link: LinkId);
    pub fn drained(&mut self, link: LinkId);                        // give the unused credit back
    pub fn update_outgoing(&mut self, link: LinkId, key: u64, state: Option<DeliveryState>, settled: bool); // disposition as sender
}

/// A delivery to send.
pub struct NewDelivery<'d> {
    pub key: u64,
    pub tag: &'d [u8],
    pub message_format: u32,
    pub settled: bool,
    pub state: Option<&'d DeliveryState>,
}
