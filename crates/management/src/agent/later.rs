//! Replies that take their time.

use super::reply::Reply;
use super::request::Request;
use crate::failure::Failure;
use amqp::Value;
use amqp::message::Message;

/// Where the reply to a request goes once there is one.
#[derive(Clone, Debug)]
pub struct Later {
    reply_to: String,
    correlation_id: Option<Value>,
}

impl Later {
    pub(super) fn to(request: &Request<'_>) -> Self {
        Self { reply_to: request.reply_to().to_owned(), correlation_id: request.correlation_id().cloned() }
    }

    /// For a request that is answered by somebody else. `None`: it does not say where to.
    pub fn of(request: &Message) -> Option<Self> {
        let reply_to = request.properties.reply_to.clone().filter(|address| !address.is_empty())?;
        Some(Self { reply_to, correlation_id: request.properties.correlation_id.clone() })
    }

    /// The reply, and the address to send it to.
    pub fn reply(self, done: Result<Value, Failure>) -> (String, Message) {
        let reply = match done {
            Ok(answer) => Reply::ok(answer),
            Err(failure) => Reply::refused(failure),
        };
        let message = reply.into_message(&self.reply_to, self.correlation_id.as_ref());
        (self.reply_to, message)
    }
}
