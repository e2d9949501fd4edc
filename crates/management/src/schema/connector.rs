//! Where the router connects to.

use super::base::CONFIGURATION_ENTITY;
use super::build::{boolean, choice, full, text};
use super::entity_type::EntityType;
use super::listener::{
    ADDRESS_FAMILIES, COST, IDLE_TIMEOUT, LINK_CAPACITY, MAX_FRAME_SIZE, MAX_SESSION_FRAMES, MAX_SESSIONS,
    MESSAGE_LOGGING, OPEN_PROPERTIES, POLICY_VHOST, ROLE, SASL_MECHANISMS, SSL_PROFILE, STRIP_ANNOTATIONS,
};

/// A connection that the router makes and keeps.
pub static CONNECTOR: EntityType = EntityType::new(
    "connector",
    full!("connector"),
    &CONFIGURATION_ENTITY,
    "A connection that the router makes, and makes again when it is lost.",
)
.operations(&["CREATE", "DELETE"])
.attributes(&[
    text("host", "Host name or address to connect to.").default_text("127.0.0.1").create().formerly("addr"),
    text("port", "Port number or service name to connect to.").default_text("amqp").create(),
    choice("protocolFamily", ADDRESS_FAMILIES, "Which kind of address the host is resolved to; any if not given.")
        .create(),
    ROLE,
    COST,
    SSL_PROFILE,
    SASL_MECHANISMS,
    boolean(
        "allowRedirect",
        "Whether to go where a server sends this router that closes the connection with amqp:connection:redirect.",
    )
    .default_flag(true)
    .create(),
    MAX_FRAME_SIZE,
    MAX_SESSIONS,
    MAX_SESSION_FRAMES,
    IDLE_TIMEOUT,
    STRIP_ANNOTATIONS,
    LINK_CAPACITY,
    boolean("verifyHostname", "Whether the server's certificate must be for the host that is connected to.")
        .default_flag(true)
        .create()
        .formerly("verifyHostName"),
    text("saslUsername", "The user name for SASL.").create(),
    text("saslPassword", "The password for SASL: `env:NAME`, `file:PATH` or `pass:TEXT`.").create().hidden(),
    MESSAGE_LOGGING,
    text("failoverUrls", "Where the peer says one can connect to as well, the address in use first.")
        .formerly("failoverList"),
    text("connectionStatus", "Whether the connection is being made (CONNECTING), exists (SUCCESS) or failed (FAILED)."),
    text("connectionMsg", "What happened last to the connection."),
    POLICY_VHOST,
    OPEN_PROPERTIES,
]);
