//! Who is where in the network, and what does it cost to get there? The link-state protocol between interior routers,
//! and the protocol between an edge router and its interior.
//!
//! [`PathEngine`] is a deterministic state machine: same calls, same outputs. It gets time as a `Duration` since an
//! arbitrary start. It deliberately knows nothing of sockets, connections, credit, and of how messages travel: a
//! connection is a [`LinkRef`], and what the engine wants is an [`Output`] that its owner carries out.
//!
//! # How routers find each other
//! 1. They greet their neighbours (`HELLO`). Two are neighbours as soon as each hears the other.
//! 2. Each has a link state: its neighbours, and what the connection to each costs. Whenever it changes, and from time to
//!    time, it advertises (`RA`) the sequence numbers of its link state and of its addresses to everybody.
//! 3. Who lacks something asks for it (`LSR`, `MAR`) and is answered (`LSU`, `MAU`). Changes of addresses are told to
//!    everybody at once (`MAU`).
//!    Neighbours that both offer it share what they know instead, and need not ask far away (`engine/sharing`).
//! 4. From the link states all compute the same shortest paths.
//!
//! # What always holds
//! - Everything held for others is bounded: routers, neighbours of each, addresses of each, the length of names.
//! - Whatever is asked for is asked for again until it is there.
//! - What is known of a router's addresses is fetched afresh whenever the router has restarted or was out of reach.
#![forbid(unsafe_code)]

mod config;
mod core_side;
pub mod edge;
mod engine;
mod link_state;
mod local_addresses;
mod log;
mod neighbor;
mod node;
mod output;
mod paths;
mod sharing;
mod throttle;
mod trunks;
mod view;
mod wide;
pub mod wire;

pub use config::Config;
pub use engine::PathEngine;
pub use link_state::LinkState;
pub use log::{Level, Module};
pub use output::{Hint, LinkRef, NodeIndex, Output};
pub use view::NodeView;
