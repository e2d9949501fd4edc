//! The agent behind `$management`: one request message in, one reply out.
//!
//! The old router has two agents, which a client sees as one node whose habits change with the entity type. The *core
//! agent* answers for what the routing core knows: it takes the five operations of AMQP management on fully qualified
//! types, reports unset attributes as null, and honours offset and count. The *configuration agent* answers for all else:
//! it takes short names and operations in any case of letters, leaves unset attributes out, and ignores offset and count.

mod call;
mod configuration;
mod core;
mod later;
mod node;
mod query;
mod reply;
mod request;
mod view;

use crate::backend::{Backend, RequestContext};
use crate::failure::Failure;
use crate::schema::EntityType;
use amqp::Value;
use amqp::message::Message;
pub use later::Later;
use reply::Reply;
use request::Request;

/// The highest number of log characters that a request or reply takes: more does not fit a log line.
const LOGGED: usize = 2000;

/// Answers management requests.
#[derive(Debug, Default)]
pub struct Agent {
    /// The number for the next entity whose attributes do not tell it apart.
    serial: u64,
}

impl Agent {
    /// An agent that has not answered anything yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers one request message, by asking the backend. The reply is to be sent to the address that comes with it;
    /// there is none for a request that does not say where to, and none yet for what takes long.
    pub fn handle(
        &mut self,
        request: &Message,
        context: &RequestContext,
        backend: &mut dyn Backend,
    ) -> Option<(String, Message)> {
        let reply_to = request.properties.reply_to.clone().filter(|address| !address.is_empty())?;
        let request = Request::new(request);
        if backend.log_enabled("debug") {
            backend.log("debug", &shortened(format!("Agent request {}", request.describe())));
        }
        let (reply, whom) = match core::takes(&request) {
            Some(call) => (core::answer(&call, &request, context, backend), call.describe()),
            None => (self.configuration(&request, context, backend), request.operation_text()),
        };
        if matches!(reply, Reply::Later) {
            return None;
        }
        if let Reply::Failed(failure, _) = &reply {
            backend.log("error", &shortened(format!("Error performing {whom}: {}", failure.description)));
        }
        if backend.log_enabled("debug") {
            let text = format!("Agent response:\n  {}\n  Responding to: \n  {}", reply.describe(), request.describe());
            backend.log("debug", &shortened(text));
        }
        let reply = reply.into_message(&reply_to, request.correlation_id());
        Some((reply_to, reply))
    }

    /// Has the configuration agent answer.
    fn configuration(&mut self, request: &Request<'_>, context: &RequestContext, backend: &mut dyn Backend) -> Reply {
        configuration::answer(self, request, context, backend).unwrap_or_else(Reply::refused)
    }

    /// A number that no entity was named after yet.
    fn next_serial(&mut self) -> u64 {
        let serial = self.serial;
        self.serial += 1;
        serial
    }
}

/// The entity type that a request names, and its operation, in upper case with dashes. `None`: it does not say both.
pub fn about(request: &Message) -> Option<(&'static EntityType, String)> {
    let request = Request::new(request);
    Some((crate::schema::entity_type(request.word("type")?)?, request.operation()?))
}

/// Cuts a text that is too long for the log.
fn shortened(mut text: String) -> String {
    if text.len() > LOGGED {
        let end = (0..=LOGGED).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// The most attributes that a request may give: far more than any entity has.
const MAX_ATTRIBUTES: usize = 500;

/// The attributes in the body of a request that needs some.
fn body_attributes(body: &Value) -> Result<crate::Attributes, Failure> {
    match body {
        Value::Map(map) if map.len() > MAX_ATTRIBUTES => {
            Err(Failure::bad_request(format!("More than {MAX_ATTRIBUTES} attributes in the body of the request")))
        }
        Value::Map(map) => Ok(crate::Attributes::from_map(map)),
        _ => Err(Failure::bad_request("Body of request must be a map")),
    }
}

/// The first of several mistakes, as a reply reports it.
fn first(wrong: Vec<crate::schema::Invalid>) -> Failure {
    let first = wrong.into_iter().next();
    first.map_or_else(|| Failure::bad_request("Bad Request"), Failure::from)
}
