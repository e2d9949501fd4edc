//! An attach: refused, or bound to an address.

use amqp::condition::names;
use amqp::terminus::{Source, TargetTerminus};
use amqp::{ErrorCondition, Symbol};

use crate::address::Within;
use crate::address::key::{Class, FALLBACK_PHASE, Parsed, parse, phase_char};
use crate::arena::index_of;
use crate::bind::Making;
use crate::core::Core;
use crate::link::{NewLink, Stream};
use crate::{
    AttachInfo, ConnKey, EdgeEvent, Host, Level, LinkKey, LinkType, Mode, Module, Now, Role, Treatment, attach_log,
};

/// Credit for senders of heartbeats.
const HEARTBEAT_CAPACITY: u32 = 2;
/// Where an edge router learns which addresses have consumers elsewhere.
const TRACKING_ADDRESS: &str = "_$qd.edge_addr_tracking";
/// Where edge routers ask what an address is.
const LOOKUP_ADDRESS: &str = "_$qd.addr_lookup";
/// Priority shown for links of clients.
pub(crate) const ENDPOINT_PRIORITY: u8 = 4;
/// The 64 characters that generated names consist of.
const NAME_ALPHABET: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+_";
/// Characters in a generated name.
const NAME_LENGTH: usize = 15;
/// How often another name is tried when one is taken.
const NAME_ATTEMPTS: usize = 4;

/// What a link is to be bound to.
enum Binding {
    /// Nothing: each of its deliveries says where it goes.
    Anonymous,
    /// Nothing: the core sends on it what the edge protocol has to say of addresses.
    Tracking,
    /// The address with this key.
    Address { key: String, making: Making, to_override: Option<String> },
}

/// Why an attach is refused; without an error there is none in the detach either.
pub(crate) type Refusal = Option<ErrorCondition>;

pub(crate) fn refusal(condition: &str, description: &str) -> Refusal {
    Some(ErrorCondition::new(condition, description))
}

pub(crate) fn no_route() -> Refusal {
    refusal("qd:no-route-to-dest", "No route to the destination node")
}

impl<H: Host> Core<H> {
    /// A peer attaches a link. Answered through [`Host::attach_answer`]; if refused, [`Host::detach`] follows and the key
    /// returned is dead: calls with it do nothing.
    pub fn attach(&mut self, now: Now, host: &mut H, conn: ConnKey, link: H::Link, attach: AttachInfo) -> LinkKey {
        self.tick(now);
        if self.connections.get(conn.0).is_none() {
            return LinkKey::DEAD;
        }
        let conn = index_of(conn.0);
        self.next_identity += 1;
        let (id, conn_id) = (self.next_identity, self.connections[conn].info.id);
        let mut link_type =
            link_type(local_capabilities(attach.incoming, attach.source.as_ref(), attach.target.as_ref()));
        if link_type == LinkType::EdgeDownlink && (attach.incoming || !self.serves_edge(conn)) {
            link_type = LinkType::Endpoint;
        }
        if let Err(refused) = self.check_role(host, conn, link_type) {
            refuse(host, link, attach.incoming, attach.source, attach.target, refused);
            return LinkKey::DEAD;
        }
        log_attached(host, conn_id, id, attach.incoming, attach.source.as_ref(), attach.target.as_ref());
        if matches!(link_type, LinkType::RouterControl | LinkType::InterRouter) {
            return self.attach_router_link(host, conn, id, link, link_type, attach);
        }
        let mut attach = attach;
        if link_type == LinkType::Endpoint {
            match self.way_of(conn, &attach) {
                Some(Ok(way)) => return self.attach_routed(host, conn, id, link, attach, &way),
                Some(Err(refused)) => {
                    return self.refuse_attach(host, conn_id, id, link, attach, refused);
                }
                None => {}
            }
        }
        let AttachInfo { incoming, source, target, .. } = &mut attach;
        let incoming = *incoming;
        let edge = if incoming { None } else { self.decide_for_edge(conn, link_type, source.as_ref()) };
        let decided = match edge {
            Some(binding) => Ok(binding),
            None => self.decide(conn, incoming, source.as_mut(), target.as_mut()),
        };
        let binding = match decided {
            Ok(binding) => binding,
            Err(refused) => return self.refuse_attach(host, conn_id, id, link, attach, refused),
        };
        let AttachInfo { name, source, target, send_settled, .. } = attach;
        // A sender without a target gets one, the anonymous terminus: null would mean that it was refused.
        let target = target.or_else(|| incoming.then(|| TargetTerminus::Target(Default::default())));
        host.attach_answer(link, source, target);
        let priority = ENDPOINT_PRIORITY;
        let new = NewLink { id, name, incoming, link_type, priority, own: false, send_settled };
        let link = self.add_link(conn, link, new);
        match binding {
            Binding::Anonymous => {
                if self.is_edge_stream(link) {
                    self.links[link].stream = Stream::Incoming;
                }
                self.links[link].set_flowing(host, &mut self.statistics, true);
            }
            Binding::Tracking => {
                self.links[link].tracking = true;
                let (conn, link) = (ConnKey(self.connections.key_at(conn)), LinkKey(self.links.key_at(link)));
                host.edge(EdgeEvent::Tracking { conn, link, present: true });
            }
            Binding::Address { key, making, to_override } => {
                let addr = self.find_or_make(&key, making);
                self.links[link].to_override = to_override.map(Into::into);
                if self.addresses[addr].within == Within::Sink {
                    self.links[link].capacity = HEARTBEAT_CAPACITY;
                }
                self.bind(host, link, addr);
            }
        }
        LinkKey(self.links.key_at(link))
    }

