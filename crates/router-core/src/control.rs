//! Messages of the routing protocol. They go over control links only, settled, and keep apart from everybody's deliveries.

use amqp::{DeliveryState, ErrorCondition};
use smallvec::SmallVec;

use crate::address::key::{parse, write_key};
use crate::arena::{NONE, index_of};
use crate::bind::Making;
use crate::core::Core;
use crate::delivery::Delivery;
use crate::forward::Passage;
use crate::{ConnKey, Host, Level, Module, Now, Offer, Offered, SubscriberId, Treatment};

/// How far messages for an address of the routing protocol go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To this router.
    Here,
    /// To all neighbours, and from them on.
    Flood,
    /// To each router once, along the tree of cheapest paths from where they started.
    Tree,
}

/// The log is told again of control messages that are refused after such a pause.
const COMPLAINTS: Now = Now::from_secs(600);
/// Key of the one address whose messages go along the tree.
const TREE: &str = "Tqdrouter.ma";

impl<H: Host> Core<H> {
    /// Subscribes to an address of the routing protocol, such as `Lqdhello` or `Tqdrouter`: it takes only what comes in on
    /// control links.
    pub fn subscribe_control(&mut self, now: Now, host: &mut H, key: &str) -> SubscriberId {
        self.tick(now);
        let tree = key == TREE;
        let along_tree = key.ends_with(".ma");
        let addr =
            self.find_or_make(key, Making::plain(if along_tree { Treatment::Multicast } else { Treatment::Flood }));
        self.addresses[addr].reach = Some(match key.starts_with('T') {
            true if tree => Reach::Tree,
            true => Reach::Flood,
            false => Reach::Here,
        });
        if key.starts_with('T') && !self.control_addresses.contains(&addr) {
            self.control_addresses.push(addr);
            self.addresses[addr].permanent = true;
            let routers: Vec<_> = self.routers.indices().collect();
            routers.into_iter().for_each(|router| self.add_remote(host, router, addr));
        }
        self.subscribe(now, host, key)
    }

    /// Sends a message of the routing protocol, settled, on control links: to one neighbour, or to wherever `to` leads.
    /// False: nobody is there.
    pub fn send_control(&mut self, now: Now, host: &mut H, to: &str, on: Option<ConnKey>, content: H::Content) -> bool {
        self.tick(now);
        let parsed = parse(to, &self.settings.router_id, self.settings.mode);
        write_key(&mut self.scratch, &parsed, '0', "");
        let addr = self.addresses.find(&self.scratch);
        let mut passage = Passage::from_within(self.clock.millis, &content);
        let conns = match (on, addr) {
            (Some(conn), _) => self.connection_index(conn).into_iter().collect(),
            (None, Some(addr)) => self.control_hops(addr, &passage),
            (None, None) => SmallVec::new(),
        };
        if let Some(addr) = addr {
            passage.addr = addr;
        }
        self.send_control_copies(host, &conns, &mut passage)
    }

    /// A message comes in on a control link.
    pub(crate) fn deliver_control(
        &mut self,
        host: &mut H,
        passage: &mut Passage<'_, H::Content>,
        offer: &Offer<'_>,
    ) -> Offered {
        let link = index_of(passage.link);
        let Some(addr) = self.resolve_arrival(link, offer) else {
            return self.unroutable(host, passage, DeliveryState::Released);
        };
        if self.was_here(offer) {
            return self.deliver_to_namesake(host, addr, passage, offer);
        }
        if !self.addresses[addr].is_control() {
            return self.forward(host, addr, passage);
        }
        passage.addr = addr;
        let now = self.now();
        if self.addresses[addr].reach == Some(Reach::Flood)
            && host.digest().is_some_and(|digest| self.floods.is_known(now, digest, offer.trace.len()))
        {
            return self.taken(host, passage, DeliveryState::Accepted);
        }
        let conns = self.control_hops(addr, passage);
        self.send_control_copies(host, &conns, passage);
        self.hand_to_all(host, addr, passage);
        self.taken(host, passage, DeliveryState::Accepted)
    }

