//! What the router is doing: links, addresses, nodes, connections, memory.

use super::addressing::DIRECTIONS;
use super::base::{CONFIGURATION_ENTITY, OPERATIONAL_ENTITY};
use super::build::{boolean, choice, counter, entity_id, full, integer, list, map, text};
use super::entity_type::EntityType;

/// A link.
pub static LINK: EntityType =
    EntityType::new("router.link", full!("router.link"), &OPERATIONAL_ENTITY, "A link that is attached to the router.")
        .operations(&["UPDATE"])
        .core_columns(&[
            "name",
            "identity",
            "type",
            "linkName",
            "linkType",
            "linkDir",
            "owningAddr",
            "capacity",
            "peer",
            "undeliveredCount",
            "unsettledCount",
            "deliveryCount",
            "connectionId",
            "adminStatus",
            "operStatus",
            "presettledCount",
            "droppedPresettledCount",
            "acceptedCount",
            "rejectedCount",
            "releasedCount",
            "modifiedCount",
            "deliveriesDelayed1Sec",
            "deliveriesDelayed10Sec",
            "deliveriesStuck",
            "ingressHistogram",
            "priority",
            "settleRate",
            "creditAvailable",
            "zeroCreditSeconds",
        ])
        .attributes(&[
            choice("adminStatus", &["enabled", "disabled"], "Accepted and shown; it has no effect.")
                .default_text("enabled")
                .update(),
            choice("operStatus", &["up", "down", "quiescing", "idle"], "What state the link is in."),
            text("linkName", "The name of the link on the wire."),
            choice("linkType", &["endpoint", "router-control", "inter-router"], "Whose link it is."),
            choice("linkDir", DIRECTIONS, "Which way messages go: to the router (in) or from it (out)."),
            text("owningAddr", "The key of the address that the link belongs to."),
            integer("capacity", "The credit that the link is given, in deliveries."),
            text("peer", "For a routed link: the identity of the link at the other side of the router."),
            counter("undeliveredCount", "Deliveries that wait to be sent."),
            counter("unsettledCount", "Deliveries that are sent but not settled."),
            counter("deliveryCount", "All deliveries so far."),
            counter("presettledCount", "Deliveries that came settled."),
            counter("droppedPresettledCount", "Deliveries that came settled and were dropped."),
            counter("acceptedCount", "Deliveries that were accepted."),
            counter("rejectedCount", "Deliveries that were rejected."),
            counter("releasedCount", "Deliveries that were released."),
            counter("modifiedCount", "Deliveries that were modified."),
            counter("deliveriesDelayed1Sec", "Deliveries that took more than one second to be settled."),
            counter("deliveriesDelayed10Sec", "Deliveries that took more than ten seconds to be settled."),
            counter("deliveriesStuck", "Deliveries that wait for more than ten seconds now."),
            counter("creditAvailable", "Credit that the sending side has left."),
            integer("zeroCreditSeconds", "Seconds that the link has been without credit."),
            counter("settleRate", "Settlements per second, over the last seconds."),
            list(
                "ingressHistogram",
                "For links to receivers: deliveries by the router at which they entered the network.",
            ),
            integer("priority", "The priority of the link, for links between routers."),
        ]);

/// An address in use.
pub static ROUTER_ADDRESS: EntityType =
    EntityType::new("router.address", full!("router.address"), &OPERATIONAL_ENTITY, "An address that is in use.")
        .core_columns(&[
            "name",
            "identity",
            "type",
            "key",
            "distribution",
            "inProcess",
            "subscriberCount",
            "remoteCount",
            "containerCount",
            "remoteHostRouters",
            "deliveriesIngress",
            "deliveriesEgress",
            "deliveriesTransit",
            "deliveriesToContainer",
            "deliveriesFromContainer",
            "deliveriesEgressRouteContainer",
            "deliveriesIngressRouteContainer",
            "transitOutstanding",
            "trackedDeliveries",
            "priority",
            "deliveriesRedirectedToFallback",
        ])
        .attributes(&[
            choice(
                "distribution",
                &["flood", "multicast", "closest", "balanced", "linkBalanced", "unavailable"],
                "To which receivers messages go.",
            ),
            integer("inProcess", "Receivers inside the router."),
            counter("subscriberCount", "Receivers at this router."),
            counter("remoteCount", "Routers at which there are receivers."),
            counter("containerCount", "Containers that links with this address are routed to."),
            counter("deliveriesIngress", "Deliveries from senders at this router."),
            counter("deliveriesEgress", "Deliveries to receivers at this router."),
            counter("deliveriesTransit", "Deliveries passed on to other routers."),
            counter("deliveriesToContainer", "Deliveries to receivers inside the router."),
            counter("deliveriesFromContainer", "Deliveries from senders inside the router."),
            counter("deliveriesIngressRouteContainer", "Deliveries from route containers."),
            counter("deliveriesEgressRouteContainer", "Deliveries to route containers."),
            counter(
                "deliveriesRedirectedToFallback",
                "Deliveries sent to the fall-back destination for want of another.",
            ),
            text("key", "The key of the address: its class, its phase and its text."),
            list("remoteHostRouters", "The routers at which there are receivers, by id."),
            list("transitOutstanding", "Unsettled deliveries by the router they went to."),
            integer("trackedDeliveries", "Deliveries to the address that are not settled."),
            integer("priority", "The priority of messages that state none."),
        ]);