    fn refuse_attach(
        &self,
        host: &mut H,
        conn_id: u64,
        id: u64,
        link: H::Link,
        attach: AttachInfo,
        refused: Refusal,
    ) -> LinkKey {
        refuse(host, link, attach.incoming, attach.source, attach.target, refused);
        host.log(
            Module::RouterCore,
            Level::Info,
            format_args!(
                "[C{conn_id}][L{id}] Link detached: del=0 presett=0 psdrop=0 acc=0 rej=0 rel=0 mod=0 delay1=0 delay10=0 \
                 blocked=no"
            ),
        );
        LinkKey::DEAD
    }

    /// Whether an edge router is at the other end.
    pub(crate) fn serves_edge(&self, conn: u32) -> bool {
        self.settings.mode == Mode::Interior && self.connections[conn].info.role == Role::Edge
    }

    /// What a receiver of an edge router is for, if for the edge protocol.
    fn decide_for_edge(&self, conn: u32, link_type: LinkType, source: Option<&Source>) -> Option<Binding> {
        let address = source?.address.as_deref()?;
        if link_type == LinkType::EdgeDownlink {
            let making = Making::plain(Treatment::Balanced);
            return Some(Binding::Address { key: format!("H{address}"), making, to_override: None });
        }
        (address == TRACKING_ADDRESS && self.serves_edge(conn)).then_some(Binding::Tracking)
    }

    /// Whether a link like this may be attached to an address, which is one of the edge protocol or any other. Edge routers
    /// ask the interior, and it tells them (which is decided before).
    fn is_open_to(&self, conn: u32, incoming: bool, address: &str) -> bool {
        if self.settings.mode != Mode::Interior {
            return true;
        }
        match parse(address, &self.settings.router_id, self.settings.mode) {
            Parsed { class: Class::Mobile, rest: LOOKUP_ADDRESS, .. } => incoming && self.serves_edge(conn),
            Parsed { class: Class::Mobile, rest: TRACKING_ADDRESS, .. } => false,
            _ => true,
        }
    }

    /// Links between routers only on connections between routers, and there no others before control messages can pass.
    fn check_role(&self, host: &mut H, conn: u32, link_type: LinkType) -> Result<(), Refusal> {
        let info = &self.connections[conn].info;
        match (link_type, info.role) {
            (LinkType::RouterControl | LinkType::InterRouter, Role::InterRouter) => Ok(()),
            (LinkType::RouterControl | LinkType::InterRouter, _) => {
                host.log(
                    Module::RouterCore,
                    Level::Info,
                    format_args!("[C{}] Router attach forbidden on non-inter-router connection", info.id),
                );
                Err(refusal("qd:forbidden", "Connectivity to the node is forbidden"))
            }
            (_, Role::InterRouter) if !self.neighbor(conn).is_some_and(|neighbor| neighbor.up) => {
                Err(refusal("qd:connection-role", "Link attach forbidden on inter-router connection"))
            }
            _ => Ok(()),
        }
    }

