//! The process that the router runs in: daemon mode, signals, memory, limits, faults.

pub(crate) mod daemon;
pub(crate) mod faults;
pub(crate) mod limits;
pub(crate) mod memory;
pub(crate) mod notify;
pub(crate) mod signals;
pub(crate) mod usage;
