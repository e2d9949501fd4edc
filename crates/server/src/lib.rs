//! How does the router meet the outside world? Shards, listeners, connectors, logging, signals, management entities.
//!
//! It deliberately takes no routing decisions: those are `router-core`'s.
#![forbid(unsafe_code)]

pub mod shard;
