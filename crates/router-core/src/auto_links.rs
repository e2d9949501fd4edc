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
    NewAutoLink, Now, OpenLink, Role, RouteDirection, RouteVia, Treatment,
};

/// When a link is tried again the first time.
const FIRST_RETRY: Duration = Duration::from_secs(2);
/// When it is tried again after that.
const RETRY: Duration = Duration::from_secs(5);

/// A valid auto-link.
struct AutoLink {
    given: NewAutoLink,
    last_error: Option<String>,
    /// Its address, which is there as long as it is, whether anybody is connected or not; `None`: it is the surroundings' own.
    addr: Option<u32>,
    /// Its links, by the key of the connection to the container: one on each.
    at: BTreeMap<u64, At>,
}

/// An auto-link on one connection.
struct At {
    state: AutoLinkState,
    /// Key of its link.
    link: Option<u64>,
    /// It has failed since it was last active.
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

    /// What it does, on the connection where it gets on best.
    fn state(&self) -> AutoLinkState {
        self.at.values().map(|at| at.state).max().unwrap_or(AutoLinkState::Inactive)
    }

    /// It is a user's, and not the surroundings' own.
    fn is_shown(&self) -> bool {
        self.given.via != RouteVia::Internal
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
    /// Those that are tried again, by time: auto-link and connection.
    retries: BTreeSet<(Now, u64, u64)>,
}

impl AutoLinks {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_id.values().filter(|auto| auto.is_shown()).count()
    }

    /// When the next one is to be tried again.
    pub(crate) fn next_retry(&self) -> Option<Now> {
        self.retries.first().map(|(due, ..)| *due)
    }

    /// What it does on a connection.
    fn at_mut(&mut self, id: u64, conn: u64) -> Option<&mut At> {
        self.by_id.get_mut(&id)?.at.get_mut(&conn)
    }

