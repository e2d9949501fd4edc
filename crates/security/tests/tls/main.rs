//! TLS: profiles from files, and sessions between two ends in memory.
#![allow(unreachable_pub, missing_docs, clippy::unwrap_used, reason = "this is a test")]

mod authority;
mod ends;
mod keys;
mod options;
mod owners;
mod streams;
mod trust;
