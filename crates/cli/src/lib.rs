//! What do people and scripts type? The programs: `waystation`, and `qdrouterd`, `qdstat` and `qdmanage` with the old
//! command lines, outputs and exit statuses.
//!
//! It deliberately does not know how a router works inside: it starts one, or talks to one over AMQP.
#![forbid(unsafe_code)]

pub mod bench;
pub mod client;
pub mod commands;
pub mod network;
pub mod old_tools;
pub mod python;
pub mod qdmanage;
pub mod qdrouterd;
pub mod qdstat;
pub mod text;
