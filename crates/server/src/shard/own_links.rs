//! Links of the router's own: attached when the core asks for them, those of one kind on a session of their own.

use amqp::performative::Attach;
use amqp_endpoint::{AttachError, BeginError, LinkId, NewLink, SessionId};
use router_core::{Core, LinkClass, LinkKey, OpenLink};

use super::conn::{Conn, Link};
use super::host::{ShardHost, mark_dirty};
use super::mailbox::Mail;
use super::place::{ConnRef, LinkRef};

/// A link that the core wants attached.
pub(super) struct Opening {
    pub(super) conn: ConnRef,
    pub(super) key: LinkKey,
    pub(super) link: OpenLink,
}

/// Why a link of the router's own is not attached.
#[derive(Debug, thiserror::Error)]
enum Unopened {
    #[error("{0}")]
    Session(#[from] BeginError),
    #[error("{0}")]
    Link(#[from] AttachError),
}

impl ShardHost {
    /// Notes that the core wants a link; its stand-in is returned. The link is attached when the core has finished what
    /// it is at, in the order in which it asked.
    pub(super) fn want_link(&mut self, conn: ConnRef, key: LinkKey, link: OpenLink) -> LinkRef {
        let opening = Opening { conn, key, link };
        if self.owns(conn) {
            self.openings.push_back(opening);
        } else {
            self.post(conn, Mail::OpenLink(Box::new(opening)));
        }
        LinkRef { conn, link: u32::MAX }
    }

    /// Attaches the links that the core has asked for.
    pub(super) fn open_links(&mut self, core: &mut Core<Self>) {
        while let Some(Opening { conn: at, key, link }) = self.openings.pop_front() {
            // Without the connection the core has lost the link already.
            let Some(conn) = self.conns.get_mut(at.slot as usize).map(|conn| &mut **conn).filter(|conn| conn.at == at)
            else {
                continue;
            };
            mark_dirty(&mut self.dirty, conn);
            match conn.open_link(key, link) {
                Ok(link) => core.link_opened(self.now, self, key, link),
                Err(reason) => {
                    logging::log!(ROUTER_CORE, Error, "[C{}] Cannot attach a link: {reason}", conn.id);
                    core.link_lost(self.now, self, key);
                }
            }
            self.report(core);
        }
    }

    /// The peer has answered the attach of a link of the router's own.
    pub(super) fn attach_answered(&mut self, core: &mut Core<Self>, slot: u32, link: LinkId, answer: Attach) {
        let Some(conn) = self.conns.get(slot as usize) else { return };
        let Some(key) = conn.endpoint.link(link).map(|link| LinkKey(link.context)) else { return };
        core.attach_answered(self.now, self, key, answer.source, answer.target);
    }
}

impl Conn {
    /// Attaches a link on the session of its kind.
    fn open_link(&mut self, key: LinkKey, link: OpenLink) -> Result<LinkRef, Unopened> {
        let session = self.session_of(link.class)?;
        let OpenLink { name, incoming, source, target, snd_settle_mode, rcv_settle_mode, .. } = link;
        let state = Link::new(&self.settings, source.as_ref(), target.as_ref());
        let new = NewLink {
            name,
            sender: !incoming,
            snd_settle_mode,
            rcv_settle_mode,
            source,
            target,
            max_message_size: None,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
        };
        let link = self.endpoint.attach(session, new)?;
        *self.link_mut(link) = state;
        self.endpoint.set_link_context(link, key.0);
        Ok(self.link_ref(link))
    }

    /// The session for a kind of links, begun when it is first needed. Where the peer allows too few sessions, kinds
    /// share.
    fn session_of(&mut self, class: LinkClass) -> Result<SessionId, BeginError> {
        let found = self.sessions.iter().find(|(other, _)| *other == class);
        if let Some((_, session)) = found {
            return Ok(*session);
        }
        let session = match (self.endpoint.begin_session(), self.sessions.last()) {
            (Err(BeginError::ChannelMax(_)), Some((_, session))) => *session,
            (begun, _) => begun?,
        };
        self.sessions.push((class, session));
        Ok(session)
    }

    /// A session has ended.
    pub(super) fn session_gone(&mut self, session: SessionId) {
        self.sessions.retain(|(_, other)| *other != session);
    }
}
