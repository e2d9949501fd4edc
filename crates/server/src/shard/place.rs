//! Where a connection or a link is: which shard, which slot of it.

/// The host's reference to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ConnRef {
    /// Which shard owns it, or [`STORE`].
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
    /// Its index in the connection's endpoint, or among the store's links.
    pub(crate) link: u32,
}

impl ConnRef {
    /// The connection behind which the store's queues are. No shard owns it.
    pub(crate) const STORE: Self = Self { shard: STORE, slot: 0, id: 0, peer: false };
}

impl LinkRef {
    /// A link of the store's.
    pub(crate) fn of_store(link: u32) -> Self {
        Self { conn: ConnRef::STORE, link }
    }
}

/// The shard number of a host that owns no connections: the control plane's.
pub(super) const NO_SHARD: u16 = u16::MAX;
/// The shard number of the one connection that no shard has: what is said to it is done at once by whichever shard runs,
/// for the store is entered only with the core locked.
pub(super) const STORE: u16 = u16::MAX - 1;
