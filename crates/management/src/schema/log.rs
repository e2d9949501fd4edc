//! What is logged, and how much has been.

use super::base::{CONFIGURATION_ENTITY, OPERATIONAL_ENTITY};
use super::build::{boolean, choice, counter, full, text};
use super::entity_type::EntityType;

/// The modules of the log; `DEFAULT` stands for what a module does not say itself.
pub const LOG_MODULES: &[&str] = &[
    "ROUTER",
    "ROUTER_CORE",
    "ROUTER_HELLO",
    "ROUTER_LS",
    "ROUTER_MA",
    "MESSAGE",
    "SERVER",
    "AGENT",
    "AUTHSERVICE",
    "CONTAINER",
    "ERROR",
    "POLICY",
    "HTTP",
    "CONN_MGR",
    "PYTHON",
    "PROTOCOL",
    "DEFAULT",
];

/// Log settings of one module.
pub static LOG: EntityType = EntityType::new(
    "log",
    full!("log"),
    &CONFIGURATION_ENTITY,
    "What one module of the router logs, and where to. What it does not say holds as in module DEFAULT.",
)
.operations(&["UPDATE"])
.attributes(&[
    choice("module", LOG_MODULES, "The module; DEFAULT is for all that do not say otherwise.").required(),
    text(
        "enable",
        "Levels that are logged, separated by commas, out of trace, debug, info, notice, warning, error, critical; one \
         with `+` stands for itself and those above. none is none, default is as module DEFAULT has it.",
    )
    .update(),
    boolean("includeTimestamp", "Whether lines begin with the time.").update().formerly("timestamp"),
    boolean("includeSource", "Whether lines end with the place in the source.").update().formerly("source"),
    text("outputFile", "Where to: a file, or stderr, stdout or syslog.").update().formerly("output"),
]);

/// How much one module has logged.
pub static LOG_STATS: EntityType = EntityType::new(
    "logStats",
    full!("logStats"),
    &OPERATIONAL_ENTITY,
    "How many lines of each level a module has raised, written or not.",
)
.attributes(&[
    counter("traceCount", "Lines at level trace."),
    counter("debugCount", "Lines at level debug."),
    counter("infoCount", "Lines at level info."),
    counter("noticeCount", "Lines at level notice."),
    counter("warningCount", "Lines at level warning."),
    counter("errorCount", "Lines at level error."),
    counter("criticalCount", "Lines at level critical."),
]);
