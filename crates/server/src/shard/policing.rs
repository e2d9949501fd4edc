//! Policy at work: what is decided when connections open and end, and while sessions and links begin.
//!
//! All shards share the rules of the moment and the counts of who is in; they are looked at when a connection opens and
//! ends, and when something is denied. What is needed for each message lies at the connection.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use amqp::ErrorCondition;
use amqp::condition::names;
use amqp::performative::{Attach, Open};
use amqp_endpoint::{LinkId, SessionId};
use parking_lot::Mutex;
use router_core::LinkKey;
use security::policy::{Admissions, Denied, OpenRequest, Policy, Settings};

use super::conn::Peer;
use super::host::ShardHost;
use super::policed::Counted;
use super::settings::Role;

/// What a peer is told whose connection is refused.
const CONNECTION_DISALLOWED: &str = "connection disallowed by local policy";
/// Whose session is.
const SESSION_DISALLOWED: &str = "session disallowed by local policy";
/// Whose link is.
const LINK_DISALLOWED: &str = "link disallowed by local policy";

/// The rules of the moment, and who is in.
#[derive(Debug, Default)]
pub(super) struct Policing {
    /// The rules of vhosts apply.
    enabled: AtomicBool,
    state: Mutex<PolicyState>,
}

/// See [`Policing`].
#[derive(Debug, Default)]
pub(crate) struct PolicyState {
    policy: Arc<Policy>,
    pub(crate) admissions: Admissions,
}

impl Policing {
    /// Puts rules in force for connections that open from now on; `None`: there are none.
    pub(super) fn set(&self, policy: Option<Policy>) {
        self.enabled.store(policy.is_some(), Ordering::Release);
        self.state.lock().policy = Arc::new(policy.unwrap_or_default());
    }

    /// The rules, if they are in force.
    fn policy(&self) -> Option<Arc<Policy>> {
        self.enabled.load(Ordering::Acquire).then(|| Arc::clone(&self.state.lock().policy))
    }

    /// Looks at, or changes, the counts.
    pub(super) fn with<R>(&self, call: impl FnOnce(&mut PolicyState) -> R) -> R {
        call(&mut self.state.lock())
    }
}

impl ShardHost {
    /// Decides about a connection whose peer's open has come. False: it is refused, and is being closed.
    pub(super) fn admit(&mut self, slot: u32, open: &Open) -> bool {
        let shared = Arc::clone(&self.shared);
        let Some(conn) = self.conns.get_mut(slot as usize) else { return false };
        let hostname = conn.settings.policy_vhost.clone().or_else(|| open.hostname.clone()).unwrap_or_default();
        let user = conn.user().map(str::to_owned);
        let name = conn.peer.host();
        let request =
            OpenRequest { id: conn.id, name: &name, user: user.as_deref(), host: conn.peer.ip(), vhost: &hostname };
        let decided = match (&conn.peer, shared.policing.policy()) {
            (Peer::Accepted { .. }, Some(policy)) if conn.settings.role != Role::InterRouter => {
                admit_accepted(&shared.policing, &policy, &request).map(Some)
            }
            (Peer::Connected { .. }, Some(policy)) if !conn.settings.role.is_router() => {
                match &conn.settings.policy_vhost {
                    Some(vhost) => settings_of_connector(&policy, &request, vhost).map(Some),
                    None => Ok(None),
                }
            }
            _ => Ok(None),
        };
        let Ok(by_vhost) = decided else {
            let error = ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, CONNECTION_DISALLOWED);
            conn.endpoint.close(Some(error));
            return false;
        };
        let counted = by_vhost.is_some() && matches!(conn.peer, Peer::Accepted { .. });
        let settings = match (by_vhost, &conn.authorised) {
            (Some(settings), Some(authorised)) => Some(settings.with(authorised, user.as_deref())),
            (None, Some(authorised)) => Some(Settings::authorised(authorised, user.as_deref())),
            (settings, None) => settings,
        };
        if let Some(settings) = settings {
            let settings = Arc::new(settings);
            shared.policing.with(|state| state.admissions.enter(&request, Arc::clone(&settings), counted));
            conn.police(settings, open);
        }
        if let Peer::Accepted { place, .. } = &mut conn.peer {
            place.opened();
        }
        true
    }

    /// The peer has begun a session.
    pub(super) fn session_begun(&mut self, slot: u32, session: SessionId) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let (id, user) = (conn.id, conn.user().unwrap_or("(null)").to_owned());
        let Some(policed) = &mut conn.policed else { return };
        let of = format_args!("Begin Session. user: {user}, rhost: {}, vhost: {}", policed.host, policed.vhost);
        let has = policed.sessions.len();
        if policed.settings.max_sessions.is_none_or(|most| has < most as usize) {
            logging::log!(POLICY, Trace, "[C{id}] ALLOW AMQP {of}");
            policed.sessions.insert(session.0);
            return;
        }
        let of = format_args!("user: {user}, rhost: {}, vhost: {}", policed.host, policed.vhost);
        logging::log!(POLICY, Info, "[C{id}] DENY AMQP Begin Session due to session limit. {of}");
        policed.deny(id, &self.shared.policing, Denied::Session);
        let error = ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, SESSION_DISALLOWED);
        conn.endpoint.end_session(session, Some(error));
    }

    /// Whether the peer may attach a link. If not, it is refused.
    pub(super) fn may_attach(&mut self, slot: u32, link: LinkId, attach: &Attach) -> bool {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return false };
        let (id, user) = (conn.id, conn.user().unwrap_or("(null)").to_owned());
        let Some(policed) = &mut conn.policed else { return true };
        let request = policed.request(attach);
        let Err(denial) = policed.settings.check_link(&request) else {
            if logging::enabled(logging::Module::Policy, logging::Level::Trace) {
                let what = request.subject().describe(&request, &user, &policed.host, &policed.vhost);
                logging::log!(POLICY, Trace, "[C{id}] ALLOW AMQP Attach {what}");
            }
            let counted = if request.sender { Counted::Sender } else { Counted::Receiver };
            *policed.count_of(counted) += 1;
            let must_judge =
                request.sender && request.address.is_none_or(str::is_empty) && !policed.settings.targets.allow_all();
            let state = conn.link_mut(link);
            state.counted = counted;
            state.judged = must_judge.then(Box::default);
            return true;
        };
        let what = denial.describe(&request, &user, &policed.host, &policed.vhost);
        logging::log!(POLICY, Info, "[C{id}] DENY AMQP Attach {what}");
        let denied = if request.sender { Denied::Sender } else { Denied::Receiver };
        policed.deny(id, &self.shared.policing, denied);
        let condition = if denial.is_limit() { names::RESOURCE_LIMIT_EXCEEDED } else { names::UNAUTHORIZED_ACCESS };
        conn.endpoint.set_link_context(link, LinkKey::DEAD.0);
        // With both termini null, as the old router has it.
        conn.endpoint.detach(link, true, Some(ErrorCondition::new(condition, LINK_DISALLOWED)));
        false
    }

    /// Counts a message that was too large, and logs it.
    pub(super) fn note_oversize(&mut self, slot: u32, link: u64) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let id = conn.id;
        logging::log!(POLICY, Warning, "[C{id}][L{link}] DENY AMQP Transfer maxMessageSize exceeded");
        if let Some(policed) = &mut conn.policed {
            policed.deny(id, &self.shared.policing, Denied::Message);
        }
    }
}

