//! What queues do, seen from outside.

#![allow(clippy::unwrap_used, reason = "tests")]

mod basics;
mod dead_letters;
mod support;
mod times;
