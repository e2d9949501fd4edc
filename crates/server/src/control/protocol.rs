//! What the routing protocol and the edge protocol have in common here: how they name things, and how they log.

use router_core::{ConnKey, Treatment};
use router_net::{Hint, LinkRef};

/// The routing core with this process's host.
pub(super) type Core = router_core::Core<crate::shard::ShardHost>;

/// The modules that the protocols write their lines to.
const MODULES: [logging::Module; 4] =
    [logging::Module::Router, logging::Module::RouterHello, logging::Module::RouterLs, logging::Module::RouterMa];

/// Whether somebody wants to read the lines that cost work.
pub(super) fn is_traced() -> bool {
    MODULES.iter().any(|module| logging::enabled(*module, logging::Level::Debug))
}

pub(super) fn log(module: router_net::Module, level: router_net::Level, text: &str) {
    let module = match module {
        router_net::Module::Router => logging::Module::Router,
        router_net::Module::RouterCore => logging::Module::RouterCore,
        router_net::Module::RouterHello => logging::Module::RouterHello,
        router_net::Module::RouterLs => logging::Module::RouterLs,
        router_net::Module::RouterMa => logging::Module::RouterMa,
    };
    let level = match level {
        router_net::Level::Trace => logging::Level::Trace,
        router_net::Level::Debug => logging::Level::Debug,
        router_net::Level::Info => logging::Level::Info,
        router_net::Level::Notice => logging::Level::Notice,
        router_net::Level::Warning => logging::Level::Warning,
        router_net::Level::Error => logging::Level::Error,
        router_net::Level::Critical => logging::Level::Critical,
    };
    logging::write(module, level, None, format_args!("{text}"));
}

pub(super) fn link_of(conn: ConnKey) -> LinkRef {
    LinkRef(conn.0)
}

pub(super) fn conn_of(link: LinkRef) -> ConnKey {
    ConnKey(link.0)
}

pub(super) fn hint_of(treatment: Treatment) -> Hint {
    match treatment {
        Treatment::Flood => Hint::Flood,
        Treatment::Multicast => Hint::Multicast,
        Treatment::Closest => Hint::Closest,
        Treatment::Balanced => Hint::Balanced,
        Treatment::LinkBalanced => Hint::LinkBalanced,
        Treatment::Unavailable => Hint::Unavailable,
    }
}

pub(super) fn treatment_of(hint: Hint) -> Treatment {
    match hint {
        Hint::Flood => Treatment::Flood,
        Hint::Multicast => Treatment::Multicast,
        Hint::Closest => Treatment::Closest,
        Hint::Balanced => Treatment::Balanced,
        Hint::LinkBalanced => Treatment::LinkBalanced,
        Hint::Unavailable => Treatment::Unavailable,
    }
}
