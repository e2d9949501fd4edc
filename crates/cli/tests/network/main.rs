//! Networks of routers, each a process of its own, on the loopback interface.

mod edges;
mod faults;
mod management;
mod messages;
#[path = "../support/ports.rs"]
mod ports;
mod support;
