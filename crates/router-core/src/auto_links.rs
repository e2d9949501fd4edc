//! `autoLink` entities: links that the router attaches by itself at containers, as soon as they are connected.
//!
//! Such a link takes the deliveries of its address to the container, or brings those of the container to its address. If the
//! container refuses or detaches it, it is tried again and again for as long as the connection lasts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use amqp::ErrorCondition;
use amqp::terminus::{Source, Target, TargetTerminus};

use crate::address::key::{FALLBACK_PHASE, parse, phase_char, write_key};
use crate::arena::index_of;
use crate::attach::ENDPOINT_PRIORITY;
use crate::core::Core;
use crate::link::NewLink;
use crate::{
    AutoLinkError, AutoLinkSnapshot, AutoLinkState, Host, Level, LinkClass, LinkKey, LinkTerms, LinkType, Module,
    NewAutoLink, Now, OpenLink, Role, RouteDirection, RouteVia,
};

/// When a link is tried again the first time.
const FIRST_RETRY: Duration = Duration::from_secs(2);
/// When it is tried again after that.
const RETRY: Duration = Duration::from_secs(5);

/// A valid auto-link.
struct AutoLink {
    given: NewAutoLink,
    state: AutoLinkState,
    last_error: Option<String>,
    /// Key of the connection on which it is, or is tried.
    conn: Option<u64>,
    /// Key of its link.
    link: Option<u64>,
    /// It has failed since it was last active, or since the connection was opened.
    failed: bool,
    retry: Option<Now>,
}

impl AutoLink {
    /// The phase of its address, as keys have it.
    fn phase(&self) -> char {
        match self.given.fallback && self.given.direction == RouteDirection::Out {
            true => FALLBACK_PHASE,
            false => phase_char(self.given.phase),
        }
    }

    /// The address at the container.
    fn external(&self) -> &str {
        self.given.external_address.as_deref().unwrap_or(&self.given.address)
    }
}

/// All auto-links.
#[derive(Default)]
pub(crate) struct AutoLinks {
    by_id: BTreeMap<u64, AutoLink>,
    names: BTreeSet<String>,
    /// Those that are tried again, by time.
    retries: BTreeSet<(Now, u64)>,
}

impl AutoLinks {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// When the next one is to be tried again.
    pub(crate) fn next_retry(&self) -> Option<Now> {
        self.retries.first().map(|(due, _)| *due)
    }

    fn cancel_retry(&mut self, id: u64) {
        if let Some(due) = self.by_id.get_mut(&id).and_then(|auto| auto.retry.take()) {
            self.retries.remove(&(due, id));
        }
    }
}

impl<H: Host> Core<H> {
    /// Creates an auto-link, which is attached at once if its container is there. Returns its identity.
    ///
    /// # Errors
    /// If its name is in use; nothing is changed then.
    pub fn create_auto_link(&mut self, now: Now, host: &mut H, new: NewAutoLink) -> Result<u64, AutoLinkError> {
        self.tick(now);
        if new.name.as_ref().is_some_and(|name| self.auto_links.names.contains(name)) {
            return Err(AutoLinkError::NameInUse);
        }
        self.auto_links.names.extend(new.name.clone());
        let id = self.next_identity();
        let state = AutoLinkState::Inactive;
        let auto = AutoLink { given: new, state, last_error: None, conn: None, link: None, failed: false, retry: None };
        self.auto_links.by_id.insert(id, auto);
        self.find_container(host, id);
        Ok(id)
    }

    /// Deletes an auto-link, and detaches its link; false: there is none with this identity.
    pub fn delete_auto_link(&mut self, now: Now, host: &mut H, id: u64) -> bool {
        self.tick(now);
        if !self.auto_links.by_id.contains_key(&id) {
            return false;
        }
        self.auto_links.cancel_retry(id);
        self.log_auto_link(host, id, "Deactivated");
        let Some(auto) = self.auto_links.by_id.remove(&id) else { return false };
        if let Some(name) = &auto.given.name {
            self.auto_links.names.remove(name);
        }
        if let Some(record) = auto.link.and_then(|link| self.links.get_mut(link)) {
            record.auto_link = 0;
            let (at, link) = (record.host, index_of(auto.link.unwrap_or_default()));
            self.remove_link(host, link, "Link detached");
            host.detach(at, true, None);
        }
        true
    }