/// Decides about a connection that was accepted.
fn admit_accepted(policing: &Policing, policy: &Policy, request: &OpenRequest<'_>) -> Result<Settings, ()> {
    let (user, host) = (request.user.unwrap_or("(null)"), request.host);
    match policing.with(|state| state.admissions.admit(policy, request)) {
        Ok(settings) => {
            let (id, vhost) = (request.id, request.vhost);
            if *settings.vhost != *vhost {
                logging::log!(
                    POLICY,
                    Debug,
                    "AMQP Open for user '{user}', rhost '{host}', vhost '{vhost}': proceeds using vhost '{}' ruleset",
                    settings.vhost
                );
            }
            logging::log!(
                POLICY,
                Trace,
                "[C{id}] ALLOW AMQP Open lookup_user: {user}, rhost: {host}, vhost: {vhost}, connection: {}. Usergroup: \
                 '{}'",
                request.name,
                settings.group
            );
            Ok(settings)
        }
        Err(denial) => {
            for reason in denial.reasons {
                let (vhost, reason) = (&denial.vhost, reason.as_str());
                logging::log!(
                    POLICY,
                    Info,
                    "DENY AMQP Open for user '{user}', rhost '{host}', vhost '{vhost}': {reason}"
                );
            }
            Err(())
        }
    }
}

/// What a connection may do that this router has made.
fn settings_of_connector(policy: &Policy, request: &OpenRequest<'_>, vhost: &str) -> Result<Settings, ()> {
    let group = policy.find(vhost).and_then(|vhost| Some((vhost, vhost.connector_group()?)));
    let Some((found, group)) = group else {
        let id = request.id;
        logging::log!(
            POLICY,
            Error,
            "[C{id}] Failed to find policyVhost settings for connection '{id}', policyVhost: '{vhost}'"
        );
        return Err(());
    };
    Ok(Settings::new(policy, found, group, request.user))
}

impl Peer {
    /// Its address. Where a connector leads it is not looked at.
    pub(super) fn ip(&self) -> IpAddr {
        match self {
            Self::Accepted { from, .. } => from.ip().to_canonical(),
            Self::Connected { .. } => Ipv4Addr::UNSPECIFIED.into(),
        }
    }
}
