//! Whole networks of engines in memory and in virtual time, and the engine beside what the old router did.
#![allow(clippy::unwrap_used, reason = "tests")]

mod faults;
mod network;
mod new_ways;
mod old_router;
mod properties;
mod sharing;