    /// What the link is to be bound to. A dynamic terminus gets its address here.
    fn decide(
        &mut self,
        conn: u32,
        incoming: bool,
        source: Option<&mut Source>,
        target: Option<&mut TargetTerminus>,
    ) -> Result<Binding, Refusal> {
        let (address, dynamic, capabilities) = match (incoming, source, target) {
            (true, _, Some(TargetTerminus::Coordinator { .. })) => {
                return Err(refusal(
                    names::PRECONDITION_FAILED,
                    "The router can't coordinate transactions by itself, a linkRoute to a coordinator must be configured \
                     to use transactions.",
                ));
            }
            (true, _, Some(TargetTerminus::Target(target))) => {
                (&mut target.address, target.dynamic, target.capabilities.as_slice())
            }
            (true, _, None) => return Ok(Binding::Anonymous),
            (false, Some(source), _) => (&mut source.address, source.dynamic, source.capabilities.as_slice()),
            (false, None, _) => return Err(no_route()),
        };
        let tenant = self.connections[conn].info.tenant.clone().unwrap_or_default();
        if dynamic {
            let generated = self.generate_address(incoming, &tenant);
            let binding = self.binding(&generated, '0', &tenant, Making::plain(Treatment::Balanced));
            *address = Some(generated);
            return Ok(binding);
        }
        match address.as_deref() {
            None | Some("") if incoming => Ok(Binding::Anonymous),
            None | Some("") => Err(no_route()),
            Some(address) => {
                let phase = explicit_phase(incoming, !incoming || self.serves_edge(conn), capabilities);
                if !self.is_open_to(conn, incoming, address) {
                    return Err(None);
                }
                self.decide_address(address, incoming, phase, &tenant)
            }
        }
    }

    fn decide_address(
        &mut self,
        address: &str,
        incoming: bool,
        phase: Option<char>,
        tenant: &str,
    ) -> Result<Binding, Refusal> {
        let parsed = parse(address, &self.settings.router_id, self.settings.mode);
        let phase = phase.unwrap_or_else(|| self.configured_phase(parsed.rest, incoming, tenant));
        let making = self.making(&parsed, tenant);
        let found = self.find_address(&parsed, phase, tenant);
        let treatment = found.map_or(making.treatment, |found| self.addresses[found].treatment);
        if treatment == Treatment::Unavailable || self.is_closed(&parsed, tenant) {
            return Err(refusal(names::NOT_FOUND, "Node not found"));
        }
        if !incoming && parsed.class == Class::Router {
            return Err(no_route());
        }
        if !incoming && found.is_some_and(|found| self.addresses[found].within == Within::Sink) {
            return Err(None);
        }
        Ok(self.binding(address, phase, tenant, making))
    }

    /// Whether the configuration keeps links from an address, though it may have consumers on other routers.
    fn is_closed(&self, parsed: &Parsed<'_>, tenant: &str) -> bool {
        let config = (parsed.class == Class::Mobile).then(|| self.configs.best_for(tenant, parsed.rest)).flatten();
        config.is_some_and(|config| config.distribution == Treatment::Unavailable)
    }

    fn binding(&mut self, address: &str, phase: char, tenant: &str, making: Making) -> Binding {
        let parsed = parse(address, &self.settings.router_id, self.settings.mode);
        crate::address::key::write_key(&mut self.scratch, &parsed, phase, tenant);
        // The key of a mobile address says what `x-opt-qd.to` must; other keys have lost part of the text.
        let to_override = (parsed.class != Class::Mobile).then(|| parsed.text.to_owned());
        Binding::Address { key: self.scratch.clone(), making, to_override }
    }

