//! What can be managed, and how is it asked for? The schema, the agent behind `$management`, and a client for it.
//!
//! It deliberately does not know what the entities do: a [`Backend`] does.
#![forbid(unsafe_code)]

mod agent;
pub mod attributes;
mod backend;
pub mod client;
mod failure;
pub mod json;
pub mod names;
pub mod repr;
pub mod schema;

pub use agent::{Agent, Later, about};
pub use attributes::Attributes;
pub use backend::{Backend, RequestContext};
pub use failure::{Failure, status};
pub use schema::EntityType;
