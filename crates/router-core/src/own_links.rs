//! Links of the router's own on connections of edge routers: the edge protocol has them attached, says what goes on them, and
//! hears what becomes of them.

use crate::arena::index_of;
use crate::bind::Making;
use crate::core::Core;
use crate::delivery::{Delivery, Outcome};
use crate::edge::{Bound, EdgeEvent};
use crate::forward::Passage;
use crate::link::NewLink;
use crate::{ConnKey, Host, LinkKey, LinkType, Now, OpenLink, OutKey, Treatment};

/// Priority shown for links of the router's own.
const PRIORITY: u8 = 4;

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
