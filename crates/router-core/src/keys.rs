//! Keys by which the surroundings name what the core keeps.
//!
//! Each holds an index and a generation, so that a key of something gone is noticed and never confused with what took
//! its place: every call with such a key does nothing.

/// Key of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnKey(pub u64);

/// Key of a link (logs and management show another number, the link's identity).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkKey(pub u64);

impl LinkKey {
    /// The key of no link: what a refused attach gets.
    pub const DEAD: Self = Self(0);
}

/// Key of an incoming delivery that is unsettled or unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InKey(pub u64);

/// Key of an outgoing delivery that is unsettled or unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutKey(pub u64);

/// An in-process subscriber, such as the management agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubscriberId(pub u32);
