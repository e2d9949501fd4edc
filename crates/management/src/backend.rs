//! The agreement between the agent and whoever owns the entities.

use crate::agent::Later;
use crate::attributes::Attributes;
use crate::failure::Failure;
use crate::schema::EntityType;
use amqp::Value;

/// Where a request came from.
#[derive(Clone, Debug, Default)]
pub struct RequestContext {
    /// The connection whose peer sent the request; `None` for one from inside the router.
    pub connection_id: Option<u64>,
    /// The requester insists: what would be lost by it is to be lost.
    pub forced: bool,
}

/// What the entities do: implemented by the server.
pub trait Backend {
    /// Who sent the request that is answered next.
    fn requested_by(&mut self, _context: &RequestContext) {}

    /// All instances of a concrete type, each with `name`, `identity`, `type` and its columns in the old router's order.
    fn list(&mut self, entity_type: &'static EntityType) -> Vec<Attributes>;

    /// Some of the instances: `count` of those that [`Backend::list`] gives, from number `offset` on. A backend that can
    /// give them without making all the others should.
    fn page(&mut self, entity_type: &'static EntityType, offset: usize, count: usize) -> Vec<Attributes> {
        self.list(entity_type).into_iter().skip(offset).take(count).collect()
    }

    /// The instance that has this text as value of an attribute, `name` or `identity`. A backend that can find it without
    /// making all the others should.
    fn find(&mut self, entity_type: &'static EntityType, attribute: &str, value: &str) -> Option<Attributes> {
        self.list(entity_type).into_iter().find(|entity| entity.text(attribute) == Some(value))
    }

    /// Creates an instance and returns all its attributes. The given ones are already validated, coerced and defaulted
    /// against the schema. A refused creation leaves no trace.
    ///
    /// # Errors
    /// Whatever the schema cannot know: a name in use, values that do not go together, a resource that is not there.
    fn create(
        &mut self,
        entity_type: &'static EntityType,
        attributes: Attributes,
        context: &RequestContext,
    ) -> Result<Attributes, Failure>;

    /// Updates the instance with this identity and returns all its attributes; `changes` are validated.
    ///
    /// # Errors
    /// As for [`Backend::create`].
    fn update(
        &mut self,
        entity_type: &'static EntityType,
        identity: &str,
        changes: Attributes,
        context: &RequestContext,
    ) -> Result<Attributes, Failure>;

    /// Deletes the instance with this identity.
    ///
    /// # Errors
    /// If it cannot be deleted, or not by this requester.
    fn delete(
        &mut self,
        entity_type: &'static EntityType,
        identity: &str,
        context: &RequestContext,
    ) -> Result<(), Failure>;

    /// Has the instance with this identity do one of the operations that its type has beside these
    /// ([`EntityType::calls`]), with validated arguments. Returns what the operation has to say.
    ///
    /// # Errors
    /// If it cannot be done.
    fn call(
        &mut self,
        entity_type: &'static EntityType,
        _identity: &str,
        operation: &str,
        _arguments: &Attributes,
    ) -> Result<Attributes, Failure> {
        let text = format!("Operation '{operation}' not implemented for '{}'", entity_type.full);
        Err(Failure::new(crate::status::NOT_IMPLEMENTED, text))
    }

    /// As [`Backend::call`], for what takes long: it is begun, and the reply is sent by whoever does it. False: it is done by
    /// [`Backend::call`].
    fn call_later(
        &mut self,
        _entity_type: &'static EntityType,
        _operation: &str,
        _arguments: &Attributes,
        _later: Later,
    ) -> bool {
        false
    }

    /// Reads the configuration again (RELOAD, an operation of this router's own), and says what has changed, a line each.
    /// `None`: some of that takes long; it is begun, and the reply, a list of the lines, is sent by whoever does it.
    ///
    /// # Errors
    /// What is wrong with it.
    fn reload(&mut self, _later: Later) -> Result<Option<Vec<String>>, Failure> {
        Err(Failure::new(crate::status::NOT_IMPLEMENTED, "There is no configuration to read again"))
    }

    /// The newest `limit` log entries, oldest first, each a list of module, level, text, file, line and seconds since
    /// the Unix epoch.
    fn log_entries(&self, limit: Option<usize>) -> Vec<Value>;

    /// Addresses of the management nodes of all routers in the network (GET-MGMT-NODES).
    fn management_nodes(&self) -> Vec<String>;

    /// Whether lines of this level are wanted from log module AGENT; asked before a costly line is made.
    fn log_enabled(&self, level: &str) -> bool {
        let _ = level;
        true
    }

    /// Writes a line to log module AGENT at a level given by its name.
    fn log(&mut self, level: &str, text: &str);
}
