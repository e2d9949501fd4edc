//! Stores on the real disk.

#![allow(clippy::unwrap_used, reason = "tests")]

mod copies;
mod host;
mod simple;
mod troubles;