    /// A control message has come that began here, or at another router of the same id: the routing protocol can tell.
    /// One that only passed here is not heard twice.
    fn deliver_to_namesake(
        &mut self,
        host: &mut H,
        addr: u32,
        passage: &mut Passage<'_, H::Content>,
        offer: &Offer<'_>,
    ) -> Offered {
        let began =
            offer.trace.iter().next().is_some_and(|first| crate::routers::id_of(first) == self.settings.router_id);
        if !began || !matches!(self.addresses[addr].reach, Some(Reach::Here | Reach::Flood)) {
            return self.unroutable(host, passage, DeliveryState::Released);
        }
        passage.addr = addr;
        self.hand_to_all(host, addr, passage);
        self.taken(host, passage, DeliveryState::Accepted)
    }

    fn hand_to_all(&mut self, host: &mut H, addr: u32, passage: &mut Passage<'_, H::Content>) {
        for at in 0.. {
            let Some(&subscriber) = self.addresses[addr].subscribers.get(at) else { break };
            if let DeliveryState::Rejected(error) = self.hand_over(host, addr, subscriber, passage) {
                self.complain_of_refusal(host, passage, error.as_deref());
            }
        }
    }

    /// A control message from a neighbour is not taken: neither router would ever say so by itself. It is told once, and
    /// again after a long pause.
    #[cold]
    fn complain_of_refusal(&mut self, host: &mut H, passage: &Passage<'_, H::Content>, error: Option<&ErrorCondition>) {
        let now = self.now();
        let Some(conn) = self.links.get(passage.link).map(|link| link.conn) else { return };
        let Some(neighbor) = &mut self.connections[conn].neighbor else { return };
        if neighbor.complained.is_some_and(|last| last + COMPLAINTS > now) {
            return;
        }
        neighbor.complained = Some(now);
        let (why, remedy) = match passage.complete {
            false => ("it is too large to be taken whole", "spread the addresses in it over more routers"),
            true => (
                error.and_then(|error| error.description.as_deref()).unwrap_or("nobody takes it"),
                "it will be asked for again; if this goes on, give the router more processor time",
            ),
        };
        let (info, own) = (&self.connections[conn].info, &self.settings.router_id);
        let to = passage.offer.and_then(|offer| offer.to).unwrap_or_default();
        host.log(
            Module::Router,
            Level::Error,
            format_args!(
                "[C{}] Router {own} refuses a control message for {to} that came from router {}: {why} ({remedy})",
                info.id, info.container
            ),
        );
    }

    /// Whether a message has passed this router before.
    fn was_here(&self, offer: &Offer<'_>) -> bool {
        offer.trace.iter().any(|router| crate::routers::id_of(router) == self.settings.router_id)
    }

    /// The connections on which a control message goes on.
    fn control_hops(&mut self, addr: u32, passage: &Passage<'_, H::Content>) -> SmallVec<[u32; 16]> {
        match self.addresses[addr].reach {
            // One whose origin is not known here yet goes no further: who knows it will ask.
            Some(Reach::Tree) => self.multicast_hops(addr, passage),
            Some(Reach::Flood) => {
                let from = self.links.get(passage.link).map(|link| link.conn);
                let on = |conn: &u32| Some(*conn) != from && !self.has_passed(*conn, passage);
                self.neighbors_up().into_iter().filter(on).collect()
            }
            Some(Reach::Here) if passage.link == 0 => self.neighbors_up().into_iter().collect(),
            Some(Reach::Here) => SmallVec::new(),
            None => self.hop_to_router(addr).into_iter().collect(),
        }
    }

    /// The connection towards a router, by its address.
    fn hop_to_router(&mut self, addr: u32) -> Option<u32> {
        self.find_hops(addr);
        self.addresses[addr].hops.as_ref()?.iter().next().map(|hop| hop.conn)
    }

    fn send_control_copies(&mut self, host: &mut H, conns: &[u32], passage: &mut Passage<'_, H::Content>) -> bool {
        let mut sent = false;
        for &conn in conns {
            let Some(link) = self.control_link(conn) else { continue };
            // What goes no further than the neighbour is not in transit.
            if passage.addr != NONE && self.addresses[passage.addr].reach != Some(Reach::Here) {
                self.addresses[passage.addr].transit += 1;
            }
            self.send(host, Delivery::outgoing(link, passage, true), passage);
            sent = true;
        }
        sent
    }
}
