//! A connection for which policy holds: what it has of what is limited, and what its messages may say.

use std::collections::BTreeSet;
use std::sync::Arc;

use amqp::performative::{Attach, Open, Role};
use amqp::terminus::TargetTerminus;
use amqp_endpoint::{LinkId, SessionId};
use security::policy::{Denied, LinkRequest, Settings, VhostUse};

use super::conn::{Conn, Link, Peer, user_of};
use super::policing::Policing;
use super::shared::Shared;
use crate::content::{Examined, Refusal};

/// Bytes of the longest address for which a verdict is remembered.
const REMEMBERED: usize = 1024;

/// What policy holds for a connection, and what it has of what is limited.
pub(super) struct Policed {
    pub(super) settings: Arc<Settings>,
    /// Messages that come in may name no other user than the connection's.
    pub(super) own_user_id_only: bool,
    /// The peer's address, and the host name in its open, for the log.
    pub(super) host: Box<str>,
    pub(super) vhost: Box<str>,
    /// Put before addresses by this router, if the connection is a tenant's.
    tenant: Option<Box<str>>,
    /// Sessions that the peer has begun.
    pub(super) sessions: BTreeSet<u32>,
    senders: u32,
    receivers: u32,
    /// What was denied to this connection: sessions, senders, receivers, messages.
    denied: [u64; 4],
}

/// How a link is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Counted {
    /// It is not.
    #[default]
    Not,
    /// The peer sends on it.
    Sender,
    /// The peer receives on it.
    Receiver,
}

/// What was found of the last address that a message on an anonymous link named.
#[derive(Debug, Default)]
pub(super) struct Judged {
    address: String,
    allowed: bool,
}

impl Policed {
    /// What a link comes to that the peer attaches.
    pub(super) fn request<'a>(&self, attach: &'a Attach) -> LinkRequest<'a> {
        let sender = attach.role == Role::Sender;
        let (address, dynamic, capabilities) = match (sender, &attach.target, &attach.source) {
            (true, Some(TargetTerminus::Target(target)), _) => {
                (target.address.as_deref(), target.dynamic, target.capabilities.as_slice())
            }
            (false, _, Some(source)) => (source.address.as_deref(), source.dynamic, source.capabilities.as_slice()),
            _ => (None, false, [].as_slice()),
        };
        LinkRequest {
            sender,
            address,
            dynamic,
            waypoint: capabilities.iter().any(|capability| capability.as_str().starts_with("qd.waypoint")),
            fallback: capabilities.iter().any(|capability| capability.as_str() == "qd.fallback"),
            open: if sender { self.senders } else { self.receivers },
        }
    }

    pub(super) fn count_of(&mut self, counted: Counted) -> &mut u32 {
        if counted == Counted::Sender { &mut self.senders } else { &mut self.receivers }
    }

    /// Counts what is denied.
    pub(super) fn deny(&mut self, id: u64, policing: &Policing, denied: Denied) {
        let index = match denied {
            Denied::Session => 0,
            Denied::Sender => 1,
            Denied::Receiver => 2,
            Denied::Message => 3,
        };
        self.denied[index] += 1;
        policing.with(|state| state.admissions.count(id, denied));
    }

    /// Whether a message may go to an address; `judged` remembers the last answer. `user` is for the log.
    pub(super) fn may_send_to(&self, judged: &mut Judged, address: &str, id: u64, user: Option<&str>) -> bool {
        if judged.address == address && !address.is_empty() {
            return judged.allowed;
        }
        self.judge(judged, address, id, user)
    }

    #[inline(never)]
    fn judge(&self, judged: &mut Judged, address: &str, id: u64, user: Option<&str>) -> bool {
        let targets = &self.settings.targets;
        // The old router holds what a tenant's message says against the rules with the tenant's prefix before it, though
        // what a tenant's link says without: so there are rules of both kinds.
        let with_tenant = |tenant: &str| targets.allow(&format!("{tenant}{address}"));
        let allowed = targets.allow(address) || self.tenant.as_deref().is_some_and(with_tenant);
        judged.address.clear();
        if address.len() <= REMEMBERED {
            judged.address.push_str(address);
        }
        judged.allowed = allowed;
        let of = format_args!(
            "message to '{address}' for user '{}', rhost '{}', vhost '{}' based on target address",
            user.unwrap_or("(null)"),
            self.host,
            self.vhost
        );
        if allowed {
            logging::log!(POLICY, Trace, "[C{id}] ALLOW AMQP {of}");
        } else {
            logging::log!(POLICY, Info, "[C{id}] DENY AMQP {of}");
        }
        allowed
    }

    /// Bytes of the largest message that may come in.
    fn max_message_size(&self) -> u64 {
        self.settings.max_message_size.unwrap_or(u64::MAX)
    }
}

