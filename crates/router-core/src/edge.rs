//! Edge routers, as the core and its surroundings speak of them: what the edge protocol asks of the core, and hears from it.
//!
//! The edge protocol (crate `router-net`) decides which links an edge router has on its uplink, and what is said on them.
//! The core attaches them (`own_links`), forwards over them, and tells what the protocol has to know ([`EdgeEvent`]).

use crate::address::key::{Class, parse};
use crate::address::{Address, Within};
use crate::arena::NONE;
use crate::core::Core;
use crate::forward::Passage;
use crate::link::Link;
use crate::routed::COORDINATOR;
use crate::{AttachInfo, ConnKey, Host, LinkKey, LinkType, Mode, Now, OutKey, Role, SubscriberId};
use amqp::terminus::TargetTerminus;

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
}
