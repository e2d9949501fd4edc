//! What can be managed, and how is it asked for? The schema, the agent behind `$management`, and a client for it.
//!
//! It deliberately does not know what the entities do: a [`Backend`] does.
#![forbid(unsafe_code)]

// ---------------------------------------------------------------- agreed interface (to be split in files by idea)
use amqp::message::Message;
use amqp::Value;

/// Attributes in order of appearance (an ordered map; linear look-up).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Attributes(pub Vec<(String, Value)>);

/// An entity type of the schema (spec/router.md 5.8): a static table in `schema/`.
pub struct EntityType { /* short, base, singleton, deprecated, attributes: &'static [Attribute], operations, references, description ... */ }

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{status} {description}")]
pub struct Failure { pub status: u16, pub description: String }

/// Where a request came from.
#[derive(Clone, Debug, Default)]
pub struct RequestContext { pub connection_id: Option<u64> }

/// What the entities do: implemented by the server.
pub trait Backend {
    /// All instances of a concrete type, each with `name`, `identity`, `type` and its columns in the old router's order.
    fn list(&mut self, entity_type: &'static EntityType) -> Vec<Attributes>;
    /// Creates; attributes are already validated, coerced and defaulted against the schema. Returns all attributes. No trace is left on failure.
    fn create(&mut self, entity_type: &'static EntityType, attributes: Attributes, context: &RequestContext) -> Result<Attributes, Failure>;
    /// Updates the instance with this identity; `changes` are validated.
    fn update(&mut self, entity_type: &'static EntityType, identity: &str, changes: Attributes, context: &RequestContext) -> Result<Attributes, Failure>;
    fn delete(&mut self, entity_type: &'static EntityType, identity: &str, context: &RequestContext) -> Result<(), Failure>;
    /// The newest `limit` entries, oldest first: module, level, text, file, line, epoch seconds.
    fn log_entries(&self, limit: Option<usize>) -> Vec<Value>;
    /// Addresses of all management nodes (GET-MGMT-NODES).
    fn management_nodes(&self) -> Vec<String>;
    /// Writes to the AGENT log module: (level name, text).
    fn log(&mut self, level: &str, text: &str);
}

#[cfg(any())] // signatures for reference until the implementation lands
mod signatures {
    pub mod schema {
        pub fn entity_type(name: &str) -> Option<&'static EntityType>;   // short or fully qualified
        pub fn entity_types() -> &'static [EntityType];
        /// Coerces, checks and defaults the attributes given for a creation (file or management), deprecated names included.
        pub fn validate_create(ty: &'static EntityType, given: Attributes, source: Source /* File (all strings) | Management */) -> Result<Attributes, Vec<Invalid { attribute, text, hint }>>;
        pub fn validate_update(...);
    }
    pub struct Agent;
    impl Agent {
        /// Answers one request message; `None` when it has no reply-to. The reply goes to the address returned.
        pub fn handle(&mut self, request: &Message, context: &RequestContext, backend: &mut dyn Backend) -> Option<(String, Message)>;
    }
    pub mod client { /* builds requests, reads replies: sans-IO; transport belongs to the tools */ }
}
