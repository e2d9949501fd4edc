//! Which part of the router a line comes from.

use std::fmt;
use std::str::FromStr;

macro_rules! modules {
    ($($(#[$doc:meta])* $variant:ident = $constant:ident $text:literal,)+) => {
        /// A source of log lines. Names are the old router's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Module { $($(#[$doc])* $variant,)+ }

        impl Module {
            /// Every module, in the order in which management lists them.
            pub const ALL: &'static [Module] = &[$(Module::$variant),+];
            $(
                #[doc = concat!("The module as the log spells it, for [`log!`](crate::log!): `", $text, "`.")]
                pub const $constant: Module = Module::$variant;
            )+

            /// The name that stands in log lines and configuration.
            pub const fn name(self) -> &'static str {
                match self { $(Module::$variant => $text,)+ }
            }
        }
    };
}

modules! {
    /// What other modules inherit from, and lines of no particular part.
    Default = DEFAULT "DEFAULT",
    /// Start, stop and fatal errors. Not configurable: it follows `DEFAULT`.
    Main = MAIN "MAIN",
    /// Identity and mode of the router.
    Router = ROUTER "ROUTER",
    /// Addresses, links and deliveries.
    RouterCore = ROUTER_CORE "ROUTER_CORE",
    /// Neighbour discovery.
    RouterHello = ROUTER_HELLO "ROUTER_HELLO",
    /// Link state.
    RouterLs = ROUTER_LS "ROUTER_LS",
    /// Mobile addresses.
    RouterMa = ROUTER_MA "ROUTER_MA",
    /// Messages as they pass, where a listener or connector asks for it.
    Message = MESSAGE "MESSAGE",
    /// Connections and listeners.
    Server = SERVER "SERVER",
    /// Management.
    Agent = AGENT "AGENT",
    /// Authentication by a remote service.
    AuthService = AUTHSERVICE "AUTHSERVICE",
    /// Sessions and links of connections.
    Container = CONTAINER "CONTAINER",
    /// Errors raised inside management.
    Error = ERROR "ERROR",
    /// Policy decisions.
    Policy = POLICY "POLICY",
    /// HTTP listeners.
    Http = HTTP "HTTP",
    /// Configured listeners and connectors.
    ConnMgr = CONN_MGR "CONN_MGR",
    /// Kept for configurations that name it; nothing logs here.
    Python = PYTHON "PYTHON",
    /// Frames on the wire.
    Protocol = PROTOCOL "PROTOCOL",
    /// User names from certificates. Not configurable: it follows `DEFAULT`.
    DisplayName = DISPLAYNAME "DISPLAYNAME",
}

impl Module {
    /// How many modules there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Whether a `log` section or entity may name this module.
    pub const fn is_configurable(self) -> bool {
        !matches!(self, Module::Main | Module::DisplayName)
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Module {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|module| module.name() == name).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_is_found_by_its_name() {
        for &module in Module::ALL {
            assert_eq!(module.name().parse(), Ok(module));
        }
    }
}
