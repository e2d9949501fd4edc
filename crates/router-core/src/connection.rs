//! Connections: what is known of each, and their beginning and end.

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::neighbor::Neighbor;
use crate::promises::Promises;
use crate::{ConnKey, ConnectionInfo, EdgeEvent, Host, Now, Role, StripAnnotations};

/// A connection.
pub(crate) struct Connection<H: Host> {
    /// The host's reference.
    pub(crate) host: H::Conn,
    /// It is being ended, with all its links.
    pub(crate) closing: bool,
    /// Deliveries may be transmitted.
    pub(crate) writable: bool,
    /// Router annotations go out.
    pub(crate) annotate: bool,
    /// The peer is a route container.
    pub(crate) route_container: bool,
    /// First of its links, in order of attach (`conn_prev`, `conn_next`).
    pub(crate) first_link: u32,
    /// Last of its links.
    pub(crate) last_link: u32,
    /// Links with deliveries that wait for room on this connection; may name links gone since.
    pub(crate) waiting: Vec<u64>,
    /// When it was opened.
    pub(crate) opened: Now,
    /// When a delivery last came in or went out, in whole seconds of [`Now`].
    pub(crate) last_delivery: Option<u32>,
    /// When the last heartbeat came that was told of, in whole seconds of [`Now`].
    pub(crate) heartbeat: Option<u32>,
    /// To another router: links for one large message at a time that have nothing to do; may name links gone since.
    pub(crate) idle_streams: Vec<u64>,
    /// Its links to another router, if there is one.
    pub(crate) neighbor: Option<Box<Neighbor>>,
    /// To an edge router: link routes that it was told of.
    pub(crate) promises: Promises,
    /// What the surroundings said of it.
    pub(crate) info: ConnectionInfo,
}

impl<H: Host> Core<H> {
    /// The identity for a connection just accepted, or for a connector's next attempt. Starts at 1.
    pub fn next_connection_id(&mut self) -> u64 {
        self.next_connection += 1;
        self.next_connection
    }

    /// Registers a connection once the opens were exchanged. `info.id` is from [`Core::next_connection_id`].
    pub fn open_connection(&mut self, now: Now, host: &mut H, conn: H::Conn, info: ConnectionInfo) -> ConnKey {
        self.tick(now);
        // Between routers annotations are never stripped.
        let between_routers = matches!(info.role, Role::InterRouter | Role::Edge);
        self.internal_connections += u64::from(info.internal);
        let key = self.connections.insert(Connection {
            host: conn,
            closing: false,
            writable: true,
            annotate: between_routers || matches!(info.strip_annotations, StripAnnotations::No | StripAnnotations::In),
            route_container: info.role == Role::RouteContainer,
            first_link: NONE,
            last_link: NONE,
            waiting: Vec::new(),
            opened: now,
            last_delivery: None,
            heartbeat: None,
            idle_streams: Vec::new(),
            neighbor: None,
            promises: Promises::default(),
            info,
        });
        self.open_neighbor(host, index_of(key));
        self.edge_opened(host, index_of(key));
        self.link_routes_opened(host, index_of(key));
        self.auto_links_opened(host, index_of(key));
        ConnKey(key)
    }

    /// Ends a connection that was closed or lost: all its links are lost, in time proportional to their number.
    pub fn close_connection(&mut self, now: Now, host: &mut H, conn: ConnKey) {
        self.tick(now);
        let Some(connection) = self.connections.get_mut(conn.0) else { return };
        // Nothing may be sent to it while its links go one by one.
        connection.writable = false;
        connection.closing = true;
        let role = connection.info.role;
        if role == Role::Edge {
            host.edge(EdgeEvent::ConnectionLost { conn });
        }
        self.link_routes_closed(now, host, conn.0);
        // Senders first, so that nobody tells a sender on this connection what became of its deliveries to receivers on it.
        for incoming in [true, false] {
            let mut next = self.connections[index_of(conn.0)].first_link;
            while next != NONE {
                let link = next;
                next = self.links[link].conn_next;
                if self.links[link].incoming == incoming {
                    self.remove_link(host, link, "Link closed due to connection loss");
                }
            }
        }
        self.close_neighbor(index_of(conn.0));
        if role == Role::RouteContainer {
            self.auto_links_closed(host, conn.0);
        }
        if let Some(connection) = self.connections.remove(conn.0) {
            self.internal_connections -= u64::from(connection.info.internal);
        }
    }

    /// Tells whether deliveries may be transmitted to a connection. While not, they queue; nothing is dropped for it.
    pub fn set_writable(&mut self, now: Now, host: &mut H, conn: ConnKey, writable: bool) {
        self.tick(now);
        let Some(connection) = self.connections.get_mut(conn.0) else { return };
        connection.writable = writable;
        if writable {
            for link in std::mem::take(&mut connection.waiting) {
                if let Some(link) = self.links.get_mut(link).map(|_| index_of(link)) {
                    self.links[link].waiting = false;
                    self.push_queue(host, link);
                }
            }
        }
    }

    /// Switches the protocol trace of one connection, as data for management; the host does the tracing.
    pub fn set_protocol_trace(&mut self, conn: ConnKey, on: bool) {
        if let Some(connection) = self.connections.get_mut(conn.0) {
            connection.info.protocol_trace = on;
        }
    }

    /// The connection with this identity, and the host's reference to it.
    pub fn find_connection(&self, id: u64) -> Option<(ConnKey, H::Conn)> {
        let found = self.connections.iter().find(|(_, connection)| connection.info.id == id);
        found.map(|(key, connection)| (ConnKey(key), connection.host))
    }
}
