//! Faults that users of routers of this kind have reported, each as a test of what is right, on a running router.
//!
//! The numbers at the tests are those of the public reports: `DISPATCH-n` is in Apache's issue tracker,
//! `skupper-router#n` and others are on GitHub. `docs/faults.md` lists all of them.

mod addresses;
mod attacks;
mod configuration;
mod connectors;
mod credit;
mod links;
mod malformed;
mod management;
mod network;
mod policies;
#[path = "../support/ports.rs"]
mod ports;
mod presettled;
mod settlement;
mod support;
mod tools;
