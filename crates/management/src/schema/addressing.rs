//! How addresses are treated: addresses, link routes, auto-links, exchanges and bindings.

use super::base::CONFIGURATION_ENTITY;
use super::build::{boolean, choice, full, integer, text};
use super::entity_type::EntityType;
use super::router::DISTRIBUTIONS;

pub(super) const DIRECTIONS: &[&str] = &["in", "out"];

/// The treatment of a set of addresses.
pub static ADDRESS: EntityType = EntityType::new(
    "router.config.address",
    full!("router.config.address"),
    &CONFIGURATION_ENTITY,
    "How messages are treated that are sent to a set of addresses.",
)
.section("address")
.operations(&["CREATE", "DELETE"])
.core_columns(&[
    "name",
    "identity",
    "type",
    "prefix",
    "distribution",
    "waypoint",
    "ingressPhase",
    "egressPhase",
    "pattern",
    "priority",
    "fallback",
])
.attributes(&[
    text("prefix", "Holds for this address and all that begin with it and a `.` or `/`.").create(),
    text("pattern", "Holds for all addresses that fit; `*` stands for one token, `#` for any number of them.").create(),
    choice(
        "distribution",
        DISTRIBUTIONS,
        "To which receivers messages go: each, the nearest, the least busy, or none.",
    )
    .default_text("balanced")
    .create(),
    boolean("waypoint", "Whether messages pass through a process, such as a queue, on their way.")
        .default_flag(false)
        .create(),
    integer("ingressPhase", "The phase in which messages from senders enter, 0 to 9.").create(),
    integer("egressPhase", "The phase from which receivers get messages, 0 to 9.").create(),
    integer("priority", "The priority of messages that state none, 0 to 9.").create(),
    boolean("enableFallback", "Whether messages nobody else takes go to receivers with fall-back capability.")
        .default_flag(false)
        .create(),
]);

/// Links that are routed to a container as a whole.
pub static LINK_ROUTE: EntityType = EntityType::new(
    "router.config.linkRoute",
    full!("router.config.linkRoute"),
    &CONFIGURATION_ENTITY,
    "Which clients' links are passed on to another container as a whole.",
)
.section("linkRoute")
.operations(&["CREATE", "DELETE"])
.core_columns(&[
    "name",
    "identity",
    "type",
    "prefix",
    "distribution",
    "connection",
    "containerId",
    "direction",
    "dir",
    "operStatus",
    "pattern",
    "addExternalPrefix",
    "delExternalPrefix",
])
.attributes(&[
    text("prefix", "Holds for this address and all that begin with it and a `.` or `/`.").create(),
    text("pattern", "Holds for all addresses that fit; `*` stands for one token, `#` for any number of them.").create(),
    text("addExternalPrefix", "What is put before the address on the way to the container.").create(),
    text("delExternalPrefix", "What is taken away from the address on the way to the container.").create(),
    text("containerId", "The container, by its container-id.").create(),
    text("connection", "The container, by the name of the listener or connector.").create(),
    choice("distribution", &["linkBalanced"], "How links are spread over several connections.")
        .default_text("linkBalanced")
        .create(),
    choice("direction", DIRECTIONS, "Which links: those of senders (in) or those of receivers (out).")
        .required()
        .create()
        .formerly("dir"),
    choice("operStatus", &["inactive", "active"], "Whether there is a connection to the container."),
]);

