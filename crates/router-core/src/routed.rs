//! Links that are passed on: a peer attaches, and the router attaches a link of its own to a container, or to the next router
//! on the way to one. From then on the two are as one link; what either end says of it is told the other.

mod terminus;

use amqp::terminus::{Source, TargetTerminus};
use amqp::{ErrorCondition, Map};

use crate::address::key::{Class, parse};
use crate::arena::{NONE, index_of};
use crate::attach::{ENDPOINT_PRIORITY, Refusal, log_attached, no_route, refusal};
use crate::core::Core;
use crate::link::{Link, NewLink};
use crate::{AttachInfo, ConnKey, Host, LinkClass, LinkKey, LinkTerms, LinkType, Now, OpenLink, Role, RouteDirection};
use terminus::{Terminus, change_address, change_dynamic_address, dynamic_properties};

/// Where transactions are coordinated, as link routes name it.
pub(crate) const COORDINATOR: &str = "$coordinator";
/// Addresses of the router's own conversations, which are never passed on.
const INTERNAL: &str = "_$qd.";

/// What a link has that is one with another.
#[derive(Debug, Default)]
pub(crate) struct Routed {
    /// Key of the other one; 0: it is gone.
    pub(crate) partner: u64,
    /// The terminus is to outlive the link.
    survives: bool,
    /// The peer has detached (closed or not), and is answered when the other end has answered.
    ended: Option<bool>,
    /// This end has detached, and waits for the answer.
    detached: bool,
    /// How to detach when all that is queued is through.
    farewell: Option<Farewell>,
    /// The key that the terminus would have as an address: shown only.
    pub(crate) shown: Option<std::sync::Arc<str>>,
    /// The link route by which a container was chosen: it changes addresses.
    route: Option<u64>,
    /// What is to be said with a flow once the link is attached.
    pub(crate) flow_properties: Option<Box<Map>>,
}

#[derive(Debug)]
struct Farewell {
    closed: bool,
    error: Option<ErrorCondition>,
}

/// Where an attach is passed on to.
pub(crate) struct Way {
    conn: u32,
    /// The link route, if the container is there.
    route: Option<u64>,
    survives: bool,
    shown: Option<std::sync::Arc<str>>,
}

/// The error for the peer of a link whose other end is lost.
fn lost() -> ErrorCondition {
    ErrorCondition::new("qd:routed-link-lost", "Connectivity to the peer container was lost")
}

impl<H: Host> Core<H> {
    /// The other one of two links that are one.
    pub(crate) fn partner(&self, link: &Link<H>) -> Option<u32> {
        let partner = link.routed.as_ref()?.partner;
        self.links.get(partner).map(|_| index_of(partner))
    }

    /// Whether an attach is to be passed on, and where. `None`: no link route fits.
    pub(crate) fn way_of(&mut self, conn: u32, attach: &AttachInfo) -> Option<Result<Way, Refusal>> {
        let terminus = Terminus::of(attach)?;
        if terminus.address.starts_with(INTERNAL) {
            return None;
        }
        let parsed = parse(terminus.address, &self.settings.router_id, self.settings.mode);
        if parsed.class != Class::Mobile {
            return None;
        }
        let direction = RouteDirection::of(attach.incoming);
        let found = match self.connections[conn].info.tenant.as_deref() {
            Some(tenant) => self.link_routes.best(direction, &format!("{tenant}{}", parsed.rest)),
            None => self.link_routes.best(direction, parsed.rest),
        };
        let found: Option<Vec<u32>> = found.map(<[u32]>::to_vec);
        let now = self.now();
        let promised = self.connections[conn].promises.take(now, terminus.address);
        let Some(found) = found else {
            // Routers attach nothing but links that are passed on. The link route may have gone meanwhile.
            let between_routers = self.connections[conn].info.role == Role::InterRouter;
            return (promised || between_routers).then(|| Err(no_route()));
        };
        if terminus.survives && !self.settings.allow_resumable_link_route {
            return Some(Err(refusal("qd:link-expiration", "Requested link expiration not allowed")));
        }
        // The same pattern may be written in several ways.
        let best =
            found.iter().copied().find(|addr| self.addresses[*addr].ways.as_ref().is_some_and(|w| w.containers() > 0));
        let addr = best.or_else(|| found.iter().copied().find(|addr| self.has_way(*addr)));
        let way = addr.and_then(|addr| self.next_way(addr, conn));
        let way = way.map(|(conn, route)| Way { conn, route, ..terminus.way(conn) });
        Some(way.ok_or_else(no_route))
    }

