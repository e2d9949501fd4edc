//! The routing protocol beside the routing core: what the core tells the engine, and what the engine wants done to the core.
//!
//! This is the one place here that knows the core. Its users differ only in what a message is to them.

use crate::{Hint, LinkRef, NodeIndex, Output, PathEngine};
use router_core::{ConnKey, Core, Host, NetworkEvent, Now, Route, RouterIndex, Treatment};

impl PathEngine {
    /// The core has news of this router.
    pub fn network_event(&mut self, now: Now, event: NetworkEvent<'_>) {
        match event {
            NetworkEvent::NeighborUp { conn, cost, shares } => {
                if shares {
                    self.neighbor_shares(conn.into());
                }
                self.neighbor_up(now, conn.into(), cost);
            }
            NetworkEvent::NeighborLost { conn } => self.neighbor_lost(now, conn.into()),
            NetworkEvent::LocalAddress { key, treatment, present } => {
                self.local_address(now, key, treatment.into(), present);
            }
        }
    }
}

impl Output {
    /// Does to the core what the engine wants; what is not for the core is given back. `content`: makes a message of the
    /// host's kind of an encoded one, and of the address that it is for.
    pub fn carry_out<H: Host>(
        self,
        core: &mut Core<H>,
        host: &mut H,
        now: Now,
        content: impl FnOnce(&str, Vec<u8>) -> H::Content,
    ) -> Option<Self> {
        match self {
            Self::Send { to, on, content: bytes } => {
                // Nobody there: then there is nobody to tell.
                core.send_control(now, host, &to, on.map(Into::into), content(&to, bytes));
            }
            Self::RouterAdded { index, id } => core.add_router(now, host, index.into(), &id),
            Self::RouterRemoved { index } => core.remove_router(now, host, index.into()),
            Self::Route { index, next_hop, cost, comes_by, valid_origins } => {
                let valid_origins = valid_origins.into_iter().map(RouterIndex::from).collect();
                let route =
                    Route { next_hop: next_hop.into(), cost, comes_by: comes_by.map(Into::into), valid_origins };
                core.set_route(now, host, index.into(), Some(route));
            }
            Self::Unreachable { index } => core.set_route(now, host, index.into(), None),
            Self::Radius(radius) => core.set_radius(radius),
            Self::RemoteAddress { index, key, hint, present: true } => {
                core.add_remote_address(now, host, index.into(), &key, hint.map(Into::into));
            }
            Self::RemoteAddress { index, key, .. } => core.remove_remote_address(now, host, index.into(), &key),
            Self::Flush { index } => core.flush_remote_addresses(now, host, index.into()),
            Self::LeadsHere { .. } | Self::Log { .. } => return Some(self),
        }
        None
    }
}

impl From<ConnKey> for LinkRef {
    fn from(conn: ConnKey) -> Self {
        Self(conn.0)
    }
}

impl From<LinkRef> for ConnKey {
    fn from(link: LinkRef) -> Self {
        Self(link.0)
    }
}

impl From<NodeIndex> for RouterIndex {
    fn from(index: NodeIndex) -> Self {
        Self(index.0)
    }
}

impl From<Treatment> for Hint {
    fn from(treatment: Treatment) -> Self {
        match treatment {
            Treatment::Flood => Self::Flood,
            Treatment::Multicast => Self::Multicast,
            Treatment::Closest => Self::Closest,
            Treatment::Balanced => Self::Balanced,
            Treatment::LinkBalanced => Self::LinkBalanced,
            Treatment::Unavailable => Self::Unavailable,
        }
    }
}

impl From<Hint> for Treatment {
    fn from(hint: Hint) -> Self {
        match hint {
            Hint::Flood => Self::Flood,
            Hint::Multicast => Self::Multicast,
            Hint::Closest => Self::Closest,
            Hint::Balanced => Self::Balanced,
            Hint::LinkBalanced => Self::LinkBalanced,
            Hint::Unavailable => Self::Unavailable,
        }
    }
}
