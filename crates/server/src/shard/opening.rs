//! What this router says of itself in an Open, and what it makes of the peer's.

use std::sync::Arc;
use std::time::Duration;

use amqp::performative::Open;
use amqp::{Map, Symbol, Value};
use amqp_endpoint::ConnectionConfig;
use router_core::{ConnectionInfo, Core};
use router_net::wire::SYNC_CAPABILITY;
use security::policy::Settings as Limits;

use super::DEFAULT_HANDSHAKE_TIMEOUT;
use super::conn::{Conn, Peer};
use super::event::ShardEvent;
use super::host::ShardHost;
use super::settings::{ConnectionSettings, FailoverServer, Role, StripAnnotations};
use super::transport::Transport;
use crate::DISPATCH_VERSION;

/// What the old router says it is; clients and consoles look for it.
const PRODUCT: &str = "qpid-dispatch-router";
/// Offered and desired on every connection.
const CAPABILITIES: [&str; 2] = ["ANONYMOUS-RELAY", STREAMING_LINKS];
/// The capability to take large messages on links of their own.
const STREAMING_LINKS: &str = "qd.streaming-links";
/// The incoming window in frames when none is configured.
const WINDOW: u32 = i32::MAX as u32;
/// Upper bound of `maxSessions`, and what 0 stands for.
const MAX_SESSIONS: u32 = 32768;

/// Our end of a connection with this number over a transport that is ready.
pub(super) fn connection_config(
    container_id: &str,
    settings: &ConnectionSettings,
    id: u64,
    hostname: Option<&str>,
    transport: &Transport,
) -> ConnectionConfig {
    // Old routers look for the capabilities that they know, and pass over others.
    let shares = Some(SYNC_CAPABILITY).filter(|_| settings.role == Role::InterRouter);
    let capabilities: Vec<Symbol> = CAPABILITIES.into_iter().chain(shares).map(Symbol::from).collect();
    let sessions = if settings.max_sessions == 0 { MAX_SESSIONS } else { settings.max_sessions.min(MAX_SESSIONS) };
    let zero_is = |time: Duration, otherwise| if time.is_zero() { otherwise } else { Some(time) };
    ConnectionConfig {
        container_id: container_id.to_owned(),
        hostname: hostname.map(str::to_owned),
        max_frame_size: settings.max_frame_size.max(amqp::frame::MIN_MAX_FRAME_SIZE),
        // At most 32767.
        channel_max: (sessions - 1) as u16,
        handle_max: u32::MAX,
        idle_time_out: zero_is(settings.idle_timeout, None),
        session_window: settings.max_session_frames.unwrap_or(WINDOW),
        credit_tolerance: credit_tolerance(settings),
        offered_capabilities: capabilities.clone(),
        desired_capabilities: capabilities,
        properties: Some(properties(settings, id)),
        handshake_time_out: zero_is(settings.initial_handshake_timeout, Some(DEFAULT_HANDSHAKE_TIMEOUT)),
        security_layer_required: settings.require_encryption && transport.tls().is_none(),
    }
}

/// RabbitMQ 3 forgets what it has on its way when credit comes: each flow can bring as much again as the credit it tells.
/// There is one flow a turn, and none while so much is unsettled; what is beyond a few turns' worth is no such mistake.
fn credit_tolerance(settings: &ConnectionSettings) -> u32 {
    if settings.role == Role::RouteContainer { settings.link_capacity.saturating_mul(16) } else { 0 }
}

