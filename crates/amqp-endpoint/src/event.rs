//! What a connection tells its owner.

use std::sync::Arc;

use amqp::performative::{Attach, Begin, Manner, Open};
use amqp::{DeliveryState, ErrorCondition, Map, Symbol};

use crate::{LinkId, SessionId};

/// What happened. `'a` is the life of the input buffer.
#[derive(Debug)]
pub enum Event<'a> {
    /// The SASL layer is done, or the peer skipped it (`mechanism` is `None`).
    Authenticated {
        /// The mechanism used.
        mechanism: Option<Symbol>,
        /// Who the peer is (acceptors only).
        user: Option<String>,
    },
    /// The peer asked for TLS, which [`crate::Connection::allow_tls`] allows; the answering header is in the output.
    /// All bytes from here on, both ways, go through a TLS layer of the owner's; polling goes on inside it.
    StartTls,
    /// The peer's open. An acceptor now answers with [`crate::Connection::open`], or [`crate::Connection::close`]
    /// (which opens first).
    Opened(Arc<Open>),
    /// The peer began a session; accepted (and answered) unless the owner calls [`crate::Connection::end_session`].
    SessionBegun(SessionId, Box<Begin>),
    /// The peer answered our [`crate::Connection::begin_session`].
    SessionAnswered(SessionId, Box<Begin>),
    /// The peer ended a session, or answered our end, or broke the session's rules (then this end has ended it, with
    /// this error). A `LinkLost` came for each of its links before. Answered by this end.
    SessionEnded(SessionId, Option<ErrorCondition>),
    /// The peer attached a new link: answer with [`crate::Connection::attach_answer`]. `attach.role` is the peer's role.
    Attached(LinkId, Box<Attach>),
    /// The peer answered our [`crate::Connection::attach`].
    AttachAnswered(LinkId, Box<Attach>),
    /// The peer detached, or answered our detach (`answer`; the link is gone then). If not `answer`, the owner replies
    /// with [`crate::Connection::detach`].
    Detached {
        /// The link.
        link: LinkId,
        /// Its context, see [`crate::Connection::set_link_context`].
        context: u64,
        /// The link endpoint is destroyed, not only suspended.
        closed: bool,
        /// Why, if the peer says so.
        error: Option<ErrorCondition>,
        /// The peer answers our own detach.
        answer: bool,
    },
    /// The peer broke the rules of a link, and this end has detached it with this error. Nothing more comes for it.
    LinkFailed {
        /// The link, gone now.
        link: LinkId,
        /// Its context.
        context: u64,
        /// What the peer was told.
        error: ErrorCondition,
    },
    /// A link ended with its session or connection, without a detach.
    LinkLost {
        /// The link, gone now.
        link: LinkId,
        /// Its context.
        context: u64,
    },
    /// The peer's credit for a link on which we send: how many deliveries we may begin now.
    Credit {
        /// The link.
        link: LinkId,
        /// Its context.
        context: u64,
        /// Deliveries.
        credit: u32,
        /// Use the credit or call [`crate::Connection::drained`].
        drain: bool,
    },
    /// The peer's flow for a link had properties. What else it says comes as an event of its own.
    FlowProperties {
        /// The link.
        link: LinkId,
        /// Its context.
        context: u64,
        /// Properties.
        properties: Box<Map>,
    },
    /// A drain that we asked for is complete (the peer, sender on this link, has no credit left), or the peer gave back
    /// credit by itself.
    Drained {
        /// The link.
        link: LinkId,
        /// Its context.
        context: u64,
        /// Credit that was not used (it may be 0 when the peer used all of it).
        returned: u32,
    },
    /// A transfer frame on a link on which we receive.
    Transfer(IncomingTransfer<'a>),
    /// The peer's disposition for one delivery that we sent. After `settled` the endpoint has forgotten the delivery.
    Outcome {
        /// As given to [`crate::Connection::begin_delivery`] or [`crate::Connection::try_send`].
        key: u64,
        /// The state, if the disposition carries one.
        state: Option<DeliveryState>,
        /// The peer has settled.
        settled: bool,
    },
    /// The sending peer's disposition for one delivery that we received. After `settled` the endpoint has forgotten the
    /// delivery. A settlement that comes before the key is set is told once it is set.
    SenderOutcome {
        /// As given to [`crate::Connection::set_incoming_key`].
        key: u64,
        /// The state, if the disposition carries one.
        state: Option<DeliveryState>,
        /// The peer has settled.
        settled: bool,
    },
    /// A session in which something that we had to send was refused or cut short, because its window was closed or the
    /// peer had taken back the credit of a delivery just begun, takes transfers again.
    SessionWritable(SessionId),
    /// The peer's close. Answered by this end. `LinkLost` came for each link before.
    Closed(Option<ErrorCondition>),
    /// The connection cannot go on (protocol violation, idle time-out, SASL failure). A close, SASL outcome or
    /// protocol header that tells the peer is in the output; drop the socket once it is written. `LinkLost` came for
    /// each link before.
    Failed(ErrorCondition),
}

/// One transfer frame.
#[derive(Debug)]
pub struct IncomingTransfer<'a> {
    /// The link.
    pub link: LinkId,
    /// The link's context, see [`crate::Connection::set_link_context`].
    pub context: u64,
    /// Session-scoped id of the delivery, also on continuation frames.
    pub delivery_id: u32,
    /// The first frame of its delivery; `tag`, `message_format` and `manner` are meaningful only then.
    pub first: bool,
    /// Delivery tag.
    pub tag: &'a [u8],
    /// Message format; 0 is AMQP's own.
    pub message_format: u32,
    /// Settled by the sender, with this frame or an earlier one of the delivery (it may come true with the last frame only).
    pub settled: bool,
    /// More frames of this delivery follow.
    pub more: bool,
    /// The sender gave the delivery up; what came of it must be discarded. No frames follow, and it is settled.
    pub aborted: bool,
    /// The delivery's state at the sender.
    pub state: Option<DeliveryState>,
    /// How the sender wants the delivery dealt with; meaningful only in the first frame.
    pub manner: Manner,
    /// Bytes of the message.
    pub payload: &'a [u8],
}
