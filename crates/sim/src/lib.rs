//! What does a whole network of routers do, whatever happens to it? Routers (core and routing protocol) in one thread, in
//! virtual time, from one seed.
//!
//! The simulator knows no bytes but those of the routing protocol and of the router annotations: connections carry
//! [`Frame`]s, which are AMQP's performatives without their encoding. Sockets, shards and the endpoint are tested elsewhere.
//!
//! - [`World`]: routers, trunks between them, clients, and the faults that befall them;
//! - [`topology`]: networks to build; [`check`]: what must hold of them; [`Ledger`]: what became of each message.
//!
//! Everything that happens follows from the seed: a failure is repeated by running its seed again.
#![forbid(unsafe_code)]

pub mod check;
mod client;
mod connecting;
mod frame;
mod host;
mod ledger;
mod message;
mod random;
mod router;
pub mod topology;
mod wire;
mod world;

pub use client::Does;
pub use frame::{Attach, Frame, WireLink};
pub use host::SimHost;
pub use ledger::{Entry, Fate, Ledger, Receiver};
pub use message::Message;
pub use random::Random;
pub use router::{ControlTraffic, Router};
pub use world::{ClientNo, RouterNo, TrunkNo, World};
