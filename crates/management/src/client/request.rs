//! Requests.

use crate::attributes::Attributes;
use crate::schema::PREFIX;
use amqp::message::{Body, Message};
use amqp::{Map, Value};

/// A request before it is a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is asked for: operation, type, name and so on.
    pub properties: Map,
    /// Attributes, where the operation needs some.
    pub body: Value,
}

/// Which entity is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key<'a> {
    /// Its type, fully qualified.
    pub entity_type: Option<&'a str>,
    /// Its name.
    pub name: Option<&'a str>,
    /// Its identity, which wins over the name.
    pub identity: Option<&'a str>,
}

impl Request {
    /// An operation of the management node itself, such as `GET-LOG`.
    pub fn node(operation: &str) -> Self {
        let properties = [("name", "self"), ("type", "org.amqp.management"), ("operation", operation)];
        Request { properties: properties.into_iter().collect(), body: Value::Map(Map::new()) }
    }

    /// Asks for the entities of a type, or for all; for some of their attributes, or if none are named for all.
    pub fn query(entity_type: Option<&str>, attributes: &[&str]) -> Self {
        let names = attributes.iter().map(|name| Value::from(*name)).collect();
        let mut request = Request::node("QUERY");
        if let Some(entity_type) = entity_type {
            request.properties.insert("entityType", entity_type);
        }
        request.body = Value::Map([("attributeNames", Value::List(names))].into_iter().collect());
        request
    }

    /// Limits a query to `count` entities from the one with number `offset` on.
    #[must_use]
    pub fn page(self, offset: usize, count: usize) -> Self {
        self.with("offset", long(offset)).with("count", long(count))
    }

    /// Creates an entity.
    pub fn create(entity_type: &str, name: Option<&str>, attributes: &Attributes) -> Self {
        let key = Key { entity_type: Some(entity_type), name, identity: None };
        Request { body: Value::Map(attributes.to_map()), ..Request::on("CREATE", key) }
    }

    /// Reads an entity.
    pub fn read(key: Key<'_>) -> Self {
        Request::on("READ", key)
    }

    /// Changes an entity; null unsets an attribute.
    pub fn update(key: Key<'_>, attributes: &Attributes) -> Self {
        Request { body: Value::Map(attributes.to_map()), ..Request::on("UPDATE", key) }
    }

    /// Deletes an entity.
    pub fn delete(key: Key<'_>) -> Self {
        Request::on("DELETE", key)
    }

    /// An operation on an entity.
    pub fn on(operation: &str, key: Key<'_>) -> Self {
        let mut properties = Map::new();
        properties.insert("operation", operation);
        for (property, value) in [("type", key.entity_type), ("name", key.name), ("identity", key.identity)] {
            if let Some(value) = value {
                properties.insert(property, value);
            }
        }
        Request { properties, body: Value::Map(Map::new()) }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with(mut self, argument: &str, value: impl Into<Value>) -> Self {
        self.properties.insert(argument, value);
        self
    }

    /// The message to send to the management node. Its reply comes to `reply_to` and carries the correlation-id.
    pub fn into_message(self, reply_to: &str, correlation_id: Value) -> Message {
        let mut message = Message::new(Body::Value(self.body));
        message.properties.reply_to = Some(reply_to.to_owned());
        message.properties.correlation_id = Some(correlation_id);
        message.application_properties = self.properties;
        message
    }
}

fn long(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The fully qualified name of a type as people shorten it: `link` and `node` are the router's, `address`, `linkRoute`
/// and `autoLink` its configuration's; a name with a dot is complete.
pub fn full_type(name: &str) -> String {
    match name {
        "link" | "node" => format!("{PREFIX}router.{name}"),
        "linkRoute" | "address" | "autoLink" => format!("{PREFIX}router.config.{name}"),
        _ if name.contains('.') => name.to_owned(),
        _ => format!("{PREFIX}{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_shorten_the_names_of_types() {
        assert_eq!(full_type("link"), "org.apache.qpid.dispatch.router.link");
        assert_eq!(full_type("address"), "org.apache.qpid.dispatch.router.config.address");
        assert_eq!(full_type("listener"), "org.apache.qpid.dispatch.listener");
        assert_eq!(full_type("org.amqp.management"), "org.amqp.management");
    }

    #[test]
    fn a_request_says_only_what_is_known_of_the_entity() {
        let request = Request::read(Key { identity: Some("7"), ..Key::default() });
        assert_eq!(request.properties, [("operation", "READ"), ("identity", "7")].into_iter().collect());
    }

    #[test]
    fn a_message_says_where_the_reply_goes_and_how_it_is_recognised() {
        let message = Request::node("GET-LOG").with("limit", 5i64).into_message("me", Value::Ulong(3));
        assert_eq!(
            (message.properties.reply_to.as_deref(), message.properties.correlation_id),
            (Some("me"), Some(Value::Ulong(3)))
        );
        assert_eq!(message.application_properties.get("limit"), Some(&Value::Long(5)));
    }
}
