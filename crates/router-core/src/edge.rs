//! Edge routers, as the core and its surroundings speak of them: links of the router's own, and what happens to them.
//!
//! The edge protocol (crate `router-net`) decides which links an edge router has on its uplink, and what is said on them.
//! The core attaches them, forwards over them, and tells what the protocol has to know ([`EdgeEvent`]).

use crate::address::key::{Class, parse};
use crate::address::{Address, Within};
use crate::arena::{NONE, index_of};
use crate::bind::Making;
use crate::core::Core;
use crate::delivery::{Delivery, Outcome};
use crate::forward::Passage;
use crate::link::{Link, NewLink};
use crate::routed::COORDINATOR;
use crate::{AttachInfo, ConnKey, Host, LinkKey, LinkType, Mode, Now, OpenLink, OutKey, Role, SubscriberId, Treatment};
use amqp::terminus::TargetTerminus;

/// Priority shown for links of the router's own.
const PRIORITY: u8 = 4;

/// What a link of the router's own is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Outgoing: for [`Core::send_on`] alone, until it is bound with [`Core::bind_link`].
    Nothing,
    /// Incoming: each message says where it goes.
    Anonymous,
    /// To the address with this key: it takes the address's deliveries, or brings deliveries for it.
    Address(String),
    /// Incoming: its messages are for a subscriber.
    Subscriber(SubscriberId),
}

/// Where the consumers of an address are, as an edge router is told that produces for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// Nowhere.
    None,
    /// Behind this connection only.
    Only(ConnKey),
    /// Elsewhere, or in several places.
    Elsewhere,
}

/// What the edge protocol has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeEvent<'a> {
    /// Edge router: a connection of role edge, made by this router, is open.
    UplinkOpened {
        /// Connection.
        conn: ConnKey,
        /// Its number in logs.
        id: u64,
    },
    /// A connection of role edge has ended, with all its links.
    ConnectionLost {
        /// Connection.
        conn: ConnKey,
    },
    /// The peer has answered the attach of a link asked for with [`Core::open_own_link`]. If it refused, a detach follows.
    LinkAnswered {
        /// Link.
        link: LinkKey,
        /// Address of the peer's terminus; of a dynamic source the one it made.
        address: Option<&'a str>,
    },
    /// The peer says what has become of a message sent with [`Core::ask_on`].
    Outcome {
        /// As it was returned.
        delivery: OutKey,
        /// It was taken.
        accepted: bool,
    },
    /// The peer has detached such a link, and the connection stays.
    LinkLost {
        /// Link.
        link: LinkKey,
    },
    /// Edge router: a mobile address got its first producer here (not behind the uplink), or lost its last.
    Producers {
        /// Key.
        key: &'a str,
        /// There is a producer.
        present: bool,
    },
    /// Interior router: an edge router attached a sender to a mobile address, or has none there any more.
    EdgeProducer {
        /// Its connection.
        conn: ConnKey,
        /// Key.
        key: &'a str,
        /// It has one. Told for each of its links.
        present: bool,
        /// Where consumers are.
        destinations: Destinations,
    },
    /// Interior router: the consumers of an address have changed that an edge router produces for.
    Destinations {
        /// Key.
        key: &'a str,
        /// Where they are now.
        destinations: Destinations,
    },
    /// Interior router: a peer attached a receiver of such news, or it is gone. Its link is for [`Core::send_on`].
    Tracking {
        /// Its connection.
        conn: ConnKey,
        /// Link.
        link: LinkKey,
        /// It is there.
        present: bool,
    },
    /// A peer attached a sender of heartbeats, or it is gone.
    HeartbeatLink {
        /// Its connection.
        conn: ConnKey,
        /// Container id of the peer.
        container: &'a str,
        /// It is there.
        present: bool,
    },
    /// A heartbeat came.
    Heartbeat {
        /// On this connection.
        conn: ConnKey,
    },
}

impl<H: Host> Core<H> {
    /// Attaches a link on a connection, for the edge protocol. `credit`: what an incoming one gives, if not the connection's
    /// capacity, in deliveries. `None`: the connection is gone.
    pub fn open_own_link(
        &mut self,
        now: Now,
        host: &mut H,
        conn: ConnKey,
        open: OpenLink,
        bound: Bound,
        credit: Option<u32>,
    ) -> Option<LinkKey> {
        self.tick(now);
        let conn = self.connection_index(conn)?;
        self.next_identity += 1;
        let key = LinkKey(self.links.next_key());
        let (name, incoming) = (open.name.clone(), open.incoming);
        let stand_in = host.open_link(self.connections[conn].host, key, open);
        let (id, link_type) = (self.next_identity, LinkType::Endpoint);
        let new = NewLink { id, name, incoming, link_type, priority: PRIORITY, own: true, send_settled: false };
        let link = self.add_link(conn, stand_in, new);
        let record = &mut self.links[link];
        record.own = true;
        record.capacity = credit.unwrap_or(record.capacity);
        match bound {
            Bound::Nothing | Bound::Anonymous => {}
            Bound::Subscriber(subscriber) => record.subscriber = Some(subscriber),
            // An outgoing one takes deliveries at once; they wait for the peer's credit.
            Bound::Address(key) => self.bind_own(host, link, &key),
        }
        Some(key)
    }

