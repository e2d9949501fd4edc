//! A request as the agents read it.

use crate::repr::{plain, repr};
use crate::schema;
use amqp::message::{Body, Message};
use amqp::{Map, Value};
use std::borrow::Cow;
use std::fmt::Write;

/// A value with passwords covered, for the log.
pub(super) fn without_secrets(value: &Value) -> Cow<'_, Value> {
    let is_secret = |key: &Value| key.as_text().is_some_and(schema::is_hidden);
    match value {
        Value::Map(map) if map.iter().any(|(key, _)| is_secret(key)) => {
            let cover = |(key, value): (&Value, &Value)| {
                (key.clone(), if is_secret(key) { Value::from("********") } else { value.clone() })
            };
            Cow::Owned(Value::Map(map.iter().map(cover).collect()))
        }
        _ => Cow::Borrowed(value),
    }
}

/// A management request.
pub(super) struct Request<'a> {
    message: &'a Message,
    /// The value of the body; null if it has none.
    pub(super) body: Value,
}

impl<'a> Request<'a> {
    pub(super) fn new(message: &'a Message) -> Self {
        let body = match &message.body {
            Body::Value(value) => value.clone(),
            Body::Sequence(sequences) => Value::List(sequences.concat()),
            Body::Data(data) => Value::Binary(data.concat()),
            Body::Empty => Value::Null,
        };
        Request { message, body }
    }

    /// The request's own properties: operation, type, name and so on.
    pub(super) fn properties(&self) -> &'a Map {
        &self.message.application_properties
    }

    /// A property that is there and not null.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.properties().get(name).filter(|value| !value.is_null())
    }

    /// A property as text; a number stands for its digits.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(plain)
    }

    /// A property that is text and not empty.
    pub(super) fn word(&self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Value::as_text).filter(|text| !text.is_empty())
    }

    /// A number, which may be given as text.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        let value = self.get(name)?;
        value.as_i64().or_else(|| value.as_text()?.trim().parse().ok())
    }

    /// The operation, in upper case with dashes.
    pub(super) fn operation(&self) -> Option<String> {
        self.word("operation").map(|operation| operation.to_uppercase().replace('_', "-"))
    }

    /// The operation for an error text.
    pub(super) fn operation_text(&self) -> String {
        self.operation().unwrap_or_else(|| "request".to_owned())
    }

    /// Where the reply goes.
    pub(super) fn reply_to(&self) -> &'a str {
        self.message.properties.reply_to.as_deref().unwrap_or_default()
    }

    pub(super) fn correlation_id(&self) -> Option<&'a Value> {
        self.message.properties.correlation_id.as_ref()
    }

    /// The request as the log shows it.
    pub(super) fn describe(&self) -> String {
        let properties = &self.message.properties;
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "Message(address={}, properties={}, body={}, reply_to={}, correlation_id={}, content_type={})",
            repr(&properties.to.as_deref().into()),
            repr(&Value::Map(self.properties().clone())),
            repr(&without_secrets(&self.body)),
            repr(&properties.reply_to.as_deref().into()),
            repr(self.correlation_id().unwrap_or(&Value::Null)),
            repr(&properties.content_type.clone().into()),
        );
        out
    }
}
