//! The words of the configuration language that stand for a choice.

use std::fmt;

/// Defines an enumeration of words with `parse`, `as_str` and `Display`.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// The choice that a word stands for.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some($name::$variant),)+
                    _ => None,
                }
            }

            /// The word that stands for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// How the router takes part in a network.
    Mode {
        /// Alone.
        Standalone = "standalone",
        /// In a network of equals.
        Interior = "interior",
        /// At the rim of a network.
        Edge = "edge",
    }
}

words! {
    /// Who is expected at the other end of a connection.
    Role {
        /// Clients.
        Normal = "normal",
        /// Another interior router.
        InterRouter = "inter-router",
        /// A broker or other container that links are routed to.
        RouteContainer = "route-container",
        /// An edge router, or the interior router that an edge router connects to.
        Edge = "edge",
    }
}

words! {
    /// Which way router annotations are removed from messages.
    StripAnnotations {
        /// From what comes in.
        In = "in",
        /// From what goes out.
        Out = "out",
        /// Both ways.
        Both = "both",
        /// Not at all.
        No = "no",
    }
}

words! {
    /// How messages to an address are spread over its consumers.
    Distribution {
        /// A copy to each.
        Multicast = "multicast",
        /// To one of the nearest.
        Closest = "closest",
        /// To the one with the least backlog.
        Balanced = "balanced",
        /// The address is refused.
        Unavailable = "unavailable",
    }
}

words! {
    /// Which kind of socket address a name is resolved to.
    AddressFamily {
        /// IPv4 only.
        IPv4 = "IPv4",
        /// IPv6 only.
        IPv6 = "IPv6",
    }
}

words! {
    /// The direction of a route, seen from the router.
    Direction {
        /// To the router.
        In = "in",
        /// From the router.
        Out = "out",
    }
}

words! {
    /// How the keys of an exchange's bindings are matched.
    MatchMethod {
        /// Tokens separated by `.`, wild cards `*` and `#`.
        Amqp = "amqp",
        /// Tokens separated by `/`, wild cards `+` and `#`.
        Mqtt = "mqtt",
    }
}
