//! The agent behind `$management`, asked by messages and answering from entities in memory.

mod configuration;
mod core;
mod node;
