//! Who is let in, and who is in: connections counted by vhost, user and host.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use super::{Group, Policy, Settings, Vhost};

/// A connection that asks to be let in.
#[derive(Clone, Copy, Debug)]
pub struct OpenRequest<'a> {
    /// Its number.
    pub id: u64,
    /// What it is called in reports: `address:port` of the peer.
    pub name: &'a str,
    /// The user, if there is one.
    pub user: Option<&'a str>,
    /// Where the peer is.
    pub host: IpAddr,
    /// The host name whose vhost is asked for.
    pub vhost: &'a str,
}

/// A connection is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The vhost, as far as it was found, or else the host name that was asked for.
    pub vhost: Box<str>,
    /// Why; at least one reason.
    pub reasons: Vec<Reason>,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is no vhost for the host name, and no default.
    NoVhost,
    /// The user is in no group.
    UnknownUser,
    /// The group's users may not connect from there.
    Host,
    /// The vhost has as many connections as it may.
    VhostLimit,
    /// So has the user.
    UserLimit,
    /// So has the host.
    HostLimit,
}

impl Reason {
    /// The old router's words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoVhost => "No policy defined for vhost",
            Self::UnknownUser => "User is not in a user group and unknown users are denied",
            Self::Host => "User is not allowed to connect from this network host",
            Self::VhostLimit => "Connection denied by application connection limit",
            Self::UserLimit => "Connection denied by application per user limit",
            Self::HostLimit => "Connection denied by application per host limit",
        }
    }
}

/// What is denied to a connection that was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// A session.
    Session,
    /// A link on which the peer would send.
    Sender,
    /// A link on which it would receive.
    Receiver,
    /// A message that is too large.
    Message,
}

/// What a vhost has allowed and refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VhostUse {
    /// Connections that were let in.
    pub approved: u64,
    /// Connections that were refused.
    pub denied: u64,
    /// Connections that are open.
    pub current: u64,
    /// Those by user: their numbers and names.
    pub by_user: BTreeMap<Box<str>, BTreeMap<u64, Box<str>>>,
    /// Those by host.
    pub by_host: BTreeMap<IpAddr, BTreeMap<u64, Box<str>>>,
    /// Sessions that were refused.
    pub sessions_denied: u64,
    /// Senders that were refused.
    pub senders_denied: u64,
    /// Receivers that were refused.
    pub receivers_denied: u64,
    /// Messages that were too large.
    pub messages_denied: u64,
}

/// A connection that is in.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// What it may do.
    pub settings: Arc<Settings>,
    /// For an outgoing connection, or one of which only an authentication service speaks: it is in no vhost's counts.
    uncounted: bool,
    user: Box<str>,
    host: IpAddr,
}

/// Everybody who is in.
#[derive(Debug, Default)]
pub struct Admissions {
    vhosts: BTreeMap<Box<str>, VhostUse>,
    connections: HashMap<u64, Admitted>,
    /// Links refused since the start, of whatever connection.
    pub links_denied: u64,
    /// Sessions refused since the start.
    pub sessions_denied: u64,
    /// Messages too large since the start.
    pub messages_denied: u64,
}

impl Policy {
    /// The vhost and the group that hold for a request, without regard to how many connections there are.
    ///
    /// # Errors
    /// Why it is to be refused.
    pub fn judge(&self, request: &OpenRequest<'_>) -> Result<(&Arc<Vhost>, &Group), Denial> {
        let deny = |vhost: &str, reason| Denial { vhost: vhost.into(), reasons: vec![reason] };
        let vhost = self.find(request.vhost).ok_or_else(|| deny(request.vhost, Reason::NoVhost))?;
        let group = vhost.group_of(request.user).ok_or_else(|| deny(&vhost.name, Reason::UnknownUser))?;
        if !group.hosts.contain(request.host) {
            return Err(deny(&vhost.name, Reason::Host));
        }
        Ok((vhost, group))
    }
}

