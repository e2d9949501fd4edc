//! The sessions that this router has begun for links of its own: which link goes on which.
//!
//! Links of one kind share a session, with two exceptions. One for a large message at a time has a session to itself, because
//! a session is what the other end holds back when the message has a slow reader: others must not wait for it. And links
//! that are passed on share one with those that came from the same client, and not with other clients' links, for the same
//! reason. (What a client does in a transaction has to be on one session.)

use amqp_endpoint::{BeginError, Connection, SessionId};
use router_core::LinkClass;

/// Sessions of one connection for links that are passed on; more clients than this share.
const MOST_ROUTED: usize = 256;

/// Whose links are passed on: a client's connection, or a session of another router's. The number of the connection, and of
/// the session, or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) conn: u64,
    pub(super) session: u32,
}

/// A session.
struct OwnSession {
    class: LinkClass,
    id: SessionId,
    /// Whose links it has, if such as are passed on.
    origin: Option<Origin>,
    /// Links that are passed on.
    links: usize,
}

/// The sessions of one connection; of those for streams only the free ones.
#[derive(Default)]
pub(super) struct OwnSessions(Vec<OwnSession>);

impl OwnSessions {
    /// The session for a link of a kind, begun when it is first needed. Where the peer allows too few sessions, links
    /// share.
    ///
    /// # Errors
    /// If none can be begun, and there is none to share.
    pub(super) fn take(
        &mut self,
        endpoint: &mut Connection,
        class: LinkClass,
        origin: Option<Origin>,
    ) -> Result<SessionId, BeginError> {
        match class {
            LinkClass::LinkRoute => self.take_routed(endpoint, origin),
            LinkClass::Streaming => match self.position(class) {
                Some(at) => Ok(self.0.swap_remove(at).id),
                None => self.begin(endpoint),
            },
            _ => {
                if let Some(at) = self.position(class) {
                    return Ok(self.0[at].id);
                }
                let id = self.begin(endpoint)?;
                self.0.push(OwnSession { class, id, origin: None, links: 0 });
                Ok(id)
            }
        }
    }

    fn take_routed(&mut self, endpoint: &mut Connection, origin: Option<Origin>) -> Result<SessionId, BeginError> {
        let routed = |session: &&mut OwnSession| session.class == LinkClass::LinkRoute;
        let mut all = self.0.iter_mut().filter(routed);
        if let Some(known) = all.find(|session| session.links > 0 && session.origin == origin) {
            known.links += 1;
            return Ok(known.id);
        }
        if let Some(free) = self.0.iter_mut().filter(routed).find(|session| session.links == 0) {
            (free.origin, free.links) = (origin, 1);
            return Ok(free.id);
        }
        let many = self.0.iter_mut().filter(routed).count() >= MOST_ROUTED;
        let begun = if many { Err(BeginError::ChannelMax(0)) } else { endpoint.begin_session() };
        match (begun, self.0.iter_mut().filter(routed).min_by_key(|session| session.links)) {
            (Ok(id), _) => {
                self.0.push(OwnSession { class: LinkClass::LinkRoute, id, origin, links: 1 });
                Ok(id)
            }
            (Err(BeginError::ChannelMax(_)), Some(shared)) => {
                shared.links += 1;
                Ok(shared.id)
            }
            (Err(error), _) => self.last().ok_or(error),
        }
    }

    fn begin(&self, endpoint: &mut Connection) -> Result<SessionId, BeginError> {
        match (endpoint.begin_session(), self.last()) {
            (Err(BeginError::ChannelMax(_)), Some(shared)) => Ok(shared),
            (begun, _) => begun,
        }
    }

    fn position(&self, class: LinkClass) -> Option<usize> {
        self.0.iter().position(|session| session.class == class)
    }

    fn last(&self) -> Option<SessionId> {
        self.0.last().map(|session| session.id)
    }

    /// A link is gone that had a session to itself, or shared one with those of its client.
    pub(super) fn give_back(&mut self, id: SessionId) {
        match self.0.iter_mut().find(|session| session.id == id) {
            Some(session) => session.links = session.links.saturating_sub(1),
            None => self.0.push(OwnSession { class: LinkClass::Streaming, id, origin: None, links: 0 }),
        }
    }

    /// A session has ended.
    pub(super) fn ended(&mut self, id: SessionId) {
        self.0.retain(|session| session.id != id);
    }
}
