//! Where a connection or a link is: which shard, which slot of it.

/// The host's reference to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ConnRef {
    /// Which shard owns it.
    pub(super) shard: u16,
    /// Where in the shard's table.
    pub(super) slot: u32,
    /// Low half of the connection's number: tells a slot's owner from the one that had it before.
    pub(super) id: u32,
    /// The other end is a router of the network: its role is inter-router or edge.
    pub(super) peer: bool,
}

/// The host's reference to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LinkRef {
    /// Its connection.
    pub(super) conn: ConnRef,
    /// Its index in the connection's endpoint.
    pub(super) link: u32,
}

/// The shard number of a host that owns no connections: the control plane's.
pub(super) const NO_SHARD: u16 = u16::MAX;
