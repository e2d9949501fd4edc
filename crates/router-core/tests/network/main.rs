//! Several routers in one memory: what one sends comes to the others.

#![allow(clippy::unwrap_used, reason = "tests")]

mod anycast;
mod control;
mod edge;
mod exchanges;
mod host;
mod links;
mod loss;
mod mesh;
mod multicast;
mod presettled;
mod streaming;
