//! Attaching links (part 2, sections 2.6.1 to 2.6.3).

use amqp::condition::names;
use amqp::performative::{Attach, Performative, ReceiverSettleMode, Role, SenderSettleMode};
use amqp::terminus::{Source, TargetTerminus};
use amqp::{ErrorCondition, Map, Symbol};

use crate::fault::{Fault, Handled};
use crate::link::{End, Link};
use crate::{Connection, Event, LinkId, SessionId};

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
    /// Extensions that this end supports.
    pub offered_capabilities: Vec<Symbol>,
    /// Extensions that this end would use if the peer supports them.
    pub desired_capabilities: Vec<Symbol>,
    /// Properties of the link, symbol keys.
    pub properties: Option<Map>,
}

/// How the peer's attach is answered.
#[derive(Clone, Debug, Default)]
pub struct AttachAnswer {
    /// Where messages come from; `None` refuses a link on which the peer receives.
    pub source: Option<Source>,
    /// Where messages go to; `None` refuses a link on which the peer sends.
    pub target: Option<TargetTerminus>,
    /// Bytes; `None`: no limit.
    pub max_message_size: Option<u64>,
    /// Extensions that this end supports.
    pub offered_capabilities: Vec<Symbol>,
    /// Extensions that this end would use if the peer supports them.
    pub desired_capabilities: Vec<Symbol>,
    /// Properties of the link, symbol keys.
    pub properties: Option<Map>,
    /// When sender and receiver settle, if not as the peer asked.
    pub settle_modes: Option<(SenderSettleMode, ReceiverSettleMode)>,
}

/// Why a link cannot be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// The session is not there, or has ended.
    #[error("the session is not open")]
    NoSession,
    /// As many links exist in the session as the peer allows.
    #[error("no handle is free: the peer allows at most {0} links in this session (handle-max)")]
    HandleMax(u64),
    /// A link of this name and direction is attached in the session, or not yet detached by the peer.
    #[error("a link of this name and direction is attached in this session already")]
    NameInUse,
    /// A link of this name and direction was detached, and the peer has not answered that yet.
    #[error("a link of this name and direction is still being detached in this session")]
    NameNotFree,
}

impl Connection {
    /// Attaches a link.
    ///
    /// # Errors
    /// If the session is not open, the peer's handle-max is reached, or the name is in use.
    pub fn attach(&mut self, session: SessionId, link: NewLink) -> Result<LinkId, AttachError> {
        let there = self.sessions.get(session.0 as usize).filter(|session| !session.ended);
        let there = there.ok_or(AttachError::NoSession)?;
        if there.handles.len() as u64 > u64::from(there.remote_handle_max) {
            return Err(AttachError::HandleMax(u64::from(there.remote_handle_max) + 1));
        }
        self.check_name(session, link.sender, &link.name)?;
        let mut new = Link::new(link.name.as_str().into(), session.0, link.sender);
        new.snd_settle_mode = link.snd_settle_mode;
        new.rcv_settle_mode = link.rcv_settle_mode;
        let index = self.add_link(new);
        let NewLink { source, target, max_message_size, offered_capabilities, desired_capabilities, .. } = link;
        let properties = link.properties;
        self.write_attach(
            index,
            AttachAnswer {
                source,
                target,
                max_message_size,
                offered_capabilities,
                desired_capabilities,
                properties,
                settle_modes: None,
            },
        );
        Ok(LinkId(index))
    }

    fn check_name(&self, session: SessionId, sender: bool, name: &str) -> Result<(), AttachError> {
        let named = self.names.find(&self.links, session.0, sender, name);
        let mut ends = named.filter_map(|link| self.links.get(link as usize)).map(|link| link.local);
        match ends.next() {
            None => Ok(()),
            Some(End::Detached) if ends.all(|end| end == End::Detached) => Err(AttachError::NameNotFree),
            Some(_) => Err(AttachError::NameInUse),
        }
    }

    /// Answers the peer's attach. A refusal has the local terminus `None` (the target where the peer sends, the source
    /// where it receives) and is followed by [`Connection::detach`].
    pub fn attach_answer(
        &mut self,
        link: LinkId,
        source: Option<Source>,
        target: Option<TargetTerminus>,
        max_message_size: Option<u64>,
    ) {
        self.answer_attach(link, AttachAnswer { source, target, max_message_size, ..AttachAnswer::default() });
    }

    /// As [`Connection::attach_answer`], with capabilities and properties of this end's.
    pub fn answer_attach(&mut self, link: LinkId, answer: AttachAnswer) {
        if self.links.get(link.0 as usize).is_some_and(|link| link.local == End::Absent && !link.lost) {
            self.write_attach(link.0, answer);
        }
    }

    /// Sends the attach that a detach must follow, if it was not sent: with both termini null, it refuses the link.
    pub(crate) fn attach_if_absent(&mut self, link: LinkId) {
        self.attach_answer(link, None, None, None);
    }

