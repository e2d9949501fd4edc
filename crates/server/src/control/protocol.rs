//! What the routing protocol and the edge protocol have in common here: the core, and how they log.

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
