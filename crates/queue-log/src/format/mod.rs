//! The bytes of a store's files; `docs/store-format.md` describes them for people.

pub(crate) mod block;
pub(crate) mod head;
pub(crate) mod header;
pub(crate) mod identity;
pub(crate) mod names;
pub(crate) mod record;

/// Version of all of a store's files together.
pub(crate) const VERSION: u32 = 1;

/// No entry, segment or message has a higher number: one that says so is none.
pub(crate) const LAST: u64 = 1 << 62;
