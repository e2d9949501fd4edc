//! Who may connect and use what.

use super::base::{CONFIGURATION_ENTITY, OPERATIONAL_ENTITY};
use super::build::{boolean, counter, full, integer, map, path, text};
use super::entity_type::EntityType;

/// The policy of the router as a whole.
pub static POLICY: EntityType = EntityType::new(
    "policy",
    full!("policy"),
    &CONFIGURATION_ENTITY,
    "What holds for all connections, and whether vhosts say more.",
)
.singleton()
.attributes(&[
    integer("maxConnections", "How many connections there may be at a time.").default_number(65535).create(),
    integer("maxMessageSize", "The largest message from a client, in bytes; 0 is no limit.").default_number(0).create(),
    boolean("enableVhostPolicy", "Whether the rules of vhosts apply.").default_flag(false).create(),
    boolean("enableVhostNamePatterns", "Whether names of vhosts may contain the wild cards `*` and `#`.")
        .default_flag(false)
        .create(),
    path("policyDir", "A directory of JSON files with further vhosts.").default_text("").create(),
    text("defaultVhost", "The vhost that holds where no other does.").default_text("$default").create(),
    counter("connectionsProcessed", "Connections that were judged."),
    counter("connectionsDenied", "Connections that were refused."),
    counter("connectionsCurrent", "Connections that are counted now."),
    counter("linksDenied", "Links that were refused."),
    counter("maxMessageSizeDenied", "Messages that were too large."),
    counter("totalDenials", "Everything that was refused."),
]);

/// The rules of a vhost.
pub static VHOST: EntityType = EntityType::new(
    "vhost",
    full!("vhost"),
    &CONFIGURATION_ENTITY,
    "Who may connect to a vhost, and what each group of users may do there.",
)
.operations(&["CREATE", "UPDATE", "DELETE"])
.attributes(&[
    text("hostname", "The name of the vhost: the host name in the open of those it holds for.")
        .required()
        .create()
        .formerly("id"),
    text("aliases", "Further names, separated by commas.").create().update(),
    integer("maxConnections", "How many connections there may be at a time.").default_number(65535).create().update(),
    integer("maxMessageSize", "The largest message from a client, in bytes.").create().update(),
    integer("maxConnectionsPerUser", "How many of them one user may have.").default_number(65535).create().update(),
    integer("maxConnectionsPerHost", "How many of them one host may have.").default_number(65535).create().update(),
    boolean("allowUnknownUser", "Whether users that are in no group belong to group `$default`.")
        .default_flag(false)
        .create()
        .update(),
    map("groups", "The groups of users, by name, with the settings of each.").create().update(),
]);

/// The settings of a group of users.
pub static VHOST_USER_GROUP_SETTINGS: EntityType = EntityType::new(
    "vhostUserGroupSettings",
    full!("vhostUserGroupSettings"),
    &CONFIGURATION_ENTITY,
    "What a group of users of a vhost may do.",
)
.attributes(&[
    text("users", "The users of the group, separated by commas.").required(),
    text("remoteHosts", "Where they may connect from: `*`, host names, addresses and ranges of addresses.").required(),
    integer("maxConnectionsPerUser", "How many connections one user may have."),
    integer("maxConnectionsPerHost", "How many connections one host may have."),
    integer("maxMessageSize", "The largest message, in bytes; 0 is no limit."),
    integer("maxFrameSize", "The largest frame, in bytes.").create(),
    integer("maxSessionWindow", "The incoming window of a session, in bytes.").create(),
    integer("maxSessions", "How many sessions a connection may have.").create(),
    integer("maxSenders", "How many senders a connection may have.").default_number(2_147_483_647).create(),
    integer("maxReceivers", "How many receivers a connection may have.").default_number(2_147_483_647).create(),
    boolean("allowDynamicSource", "Whether receivers may ask for addresses made up by the router.")
        .default_flag(false)
        .create(),
    boolean("allowAnonymousSender", "Whether senders may leave the address to each message.")
        .default_flag(false)
        .create(),
    boolean("allowUserIdProxy", "Whether messages may name another user than the one who sends them.")
        .default_flag(false)
        .create(),
    boolean("allowWaypointLinks", "Whether links may claim waypoint capabilities.").default_flag(true).create(),
    boolean("allowDynamicLinkRoutes", "Whether link routes may be made for the own connection.")
        .default_flag(true)
        .create(),
    boolean("allowAdminStatusUpdate", "Whether connections may be closed through management.")
        .default_flag(true)
        .create(),
    boolean("allowFallbackLinks", "Whether links may claim fall-back capability.").default_flag(true).create(),
    text("sources", "The addresses that may be received from, separated by commas.").create(),
    text("targets", "The addresses that may be sent to, separated by commas.").create(),
    text("sourcePattern", "The same as sources, as patterns.").create(),
    text("targetPattern", "The same as targets, as patterns.").create(),
]);

/// What happened at a vhost.
pub static VHOST_STATS: EntityType = EntityType::new(
    "vhostStats",
    full!("vhostStats"),
    &OPERATIONAL_ENTITY,
    "What the policy of a vhost has allowed and refused.",
)
.attributes(&[
    text("id", "The name of the vhost."),
    text("hostname", "The name of the vhost."),
    counter("connectionsApproved", "Connections that were allowed."),
    counter("connectionsDenied", "Connections that were refused."),
    counter("connectionsCurrent", "Connections that are open."),
    map("perUserState", "The open connections, by user."),
    map("perHostState", "The open connections, by host."),
    counter("sessionDenied", "Sessions that were refused."),
    counter("senderDenied", "Senders that were refused."),
    counter("receiverDenied", "Receivers that were refused."),
    counter("maxMessageSizeDenied", "Messages that were too large."),
]);