impl Conn {
    /// Policy holds for this connection.
    pub(super) fn police(&mut self, settings: Arc<Settings>, open: &Open) {
        let host = match self.peer {
            Peer::Accepted { .. } => self.peer.ip().to_string(),
            Peer::Connected { .. } => self.peer.host(),
        };
        let tenant = self.settings.multi_tenant && !settings.vhost.is_empty();
        let policed = Policed {
            own_user_id_only: !settings.allow_user_id_proxy,
            host: host.into(),
            vhost: open.hostname.as_deref().unwrap_or("(null)").into(),
            tenant: tenant.then(|| format!("{}/", settings.vhost).into()),
            sessions: BTreeSet::new(),
            senders: 0,
            receivers: 0,
            denied: [0; 4],
            settings,
        };
        self.max_message_size = policed.max_message_size();
        self.policed = Some(Box::new(policed));
    }

    /// Whether a message may come in on a link, now that policy holds.
    pub(super) fn judge<'b>(&mut self, link: LinkId, examined: Examined<'b>) -> Result<Examined<'b>, Refusal> {
        let Some(policed) = &self.policed else { return Ok(examined) };
        let user = user_of(&self.peer, &self.authenticated);
        if policed.own_user_id_only
            && let Some(claimed) = examined.user_id
            && user.is_none_or(|own| own.as_bytes() != claimed)
        {
            return Err(Refusal::UserId);
        }
        if let Some(Link { judged: Some(judged), .. }) = self.links.get_mut(link.0 as usize)
            && let Some(to) = examined.router.to.or(examined.to)
            && !policed.may_send_to(judged, to, self.id, user)
        {
            return Err(Refusal::Target);
        }
        Ok(examined)
    }

    /// Whether the user-id of messages is looked at.
    pub(super) fn own_user_id_only(&self) -> bool {
        self.policed.as_ref().is_some_and(|policed| policed.own_user_id_only)
    }

    /// The largest message for a link as our attach says it, where `terms` is what the other end of a routed link says.
    pub(super) fn announced_size(&self, link: LinkId, terms: Option<u64>) -> Option<u64> {
        let receives = self.endpoint.link(link).is_some_and(|link| !link.sender);
        let own = Some(self.max_message_size).filter(|size| receives && *size != u64::MAX);
        // 0 and nothing both stand for no limit (part 2, section 2.7.3).
        match (own, terms.filter(|size| *size > 0)) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (Some(own), None) => Some(own),
            (None, _) => terms,
        }
    }

    /// A link is gone, for good or with its session.
    pub(super) fn count_link_out(&mut self, link: LinkId) {
        let Some(policed) = &mut self.policed else { return };
        let Some(state) = self.links.get_mut(link.0 as usize) else { return };
        let counted = std::mem::take(&mut state.counted);
        if counted != Counted::Not {
            let count = policed.count_of(counted);
            *count = count.saturating_sub(1);
        }
    }

    /// A session has ended.
    pub(super) fn count_session_out(&mut self, session: SessionId) {
        if let Some(policed) = &mut self.policed {
            policed.sessions.remove(&session.0);
        }
    }

    /// The connection has ended.
    pub(super) fn leave(&self, shared: &Shared) {
        let Some(policed) = &self.policed else { return };
        let used = shared.policing.with(|state| {
            state.admissions.leave(self.id);
            state.admissions.vhost(&policed.settings.vhost)
        });
        if !policed.settings.vhost.is_empty() {
            self.log_resources(policed, &used, shared.census.counts().0);
        }
    }

    /// The numbers of denials in the first line are the vhost's, as with the old router; those in the second are the
    /// connection's own.
    fn log_resources(&self, policed: &Policed, used: &VhostUse, connections: u64) {
        let id = self.id;
        logging::log!(
            POLICY,
            Debug,
            "[C{id}] Connection '{}' closed with resources n_sessions={}, n_senders={}, n_receivers={}, \
             sessions_denied={}, senders_denied={}, receivers_denied={}, max_message_size_denied:{}, nConnections= \
             {connections}.",
            self.peer.host(),
            policed.sessions.len(),
            policed.senders,
            policed.receivers,
            used.sessions_denied,
            used.senders_denied,
            used.receivers_denied,
            used.messages_denied,
        );
        let [sessions, senders, receivers, messages] = policed.denied;
        if policed.denied != [0; 4] {
            logging::log!(
                POLICY,
                Debug,
                "[C{id}] Policy has denied this connection {sessions} sessions, {senders} senders, {receivers} receivers \
                 and {messages} messages"
            );
        }
    }
}