    fn bind_own(&mut self, host: &mut H, link: u32, key: &str) {
        let treatment = match key.strip_prefix('M').and_then(|rest| rest.get(1..)) {
            Some(text) => {
                self.configs.best_for("", text).map_or(self.settings.default_treatment, |config| config.distribution)
            }
            None => Treatment::Balanced,
        };
        let addr = self.find_or_make(key, Making::plain(treatment));
        self.bind(host, link, addr);
    }

    /// An outgoing link of the router's own takes the deliveries of an address from now on (its key), or of none.
    pub fn bind_link(&mut self, now: Now, host: &mut H, link: LinkKey, key: Option<&str>) {
        self.tick(now);
        if self.links.get(link.0).is_none_or(|link| !link.own || link.incoming) {
            return;
        }
        self.unbind(host, index_of(link.0));
        if let Some(key) = key {
            self.bind_own(host, index_of(link.0), key);
        }
    }

    /// Sends a message, settled, on an outgoing link that is the router's own, or that tracks addresses. It waits for
    /// credit. False: the link is gone.
    pub fn send_on(&mut self, now: Now, host: &mut H, link: LinkKey, content: H::Content) -> bool {
        self.tick(now);
        if self.links.get(link.0).is_none_or(|link| link.incoming) {
            return false;
        }
        let mut passage = Passage::from_within(self.clock.millis, &content);
        self.send(host, Delivery::outgoing(index_of(link.0), &passage, true), &mut passage);
        true
    }

    /// The same, unsettled: what the peer says of it comes as [`EdgeEvent::Outcome`], unless the link is lost. `None`: the
    /// link is gone.
    pub fn ask_on(&mut self, now: Now, host: &mut H, link: LinkKey, content: H::Content) -> Option<OutKey> {
        self.tick(now);
        self.links.get(link.0).filter(|link| !link.incoming)?;
        let mut passage = Passage { settled: false, ..Passage::from_within(self.clock.millis, &content) };
        let delivery = Delivery::outgoing(index_of(link.0), &passage, false);
        Some(OutKey(self.send(host, delivery, &mut passage)))
    }

    /// The peer told the outcome of a message from within the router, or settled it without one.
    #[cold]
    pub(crate) fn tell_own_outcome(&mut self, host: &mut H, delivery: OutKey, outcome: Outcome, settled: bool) {
        if !settled && !outcome.is_terminal() {
            return;
        }
        host.edge(EdgeEvent::Outcome { delivery, accepted: outcome == Outcome::Accepted });
        if !settled && let Some(copy) = self.deliveries.get(delivery.0) {
            host.update_outgoing(self.links[copy.link].host, delivery, None, true);
            self.end_settled(host, delivery);
        }
    }

    /// Detaches a link of the router's own.
    pub fn close_link(&mut self, now: Now, host: &mut H, link: LinkKey) {
        self.tick(now);
        if let Some(record) = self.links.get_mut(link.0).filter(|link| link.own) {
            // Who closes it knows.
            record.own = false;
            let detached = record.host;
            self.remove_link(host, index_of(link.0), "Link detached");
            host.detach(detached, true, None);
        }
    }

    /// Where consumers of an address are, by its key.
    pub fn destinations(&self, key: &str) -> Destinations {
        self.addresses.find(key).map_or(Destinations::None, |addr| self.destinations_of(addr))
    }

    pub(crate) fn destinations_of(&self, addr: u32) -> Destinations {
        let address = &self.addresses[addr];
        if address.remote || address.within != Within::Nothing || !address.subscribers.is_empty() {
            return Destinations::Elsewhere;
        }
        let there = |link: u32| (link != NONE).then_some(link);
        let mut only = None;
        for link in std::iter::successors(there(address.receivers.head), |link| there(self.links[*link].addr_next)) {
            let conn = self.links[link].conn;
            if self.connections[conn].info.role != Role::Edge || only.is_some_and(|only| only != conn) {
                return Destinations::Elsewhere;
            }
            only = Some(conn);
        }
        only.map_or(Destinations::None, |conn| Destinations::Only(ConnKey(self.connections.key_at(conn))))
    }