/// Our end of an accepted connection for which policy has limits other than the listener's; `None`: it has none.
fn limited(container_id: &str, conn: &Conn, limits: &Limits) -> Option<ConnectionConfig> {
    let Limits { max_frame_size, max_session_window, max_sessions, .. } = limits;
    if (max_frame_size, max_session_window, max_sessions) == (&None, &None, &None) {
        return None;
    }
    let listener = connection_config(container_id, &conn.settings, conn.id, None, &conn.transport);
    let frame = max_frame_size.unwrap_or(listener.max_frame_size).max(amqp::frame::MIN_MAX_FRAME_SIZE);
    // The listener's window is one of bytes, too: it is given in frames of the listener's size.
    let bytes = u64::from(listener.session_window) * u64::from(listener.max_frame_size);
    let window = max_session_window.unwrap_or(bytes) / u64::from(frame);
    Some(ConnectionConfig {
        max_frame_size: frame,
        // At most 32767.
        channel_max: max_sessions.map_or(listener.channel_max, |sessions| (sessions.clamp(1, MAX_SESSIONS) - 1) as u16),
        session_window: window.clamp(1, u64::from(WINDOW)) as u32,
        ..listener
    })
}

fn properties(settings: &ConnectionSettings, id: u64) -> Map {
    let mut entries = vec![
        (symbol("product"), Value::String(PRODUCT.to_owned())),
        (symbol("version"), Value::String(DISPATCH_VERSION.to_owned())),
        // The old router's integer has 32 bits, and its peers expect that.
        (symbol("qd.conn-id"), Value::Int(id as i32)),
    ];
    if settings.cost > 1 {
        entries.push((symbol("qd.inter-router-cost"), Value::Int(settings.cost.min(i32::MAX as u32) as i32)));
    }
    if settings.role.is_router() {
        entries.push((symbol("qd.annotations-version"), Value::Int(1)));
    }
    if !settings.failover.is_empty() {
        let servers = settings.failover.iter().map(failover_server).collect();
        entries.push((symbol("failover-server-list"), Value::List(servers)));
    }
    if matches!(settings.role, Role::Normal | Role::RouteContainer) {
        entries.extend(settings.open_properties.0.iter().cloned());
    }
    Map(entries)
}

fn failover_server(server: &FailoverServer) -> Value {
    let mut entries = vec![
        (symbol("network-host"), Value::String(server.host.clone())),
        (symbol("port"), Value::String(server.port.clone())),
    ];
    if let Some(scheme) = &server.scheme {
        entries.push((symbol("scheme"), Value::String(scheme.clone())));
    }
    Value::Map(Map(entries))
}

fn symbol(text: &str) -> Value {
    Value::Symbol(Symbol::from(text))
}

impl ShardHost {
    /// The peer's Open has come: the connection is known to the core from now on.
    pub(super) fn opened(&mut self, core: &mut Core<Self>, slot: u32, open: Arc<Open>) {
        if !self.admit(slot, &open) {
            return;
        }
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        if matches!(conn.peer, Peer::Accepted { .. }) {
            let limits = conn.policed.as_ref().map(|policed| &*policed.settings);
            let config = limits.and_then(|limits| limited(&self.shared.container_id, conn, limits));
            conn.endpoint.open(config);
        }
        let info = connection_info(conn, &open);
        conn.shares = info.shares;
        let at = conn.at;
        let line = opened_line(&info);
        let mut properties = String::new();
        if let Some(map) = open.properties.clone() {
            amqp::trace::value(&mut properties, &Value::Map(map));
        }
        logging::log!(ROUTER_CORE, Info, "{line} props={properties}");
        if let (true, Some(version)) = (conn.at.peer, annotations_version(&open)) {
            logging::log!(ROUTER, Debug, "Remote router annotations version: {version}");
        }
        let key = core.open_connection(self.now, self, at, info);
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        conn.key = Some(key);
        if let Peer::Connected { attempt, .. } = &conn.peer {
            let (connector, connection_id) = (attempt.id, conn.id);
            self.shared.tell(ShardEvent::ConnectorOpened { connector, connection_id, open, message: line });
        }
    }
}

