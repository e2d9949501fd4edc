//! The router itself.

use super::base::CONFIGURATION_ENTITY;
use super::build::{boolean, choice, counter, full, integer, path, text};
use super::entity_type::EntityType;

/// The treatments of addresses that can be configured.
pub(super) const DISTRIBUTIONS: &[&str] = &["multicast", "closest", "balanced", "unavailable"];

/// The router: what holds for all of it, and its totals.
pub static ROUTER: EntityType = EntityType::new(
    "router",
    full!("router"),
    &CONFIGURATION_ENTITY,
    "The router as a whole: how it takes part in a network, and its totals.",
)
.singleton()
.core_columns(&[
    "name",
    "identity",
    "id",
    "type",
    "mode",
    "area",
    "version",
    "metadata",
    "addrCount",
    "linkCount",
    "nodeCount",
    "linkRouteCount",
    "autoLinkCount",
    "connectionCount",
    "presettledDeliveries",
    "droppedPresettledDeliveries",
    "acceptedDeliveries",
    "rejectedDeliveries",
    "releasedDeliveries",
    "modifiedDeliveries",
    "deliveriesDelayed1Sec",
    "deliveriesDelayed10Sec",
    "deliveriesStuck",
    "deliveriesIngress",
    "deliveriesEgress",
    "deliveriesTransit",
    "deliveriesIngressRouteContainer",
    "deliveriesEgressRouteContainer",
    "deliveriesRedirectedToFallback",
    "linksBlocked",
    "uptimeSeconds",
    "memoryUsage",
    "workerThreads",
])
.attributes(&[
    text("id", "The router's name in its network, without blanks or control characters; made up if not given.").create(),
    choice(
        "mode",
        &["standalone", "interior", "edge"],
        "Whether the router works alone (standalone), routes messages for others in a network (interior), or hangs on an \
         interior router at the rim of a network (edge).",
    )
    .default_text("standalone")
    .create(),
    text("area", "The area of the network; always 0."),
    text("version", "The version of the software."),
    text("hostName", "The name of the machine."),
    integer("helloIntervalSeconds", "Seconds from one HELLO to the neighbours to the next.")
        .default_number(1)
        .create()
        .formerly("helloInterval"),
    integer("helloMaxAgeSeconds", "Seconds without a HELLO after which a neighbour counts as lost.")
        .default_number(3)
        .create()
        .formerly("helloMaxAge"),
    integer("raIntervalSeconds", "Seconds from one router advertisement to the next while the network is stable.")
        .default_number(30)
        .create()
        .formerly("raInterval"),
    integer("raIntervalFluxSeconds", "Seconds from one router advertisement to the next while the network changes.")
        .default_number(4)
        .create()
        .formerly("raIntervalFlux"),
    integer("remoteLsMaxAgeSeconds", "Seconds without an advertisement after which a link state counts as stale.")
        .default_number(60)
        .create()
        .formerly("remoteLsMaxAge"),
    integer("workerThreads", "Threads that serve connections.").default_number(4).create(),
    integer(
        "transitBytes",
        "How many bytes of memory messages on their way through the router may take, all together, those in queues \
         not counted. Above that, senders whose messages wait for slow receivers are held up until it sinks. A quarter of \
         the machine's or container's memory if not given. (Not in Qpid Dispatch Router.)",
    )
    .create(),
    path("debugDumpFile", "A file to write debugging data to at the end of the run.").create().formerly("debugDump"),
    path("saslConfigDir", "The directory with the SASL library's configuration.").create().formerly("saslConfigPath"),
    text("saslConfigName", "The name of the SASL library's configuration file, without `.conf`.")
        .default_text("qdrouterd")
        .create(),
    path(
        "usersFile",
        "A file with users of this router, written by `waystation user` and by the entities of type `user`; Cyrus SASL is \
         not used by listeners then. (Not in Qpid Dispatch Router.)",
    )
    .create(),
    boolean("allowResumableLinkRoute", "Whether links may be routed whose terminus is to outlive the link.")
        .default_flag(true)
        .create(),
    boolean("timestampsInUTC", "Whether times in the log are UTC instead of local time.").create(),
    text("timestampFormat", "The form of times in the log, as for strftime, with one place for microseconds.").create(),
    boolean("allowUnsettledMulticast", "Accepted for old configurations; unsettled multicast is always allowed.")
        .default_flag(false)
        .create(),
    choice("defaultDistribution", DISTRIBUTIONS, "The treatment of addresses for which there is no address entity.")
        .default_text("balanced")
        .create(),
    text("metadata", "Free text for operators; the router only shows it.").create(),
    counter("addrCount", "Addresses the router knows."),
    counter("linkCount", "Links that are attached."),
    counter("blockedLinkCount", "Links that have been without credit for ten seconds or longer."),
    counter("nodeCount", "Other routers in the network."),
    counter("linkRouteCount", "Link routes that are configured."),
    counter("autoLinkCount", "Auto-links that are configured."),
    counter("connectionCount", "Connections that are open."),
    counter("presettledDeliveries", "Deliveries that came settled."),
    counter("droppedPresettledDeliveries", "Deliveries that came settled and were dropped."),
    counter("acceptedDeliveries", "Deliveries that were accepted."),
    counter("rejectedDeliveries", "Deliveries that were rejected."),
    counter("releasedDeliveries", "Deliveries that were released."),
    counter("modifiedDeliveries", "Deliveries that were modified."),
    counter("deliveriesDelayed1Sec", "Deliveries that took more than one second to be settled."),
    counter("deliveriesDelayed10Sec", "Deliveries that took more than ten seconds to be settled."),
    counter("deliveriesStuck", "Deliveries that wait for settlement or a receiver for more than ten seconds now."),
    counter("deliveriesIngress", "Deliveries from clients."),
    counter("deliveriesEgress", "Deliveries to clients."),
    counter("deliveriesTransit", "Deliveries from routers to routers."),
    counter("deliveriesIngressRouteContainer", "Deliveries from route containers."),
    counter("deliveriesEgressRouteContainer", "Deliveries to route containers."),
    counter("deliveriesRedirectedToFallback", "Deliveries sent to a fall-back destination for want of another."),
    counter("uptimeSeconds", "Seconds since the router started."),
    counter("memoryUsage", "Virtual memory of the process, in bytes."),
]);
