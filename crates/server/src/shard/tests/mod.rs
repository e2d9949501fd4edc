//! Shards on the loopback, with clients that speak AMQP over real sockets.

mod client;
mod faults;
mod limits;
mod opens;
mod router;
mod settlement;
mod spread;
mod streaming;
mod user_id;
