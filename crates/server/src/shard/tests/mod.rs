//! Shards on the loopback, with clients that speak AMQP over real sockets.

pub(crate) mod client;
mod faults;
mod limits;
mod opens;
mod policy;
mod routed;
pub(crate) mod router;
mod settlement;
mod spread;
mod streaming;
mod user_id;
