//! The network as management shows it: `router.node`.

use crate::{LinkRef, NodeIndex};

/// A router, this one or another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeView<'a> {
    /// Its number.
    pub index: NodeIndex,
    /// Its id.
    pub id: &'a str,
    /// The version of the protocol that it speaks.
    pub protocol_version: i64,
    /// When it started, in seconds since the epoch; 0 if it has not said.
    pub instance: i64,
    /// Its neighbours, and what the connection to each costs, as far as it has said.
    pub link_state: Vec<(&'a str, u32)>,
    /// The neighbour through which it is reached; `None` for this router, for neighbours, and if it is not reached.
    pub next_hop: Option<&'a str>,
    /// The other routers whose messages for it pass through this router.
    pub valid_origins: Vec<&'a str>,
    /// What it costs to get there; `None` for this router, and if it is not reached.
    pub cost: Option<u32>,
    /// When the topology changed last, in seconds since the epoch, 0 if never. Only this router keeps it of itself.
    pub last_topo_change: Option<i64>,
    /// The connection to a neighbour that is reached directly.
    pub link: Option<LinkRef>,
    /// The number of that connection: the old router's `routerLink`.
    pub router_link: Option<u16>,
}