    /// The peer's attach, or its answer to ours.
    pub(crate) fn on_attach(&mut self, session: u32, attach: Box<Attach>) -> Handled<'static> {
        let handle = attach.handle;
        if handle > self.limits.handle_max {
            let text = format!("handle {handle} is above the handle-max of {}", self.limits.handle_max);
            return Err(Fault::connection(names::FRAMING_ERROR, text));
        }
        let Some(there) = self.sessions.get(session as usize) else { return Ok(None) };
        if there.remote_handles.get(handle).is_some() {
            let text = format!("a link is attached on handle {handle} already");
            return Err(Fault::session(session, names::HANDLE_IN_USE, text));
        }
        let sender = attach.role == Role::Receiver;
        let mut in_use = false;
        let mut waiting = None;
        for link in self.names.find(&self.links, session, sender, &attach.name) {
            match self.links.get(link as usize).map(|link| link.remote) {
                Some(End::Absent) => waiting = waiting.or(Some(link)),
                Some(End::Attached) => in_use = true,
                Some(End::Detached) | None => {}
            }
        }
        match waiting {
            Some(link) => Ok(self.on_attach_answer(link, attach)),
            None if there.handles.len() as u64 > u64::from(there.remote_handle_max) => {
                let text = format!("no handle is left to answer on: your handle-max is {}", there.remote_handle_max);
                Err(Fault::session(session, names::RESOURCE_LIMIT_EXCEEDED, text))
            }
            None => Ok(self.on_new_link(session, attach, in_use)),
        }
    }

    fn on_attach_answer(&mut self, index: u32, attach: Box<Attach>) -> Option<Event<'static>> {
        let link = self.links.get_mut(index as usize)?;
        link.agree(&attach);
        let flow_due = link.unannounced > 0 || link.drain || link.extra.is_some();
        let detached = link.local == End::Detached;
        if let Some(session) = self.sessions.get_mut(link.session as usize) {
            session.remote_handles.insert(attach.handle, index);
        }
        if flow_due {
            self.flow_due(index);
        }
        // Whoever has detached before the answer came no longer cares for it.
        (!detached).then_some(Event::AttachAnswered(LinkId(index), attach))
    }

    fn on_new_link(&mut self, session: u32, attach: Box<Attach>, in_use: bool) -> Option<Event<'static>> {
        let mut link = Link::new(attach.name.as_str().into(), session, attach.role == Role::Receiver);
        link.agree(&attach);
        let index = self.add_link(link);
        if let Some(session) = self.sessions.get_mut(session as usize) {
            session.remote_handles.insert(attach.handle, index);
        }
        if in_use {
            // The name belongs to a link that is alive. Only the newcomer is refused; neither the owner nor any other
            // link hears of it.
            let text = format!("a link named {:?} is attached in this session already", attach.name);
            self.disown_link(index, &ErrorCondition::new(names::NOT_ALLOWED, text));
            return None;
        }
        Some(Event::Attached(LinkId(index), attach))
    }

    /// Registers a link, and gives it a handle. There must be one left.
    fn add_link(&mut self, mut link: Link) -> u32 {
        let session = link.session as usize;
        self.links.reserve_exact(usize::from(self.links.is_empty()));
        let entry = self.links.vacant_entry();
        let index = entry.key() as u32;
        if let Some(session) = self.sessions.get_mut(session) {
            link.handle = session.handles.insert(index) as u32;
        }
        entry.insert(link);
        self.names.insert(&self.links, index);
        index
    }

    fn write_attach(&mut self, index: u32, terms: AttachAnswer) {
        let Some(link) = self.links.get_mut(index as usize) else { return };
        link.local = End::Attached;
        if let Some((sender, receiver)) = terms.settle_modes {
            (link.snd_settle_mode, link.rcv_settle_mode) = (sender, receiver);
        }
        let attach = Attach {
            name: link.name.to_string(),
            handle: link.handle,
            role: if link.sender { Role::Sender } else { Role::Receiver },
            snd_settle_mode: link.snd_settle_mode,
            rcv_settle_mode: link.rcv_settle_mode,
            source: terms.source,
            target: terms.target,
            // Deliveries of earlier attachments are not remembered, so none is unsettled.
            unsettled: link.unsettled_asked.then(Map::default),
            incomplete_unsettled: false,
            initial_delivery_count: link.sender.then_some(link.delivery_count),
            max_message_size: terms.max_message_size,
            offered_capabilities: terms.offered_capabilities,
            desired_capabilities: terms.desired_capabilities,
            properties: terms.properties,
        };
        let flow_due = link.is_up() && (link.unannounced > 0 || link.extra.is_some());
        let channel = link.session as u16;
        self.output.performative(channel, Performative::Attach(Box::new(attach)));
        if flow_due {
            self.flow_due(index);
        }
    }
}

impl Link {
    /// Takes over what the peer's attach says.
    fn agree(&mut self, attach: &Attach) {
        self.remote = End::Attached;
        self.remote_handle = attach.handle;
        self.snd_settle_mode = attach.snd_settle_mode;
        self.rcv_settle_mode = attach.rcv_settle_mode;
        self.unsettled_asked = attach.unsettled.is_some();
        if !self.sender {
            self.delivery_count = attach.initial_delivery_count.unwrap_or(0);
        }
    }
}
