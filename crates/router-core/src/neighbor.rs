//! The links to a neighbouring router: which there are on a connection between routers, and what goes out on which.
//!
//! The side that connected attaches all of them: a pair of control links, and a pair of data links for each priority.
//! The other side can tell their priorities only by the order in which they come.

use amqp::terminus::{Source, Target, TargetTerminus};
use smallvec::SmallVec;

use crate::arena::{NONE, index_of};
use crate::attach::log_attached;
use crate::core::Core;
use crate::link::{Link, NewLink, Stream};
use crate::{
    AttachInfo, ConnKey, EdgeEvent, Host, LinkClass, LinkKey, LinkTerms, LinkType, Mode, NetworkEvent, Now, OpenLink,
    Role,
};

/// Number of priorities, each with a pair of data links.
pub(crate) const PRIORITIES: u8 = 10;
/// Priority of control links.
const CONTROL_PRIORITY: u8 = 9;
/// Capability of both ends of a control link.
const CONTROL_CAPABILITY: &str = "qd.router";
/// Capability of both ends of a data link.
const DATA_CAPABILITY: &str = "qd.router-data";

/// What is known of a connection to another router.
pub(crate) struct Neighbor {
    /// Number among the connections between routers; the old router's "mask bit" of the connection.
    pub(crate) bit: u32,
    /// Link on which control messages come in.
    control_in: u32,
    /// Link on which control messages go out.
    pub(crate) control_out: u32,
    /// Links on which deliveries go out, by priority.
    data: [u32; PRIORITIES as usize],
    /// Data links that the peer has attached: coming in, going out.
    attached: [u8; 2],
    /// Control messages may pass.
    pub(crate) up: bool,
    /// When the log was told last that control messages from there are refused.
    pub(crate) complained: Option<Now>,
}

impl Neighbor {
    fn new(bit: u32) -> Self {
        Self {
            bit,
            control_in: NONE,
            control_out: NONE,
            data: [NONE; PRIORITIES as usize],
            attached: [0; 2],
            up: false,
            complained: None,
        }
    }

    /// The data link for a priority, or else for the closest lower one.
    pub(crate) fn data_link(&self, priority: u8) -> Option<u32> {
        let highest = usize::from(priority.min(PRIORITIES - 1));
        self.data[..=highest].iter().rev().copied().find(|link| *link != NONE)
    }

    /// Whether deliveries may go there.
    pub(crate) fn takes_deliveries(&self) -> bool {
        self.up && self.data_link(PRIORITIES - 1).is_some()
    }
}

impl<H: Host> Core<H> {
    /// A connection between routers has been opened: gets its number, and, if this side made it, its links.
    pub(crate) fn open_neighbor(&mut self, host: &mut H, conn: u32) {
        let info = &self.connections[conn].info;
        if info.role != Role::InterRouter || self.settings.mode != Mode::Interior {
            return;
        }
        let initiator = !info.incoming;
        let bit = self.neighbors.iter().position(|conn| *conn == NONE).unwrap_or(self.neighbors.len());
        if bit == self.neighbors.len() {
            self.neighbors.push(conn);
        } else {
            self.neighbors[bit] = conn;
        }
        self.connections[conn].neighbor = Some(Box::new(Neighbor::new(bit as u32)));
        if initiator {
            self.open_router_links(host, conn);
        }
    }

    /// A connection between routers has ended: its number is free again.
    pub(crate) fn close_neighbor(&mut self, conn: u32) {
        if let Some(neighbor) = self.connections[conn].neighbor.take() {
            self.neighbors[neighbor.bit as usize] = NONE;
            while self.neighbors.last() == Some(&NONE) {
                self.neighbors.pop();
            }
        }
    }

    /// All connections to routers that control messages can be sent to.
    pub(crate) fn neighbors_up(&self) -> SmallVec<[u32; 8]> {
        let up = |conn: &u32| *conn != NONE && self.neighbor(*conn).is_some_and(|neighbor| neighbor.up);
        self.neighbors.iter().copied().filter(up).collect()
    }

