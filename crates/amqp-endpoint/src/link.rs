//! What is kept of a link.

use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::{DeliveryState, Map};

use crate::outgoing::Head;
use crate::{Connection, LinkId, SessionId};

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

/// Where one end of a link is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Its attach has not been sent.
    Absent,
    Attached,
    Detached,
}

/// There are many links, most of them idle: what is rare is boxed.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) name: Box<str>,
    pub(crate) context: u64,
    /// Index of its session, which is also the channel we send on.
    pub(crate) session: u32,
    /// Our handle.
    pub(crate) handle: u32,
    /// The peer's handle, while `remote` is attached.
    pub(crate) remote_handle: u32,
    /// The sender's delivery-count, as far as this end knows.
    pub(crate) delivery_count: u32,
    /// What the sender may still send; on a receiving link, as far as it was told.
    pub(crate) credit: u32,
    /// Receiving: credit that the sender is still to be told of.
    pub(crate) unannounced: u32,
    /// Receiving: deliveries that came beyond the credit last announced.
    pub(crate) beyond_credit: u32,
    /// Deliveries of this link among its session's unsettled ones.
    pub(crate) unsettled: u32,
    /// Id of the delivery in progress, once its first frame was seen or sent.
    pub(crate) delivery_id: u32,
    pub(crate) local: End,
    pub(crate) remote: End,
    /// We send on it.
    pub(crate) sender: bool,
    pub(crate) snd_settle_mode: SenderSettleMode,
    pub(crate) rcv_settle_mode: ReceiverSettleMode,
    /// Deliveries that are resumed are taken: the owner knows what to do with them.
    pub(crate) resumes: bool,
    /// A delivery has begun, and neither ended nor been aborted.
    pub(crate) in_progress: bool,
    /// Receiving: the delivery in progress is settled.
    pub(crate) delivery_settled: bool,
    /// The delivery in progress is to be aborted as soon as the session's window lets us say so.
    pub(crate) abort_due: bool,
    /// Sending: the delivery in progress has no frame sent yet, and the peer has taken back the credit it would use.
    pub(crate) overdrawn: bool,
    /// Receiving: we have asked for a drain. Sending: the peer has.
    pub(crate) drain: bool,
    /// It is in the list of links for which a flow is due.
    pub(crate) flow_due: bool,
    /// The peer's attach carried an unsettled map, which is answered with an empty one.
    pub(crate) unsettled_asked: bool,
    /// The owner has been told that the link is gone; only the peer's detach is waited for.
    pub(crate) disowned: bool,
    /// The owner is about to be told that the link is gone with its session or connection.
    pub(crate) lost: bool,
    /// Sending: what the first frame of the delivery in progress will say. Gone once it is sent.
    pub(crate) head: Option<Box<Head>>,
    /// What few links ever have.
    pub(crate) extra: Option<Box<Extra>>,
}

/// What is still to be said of a link, though only where a router passes on what another peer says.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// Properties of the next flow.
    pub(crate) flow_properties: Option<Box<Map>>,
    /// Sending: the state in the next frame of the delivery in progress.
    pub(crate) state: Option<DeliveryState>,
}

impl Link {
    pub(crate) fn new(name: Box<str>, session: u32, sender: bool) -> Self {
        Self {
            name,
            context: 0,
            session,
            handle: 0,
            remote_handle: 0,
            delivery_count: 0,
            credit: 0,
            unannounced: 0,
            beyond_credit: 0,
            unsettled: 0,
            delivery_id: 0,
            local: End::Absent,
            remote: End::Absent,
            sender,
            snd_settle_mode: SenderSettleMode::default(),
            rcv_settle_mode: ReceiverSettleMode::default(),
            resumes: false,
            in_progress: false,
            delivery_settled: false,
            abort_due: false,
            overdrawn: false,
            drain: false,
            flow_due: false,
            unsettled_asked: false,
            disowned: false,
            lost: false,
            head: None,
            extra: None,
        }
    }

    /// Both ends are attached: transfers and flows may pass.
    #[inline]
    pub(crate) fn is_up(&self) -> bool {
        self.local == End::Attached && self.remote == End::Attached
    }

    /// The owner knows of the link, and it is not gone.
    #[inline]
    pub(crate) fn is_owned(&self) -> bool {
        !self.disowned && !self.lost
    }

    pub(crate) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    fn info(&self) -> LinkInfo<'_> {
        LinkInfo {
            name: &self.name,
            session: SessionId(self.session),
            sender: self.sender,
            snd_settle_mode: self.snd_settle_mode,
            rcv_settle_mode: self.rcv_settle_mode,
            credit: self.credit.saturating_add(self.unannounced),
            context: self.context,
        }
    }
}

impl Connection {
    /// A value of the owner's that comes back in every event of the link; 0 at first.
    pub fn set_link_context(&mut self, link: LinkId, context: u64) {
        if let Some(link) = self.links.get_mut(link.0 as usize) {
            link.context = context;
        }
    }

    /// Takes deliveries on a link that its sender resumes, as [`Manner::resume`](amqp::performative::Manner::resume) then says: the
    /// owner passes them on to somebody who may know them. On other links they are refused.
    pub fn take_resumed(&mut self, link: LinkId) {
        if let Some(link) = self.links.get_mut(link.0 as usize) {
            link.resumes = true;
        }
    }

    /// What is known of a link; `None` if it is gone.
    pub fn link(&self, link: LinkId) -> Option<LinkInfo<'_>> {
        self.links.get(link.0 as usize).filter(|link| link.is_owned()).map(Link::info)
    }

    /// All links.
    pub fn links(&self) -> impl Iterator<Item = (LinkId, LinkInfo<'_>)> {
        let owned = self.links.iter().filter(|(_, link)| link.is_owned());
        owned.map(|(index, link)| (LinkId(index as u32), link.info()))
    }
}
