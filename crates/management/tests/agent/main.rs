//! The agent behind `$management`, asked by messages and answering from entities in memory.

mod client;
mod configuration;
mod core;
mod node;
mod queues;
mod schema;
