//! The error type that ends links, sessions and connections and explains rejections (part 2, section 2.8.14).

use crate::{Map, Symbol};

/// An AMQP error.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorCondition {
    pub condition: Symbol,
    pub description: Option<String>,
    pub info: Option<Map>,
}
// Helper to write: new(condition, description); `pub mod names` consts: "amqp:internal-error", "amqp:not-found", ... all
// of sections 2.8.15-18, plus the router's own "qd:..." stay out of this crate.
