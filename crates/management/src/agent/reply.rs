//! A reply on its way to being a message.

use super::request::without_secrets;
use crate::failure::{Failure, status};
use crate::repr::repr;
use amqp::message::{Body, Message};
use amqp::{Map, Value};

/// What a request leads to.
pub(super) enum Reply {
    /// It was done: the status code, and what the body says.
    Done(u16, Value),
    /// It was not: why, and what the body says all the same.
    Failed(Failure, Value),
    /// It is being done, and somebody else replies when it is.
    Later,
}

impl Reply {
    /// A refusal with an empty map in the body.
    pub(super) fn refused(failure: Failure) -> Self {
        Reply::Failed(failure, Value::Map(Map::new()))
    }

    /// An answer to a question.
    pub(super) fn ok(body: Value) -> Self {
        Reply::Done(status::OK, body)
    }

    /// Something was deleted.
    pub(super) fn deleted() -> Self {
        Reply::Done(status::NO_CONTENT, Value::Map(Map::new()))
    }

    fn parts(&self) -> (u16, &str, &Value) {
        match self {
            Reply::Done(code, body) => (*code, status::phrase(*code), body),
            Reply::Failed(failure, body) => (failure.status, &failure.description, body),
            Reply::Later => (status::OK, "", &Value::Null),
        }
    }

    /// The reply as the log shows it.
    pub(super) fn describe(&self) -> String {
        let (code, description, body) = self.parts();
        let description = repr(&Value::from(description));
        format!(
            "Message(properties={{'statusCode': {code}, 'statusDescription': {description}}}, body={})",
            repr(&without_secrets(body))
        )
    }

    /// The message, addressed, and recognisable by the requester through the correlation-id.
    pub(super) fn into_message(self, reply_to: &str, correlation_id: Option<&Value>) -> Message {
        let (code, description, _) = self.parts();
        let mut properties = Map::new();
        properties.insert("statusCode", i32::from(code));
        properties.insert("statusDescription", description);
        let body = match self {
            Reply::Done(_, body) | Reply::Failed(_, body) => body,
            Reply::Later => Value::Null,
        };
        let mut message = Message::new(Body::Value(body));
        message.properties.to = Some(reply_to.to_owned());
        message.properties.correlation_id = correlation_id.cloned();
        message.application_properties = properties;
        message
    }
}