    /// What is known of the router at the other end of a connection.
    pub(crate) fn neighbor(&self, conn: u32) -> Option<&Neighbor> {
        self.connections[conn].neighbor.as_deref()
    }

    /// Control links first, then those for data by priority, receiver before sender.
    fn open_router_links(&mut self, host: &mut H, conn: u32) {
        for incoming in [true, false] {
            self.open_router_link(host, conn, incoming, LinkType::RouterControl, LinkClass::Control, CONTROL_PRIORITY);
        }
        for priority in 0..PRIORITIES {
            for incoming in [true, false] {
                self.open_router_link(host, conn, incoming, LinkType::InterRouter, LinkClass::Data(priority), priority);
            }
        }
    }

    /// Attaches a link between routers; its index.
    pub(crate) fn open_router_link(
        &mut self,
        host: &mut H,
        conn: u32,
        incoming: bool,
        link_type: LinkType,
        class: LinkClass,
        priority: u8,
    ) -> u32 {
        let name = format!("qdlink.{}", self.generate_name());
        let capabilities = match link_type {
            LinkType::RouterControl => vec![CONTROL_CAPABILITY.into()],
            LinkType::InterRouter => vec![DATA_CAPABILITY.into()],
            _ => Vec::new(),
        };
        let open = OpenLink {
            name: name.clone(),
            incoming,
            class,
            source: Some(Source { capabilities: capabilities.clone(), ..Source::default() }),
            target: Some(TargetTerminus::Target(Target { capabilities, ..Target::default() })),
            terms: LinkTerms::default(),
        };
        self.next_identity += 1;
        let key = LinkKey(self.links.next_key());
        let stand_in = host.open_link(self.connections[conn].host, key, open);
        let new =
            NewLink { id: self.next_identity, name, incoming, link_type, priority, own: true, send_settled: false };
        let link = self.add_link(conn, stand_in, new);
        if class != LinkClass::Streaming {
            self.enter_router_link(link, usize::from(priority));
        }
        link
    }

    /// Takes a link between routers that the peer attached.
    pub(crate) fn attach_router_link(
        &mut self,
        host: &mut H,
        conn: u32,
        id: u64,
        link: H::Link,
        link_type: LinkType,
        attach: AttachInfo,
    ) -> LinkKey {
        let AttachInfo { name, incoming, source, target, send_settled, .. } = attach;
        host.attach_answer(link, source, target);
        let order = match &mut self.connections[conn].neighbor {
            Some(neighbor) if link_type == LinkType::InterRouter => {
                let attached = &mut neighbor.attached[usize::from(!incoming)];
                let order = *attached;
                *attached = order.saturating_add(1);
                order
            }
            _ => 0,
        };
        let priority = match link_type {
            LinkType::RouterControl => CONTROL_PRIORITY,
            // What comes after the ten is for single large messages.
            _ => order.min(PRIORITIES - 1),
        };
        let new = NewLink { id, name, incoming, link_type, priority, own: false, send_settled };
        let link = self.add_link(conn, link, new);
        if link_type == LinkType::RouterControl || order < PRIORITIES {
            self.enter_router_link(link, usize::from(order));
        }
        // All that comes in beyond the ten that the connecting side attaches.
        let connected = !self.connections[conn].info.incoming;
        if incoming && link_type == LinkType::InterRouter && (connected || order >= PRIORITIES) {
            self.links[link].stream = Stream::Incoming;
        }
        if incoming {
            self.links[link].set_flowing(host, &mut self.statistics, true);
        }
        self.neighbor_changed(host, conn);
        LinkKey(self.links.key_at(link))
    }

    /// Notes a link where its connection's links are kept; `order` is its place among the data links.
    fn enter_router_link(&mut self, link: u32, order: usize) {
        let Link { conn, incoming, link_type, .. } = self.links[link];
        let Some(neighbor) = &mut self.connections[conn].neighbor else { return };
        match (link_type, incoming) {
            (LinkType::RouterControl, true) => neighbor.control_in = link,
            (LinkType::RouterControl, false) => neighbor.control_out = link,
            (_, false) => neighbor.data[order] = link,
            _ => {}
        }
    }