    fn cancel_retry(&mut self, id: u64, conn: u64) {
        if let Some(due) = self.at_mut(id, conn).and_then(|at| at.retry.take()) {
            self.retries.remove(&(due, id, conn));
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
        let via = new.via.clone();
        let mut auto = AutoLink { given: new, last_error: None, addr: None, at: BTreeMap::new() };
        if auto.is_shown() {
            let addr = self.address_of_auto_link(&auto.given.address, auto.phase());
            self.addresses[addr].named += 1;
            auto.addr = Some(addr);
        }
        self.auto_links.by_id.insert(id, auto);
        let named = self.connections.iter().filter(|(_, there)| !there.closing && there.info.is_named(&via));
        let conns: Vec<_> = named.map(|(key, _)| key).collect();
        for conn in conns {
            self.activate_auto_link(host, id, conn);
        }
        Ok(id)
    }

    /// Deletes an auto-link, and detaches its link; false: there is none with this identity.
    pub fn delete_auto_link(&mut self, now: Now, host: &mut H, id: u64) -> bool {
        self.tick(now);
        let Some(auto) = self.auto_links.by_id.get(&id) else { return false };
        let conns: Vec<_> = auto.at.iter().map(|(conn, at)| (*conn, at.link)).collect();
        for (conn, link) in conns {
            self.auto_links.cancel_retry(id, conn);
            self.log_auto_link(host, id, conn, "Deactivated");
            let Some(key) = link else { continue };
            if let Some(record) = self.links.get_mut(key) {
                record.auto_link = 0;
                let at = record.host;
                self.remove_link(host, index_of(key), "Link detached");
                host.detach(at, true, None);
            }
        }
        let Some(auto) = self.auto_links.by_id.remove(&id) else { return true };
        if let Some(name) = auto.given.name {
            self.auto_links.names.remove(&name);
        }
        if let Some(addr) = auto.addr {
            self.give_up_address(addr);
        }
        true
    }

    /// All auto-links, in order of identity.
    pub fn auto_links(&self) -> Vec<AutoLinkSnapshot<'_>> {
        let link = |auto: &AutoLink| auto.at.values().rev().find_map(|at| Some(self.links.get(at.link?)?.id));
        let all = self.auto_links.by_id.iter().filter(|(_, auto)| auto.is_shown());
        all.map(|(id, auto)| AutoLinkSnapshot {
            id: *id,
            name: auto.given.name.as_deref(),
            address: &auto.given.address,
            direction: auto.given.direction,
            phase: auto.given.phase,
            external_address: auto.given.external_address.as_deref(),
            via: &auto.given.via,
            fallback: auto.given.fallback,
            link: link(auto),
            state: auto.state(),
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
        let waits = |(id, auto): (&u64, &AutoLink)| info.is_named(&auto.given.via).then_some(*id);
        let waiting: Vec<_> = self.auto_links.by_id.iter().filter_map(waits).collect();
        let key = self.connections.key_at(conn);
        for id in waiting {
            self.activate_auto_link(host, id, key);
        }
    }

    /// A connection has ended, and its links are gone: auto-links have nothing there any more.
    pub(crate) fn auto_links_closed(&mut self, host: &mut H, conn: u64) {
        let there = |(id, auto): (&u64, &AutoLink)| auto.at.contains_key(&conn).then_some(*id);
        let there: Vec<_> = self.auto_links.by_id.iter().filter_map(there).collect();
        for id in there {
            self.auto_links.cancel_retry(id, conn);
            self.log_auto_link(host, id, conn, "Deactivated");
            if let Some(auto) = self.auto_links.by_id.get_mut(&id) {
                auto.at.remove(&conn);
            }
        }
    }

    fn activate_auto_link(&mut self, host: &mut H, id: u64, conn: u64) {
        if let Some(auto) = self.auto_links.by_id.get_mut(&id) {
            let state = AutoLinkState::Attaching;
            auto.at.insert(conn, At { state, link: None, failed: false, retry: None });
        }
        self.log_auto_link(host, id, conn, "Activated");
        self.open_auto_link(host, id, conn);
    }

    /// Attaches the link of an auto-link on a connection.
    fn open_auto_link(&mut self, host: &mut H, id: u64, conn: u64) {
        let name = format!("qdlink.{}", self.generate_name());
        let key = LinkKey(self.links.next_key());
        let Some(auto) = self.auto_links.by_id.get_mut(&id) else { return };
        let Some(at) = auto.at.get_mut(&conn) else { return };
        (at.state, at.link) = (AutoLinkState::Attaching, Some(key.0));
        let conn = index_of(conn);
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
        self.next_identity += 1;
        let (link_id, link_type) = (self.next_identity, LinkType::Endpoint);
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
        let conn = self.connections.key_at(record.conn);
        let Some(auto) = self.auto_links.by_id.get_mut(&id).filter(|_| accepted) else { return };
        let Some(at) = auto.at.get_mut(&conn) else { return };
        (at.state, at.failed) = (AutoLinkState::Active, false);
        let (address, phase, on_demand) = (auto.given.address.clone(), auto.phase(), auto.given.on_demand);
        record.answered = true;
        if let Some(route) = on_demand {
            let key = self.links.key_at(link);
            return self.link_routes.take_on_demand(route, key);
        }
        let is_internal = auto.given.via == RouteVia::Internal;
        let addr = self.address_of_auto_link(&address, phase);
        // Links are led there whatever the distribution is; so are messages that name it.
        if is_internal && self.addresses[addr].treatment == Treatment::Unavailable {
            self.addresses[addr].treatment = Treatment::Balanced;
        }
        self.bind(host, link, addr);
    }

    fn address_of_auto_link(&mut self, address: &str, phase: char) -> u32 {
        let parsed = parse(address, &self.settings.router_id, self.settings.mode);
        let making = self.making(&parsed, "");
        let mut key = String::new();
        write_key(&mut key, &parsed, phase, "");
        self.find_or_make(&key, making)
    }

    /// The container has detached or refused the link of an auto-link, or it is lost: it is tried again after a while.
    pub(crate) fn auto_link_failed(&mut self, host: &mut H, link: u32, error: Option<&ErrorCondition>) {
        let (id, conn) = (std::mem::take(&mut self.links[link].auto_link), self.links[link].conn);
        if self.connections[conn].closing {
            return;
        }
        let now = self.now();
        let conn = self.connections.key_at(conn);
        let Some(auto) = self.auto_links.by_id.get_mut(&id) else { return };
        let Some(at) = auto.at.get_mut(&conn) else { return };
        let again = now + if std::mem::replace(&mut at.failed, true) { RETRY } else { FIRST_RETRY };
        (at.state, at.link, at.retry) = (AutoLinkState::Failed, None, Some(again));
        auto.last_error = error.and_then(|error| error.description.clone());
        self.auto_links.retries.insert((again, id, conn));
        let text = auto.last_error.as_deref().unwrap_or_default();
        host.log(Module::RouterCore, Level::Info, format_args!("Auto Link Activation Failed. {text}"));
    }

    /// Tries those again that are due.
    pub(crate) fn retry_auto_links(&mut self, host: &mut H) {
        while let Some((due, id, conn)) =
            self.auto_links.retries.first().copied().filter(|(due, ..)| *due <= self.now())
        {
            self.auto_links.retries.remove(&(due, id, conn));
            if let Some(at) = self.auto_links.at_mut(id, conn) {
                at.retry = None;
            }
            self.open_auto_link(host, id, conn);
        }
    }

    fn log_auto_link(&self, host: &mut H, id: u64, conn: u64, what: &str) {
        let Some(auto) = self.auto_links.by_id.get(&id) else { return };
        let Some(connection) = self.connections.get(conn) else { return };
        let name = auto.given.name.as_deref().unwrap_or(&auto.given.address);
        let (kind, at) = match &auto.given.via {
            RouteVia::Connection(name) => ("connection", name.as_str()),
            _ => ("container", connection.info.container.as_str()),
        };
        host.log(Module::RouterCore, Level::Info, format_args!("Auto Link {what} '{name}' on {kind} {at}"));
    }
}
