//! What the engine speaks of, and what it says.

use crate::{Level, Module};

/// A connection to a neighbour, as the engine's owner calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkRef(pub u64);

/// A router of the network, by the number that the engine has given it: the old router's "mask bit". It is below
/// [`crate::Config::max_routers`]. The number of a router that was removed is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub u16);

impl NodeIndex {
    /// This router.
    pub const SELF: Self = Self(0);
}

/// How an address is distributed where it has its consumers: for routers that have no configuration for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hint {
    /// To everybody, over control links.
    Flood,
    /// `multicast`
    Multicast,
    /// `closest`
    Closest,
    /// `balanced`
    Balanced,
    /// For link routes.
    LinkBalanced,
    /// `unavailable`
    Unavailable,
}

impl Hint {
    /// The number on the wire.
    pub fn code(self) -> i32 {
        match self {
            Self::Flood => 0,
            Self::Multicast => 1,
            Self::Closest => 2,
            Self::Balanced => 3,
            Self::LinkBalanced => 4,
            Self::Unavailable => 5,
        }
    }

    /// The hint with a number; `None` if there is none.
    pub fn from_code(code: i64) -> Option<Self> {
        Some(match code {
            0 => Self::Flood,
            1 => Self::Multicast,
            2 => Self::Closest,
            3 => Self::Balanced,
            4 => Self::LinkBalanced,
            5 => Self::Unavailable,
            _ => return None,
        })
    }
}

/// What the engine wants done, or known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A message of the routing protocol is to be sent, settled, over control links.
    Send {
        /// Its address, as in its properties.
        to: String,
        /// The neighbour that it is for; `None`: wherever the address leads.
        on: Option<LinkRef>,
        /// The encoded message. It has no annotations yet.
        content: Vec<u8>,
    },
    /// A router was heard of.
    RouterAdded {
        /// Its number.
        index: NodeIndex,
        /// Its id.
        id: String,
    },
    /// A router is gone for good, with its addresses. Its number may be used again.
    RouterRemoved {
        /// Its number.
        index: NodeIndex,
    },
    /// How a router is reached from now on.
    Route {
        /// The router.
        index: NodeIndex,
        /// The connection to the neighbour that is next on the way.
        next_hop: LinkRef,
        /// Sum of the costs on the way.
        cost: u32,
        /// The neighbour from which its messages come here; `None`: there is no way from there to here.
        comes_by: Option<NodeIndex>,
        /// The routers whose own shortest path to it leads through this router, and this router itself. Ascending.
        valid_origins: Vec<NodeIndex>,
    },
    /// A router cannot be reached from now on.
    Unreachable {
        /// The router.
        index: NodeIndex,
    },
    /// The largest number of hops between this router and another.
    Radius(u32),
    /// An address has consumers on another router from now on, or no longer.
    RemoteAddress {
        /// The router.
        index: NodeIndex,
        /// The address's key.
        key: String,
        /// How it is distributed there, if that is known. Said again when it changes.
        hint: Option<Hint>,
        /// There is a consumer.
        present: bool,
    },
    /// No address has consumers on another router, until it is said anew.
    Flush {
        /// The router.
        index: NodeIndex,
    },
    /// A connection leads from this router to this router itself.
    LeadsHere {
        /// The connection, by one of its two ends.
        link: LinkRef,
    },
    /// A line for the log.
    Log {
        /// Where it belongs.
        module: Module,
        /// How grave it is.
        level: Level,
        /// The line.
        text: String,
    },
}
