//! What does a configuration file say? Text in, validated entities or errors with file, line and column out.
//!
//! It deliberately does not know how the entities are put to work.
#![forbid(unsafe_code)]

mod built_in;
mod changes;
mod configuration;
mod draft;
mod load;
mod place;
mod problem;
mod report;
mod rules;
mod settings;
mod source;
mod store_rules;
mod syntax;
mod vhost_rules;

pub use built_in::state_directory;
pub use changes::{Change, changes, same};
pub use configuration::{Config, Entity, Settings};
pub use place::Place;
pub use problem::{Cause, Errors, Problem, Warning};
pub use rules::check_role;
pub use settings::*;
pub use source::Source;
pub use vhost_rules::check_vhost_names;