    /// The phase that plain receivers of an address take, by this router's configuration.
    pub fn egress_phase(&self, address: &str) -> u8 {
        self.configs.best_for("", address).map_or(0, |config| config.egress_phase)
    }

    /// Answers a look-up of an edge router's, see [`Core::look_up`], which may now pass an attach on because of it.
    pub fn look_up_for(
        &mut self,
        now: Now,
        edge: Option<ConnKey>,
        address: &str,
        client_sends: bool,
    ) -> Option<(bool, bool)> {
        self.tick(now);
        let found = self.look_up(address, client_sends);
        if let (Some((true, true)), Some(edge)) = (found, edge)
            && let Some(connection) = self.connections.get_mut(edge.0)
        {
            connection.promises.note(now, address);
        }
        found
    }

    /// What a look-up of an address by an edge router finds: whether it is a link route, and whether there are consumers.
    /// `None`: the address is not known.
    pub fn look_up(&mut self, address: &str, client_sends: bool) -> Option<(bool, bool)> {
        let parsed = crate::address::key::parse(address, &self.settings.router_id, self.settings.mode);
        if parsed.class == Class::Mobile
            && let Some(has_way) = self.link_route_for(client_sends, parsed.rest)
        {
            return Some((true, has_way));
        }
        let addr = self.find_address(&parsed, '0', "")?;
        Some((false, self.is_reachable(addr)))
    }

    /// On an edge router: the address that the interior is to be asked about before a peer's attach is gone on with,
    /// because the interior may have a link route for it. `None`: there is nothing to ask.
    pub fn to_look_up(&self, conn: ConnKey, attach: &AttachInfo) -> Option<String> {
        let info = &self.connections.get(conn.0)?.info;
        if self.settings.mode != Mode::Edge || info.role == Role::Edge {
            return None;
        }
        let (address, dynamic) = match (attach.incoming, &attach.source, &attach.target) {
            (true, _, Some(TargetTerminus::Coordinator { .. })) => {
                let routed_here = self.link_route_for(true, COORDINATOR) == Some(true);
                return (!routed_here).then(|| COORDINATOR.to_owned());
            }
            (true, _, Some(TargetTerminus::Target(target))) => (target.address.as_deref(), target.dynamic),
            (false, Some(source), _) => (source.address.as_deref(), source.dynamic),
            _ => return None,
        };
        let address = address.filter(|address| !dynamic && !address.is_empty())?;
        let parsed = parse(address, &self.settings.router_id, self.settings.mode);
        let tenant = info.tenant.as_deref().unwrap_or_default();
        let name = format!("{tenant}{}", parsed.rest);
        // What this router answers itself is no business of the interior's.
        let here = self.addresses.find(&format!("M0{name}")).map(|addr| &self.addresses[addr]);
        let ours = here.is_some_and(|address| address.within != Within::Nothing || !address.subscribers.is_empty());
        let routed_here = self.link_route_for(attach.incoming, &name) == Some(true);
        (parsed.class == Class::Mobile && !ours && !routed_here).then_some(name)
    }

    /// Whether a connection is in use, and not an alternate: one between an edge router and the interior is if it has
    /// the links of the edge protocol.
    pub(crate) fn is_active(&self, conn: u32) -> bool {
        let connection = &self.connections[conn];
        let in_use = |link: &Link<H>| match self.settings.mode {
            Mode::Edge => link.own,
            _ => link.link_type == LinkType::EdgeDownlink,
        };
        let there = |link: u32| (link != NONE).then_some(link);
        connection.info.role != Role::Edge
            || std::iter::successors(there(connection.first_link), |link| there(self.links[*link].conn_next))
                .any(|link| in_use(&self.links[link]))
    }

    /// Whether a link without an address that a peer has attached is for large messages from beyond the edge: an edge
    /// router has another one for all others, its first; the interior has none.
    pub(crate) fn is_edge_stream(&self, link: u32) -> bool {
        let first = self.connections[self.links[link].conn].first_link;
        self.is_at_edge(link) && (self.settings.mode == Mode::Edge || first != link)
    }

    /// Whether a link is on a connection between an edge router and the interior.
    pub(crate) fn is_at_edge(&self, link: u32) -> bool {
        self.connections[self.links[link].conn].info.role == Role::Edge
    }

