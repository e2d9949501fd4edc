//! Links: the record of each, and how one leaves its lists.

use std::sync::Arc;

use crate::arena::{NONE, index_of};
use crate::arrive::Arrivals;
use crate::core::Core;
use crate::routed::Routed;
use crate::stats::{LinkCounters, Rate};
use crate::streams::KeptStreams;
use crate::{Host, Level, LinkKey, LinkType, Module, SubscriberId};

/// A link. There may be very many: what few of them need is boxed.
pub(crate) struct Link<H: Host> {
    // What every delivery touches.
    /// The host's reference.
    pub(crate) host: H::Link,
    /// Its connection.
    pub(crate) conn: u32,
    /// The address it is bound to; `NONE`: an anonymous sender.
    pub(crate) addr: u32,
    /// Deliveries come in.
    pub(crate) incoming: bool,
    /// Type.
    pub(crate) link_type: LinkType,
    /// Priority of what goes over it; shown only, for links of clients.
    pub(crate) priority: u8,
    /// What it has to do with large messages.
    pub(crate) stream: Stream,
    /// The edge protocol asked for it.
    pub(crate) own: bool,
    /// An edge router learns over it where consumers are.
    pub(crate) tracking: bool,
    /// Incoming: whose its messages are, without an address.
    pub(crate) subscriber: Option<SubscriberId>,
    /// The host's reference is the link's, and not a stand-in.
    pub(crate) opened: bool,
    /// Both sides have attached it.
    pub(crate) answered: bool,
    /// Incoming: its deliveries have somewhere to go, so credit is given back as they are settled.
    pub(crate) flowing: bool,
    /// Incoming: it is given no credit, because memory is short and deliveries of it are queued.
    pub(crate) held_up: bool,
    /// Incoming: the peer was asked to drain. Outgoing: the peer asked us to.
    pub(crate) draining: bool,
    /// Outgoing: everything goes out settled.
    pub(crate) send_settled: bool,
    /// Outgoing: the address keeps account of its load.
    pub(crate) weighed: bool,
    /// Outgoing: it is in its connection's list of waiting links.
    pub(crate) waiting: bool,
    /// It has been without credit for so long that it counts as blocked.
    pub(crate) blocked: bool,
    /// Incoming: unused credit of the peer. Outgoing: ours.
    pub(crate) credit: u32,
    /// Initial credit, and bound of queued presettled deliveries.
    pub(crate) capacity: u32,
    /// Incoming: deliveries whose credit has not been given back.
    pub(crate) held: u32,
    /// Incoming: deliveries that came while memory was short, and are queued.
    pub(crate) queued_short: u32,
    /// Deliveries not settled (incoming: of the peer; outgoing: transmitted).
    pub(crate) unsettled: u32,
    /// Outgoing: deliveries queued.
    pub(crate) undelivered: u32,
    /// Outgoing: those of them that their sender settled.
    pub(crate) queued_presettled: u32,
    /// Outgoing: first queued delivery.
    pub(crate) queue_head: u32,
    /// Outgoing: last queued delivery.
    pub(crate) queue_tail: u32,
    /// Outgoing: first delivery transmitted and unsettled, or being transmitted.
    pub(crate) sent_head: u32,
    /// Outgoing: last of these.
    pub(crate) sent_tail: u32,
    /// Outgoing: the delivery being transmitted.
    pub(crate) busy: u32,
    /// Outgoing: slot in the loads of its address.
    pub(crate) slot: u32,
    /// Incoming: key of the delivery that is not complete yet.
    pub(crate) arriving: u64,
    /// Counters.
    pub(crate) counters: LinkCounters,
    /// Settlements of the last seconds.
    pub(crate) rate: Rate,
    // What only attach, detach and management touch.
    /// Since when it is without credit, in whole seconds of [`Now`](crate::Now); meaningless while there is some.
    pub(crate) no_credit_since: u32,
    /// Neighbours in the list of its connection.
    pub(crate) conn_prev: u32,
    pub(crate) conn_next: u32,
    /// Neighbours in the list of its address.
    pub(crate) addr_prev: u32,
    pub(crate) addr_next: u32,
    /// Number shown in logs and management.
    pub(crate) id: u64,
    /// Link name.
    pub(crate) name: Box<str>,
    /// Incoming: what `x-opt-qd.to` says, once it was needed or if the key of the address does not tell.
    pub(crate) to_override: Option<Arc<str>>,
    /// The auto-link whose link it is; 0: none.
    pub(crate) auto_link: u64,
    /// It is one with another link.
    pub(crate) routed: Option<Box<Routed>>,
    /// Incoming, from another router: where the last delivery went.
    pub(crate) arrivals: Option<Box<Arrivals>>,
    /// Incoming: links kept for what came on it.
    pub(crate) kept_streams: Option<Box<KeptStreams>>,
}

/// Whether a link is for one large message at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// It is for any deliveries.
    No,
    /// It has one.
    Busy,
    /// It waits for the next one.
    Idle,
    /// Outgoing: one sender's deliveries go over it, large or small, so that they keep their order.
    Kept,
    /// Incoming: a neighbour's.
    Incoming,
}

