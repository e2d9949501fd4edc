//! The process that the router runs in: daemon mode, signals, memory.

pub(crate) mod daemon;
pub(crate) mod memory;
pub(crate) mod signals;