    /// A link was bound to an address, or unbound: whoever has to know is told.
    pub(crate) fn bound_changed(&mut self, host: &mut H, link: u32, addr: u32, present: bool) {
        let (incoming, at_edge) = (self.links[link].incoming, self.is_at_edge(link));
        if at_edge {
            let count = &mut self.addresses[addr].at_edge[usize::from(incoming)];
            *count = if present { *count + 1 } else { *count - 1 };
        }
        if at_edge && !incoming {
            self.addresses[addr].look_beyond();
        }
        let internal = !incoming && self.connections[self.links[link].conn].info.internal;
        if internal {
            let count = &mut self.addresses[addr].internal;
            *count = if present { *count + 1 } else { *count - 1 };
        }
        // An edge router's own uplink is neither a consumer nor a producer for others. Nor is its own queue: links are led there,
        // and what names it comes down by no link to it. A link to it from the interior would be led there as well, and take out
        // of the queue what it puts in.
        let counts = !((at_edge || internal) && self.settings.mode == Mode::Edge);
        let address = &self.addresses[addr];
        let list = if incoming { address.senders.len } else { address.receivers.len };
        let first_or_last = counts && list - self.not_for_others(address, incoming) == u32::from(present);
        if incoming {
            self.producer_changed(host, link, addr, present, first_or_last);
        } else {
            // Where there is an exchange it is announced anyway.
            if first_or_last && !matches!(address.within, Within::Exchange(_)) {
                self.announce(host, addr, present);
            }
            self.tell_destinations(host, addr);
        }
    }

    /// Whether no link takes what is for an address, but those of an edge router's own uplink.
    pub(crate) fn has_no_receiver_here(&self, addr: u32) -> bool {
        let address = &self.addresses[addr];
        address.receivers.len == self.not_for_others(address, false)
    }

    /// How many links of an address others need not know of.
    fn not_for_others(&self, address: &Address, incoming: bool) -> u32 {
        match self.settings.mode {
            Mode::Edge if incoming => address.at_edge[1],
            Mode::Edge => address.at_edge[0] + address.internal,
            _ => 0,
        }
    }

    fn producer_changed(&mut self, host: &mut H, link: u32, addr: u32, present: bool, first_or_last: bool) {
        let conn = self.links[link].conn;
        let key = ConnKey(self.connections.key_at(conn));
        let info = &self.connections[conn].info;
        let address = &self.addresses[addr];
        if address.within == Within::Sink {
            host.edge(EdgeEvent::HeartbeatLink { conn: key, container: &info.container, present });
        } else if !address.key.starts_with('M') {
        } else if self.settings.mode == Mode::Edge && first_or_last {
            host.edge(EdgeEvent::Producers { key: &address.key, present });
            // Its messages may be for the fallback, of which the interior is asked apart.
            if address.fallback != NONE {
                host.edge(EdgeEvent::Producers { key: &self.addresses[address.fallback].key, present });
            }
        } else if self.settings.mode == Mode::Interior && info.role == Role::Edge {
            let destinations = self.destinations_of(addr);
            host.edge(EdgeEvent::EdgeProducer { conn: key, key: &address.key, present, destinations });
        }
    }

    /// The consumers of an address have changed: edge routers that produce for it have to know.
    pub(crate) fn tell_destinations(&self, host: &mut H, addr: u32) {
        let address = &self.addresses[addr];
        if self.settings.mode == Mode::Interior && address.at_edge[1] > 0 && address.key.starts_with('M') {
            let destinations = self.destinations_of(addr);
            host.edge(EdgeEvent::Destinations { key: &address.key, destinations });
        }
    }

    /// A heartbeat came.
    pub(crate) fn tell_heartbeat(&mut self, host: &mut H, passage: &Passage<'_, H::Content>) {
        let Some(conn) = self.links.get(passage.link).map(|link| link.conn) else { return };
        // One a second is enough, and a peer that sends more must not keep anybody busy.
        let second = Some(self.clock.second);
        if std::mem::replace(&mut self.connections[conn].heartbeat, second) != second {
            host.edge(EdgeEvent::Heartbeat { conn: ConnKey(self.connections.key_at(conn)) });
        }
    }

    /// A connection of role edge was opened.
    pub(crate) fn edge_opened(&self, host: &mut H, conn: u32) {
        let info = &self.connections[conn].info;
        if info.role == Role::Edge && !info.incoming && self.settings.mode == Mode::Edge {
            host.edge(EdgeEvent::UplinkOpened { conn: ConnKey(self.connections.key_at(conn)), id: info.id });
        }
    }

    /// A link that the edge protocol knows is gone, though its connection is there.
    pub(crate) fn own_link_gone(&self, host: &mut H, link: u32) {
        let record = &self.links[link];
        let (conn, link) = (record.conn, LinkKey(self.links.key_at(link)));
        if self.connections[conn].closing {
            return;
        }
        if record.own {
            host.edge(EdgeEvent::LinkLost { link });
        } else if record.tracking {
            let conn = ConnKey(self.connections.key_at(conn));
            host.edge(EdgeEvent::Tracking { conn, link, present: false });
        }
    }
}