    /// An attach on an edge router is passed on to the interior, over this connection, because that has a link route for it.
    pub fn attach_up(
        &mut self,
        now: Now,
        host: &mut H,
        conn: ConnKey,
        link: H::Link,
        attach: AttachInfo,
        uplink: ConnKey,
    ) -> LinkKey {
        self.tick(now);
        let (Some(at), Some(up)) = (self.connection_index(conn), self.connection_index(uplink)) else {
            // Without the uplink the attach is as any other.
            return self.attach(now, host, conn, link, attach);
        };
        let Some(way) = Terminus::of(&attach).map(|terminus| terminus.way(up)) else {
            return self.attach(now, host, conn, link, attach);
        };
        self.next_identity += 1;
        let (id, conn_id) = (self.next_identity, self.connections[at].info.id);
        log_attached(host, conn_id, id, attach.incoming, attach.source.as_ref(), attach.target.as_ref());
        self.attach_routed(host, at, id, link, attach, &way)
    }

    /// Whether a link route that fits an address has somewhere to go. `None`: none fits.
    pub(crate) fn link_route_for(&self, client_sends: bool, text: &str) -> Option<bool> {
        let found = self.link_routes.best(RouteDirection::of(client_sends), text)?;
        Some(found.iter().any(|addr| self.has_way(*addr)))
    }

    /// Passes an attach on.
    pub(crate) fn attach_routed(
        &mut self,
        host: &mut H,
        conn: u32,
        id: u64,
        link: H::Link,
        attach: AttachInfo,
        way: &Way,
    ) -> LinkKey {
        let AttachInfo { name, incoming, mut source, mut target, terms, .. } = attach;
        let info = &self.connections[conn].info;
        // Beyond this connection nobody knows whose address it is.
        if let Some(tenant) = info.tenant.as_deref().filter(|tenant| !tenant.is_empty()) {
            let with_prefix = |text: &str| {
                let parsed = parse(text, &self.settings.router_id, self.settings.mode);
                Some(format!("{tenant}{}", parsed.rest))
            };
            match dynamic_properties(incoming, &mut source, &mut target) {
                Some(properties) => change_dynamic_address(properties, with_prefix),
                None => change_address(incoming, &mut source, &mut target, with_prefix),
            }
        }
        // Names of several clients must not meet.
        let onward = match info.role {
            Role::InterRouter => name.clone(),
            _ => format!("{name}@{}", info.container),
        };
        let (link_type, priority) = (LinkType::Endpoint, ENDPOINT_PRIORITY);
        let new = NewLink { id, name, incoming, link_type, priority, own: false, send_settled: false };
        let near = self.add_link(conn, link, new);
        if let Some(route) = way.route {
            change_address(incoming, &mut source, &mut target, |text| self.link_routes.outward(route, text));
        }
        let incoming = !incoming;
        let key = LinkKey(self.links.next_key());
        let class = LinkClass::LinkRoute;
        let open = OpenLink { name: onward.clone(), incoming, class, source, target, terms };
        let stand_in = host.open_link(self.connections[way.conn].host, key, open);
        self.next_identity += 1;
        let (id, name) = (self.next_identity, onward);
        let new = NewLink { id, name, incoming, link_type, priority, own: true, send_settled: false };
        let far = self.add_link(way.conn, stand_in, new);
        let (survives, shown) = (way.survives, &way.shown);
        let routed =
            |partner: u64, route| Routed { partner, survives, route, shown: shown.clone(), ..Routed::default() };
        let (near_key, far_key) = (self.links.key_at(near), self.links.key_at(far));
        self.links[near].routed = Some(Box::new(routed(far_key, None)));
        self.links[far].routed = Some(Box::new(routed(near_key, way.route)));
        LinkKey(near_key)
    }

    /// The far end has answered an attach that was passed on; so is the peer that asked.
    pub(crate) fn routed_answered(
        &mut self,
        host: &mut H,
        far: u32,
        mut source: Option<Source>,
        mut target: Option<TargetTerminus>,
        terms: LinkTerms,
    ) {
        let record = &mut self.links[far];
        record.answered = true;
        let incoming = !record.incoming;
        let route = record.routed.as_ref().and_then(|routed| routed.route);
        if let Some(route) = route {
            change_address(incoming, &mut source, &mut target, |text| self.link_routes.inward(route, text));
        }
        let Some(near) = self.partner(&self.links[far]) else { return };
        let (conn, id) = (self.connections[self.links[near].conn].info.id, self.links[near].id);
        log_attached(host, conn, id, incoming, source.as_ref(), target.as_ref());
        host.answer_routed(self.links[near].host, source, target, terms);
    }