/// What a new link is made with.
pub(crate) struct NewLink {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) incoming: bool,
    pub(crate) link_type: LinkType,
    pub(crate) priority: u8,
    /// This router attaches it.
    pub(crate) own: bool,
    pub(crate) send_settled: bool,
}

impl<H: Host> Link<H> {
    /// Whether it leads to or from another router, whose deliveries are forwarded at once and need no credit held.
    pub(crate) fn is_between_routers(&self) -> bool {
        matches!(self.link_type, LinkType::InterRouter | LinkType::RouterControl)
    }

    /// Whether it is for one large message at a time.
    pub(crate) fn is_stream(&self) -> bool {
        self.stream != Stream::No
    }

    /// What counts for balanced distribution.
    pub(crate) fn load(&self) -> u32 {
        self.undelivered + self.unsettled
    }
}

impl<H: Host> Core<H> {
    /// The number of a link, as logs and management show it; `None` if it is gone.
    pub fn link_id(&self, link: LinkKey) -> Option<u64> {
        self.links.get(link.0).map(|link| link.id)
    }

    /// Makes the record of a link that is bound to nothing yet.
    pub(crate) fn add_link(&mut self, conn: u32, host: H::Link, new: NewLink) -> u32 {
        let key = self.links.insert(Link {
            host,
            conn,
            addr: NONE,
            incoming: new.incoming,
            link_type: new.link_type,
            priority: new.priority,
            stream: Stream::No,
            own: false,
            tracking: false,
            subscriber: None,
            opened: !new.own,
            answered: !new.own,
            flowing: false,
            held_up: false,
            draining: false,
            send_settled: new.send_settled,
            weighed: false,
            waiting: false,
            blocked: false,
            credit: 0,
            capacity: self.connections[conn].info.link_capacity,
            held: 0,
            queued_short: 0,
            unsettled: 0,
            undelivered: 0,
            queued_presettled: 0,
            queue_head: NONE,
            queue_tail: NONE,
            sent_head: NONE,
            sent_tail: NONE,
            busy: NONE,
            slot: 0,
            arriving: 0,
            counters: LinkCounters::default(),
            rate: Rate::default(),
            no_credit_since: self.clock.second,
            conn_prev: NONE,
            conn_next: NONE,
            addr_prev: NONE,
            addr_next: NONE,
            id: new.id,
            name: new.name.into(),
            to_override: None,
            auto_link: 0,
            routed: None,
            arrivals: None,
            kept_streams: None,
        });
        let link = index_of(key);
        self.internal_links += u64::from(self.connections[conn].info.internal);
        self.list_in_connection(link);
        self.schedule_scan();
        link
    }

    /// Puts a link at the end of its connection's list.
    fn list_in_connection(&mut self, link: u32) {
        let connection = &mut self.connections[self.links[link].conn];
        let last = std::mem::replace(&mut connection.last_link, link);
        self.links[link].conn_prev = last;
        match last {
            NONE => connection.first_link = link,
            last => self.links[last].conn_next = link,
        }
    }

    fn unlist_from_connection(&mut self, link: u32) {
        let Link { conn, conn_prev: prev, conn_next: next, .. } = self.links[link];
        match prev {
            NONE => self.connections[conn].first_link = next,
            prev => self.links[prev].conn_next = next,
        }
        match next {
            NONE => self.connections[conn].last_link = prev,
            next => self.links[next].conn_prev = prev,
        }
    }

    /// Takes a link out of everything and forgets it: its deliveries are resolved, its address may go.
    ///
    /// `what` begins the log line.
    pub(crate) fn remove_link(&mut self, host: &mut H, link: u32, what: &str) {
        // Whatever is given back from here on is not for this link.
        self.links[link].flowing = false;
        self.links[link].held_up = false;
        self.held_up.remove(&self.links.key_at(link));
        if self.links[link].is_between_routers() {
            self.router_link_gone(host, link);
        } else if self.links[link].own || self.links[link].tracking {
            self.own_link_gone(host, link);
        }
        if self.links[link].routed.is_some() {
            self.routed_link_gone(host, link);
        }
        if self.links[link].auto_link != 0 {
            self.auto_link_failed(host, link, None);
        }
        self.unbind(host, link);
        if self.links[link].incoming {
            self.release_streams(link, |_| true);
            self.sender_gone(host, link);
        } else {
            self.receiver_gone(host, link);
        }
        self.unlist_from_connection(link);
        let Some(link) = self.links.remove_at(link) else { return };
        self.statistics.links_blocked -= u64::from(link.blocked);
        self.internal_links -= u64::from(self.connections[link.conn].info.internal);
        if host.log_enabled(Module::RouterCore, Level::Info) {
            let (conn, count) = (self.connections[link.conn].info.id, link.counters.all());
            host.log(
                Module::RouterCore,
                Level::Info,
                format_args!(
                    "[C{conn}][L{}] {what}: del={} presett={} psdrop={} acc={} rej={} rel={} mod={} delay1={} delay10={} \
                     blocked={}",
                    link.id,
                    link.counters.deliveries,
                    link.counters.presettled,
                    count.dropped_presettled,
                    link.counters.accepted,
                    count.rejected,
                    count.released,
                    count.modified,
                    count.delayed_1sec,
                    count.delayed_10sec,
                    if link.blocked { "yes" } else { "no" },
                ),
            );
        }
    }
}
