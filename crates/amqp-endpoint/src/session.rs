//! Sessions: begin and end (part 2, section 2.5), and what is kept of them.

use amqp::ErrorCondition;
use amqp::condition::names;
use amqp::performative::{Begin, End, Performative};
use slab::Slab;

use crate::coalesce::Dispositions;
use crate::connection::Queued;
use crate::fault::{Fault, Handled};
use crate::sparse::SparseIndex;
use crate::unsettled::Unsettled;
use crate::window::Holds;
use crate::{Connection, Event, SessionId};

/// The outgoing window this end announces: it never holds transfers back by itself.
pub(crate) const OUTGOING_WINDOW: u32 = i32::MAX as u32;

/// Why a session cannot be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// This end's open is not sent yet, or the connection is closing.
    #[error("the connection is not open")]
    NotOpen,
    /// As many sessions exist as the peer allows.
    #[error("no channel is free: the peer allows at most {0} sessions on this connection (channel-max)")]
    ChannelMax(u32),
}

/// Its index in the connection is the channel we send on.
#[derive(Debug)]
pub(crate) struct Session {
    /// The peer has begun it too.
    pub(crate) mapped: bool,
    /// We have ended it: nothing more is sent, and what comes is discarded up to the peer's end.
    pub(crate) ended: bool,
    /// The owner has been told that the session ended.
    pub(crate) disowned: bool,
    /// The peer's channel, once its begin came.
    pub(crate) remote_channel: u16,
    /// The highest handle the peer accepts.
    pub(crate) remote_handle_max: u32,

    /// Why the owner wants no transfers for now.
    pub(crate) held: Holds,
    pub(crate) next_incoming_id: u32,
    /// Transfer frames that the peer may still send, as it was told.
    pub(crate) incoming_window: u32,
    pub(crate) next_outgoing_id: u32,
    /// Transfer frames that we may still send.
    pub(crate) remote_incoming_window: u32,
    /// Something waits for the window to open.
    pub(crate) blocked: bool,
    /// Among what waits are aborts.
    pub(crate) aborts_due: bool,
    /// It is in the list of sessions that have something to write at flush.
    pub(crate) due: bool,
    /// A flow is among it.
    pub(crate) flow_due: bool,

    /// The id of our next delivery.
    pub(crate) next_delivery_id: u32,
    /// The id that the peer's next delivery must have; its first may have any.
    pub(crate) expected_delivery_id: Option<u32>,
    pub(crate) incoming: Unsettled,
    pub(crate) outgoing: Unsettled,
    /// What we say of incoming deliveries.
    pub(crate) as_receiver: Dispositions,
    /// What we say of outgoing deliveries.
    pub(crate) as_sender: Dispositions,

    /// Links by the peer's handle.
    pub(crate) remote_handles: SparseIndex,
    /// Links by our handle.
    pub(crate) handles: Slab<u32>,
}

impl Session {
    fn new(window: u32) -> Self {
        Self {
            mapped: false,
            ended: false,
            disowned: false,
            remote_channel: 0,
            remote_handle_max: u32::MAX,
            held: Holds::default(),
            next_incoming_id: 0,
            incoming_window: window,
            next_outgoing_id: 0,
            remote_incoming_window: 0,
            blocked: false,
            aborts_due: false,
            due: false,
            flow_due: false,
            next_delivery_id: 0,
            expected_delivery_id: None,
            incoming: Unsettled::default(),
            outgoing: Unsettled::default(),
            as_receiver: Dispositions::default(),
            as_sender: Dispositions::default(),
            remote_handles: SparseIndex::default(),
            handles: Slab::new(),
        }
    }

    /// The peer has begun it.
    fn map(&mut self, channel: u16, begin: &Begin) {
        self.mapped = true;
        self.remote_channel = channel;
        self.remote_handle_max = begin.handle_max;
        self.next_incoming_id = begin.next_outgoing_id;
        self.remote_incoming_window = begin.incoming_window;
    }
}

impl Connection {
    /// Begins a session; links may be attached at once.
    ///
    /// An initiator may do so before the peer's open has come (2.4.3): frames of this end have at most 512 bytes then,
    /// and the connection fails if the peer turns out to allow fewer sessions.
    ///
    /// # Errors
    /// Before this end has sent its open, after a close, or when the peer's channel-max is reached.
    pub fn begin_session(&mut self) -> Result<SessionId, BeginError> {
        if !self.may_begin() {
            return Err(BeginError::NotOpen);
        }
        let limit = u32::from(self.limits.remote_channel_max) + 1;
        if self.sessions.len() >= limit as usize {
            return Err(BeginError::ChannelMax(limit));
        }
        let session = self.add_session();
        self.write_begin(session, None);
        Ok(SessionId(session))
    }