fn connection_info(conn: &Conn, open: &Open) -> ConnectionInfo {
    let settings = &conn.settings;
    let vhost = open.hostname.clone();
    // Where a vhost's policy holds, the tenant is that vhost, by whatever name the peer calls it.
    let policed = conn.policed.as_ref().map(|policed| &*policed.settings.vhost).filter(|vhost| !vhost.is_empty());
    let tenant = policed.or(vhost.as_deref()).filter(|vhost| settings.multi_tenant && !vhost.is_empty());
    let incoming = matches!(conn.peer, Peer::Accepted { .. });
    let mechanism = conn.authenticated.0.clone();
    let tls = conn.transport.tls();
    ConnectionInfo {
        id: conn.id,
        configured_name: settings.name.clone(),
        role: core_role(settings.role),
        incoming,
        host: conn.peer.host(),
        container: open.container_id.clone(),
        tenant: tenant.map(|vhost| format!("{vhost}/")),
        vhost,
        // To the old router ANONYMOUS is a way to be authenticated, and so is a client without a SASL layer anonymous.
        authenticated: mechanism.is_some(),
        sasl_mechanism: mechanism,
        user: conn.user().map(str::to_owned),
        properties: open.properties.clone(),
        protocol_trace: conn.flags.traced,
        strip_annotations: core_strip(settings.strip_annotations),
        link_capacity: settings.link_capacity,
        internal: false,
        cost: settings.cost.max(cost_of_peer(open)).max(1),
        // A layer of one bit signs, and hides nothing.
        encrypted: tls.is_some() || conn.transport.sasl_strength() > 1,
        ssl: tls.is_some(),
        ssl_proto: tls.map(|tls| tls.protocol.to_owned()),
        ssl_cipher: tls.map(|tls| tls.cipher.to_owned()),
        ssl_ssf: tls.map_or_else(|| conn.transport.sasl_strength(), |tls| tls.strength),
        streaming_links: offers(open, STREAMING_LINKS),
        shares: settings.role == Role::InterRouter && offers(open, SYNC_CAPABILITY),
    }
}

fn offers(open: &Open, capability: &str) -> bool {
    open.offered_capabilities.iter().any(|offered| offered.as_str() == capability)
}

/// What the peer says that a connection between routers costs; 0 if it says nothing.
fn cost_of_peer(open: &Open) -> u32 {
    let cost = open.properties.as_ref().and_then(|properties| properties.get("qd.inter-router-cost"));
    cost.and_then(Value::as_i64).and_then(|cost| u32::try_from(cost).ok()).unwrap_or(0)
}

/// The version of the router annotations that the peer writes.
fn annotations_version(open: &Open) -> Option<i64> {
    open.properties.as_ref().and_then(|properties| properties.get("qd.annotations-version")).and_then(Value::as_i64)
}

/// The log line that tells of a connection, but for its properties, in the old router's words.
fn opened_line(info: &ConnectionInfo) -> String {
    format!(
        "[C{}] Connection Opened: dir={} host={} vhost={} encrypted={} auth={} user={} container_id={}",
        info.id,
        if info.incoming { "in" } else { "out" },
        info.host,
        info.tenant.as_deref().map_or("", |tenant| tenant.trim_end_matches('/')),
        info.ssl_proto.as_deref().filter(|_| info.encrypted).unwrap_or("no"),
        info.sasl_mechanism.as_deref().unwrap_or("no"),
        info.user.as_deref().unwrap_or("(null)"),
        info.container,
    )
}

fn core_role(role: Role) -> router_core::Role {
    match role {
        Role::Normal => router_core::Role::Normal,
        Role::RouteContainer => router_core::Role::RouteContainer,
        Role::InterRouter => router_core::Role::InterRouter,
        Role::Edge => router_core::Role::Edge,
    }
}

fn core_strip(strip: StripAnnotations) -> router_core::StripAnnotations {
    match strip {
        StripAnnotations::Both => router_core::StripAnnotations::Both,
        StripAnnotations::In => router_core::StripAnnotations::In,
        StripAnnotations::Out => router_core::StripAnnotations::Out,
        StripAnnotations::No => router_core::StripAnnotations::No,
    }
}
