//! Stores on the real disk.

#![allow(clippy::unwrap_used, reason = "tests")]

mod host;
mod simple;