    /// Ends a session with all its links. The owner is told of the loss of each, and of the session's end once the peer
    /// has answered.
    pub fn end_session(&mut self, session: SessionId, error: Option<ErrorCondition>) {
        self.write_end(session.0, error);
    }

    /// The peer's begin, or its answer to ours.
    pub(crate) fn on_begin(&mut self, channel: u16, begin: Begin) -> Handled<'static> {
        if self.channels.get(channel.into()).is_some() {
            let text = format!("a session has begun on channel {channel} already");
            return Err(Fault::connection(names::NOT_ALLOWED, text));
        }
        match begin.remote_channel {
            Some(ours) => self.on_begin_answer(channel, ours, begin),
            None => self.on_new_session(channel, begin).map(Some),
        }
    }

    fn on_begin_answer(&mut self, channel: u16, ours: u16, begin: Begin) -> Handled<'static> {
        // A session that we ended before the answer came is answered all the same, and ended after that.
        let unanswered = self.sessions.get_mut(usize::from(ours)).filter(|session| !session.mapped);
        let Some(session) = unanswered else {
            let text = format!("begin answers channel {ours}, where no begin waits for an answer");
            return Err(Fault::connection(names::NOT_ALLOWED, text));
        };
        session.map(channel, &begin);
        let (held, ended) = (session.held, session.ended);
        self.channels.insert(channel.into(), ours.into());
        if held.any() {
            self.session_flow_due(ours.into());
        }
        Ok((!ended).then(|| Event::SessionAnswered(SessionId(ours.into()), Box::new(begin))))
    }

    fn on_new_session(&mut self, channel: u16, begin: Begin) -> Result<Event<'static>, Fault> {
        if self.sessions.len() > usize::from(self.limits.remote_channel_max) {
            let text = format!(
                "no channel is left to answer on: the channel-max of {} allows no more sessions",
                self.limits.remote_channel_max
            );
            return Err(Fault::connection(names::NOT_ALLOWED, text));
        }
        let session = self.add_session();
        self.sessions[session as usize].map(channel, &begin);
        self.channels.insert(channel.into(), session);
        self.write_begin(session, Some(channel));
        Ok(Event::SessionBegun(SessionId(session), Box::new(begin)))
    }

    /// The peer's end, or its answer to ours.
    pub(crate) fn on_end(&mut self, session: u32, end: End) {
        self.write_end(session, None);
        let Some(ended) = self.sessions.get(session as usize) else { return };
        self.channels.remove(ended.remote_channel.into());
        if ended.disowned {
            self.sessions.remove(session as usize);
        } else {
            self.queue.push_back(Queued::SessionEnded { session, error: end.error.map(Box::new), gone: true });
        }
    }

    /// Ends a session whose rules the peer broke, and tells the owner at once.
    pub(crate) fn fail_session(&mut self, session: u32, error: ErrorCondition) {
        self.write_end(session, Some(error.clone()));
        if let Some(failed) = self.sessions.get_mut(session as usize).filter(|session| !session.disowned) {
            failed.disowned = true;
            self.queue.push_back(Queued::SessionEnded { session, error: Some(Box::new(error)), gone: false });
        }
    }

    /// Sends our end, unless it was sent before; the session's links are lost with it.
    fn write_end(&mut self, session: u32, error: Option<ErrorCondition>) {
        self.write_dispositions(session);
        let Some(ending) = self.sessions.get_mut(session as usize).filter(|session| !session.ended) else { return };
        ending.ended = true;
        ending.remote_handles.clear();
        ending.incoming = Unsettled::default();
        ending.outgoing = Unsettled::default();
        let handles = std::mem::take(&mut ending.handles);
        self.output.performative(session as u16, Performative::End(End { error }));
        self.names.remove_session(&self.links, session);
        handles.iter().for_each(|(_, &link)| self.lose_link(link));
    }

    fn add_session(&mut self) -> u32 {
        self.sessions.reserve_exact(usize::from(self.sessions.is_empty()));
        self.sessions.insert(Session::new(self.limits.session_window)) as u32
    }

    fn write_begin(&mut self, session: u32, remote_channel: Option<u16>) {
        let begin = Begin {
            remote_channel,
            next_outgoing_id: 0,
            incoming_window: self.limits.session_window,
            outgoing_window: OUTGOING_WINDOW,
            handle_max: self.limits.handle_max,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
        };
        self.output.performative(session as u16, Performative::Begin(begin));
    }
}