    /// All auto-links, in order of identity.
    pub fn auto_links(&self) -> Vec<AutoLinkSnapshot<'_>> {
        let snapshot = |(id, auto): (&u64, &'_ AutoLink)| {
            let link = auto.link.and_then(|link| Some(self.links.get(link)?.id));
            (*id, link)
        };
        let both = self.auto_links.by_id.iter().map(|entry| (snapshot(entry), entry.1));
        both.map(|((id, link), auto)| AutoLinkSnapshot {
            id,
            name: auto.given.name.as_deref(),
            address: &auto.given.address,
            direction: auto.given.direction,
            phase: auto.given.phase,
            external_address: auto.given.external_address.as_deref(),
            via: &auto.given.via,
            fallback: auto.given.fallback,
            link,
            state: auto.state,
            last_error: auto.last_error.as_deref(),
        })
        .collect()
    }

    /// A connection was opened: auto-links that wait for it are attached.
    pub(crate) fn auto_links_opened(&mut self, host: &mut H, conn: u32) {
        let info = &self.connections[conn].info;
        if info.role != Role::RouteContainer {
            return;
        }
        let waits =
            |(id, auto): (&u64, &AutoLink)| (auto.conn.is_none() && info.is_named(&auto.given.via)).then_some(*id);
        let waiting: Vec<_> = self.auto_links.by_id.iter().filter_map(waits).collect();
        let key = self.connections.key_at(conn);
        for id in waiting {
            self.activate_auto_link(host, id, key);
        }
    }

    /// A connection has ended, and its links are gone: auto-links that were there look for another.
    pub(crate) fn auto_links_closed(&mut self, host: &mut H, conn: u64) {
        let there = |(id, auto): (&u64, &AutoLink)| (auto.conn == Some(conn)).then_some(*id);
        let there: Vec<_> = self.auto_links.by_id.iter().filter_map(there).collect();
        for id in there {
            self.auto_links.cancel_retry(id);
            self.log_auto_link(host, id, "Deactivated");
            if let Some(auto) = self.auto_links.by_id.get_mut(&id) {
                (auto.state, auto.conn, auto.link, auto.failed) = (AutoLinkState::Inactive, None, None, false);
            }
            self.find_container(host, id);
        }
    }

    /// Attaches an auto-link if there is a connection to its container.
    fn find_container(&mut self, host: &mut H, id: u64) {
        let Some(auto) = self.auto_links.by_id.get(&id) else { return };
        let fits = |(_, connection): &(u64, &crate::connection::Connection<H>)| {
            !connection.closing && connection.info.is_named(&auto.given.via)
        };
        let found = self.connections.iter().find(fits).map(|(key, _)| key);
        if let Some(conn) = found {
            self.activate_auto_link(host, id, conn);
        }
    }

    fn activate_auto_link(&mut self, host: &mut H, id: u64, conn: u64) {
        if let Some(auto) = self.auto_links.by_id.get_mut(&id) {
            auto.conn = Some(conn);
        }
        self.log_auto_link(host, id, "Activated");
        self.open_auto_link(host, id);
    }

    /// Attaches the link of an auto-link.
    fn open_auto_link(&mut self, host: &mut H, id: u64) {
        let name = format!("qdlink.{}", self.generate_name());
        let key = LinkKey(self.links.next_key());
        let Some(auto) = self.auto_links.by_id.get_mut(&id) else { return };
        let Some(conn) = auto.conn.filter(|conn| self.connections.get(*conn).is_some()) else { return };
        let conn = index_of(conn);
        (auto.state, auto.link) = (AutoLinkState::Attaching, Some(key.0));
        let address = Some(auto.external().to_owned());
        let incoming = auto.given.direction == RouteDirection::In;
        let (mut source, mut target) = (Source::default(), Target::default());
        if incoming {
            source.address = address;
        } else {
            target.address = address;
        }
        let open = OpenLink {
            name: name.clone(),
            incoming,
            class: LinkClass::Endpoint,
            source: Some(source),
            target: Some(TargetTerminus::Target(target)),
            terms: LinkTerms::default(),
        };
        let stand_in = host.open_link(self.connections[conn].host, key, open);
        self.next_link += 1;
        let (link_id, link_type) = (self.next_link, LinkType::Endpoint);
        let priority = ENDPOINT_PRIORITY;
        let new = NewLink { id: link_id, name, incoming, link_type, priority, own: true, send_settled: false };
        let link = self.add_link(conn, stand_in, new);
        self.links[link].auto_link = id;
    }

    /// The container has answered the attach of an auto-link. If it refused, its detach follows.
    pub(crate) fn auto_link_answered(
        &mut self,
        host: &mut H,
        link: u32,
        source: Option<&Source>,
        target: Option<&TargetTerminus>,
    ) {
        let record = &mut self.links[link];
        let (id, incoming) = (record.auto_link, record.incoming);
        let accepted = match (incoming, source, target) {
            (true, Some(source), _) => source.address.is_some(),
            (false, _, Some(TargetTerminus::Target(target))) => target.address.is_some(),
            _ => false,
        };
        let Some(auto) = self.auto_links.by_id.get_mut(&id).filter(|_| accepted) else { return };
        (auto.state, auto.failed) = (AutoLinkState::Active, false);
        let (address, phase) = (auto.given.address.clone(), auto.phase());
        record.answered = true;
        let parsed = parse(&address, &self.settings.router_id, self.settings.mode);
        let making = self.making(&parsed, "");
        let mut key = String::new();
        write_key(&mut key, &parsed, phase, "");
        let addr = self.find_or_make(&key, making);
        self.bind(host, link, addr);
    }

    /// The container has detached or refused the link of an auto-link, or it is lost: it is tried again after a while.
    pub(crate) fn auto_link_failed(&mut self, host: &mut H, link: u32, error: Option<&ErrorCondition>) {
        let (id, conn) = (std::mem::take(&mut self.links[link].auto_link), self.links[link].conn);
        if self.connections[conn].closing {
            return;
        }
        let now = self.now();
        let Some(auto) = self.auto_links.by_id.get_mut(&id) else { return };
        let again = now + if std::mem::replace(&mut auto.failed, true) { RETRY } else { FIRST_RETRY };
        (auto.state, auto.link, auto.retry) = (AutoLinkState::Failed, None, Some(again));
        auto.last_error = error.and_then(|error| error.description.clone());
        self.auto_links.retries.insert((again, id));
        let text = auto.last_error.as_deref().unwrap_or_default();
        host.log(Module::RouterCore, Level::Info, format_args!("Auto Link Activation Failed. {text}"));
    }

    /// Tries those again that are due.
    pub(crate) fn retry_auto_links(&mut self, host: &mut H) {
        while let Some((due, id)) = self.auto_links.retries.first().copied().filter(|(due, _)| *due <= self.now()) {
            self.auto_links.retries.remove(&(due, id));
            if let Some(auto) = self.auto_links.by_id.get_mut(&id) {
                auto.retry = None;
            }
            self.open_auto_link(host, id);
        }
    }

    fn log_auto_link(&self, host: &mut H, id: u64, what: &str) {
        let Some(auto) = self.auto_links.by_id.get(&id) else { return };
        let Some(connection) = auto.conn.and_then(|conn| self.connections.get(conn)) else { return };
        let name = auto.given.name.as_deref().unwrap_or(&auto.given.address);
        let (kind, at) = match &auto.given.via {
            RouteVia::Connection(name) => ("connection", name.as_str()),
            _ => ("container", connection.info.container.as_str()),
        };
        host.log(Module::RouterCore, Level::Info, format_args!("Auto Link {what} '{name}' on {kind} {at}"));
    }
}