impl Admissions {
    /// Lets a connection in, or not, and counts it.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn admit(&mut self, policy: &Policy, request: &OpenRequest<'_>) -> Result<Settings, Denial> {
        let judged = policy.judge(request).and_then(|(vhost, group)| {
            let reasons = self.over_limit(vhost, group, request);
            match reasons.is_empty() {
                true => Ok((vhost, group)),
                false => Err(Denial { vhost: vhost.name.clone(), reasons }),
            }
        });
        match judged {
            Ok((vhost, group)) => {
                let used = self.vhosts.entry(vhost.name.clone()).or_default();
                used.approved += 1;
                used.current += 1;
                let user: Box<str> = request.user.unwrap_or_default().into();
                used.by_user.entry(user).or_default().insert(request.id, request.name.into());
                used.by_host.entry(request.host).or_default().insert(request.id, request.name.into());
                Ok(Settings::new(policy, vhost, group, request.user))
            }
            Err(denial) => {
                if denial.reasons != [Reason::NoVhost] {
                    self.vhosts.entry(denial.vhost.clone()).or_default().denied += 1;
                }
                Err(denial)
            }
        }
    }

    /// All limits that one more connection would exceed.
    fn over_limit(&self, vhost: &Vhost, group: &Group, request: &OpenRequest<'_>) -> Vec<Reason> {
        let none = VhostUse::default();
        let used = self.vhosts.get(&vhost.name).unwrap_or(&none);
        let of_user = used.by_user.get(request.user.unwrap_or_default()).map_or(0, BTreeMap::len);
        let of_host = used.by_host.get(&request.host).map_or(0, BTreeMap::len);
        let (per_user, per_host) = (group.config.max_connections_per_user, group.config.max_connections_per_host);
        let counts = [
            (Reason::VhostLimit, used.current, vhost.max_connections),
            (Reason::UserLimit, of_user as u64, per_user.unwrap_or(vhost.max_connections_per_user)),
            (Reason::HostLimit, of_host as u64, per_host.unwrap_or(vhost.max_connections_per_host)),
        ];
        let over = counts.into_iter().filter(|(_, count, most)| *count >= u64::from(*most));
        over.map(|(reason, ..)| reason).collect()
    }

    /// Notes what a connection may do, until it leaves. `counted`: [`Admissions::admit`] let it in.
    pub fn enter(&mut self, request: &OpenRequest<'_>, settings: Arc<Settings>, counted: bool) {
        let user = request.user.unwrap_or_default().into();
        let admitted = Admitted { settings, uncounted: !counted, user, host: request.host };
        self.connections.insert(request.id, admitted);
    }

    /// A connection has ended; nothing if it was never let in.
    pub fn leave(&mut self, id: u64) {
        let Some(admitted) = self.connections.remove(&id).filter(|admitted| !admitted.uncounted) else { return };
        let Some(used) = self.vhosts.get_mut(&admitted.settings.vhost) else { return };
        used.current = used.current.saturating_sub(1);
        if let Some(names) = used.by_user.get_mut(&admitted.user) {
            names.remove(&id);
            if names.is_empty() {
                used.by_user.remove(&admitted.user);
            }
        }
        if let Some(names) = used.by_host.get_mut(&admitted.host) {
            names.remove(&id);
            if names.is_empty() {
                used.by_host.remove(&admitted.host);
            }
        }
    }

    /// Counts what was denied to a connection.
    pub fn count(&mut self, id: u64, denied: Denied) {
        let vhost = self.connections.get(&id).map(|admitted| &admitted.settings.vhost);
        let used = vhost.and_then(|vhost| self.vhosts.get_mut(vhost));
        let (total, of_vhost) = match denied {
            Denied::Session => (&mut self.sessions_denied, used.map(|used| &mut used.sessions_denied)),
            Denied::Sender => (&mut self.links_denied, used.map(|used| &mut used.senders_denied)),
            Denied::Receiver => (&mut self.links_denied, used.map(|used| &mut used.receivers_denied)),
            Denied::Message => (&mut self.messages_denied, used.map(|used| &mut used.messages_denied)),
        };
        *total += 1;
        if let Some(count) = of_vhost {
            *count += 1;
        }
    }

    /// What a connection may do; `None`: no policy holds for it.
    pub fn settings(&self, id: u64) -> Option<&Arc<Settings>> {
        self.connections.get(&id).map(|admitted| &admitted.settings)
    }

    /// What a vhost has allowed and refused.
    pub fn vhost(&self, name: &str) -> VhostUse {
        self.vhosts.get(name).cloned().unwrap_or_default()
    }

    /// Forgets the counts of a vhost that is no more, unless connections are left in it.
    pub fn forget(&mut self, name: &str) {
        if self.vhosts.get(name).is_some_and(|used| used.current == 0) {
            self.vhosts.remove(name);
        }
    }
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
