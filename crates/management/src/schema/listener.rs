//! Where the router listens.

use super::base::CONFIGURATION_ENTITY;
use super::build::{boolean, choice, full, integer, path, properties, text};
use super::entity_type::{Attribute, EntityType};

pub(super) const ROLES: &[&str] = &["normal", "inter-router", "route-container", "edge"];
pub(super) const ADDRESS_FAMILIES: &[&str] = &["IPv4", "IPv6"];
const STRIP: &[&str] = &["in", "out", "both", "no"];

/// What a listener and a connector describe alike.
pub(super) const ROLE: Attribute = choice(
    "role",
    ROLES,
    "Who is at the other end: clients (normal), an interior router (inter-router), a broker to which links are routed \
     (route-container), or the other side of an edge connection (edge).",
)
.default_text("normal")
.create();
pub(super) const COST: Attribute =
    integer("cost", "For inter-router connections: what a message pays for travelling here. The dearer side counts.")
        .default_number(1)
        .create();
pub(super) const SSL_PROFILE: Attribute = text("sslProfile", "The TLS profile to use, by name.").create();
pub(super) const SASL_MECHANISMS: Attribute =
    text("saslMechanisms", "SASL mechanisms that may be used, separated by blanks; all if not given.").create();
pub(super) const MAX_FRAME_SIZE: Attribute =
    integer("maxFrameSize", "The largest frame that is received, in bytes.").default_number(16384).create();
pub(super) const MAX_SESSIONS: Attribute =
    integer("maxSessions", "How many sessions a connection may have, at most 32768.").default_number(32768).create();
pub(super) const MAX_SESSION_FRAMES: Attribute =
    integer("maxSessionFrames", "How many frames a session may have in flight to the router; unlimited if not given.")
        .create();
pub(super) const IDLE_TIMEOUT: Attribute =
    integer("idleTimeoutSeconds", "Seconds of silence after which a connection is closed; 0 is never.")
        .default_number(16)
        .create();
pub(super) const STRIP_ANNOTATIONS: Attribute =
    choice("stripAnnotations", STRIP, "Which way the router's annotations are removed from messages.")
        .default_text("both")
        .create();
pub(super) const LINK_CAPACITY: Attribute =
    integer("linkCapacity", "The credit of each link to the router, in deliveries; 250 if not given.").create();
pub(super) const MESSAGE_LOGGING: Attribute = text(
    "messageLoggingComponents",
    "Which properties of messages are logged: none, all, or a list separated by commas. Module MESSAGE must be at trace.",
)
.default_text("none")
.create()
.formerly("logMessage");
pub(super) const POLICY_VHOST: Attribute =
    text("policyVhost", "The vhost whose policy applies, whatever the peer asks for.").create();
pub(super) const OPEN_PROPERTIES: Attribute =
    properties("openProperties", "More properties for the open that the router sends, for normal and route-container.")
        .create();

/// A port at which the router accepts connections.
pub static LISTENER: EntityType = EntityType::new(
    "listener",
    full!("listener"),
    &CONFIGURATION_ENTITY,
    "A port at which the router accepts connections, and what holds for these.",
)
.operations(&["CREATE", "DELETE"])
.attributes(&[
    text("host", "Host name or address to listen at; all addresses if empty.")
        .default_text("")
        .create()
        .formerly("addr"),
    text("port", "Port number or service name; 0 lets the system choose.").default_text("amqp").create(),
    choice("socketAddressFamily", ADDRESS_FAMILIES, "Which kind of address the host is resolved to; any if not given.")
        .create()
        .formerly("protocolFamily"),
    ROLE,
    COST,
    SSL_PROFILE,
    SASL_MECHANISMS,
    boolean("authenticatePeer", "Whether peers must authenticate.").default_flag(false).create(),
    text("saslPlugin", "The authServicePlugin that authenticates peers, by name.").create(),
    boolean("requireEncryption", "Whether connections must be encrypted, by TLS or SASL.").default_flag(false).create(),
    boolean("requireSsl", "Whether connections must use TLS.").default_flag(false).create(),
    path("trustedCertsFile", "Accepted for old configurations; it has no effect.").create().formerly("trustedCerts"),
    MAX_FRAME_SIZE,
    MAX_SESSIONS,
    MAX_SESSION_FRAMES,
    IDLE_TIMEOUT,
    integer("initialHandshakeTimeoutSeconds", "Seconds that a new connection may take until its open; 0 is no limit.")
        .default_number(0)
        .create(),
    STRIP_ANNOTATIONS,
    LINK_CAPACITY,
    boolean("multiTenant", "Whether the host name in the peer's open becomes part of its addresses.")
        .default_flag(false)
        .create(),
    text("failoverUrls", "Where else clients can connect to: `[scheme://]host[:port]`, separated by commas.")
        .create()
        .formerly("failoverList"),
    boolean("healthz", "HTTP: whether `/healthz` is served.").default_flag(true).create(),
    boolean("metrics", "HTTP: whether `/metrics` is served.").default_flag(true).create(),
    boolean("websockets", "HTTP: whether AMQP over WebSockets is accepted.").default_flag(true).create(),
    boolean("http", "Whether HTTP is spoken at this port.").default_flag(false).create(),
    path("httpRootDir", "HTTP: the directory of the files that are served.").create().formerly("httpRoot"),
    MESSAGE_LOGGING,
    POLICY_VHOST,
    OPEN_PROPERTIES,
]);
