//! What queues do, seen from outside.

#![allow(clippy::unwrap_used, reason = "tests")]

mod adopted;
mod basics;
mod consumers;
mod dead_letters;
mod facts;
mod filters;
mod fullness;
mod grouped;
mod heads;
mod kinds;
mod managed;
mod many;
mod support;
mod times;
mod unlogged;
mod written;
