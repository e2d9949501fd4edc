//! The edge protocol: both sides, and beside what the old router sends.
#![allow(clippy::unwrap_used, reason = "tests")]

mod interior;
mod old_router;
mod uplink;
