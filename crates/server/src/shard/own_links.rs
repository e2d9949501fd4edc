//! Links of the router's own: attached when the core asks for them, those of one kind on a session of their own.

use amqp::ErrorCondition;
use amqp::performative::Attach;
use amqp::terminus::{Source, TargetTerminus};
use amqp_endpoint::{AttachAnswer, AttachError, BeginError, LinkId, NewLink};
use router_core::{Core, LinkClass, LinkKey, LinkTerms, OpenLink};

use super::conn::{Conn, Link};
use super::driving::terms_of;
use super::host::{ShardHost, mark_dirty};
use super::mailbox::Mail;
use super::own_sessions::Origin;
use super::place::{ConnRef, LinkRef};

/// A link that the core wants attached.
pub(super) struct Opening {
    pub(super) conn: ConnRef,
    pub(super) key: LinkKey,
    pub(super) link: OpenLink,
    /// Whose attach it passes on.
    pub(super) origin: Option<Origin>,
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
        let origin = self.attaching.filter(|_| link.class == LinkClass::LinkRoute);
        let opening = Opening { conn, key, link, origin };
        if self.owns(conn) {
            self.openings.push_back(opening);
        } else {
            self.post(conn, Mail::OpenLink(Box::new(opening)));
        }
        LinkRef { conn, link: u32::MAX }
    }

    /// Attaches the links that the core has asked for.
    pub(super) fn open_links(&mut self, core: &mut Core<Self>) {
        while let Some(opening) = self.openings.pop_front() {
            let Opening { conn: at, key, .. } = opening;
            // Without the connection the core has lost the link already.
            let Some(conn) = self.conns.get_mut(at.slot as usize).map(|conn| &mut **conn).filter(|conn| conn.at == at)
            else {
                continue;
            };
            if core.link_id(key).is_none() {
                // It has been given up meanwhile.
                continue;
            }
            mark_dirty(&mut self.dirty, conn);
            match conn.open_link(&opening) {
                Ok(link) => core.link_opened(self.now, self, key, link),
                Err(Unopened::Link(AttachError::NameNotFree)) => conn.postponed.push(opening),
                Err(reason) => {
                    logging::log!(ROUTER_CORE, Error, "[C{}] Cannot attach a link: {reason}", conn.id);
                    core.link_lost(self.now, self, key);
                }
            }
            self.report(core);
        }
    }

    /// The peer has answered the attach of a link of the router's own.
    pub(super) fn attach_answered(&mut self, core: &mut Core<Self>, slot: u32, link: LinkId, mut answer: Attach) {
        let Some(conn) = self.conns.get(slot as usize) else { return };
        let Some(key) = conn.endpoint.link(link).map(|link| LinkKey(link.context)) else { return };
        let terms = terms_of(&mut answer);
        core.attach_answered(self.now, self, key, answer.source, answer.target, terms);
    }
}

impl Conn {
    /// Attaches a link on the session of its kind.
    fn open_link(&mut self, opening: &Opening) -> Result<LinkRef, Unopened> {
        let Opening { key, link, origin, .. } = opening;
        let session = self.sessions.take(&mut self.endpoint, link.class, *origin)?;
        let routed = link.class == LinkClass::LinkRoute;
        let given_back = routed || link.class == LinkClass::Streaming;
        let OpenLink { name, incoming, source, target, terms, .. } = link.clone();
        let mut state =
            Link::new(&self.settings, self.flags.watched, self.own_user_id_only(), source.as_ref(), target.as_ref());
        state.session = given_back.then_some(session);
        state.routed = routed;
        let new = NewLink {
            name,
            sender: !incoming,
            snd_settle_mode: terms.snd_settle_mode,
            rcv_settle_mode: terms.rcv_settle_mode,
            source,
            target,
            max_message_size: terms.max_message_size,
            offered_capabilities: terms.offered_capabilities,
            desired_capabilities: terms.desired_capabilities,
            properties: terms.properties,
        };
        let attached = self.endpoint.attach(session, new);
        if given_back && attached.is_err() {
            self.sessions.give_back(session);
        }
        let link = attached?;
        *self.link_mut(link) = state;
        self.endpoint.set_link_context(link, key.0);
        if routed {
            self.endpoint.take_resumed(link);
        }
        Ok(self.link_ref(link))
    }

    /// Answers an attach that was passed on.
    pub(super) fn answer_routed(
        &mut self,
        link: LinkId,
        source: Option<Source>,
        target: Option<TargetTerminus>,
        terms: LinkTerms,
    ) {
        self.link_mut(link).routed = true;
        self.endpoint.take_resumed(link);
        let answer = AttachAnswer {
            source,
            target,
            max_message_size: self.announced_size(link, terms.max_message_size),
            offered_capabilities: terms.offered_capabilities,
            desired_capabilities: terms.desired_capabilities,
            properties: terms.properties,
            settle_modes: Some((terms.snd_settle_mode, terms.rcv_settle_mode)),
        };
        self.endpoint.answer_attach(link, answer);
    }

    /// Detaches a link. What waits on it is dropped, except on one that is one with another: that is detached when all it
    /// has is through.
    pub(super) fn detach(&mut self, link: LinkId, closed: bool, error: Option<ErrorCondition>) {
        if let Some(state) = self.links.get_mut(link.0 as usize)
            && state.routed
            && !state.waiting.is_empty()
        {
            state.farewell = Some(Box::new((closed, error)));
            return;
        }
        self.clear_outgoing(link);
        self.endpoint.detach(link, closed, error);
    }

    /// A link is gone: its session may be free for another.
    pub(super) fn free_session(&mut self, link: LinkId) {
        if let Some(session) = self.links.get_mut(link.0 as usize).and_then(|link| link.session.take()) {
            self.sessions.give_back(session);
        }
    }
}