/// A link that the router attaches itself.
pub static AUTO_LINK: EntityType = EntityType::new(
    "router.config.autoLink",
    full!("router.config.autoLink"),
    &CONFIGURATION_ENTITY,
    "A link that the router attaches at another container as soon as there is a connection to it.",
)
.section("autoLink")
.operations(&["CREATE", "DELETE"])
.core_columns(&[
    "name",
    "identity",
    "type",
    "address",
    "addr",
    "direction",
    "dir",
    "phase",
    "connection",
    "containerId",
    "externalAddress",
    "externalAddr",
    "linkRef",
    "operStatus",
    "lastError",
    "fallback",
])
.attributes(&[
    text("address", "The address in the router.").required().create().formerly("addr"),
    choice("direction", DIRECTIONS, "Which way messages go: to the router (in) or from it (out).")
        .required()
        .create()
        .formerly("dir"),
    integer("phase", "The phase of the address, 0 to 9; 0 for out and 1 for in if not given.").create(),
    text("containerId", "The container, by its container-id.").create(),
    text("connection", "The container, by the name of the listener or connector.").create(),
    text("externalAddress", "The address at the container; the same as in the router if not given.")
        .create()
        .formerly("externalAddr"),
    boolean("fallback", "Whether the link serves messages that nobody else takes.").default_flag(false).create(),
    text("linkRef", "The identity of the link, while it is attached."),
    choice(
        "operStatus",
        &["inactive", "attaching", "failed", "active", "quiescing", "idle"],
        "What state the link is in.",
    ),
    text("lastError", "What the container said when it refused the link last."),
]);

/// An address whose messages are routed by subject.
pub static EXCHANGE: EntityType = EntityType::new(
    "router.config.exchange",
    full!("router.config.exchange"),
    &CONFIGURATION_ENTITY,
    "An address whose messages go on to other addresses, depending on their subject.",
)
.section("exchange")
.operations(&["CREATE", "DELETE"])
.core_columns(&[
    "name",
    "identity",
    "address",
    "phase",
    "alternateAddress",
    "alternatePhase",
    "matchMethod",
    "bindingCount",
    "receivedCount",
    "droppedCount",
    "forwardedCount",
    "divertedCount",
])
.attributes(&[
    text("address", "The address of the exchange.").required().create(),
    integer("phase", "The phase of that address, 0 to 9.").create(),
    text("alternateAddress", "Where messages go that no binding takes.").create(),
    integer("alternatePhase", "The phase of the alternate address, 0 to 9.").create(),
    choice("matchMethod", &["amqp", "mqtt"], "How binding keys are written and matched.").default_text("amqp").create(),
    integer("bindingCount", "Bindings of this exchange."),
    integer("receivedCount", "Messages received."),
    integer("droppedCount", "Messages that no binding took."),
    integer("forwardedCount", "Messages passed on."),
    integer("divertedCount", "Messages sent to the alternate address."),
]);

/// Which messages of an exchange go where.
pub static BINDING: EntityType = EntityType::new(
    "router.config.binding",
    full!("router.config.binding"),
    &CONFIGURATION_ENTITY,
    "Which messages of an exchange go to which address.",
)
.section("binding")
.operations(&["CREATE", "DELETE"])
.core_columns(&["name", "identity", "exchangeName", "bindingKey", "nextHopAddress", "nextHopPhase", "matchedCount"])
.attributes(&[
    text("exchangeName", "The exchange, by name.").required().create(),
    text("bindingKey", "Which subjects are taken; all if not given.").create(),
    text("nextHopAddress", "The address that messages go on to.").required().create(),
    integer("nextHopPhase", "The phase of that address, 0 to 9.").create(),
    integer("matchedCount", "Messages this binding has taken."),
]);

/// A link route that a connected container asked for, and that goes when its connection goes.
pub static CONNECTION_LINK_ROUTE: EntityType = EntityType::new(
    "router.connection.linkRoute",
    full!("router.connection.linkRoute"),
    &CONFIGURATION_ENTITY,
    "A link route to the container that created it, for as long as its connection lasts.",
)
.operations(&["CREATE", "DELETE"])
.core_columns(&["name", "identity", "type", "pattern", "direction", "containerId"])
.attributes(&[
    text("pattern", "Holds for all addresses that fit; `*` stands for one token, `#` for any number of them.")
        .required()
        .create(),
    choice("direction", DIRECTIONS, "Which links: those of senders (in) or those of receivers (out).")
        .required()
        .create(),
    text("containerId", "The container that created it."),
]);