    /// A link between routers goes.
    pub(crate) fn router_link_gone(&mut self, host: &mut H, link: u32) {
        let Link { conn, .. } = self.links[link];
        let Some(neighbor) = &mut self.connections[conn].neighbor else { return };
        for place in neighbor.data.iter_mut().chain([&mut neighbor.control_in, &mut neighbor.control_out]) {
            if *place == link {
                *place = NONE;
            }
        }
        self.neighbor_changed(host, conn);
    }

    /// The host's reference to a link that it was asked to attach.
    ///
    /// Nothing was done to the link before this call, since calls that name the stand-in are lost.
    pub fn link_opened(&mut self, now: Now, host: &mut H, link: LinkKey, at: H::Link) {
        self.tick(now);
        let Some(record) = self.links.get_mut(link.0) else {
            // It is not wanted any more.
            return host.detach(at, true, None);
        };
        record.host = at;
        record.opened = true;
        if record.routed.is_some() {
            return self.routed_opened(host, index_of(link.0));
        }
        if record.auto_link != 0 {
            // It is bound, and gets credit, when the container has answered.
            return;
        }
        if record.incoming {
            let addr = record.addr;
            let flowing = addr == NONE || self.is_reachable(addr);
            self.links[index_of(link.0)].set_flowing(host, &mut self.statistics, flowing);
        }
    }

    /// The peer has answered the attach of a link of the router's own. A refusal has the peer's terminus null, and a
    /// detach follows.
    pub fn attach_answered(
        &mut self,
        now: Now,
        host: &mut H,
        link: LinkKey,
        source: Option<Source>,
        target: Option<TargetTerminus>,
        terms: LinkTerms,
    ) {
        self.tick(now);
        let Some(record) = self.links.get_mut(link.0) else { return };
        let conn_id = self.connections[record.conn].info.id;
        log_attached(host, conn_id, record.id, record.incoming, source.as_ref(), target.as_ref());
        if record.routed.is_some() {
            return self.routed_answered(host, index_of(link.0), source, target, terms);
        }
        if record.auto_link != 0 {
            return self.auto_link_answered(host, index_of(link.0), source.as_ref(), target.as_ref());
        }
        if record.own {
            record.answered = true;
            let target = match &target {
                Some(TargetTerminus::Target(target)) => target.address.as_deref(),
                _ => None,
            };
            let source = source.as_ref().and_then(|source| source.address.as_deref());
            let address = if record.incoming { source } else { target };
            return host.edge(EdgeEvent::LinkAnswered { link, address });
        }
        record.answered = if record.incoming { source.is_some() } else { target.is_some() };
        let conn = record.conn;
        if record.is_stream() && !record.answered {
            // It said that it would take these; it will not be asked again.
            self.connections[conn].info.streaming_links = false;
        }
        self.neighbor_changed(host, conn);
    }

    /// Links of a connection between routers have come or gone: it may now be of use, or not any more.
    fn neighbor_changed(&mut self, host: &mut H, conn: u32) {
        // Whatever was chosen by the links that there were is to be chosen anew.
        self.routers.changed();
        let Some(neighbor) = &mut self.connections[conn].neighbor else { return };
        let there = |link: u32| link != NONE && self.links[link].answered;
        let up = there(neighbor.control_in) && there(neighbor.control_out);
        if std::mem::replace(&mut neighbor.up, up) == up {
            return;
        }
        let info = &self.connections[conn].info;
        let (cost, shares) = (info.cost.max(1), info.shares);
        let conn = ConnKey(self.connections.key_at(conn));
        host.network(if up {
            NetworkEvent::NeighborUp { conn, cost, shares }
        } else {
            NetworkEvent::NeighborLost { conn }
        });
    }

    /// The link on which control messages go out to a neighbour; `None` while there is none.
    pub(crate) fn control_link(&self, conn: u32) -> Option<u32> {
        self.neighbor(conn).filter(|neighbor| neighbor.up).map(|neighbor| neighbor.control_out)
    }

    /// Whether a connection is still there, by its key; its index.
    pub(crate) fn connection_index(&self, conn: ConnKey) -> Option<u32> {
        self.connections.get(conn.0).map(|_| index_of(conn.0))
    }
}