    /// The phase that configuration gives a link without capabilities.
    fn configured_phase(&self, text: &str, incoming: bool, tenant: &str) -> char {
        let config = self.configs.best_for(tenant, text);
        phase_char(config.map_or(0, |config| if incoming { config.ingress_phase } else { config.egress_phase }))
    }

    /// An address that nobody uses yet, for a dynamic terminus.
    fn generate_address(&mut self, incoming: bool, tenant: &str) -> String {
        let mut address = String::new();
        for _ in 0..NAME_ATTEMPTS {
            let name = self.generate_name();
            let id = &self.settings.router_id;
            address = match (incoming, self.settings.mode) {
                (true, _) => format!("amqp:/_$temp.{name}"),
                (false, Mode::Edge) => format!("amqp:/_edge/{id}/temp.{name}"),
                (false, _) => format!("amqp:/_topo/0/{id}/temp.{name}"),
            };
            let parsed = parse(&address, &self.settings.router_id, self.settings.mode);
            crate::address::key::write_key(&mut self.scratch, &parsed, '0', tenant);
            if self.addresses.find(&self.scratch).is_none() {
                break;
            }
        }
        address
    }

    /// Characters that nobody can guess.
    pub(crate) fn generate_name(&mut self) -> String {
        let random = (self.settings.random)();
        let letter = |at: usize| char::from(NAME_ALPHABET[(random >> (at * 6)) as usize & 63]);
        (0..NAME_LENGTH).map(letter).collect()
    }
}

/// Logs that a link was attached by the peer, or that it answered.
pub(crate) fn log_attached<H: Host>(
    host: &mut H,
    conn_id: u64,
    id: u64,
    incoming: bool,
    source: Option<&Source>,
    target: Option<&TargetTerminus>,
) {
    if host.log_enabled(Module::RouterCore, Level::Info) {
        host.log(
            Module::RouterCore,
            Level::Info,
            format_args!(
                "[C{conn_id}][L{id}] Link attached: dir={} source={} target={}",
                if incoming { "in" } else { "out" },
                attach_log::source(source),
                attach_log::target(target),
            ),
        );
    }
}

/// Attach with the local terminus null, then detach.
fn refuse<H: Host>(
    host: &mut H,
    link: H::Link,
    incoming: bool,
    source: Option<Source>,
    target: Option<TargetTerminus>,
    error: Refusal,
) {
    match incoming {
        true => host.attach_answer(link, source, None),
        false => host.attach_answer(link, None, target),
    }
    host.detach(link, true, error);
}

/// The capabilities of the terminus on our side.
fn local_capabilities<'a>(
    incoming: bool,
    source: Option<&'a Source>,
    target: Option<&'a TargetTerminus>,
) -> &'a [Symbol] {
    match (incoming, source, target) {
        (true, _, Some(TargetTerminus::Target(target))) => &target.capabilities,
        (true, _, Some(TargetTerminus::Coordinator { capabilities })) => capabilities,
        (false, Some(source), _) => &source.capabilities,
        _ => &[],
    }
}

/// The type of link that the first capability asks for. An edge router's downlink is one only where there is an
/// interior router to give it.
fn link_type(capabilities: &[Symbol]) -> LinkType {
    match capabilities.first().map(Symbol::as_str) {
        Some("qd.router") => LinkType::RouterControl,
        Some("qd.router-data") => LinkType::InterRouter,
        Some("qd.router-edge-downlink") => LinkType::EdgeDownlink,
        _ => LinkType::Endpoint,
    }
}

/// The phase that a capability asks for: `qd.waypoint.N` for senders into phase N, for receivers out of the one before;
/// `qd.fallback` for receivers, and for edge routers that have found nobody at the address itself.
fn explicit_phase(incoming: bool, may_fall_back: bool, capabilities: &[Symbol]) -> Option<char> {
    capabilities.iter().find_map(|capability| {
        let ordinal = match capability.as_str() {
            "qd.fallback" if may_fall_back => return Some(FALLBACK_PHASE),
            "qd.waypoint" => 1,
            other => other.strip_prefix("qd.waypoint.")?.parse().ok().filter(|ordinal| (1..=9).contains(ordinal))?,
        };
        Some(phase_char(if incoming { ordinal } else { ordinal - 1 }))
    })
}
