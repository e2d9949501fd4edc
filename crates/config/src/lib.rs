//! What does a configuration file say? Text in, validated entities or errors with file, line and column out.
//!
//! It deliberately does not know how the entities are put to work.
#![forbid(unsafe_code)]

mod configuration;
mod place;
mod settings;

pub use configuration::{Config, Section, Unsupported};
pub use place::Place;
pub use settings::*;