    /// The peer of a link that is one with another has detached.
    pub(crate) fn routed_detached(&mut self, host: &mut H, link: u32, closed: bool, error: Option<ErrorCondition>) {
        self.resolve_deliveries(host, link);
        let partner = self.partner(&self.links[link]);
        let Some(routed) = &mut self.links[link].routed else { return };
        routed.ended = Some(closed);
        match partner {
            Some(partner) if self.links[partner].opened => self.part(host, partner, closed, error),
            // Nothing was attached yet: it is detached as soon as it is.
            Some(partner) => {
                self.links[partner].routed = None;
                self.remove_link(host, partner, "Link detached");
                self.answer_detach(host, link, closed, None);
            }
            None => self.answer_detach(host, link, closed, None),
        }
    }

    /// Answers the peer's detach of a link that is one with another no longer.
    fn answer_detach(&mut self, host: &mut H, link: u32, closed: bool, error: Option<ErrorCondition>) {
        let at = self.links[link].host;
        self.links[link].routed = None;
        self.remove_link(host, link, "Link detached");
        host.detach(at, closed, error);
    }

    /// Detaches a link because its other end did, or is lost: at once, or when what is queued is through.
    fn part(&mut self, host: &mut H, link: u32, closed: bool, error: Option<ErrorCondition>) {
        let record = &mut self.links[link];
        let Some(routed) = record.routed.as_mut().filter(|routed| !routed.detached) else { return };
        routed.farewell = Some(Farewell { closed, error });
        let moves = record.busy != NONE || (record.queue_head != NONE && record.credit > 0);
        if !moves {
            self.say_farewell(host, link);
        }
    }

    /// If a link was only to send what was queued, it is detached now.
    pub(crate) fn part_when_through(&mut self, host: &mut H, link: u32) {
        let record = &self.links[link];
        if record.queue_head == NONE
            && record.busy == NONE
            && record.routed.as_ref().is_some_and(|routed| routed.farewell.is_some())
        {
            self.say_farewell(host, link);
        }
    }

    fn say_farewell(&mut self, host: &mut H, link: u32) {
        let Some(routed) = &mut self.links[link].routed else { return };
        let Some(Farewell { closed, error }) = routed.farewell.take() else { return };
        routed.detached = true;
        self.resolve_deliveries(host, link);
        let at = self.links[link].host;
        if self.partner(&self.links[link]).is_none() {
            // Nobody waits for the answer.
            self.links[link].routed = None;
            self.remove_link(host, link, "Link detached");
        }
        host.detach(at, closed, error);
    }

    /// The peer has answered a detach; if that was for the other end, so is that. Nothing happens for other links.
    pub fn detach_answered(
        &mut self,
        now: Now,
        host: &mut H,
        link: LinkKey,
        closed: bool,
        error: Option<ErrorCondition>,
    ) {
        self.tick(now);
        let Some(record) = self.links.get(link.0).filter(|link| link.routed.is_some()) else { return };
        let partner = self.partner(record);
        let link = index_of(link.0);
        if !self.links[link].routed.take().is_some_and(|routed| routed.detached) {
            return;
        }
        self.remove_link(host, link, "Link detached");
        // It is answered as the other end answered, even if that closes where the first only detached. But a close is
        // answered with a close (section 2.6.6), also where the other end only detached, as RabbitMQ 3 does.
        if let Some(partner) = partner
            && let Some(asked_to_close) = self.links[partner].routed.as_ref().and_then(|routed| routed.ended)
        {
            self.answer_detach(host, partner, closed || asked_to_close, error);
        }
    }

    /// A link that is one with another is lost.
    pub(crate) fn routed_link_gone(&mut self, host: &mut H, link: u32) {
        // Before the other end hears of the loss, it hears what became of its deliveries.
        self.resolve_deliveries(host, link);
        let partner = self.partner(&self.links[link]);
        self.links[link].routed = None;
        let Some(partner) = partner else { return };
        let (opened, closing) = (self.links[partner].opened, self.connections[self.links[partner].conn].closing);
        let Some(routed) = &mut self.links[partner].routed else { return };
        routed.partner = 0;
        let (ended, detached, survives) = (routed.ended, routed.detached, routed.survives);
        if closing {
            // Its turn comes.
        } else if let Some(closed) = ended {
            self.answer_detach(host, partner, closed, None);
        } else if detached || !opened {
            self.links[partner].routed = None;
            self.remove_link(host, partner, "Link lost");
        } else {
            self.part(host, partner, !survives, Some(lost()));
        }
    }

    /// What is under way on a link is resolved, for nothing more can be said of it.
    fn resolve_deliveries(&mut self, host: &mut H, link: u32) {
        if self.links[link].incoming {
            self.sender_gone(host, link);
        } else {
            self.receiver_gone(host, link);
        }
    }
}