/// A router of the network.
pub static NODE: EntityType =
    EntityType::new("router.node", full!("router.node"), &OPERATIONAL_ENTITY, "A router of the network.").attributes(
        &[
            text("id", "The id of the router."),
            integer("protocolVersion", "The version of the routing protocol that it speaks."),
            integer("instance", "When it started, in seconds since 1970."),
            list("linkState", "Its neighbours, by id."),
            text("nextHop", "The neighbour that messages to it go to."),
            list("validOrigins", "The routers whose messages may pass here on their way to it."),
            text("address", "The address of its management node's router."),
            entity_id("routerLink", "The link to it, if it is a neighbour."),
            integer("cost", "What a message pays for travelling there."),
            integer("lastTopoChange", "When the network changed last, in seconds since 1970."),
            integer("index", "Its place in the router's own tables."),
        ],
    );

/// A connection.
pub static CONNECTION: EntityType = EntityType::new(
    "connection",
    full!("connection"),
    &OPERATIONAL_ENTITY,
    "A connection of the router, whichever side made it.",
)
.core_columns(&[
    "name",
    "identity",
    "host",
    "role",
    "protocol",
    "dir",
    "container",
    "sasl",
    "isAuthenticated",
    "user",
    "isEncrypted",
    "sslProto",
    "sslCipher",
    "properties",
    "sslSsf",
    "tenant",
    "type",
    "ssl",
    "opened",
    "active",
    "adminStatus",
    "operStatus",
    "uptimeSeconds",
    "lastDlvSeconds",
    "enableProtocolTrace",
])
.attributes(&[
    choice("adminStatus", &["enabled", "deleted"], "Set it to deleted to have the connection closed.")
        .default_text("enabled")
        .update(),
    choice("operStatus", &["up", "closing"], "Whether the connection is being closed."),
    text("protocol", "The protocol spoken."),
    text("container", "The container-id of the peer."),
    boolean("opened", "Whether both sides have sent their open."),
    text("host", "The peer's address and port, or for outgoing connections those that were configured."),
    choice("dir", DIRECTIONS, "Who made the connection: the peer (in) or the router (out)."),
    text("role", "The role of the listener or connector."),
    boolean("isAuthenticated", "Whether the peer has authenticated."),
    boolean("isEncrypted", "Whether the connection is encrypted."),
    boolean("enableProtocolTrace", "Whether the frames of this connection are logged.").default_flag(false).update(),
    text("sasl", "The SASL mechanism that was used."),
    text("user", "The user that authenticated."),
    boolean("ssl", "Whether TLS is used."),
    text("sslProto", "The version of TLS."),
    text("sslCipher", "The cipher suite."),
    integer("sslSsf", "The strength of the encryption, in bits."),
    text("tenant", "What is put before the peer's addresses."),
    counter("uptimeSeconds", "Seconds since the connection was opened."),
    map("properties", "The properties in the peer's open."),
    counter("lastDlvSeconds", "Seconds since the last delivery."),
]);

/// A kind of object that is kept for reuse.
pub static ALLOCATOR: EntityType = EntityType::new(
    "allocator",
    full!("allocator"),
    &OPERATIONAL_ENTITY,
    "One kind of object in memory, and how many of it are held.",
)
.attributes(&[
    text("typeName", "The kind of object."),
    integer("typeSize", "Its size, in bytes."),
    integer("transferBatchSize", "How many move between threads at a time."),
    counter("localFreeListMax", "How many a thread keeps for reuse at most."),
    counter("globalFreeListMax", "How many all threads together keep for reuse at most; 0 is no limit."),
    counter("totalAllocFromHeap", "How many were allocated."),
    counter("totalFreeToHeap", "How many were freed."),
    counter("heldByThreads", "How many the threads hold."),
    counter("batchesRebalancedToThreads", "How often a thread fetched a batch."),
    counter("batchesRebalancedToGlobal", "How often a thread gave a batch back."),
]);

/// The console of earlier versions.
pub static CONSOLE: EntityType = EntityType {
    deprecated: true,
    ..EntityType::new(
        "console",
        full!("console"),
        &CONFIGURATION_ENTITY,
        "The web console of very old versions; it is not served this way any more.",
    )
    .singleton()
    .core_columns(&["name", "identity", "type"])
    .attributes(&[
        text("listener", "The listener it used."),
        integer("wsport", "The WebSocket port it used.").default_number(5673),
        text("proxy", "The proxy program it used.").required(),
        text("home", "The directory of its files.").required(),
        text("args", "More arguments for the proxy."),
    ])
};
