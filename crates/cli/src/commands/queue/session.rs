//! A connection to the management node of the router whose queues are meant.

use std::io::Write;

use amqp::Value;
use management::Attributes;
use management::client::{Key, Request, StatusClass};
use management::json::{dump, to_json};
use management::schema::{QUEUE, TOPIC};

use super::{Common, Failure, Which};
use crate::client::{Client, ClientError, Node};

/// What became of messages that something was to be done with.
#[derive(Clone, Copy)]
pub(super) struct Acted {
    /// With how many it was done.
    pub(super) done: i64,
    /// How many stay, for consumers hold them.
    pub(super) held: i64,
}

pub(super) struct Session {
    client: Client,
    node: Node,
}

impl Session {
    pub(super) fn open(common: &Common) -> Result<Self, Failure> {
        let options = common.connect.options()?;
        let mut client = Client::connect(&options)?;
        let node = Node::attach(&mut client, &common.router.address(&options.url))?;
        Ok(Self { client, node })
    }

    /// Queues, each with all its attributes.
    pub(super) fn queues(&mut self) -> Result<Vec<Attributes>, Failure> {
        let found = self.node.query(&mut self.client, Some(QUEUE.full), &[], 0);
        found.map(management::client::Table::into_entities).map_err(|error| told(error, None))
    }

    /// One queue.
    pub(super) fn queue(&mut self, name: &str) -> Result<Attributes, Failure> {
        let read = self.ask(Request::read(key(name)), name)?;
        Ok(read.as_map().map(Attributes::from_map).unwrap_or_default())
    }

    /// What a request about the queue of this name brings.
    pub(super) fn ask(&mut self, request: Request, name: &str) -> Result<Value, Failure> {
        self.node.call(&mut self.client, request).map_err(|error| match &error {
            ClientError::Refused(refusal) if refusal.class == StatusClass::NotFound && self.is_topic(name) => {
                let text = "it is a topic: its messages are in the queues of its subscriptions";
                Failure::Told(format!("There is no queue '{name}', {text}: `waystation queue list {name}::`"))
            }
            _ => told(error, Some(name)),
        })
    }

    fn is_topic(&mut self, name: &str) -> bool {
        let found = self.node.query(&mut self.client, Some(TOPIC.full), &["address"], 0);
        found.is_ok_and(|topics| topics.into_entities().iter().any(|topic| topic.text("address") == Some(name)))
    }

    /// Has a queue do something with some of its messages.
    pub(super) fn act(
        &mut self,
        operation: &str,
        name: &str,
        which: &Which,
        more: Attributes,
    ) -> Result<Acted, Failure> {
        let (mut done, mut held, mut next) = (0, 0, None);
        loop {
            let mut more = more.clone();
            if let Some(from) = next {
                more.set("from", Value::String(from));
            }
            let left = Which { selector: which.selector.clone(), count: which.count.map(|count| count - done) };
            let request = Request { body: arguments(&left, more), ..Request::on(operation, key(name)) };
            let answer = self.ask(request, name)?;
            let part = |name: &str| answer.as_map().and_then(|map| map.get(name));
            done += part("messages").and_then(Value::as_i64).unwrap_or(0);
            held += part("held").and_then(Value::as_i64).unwrap_or(0);
            // One request looks at so many messages only.
            next = part("next").and_then(Value::as_text).map(str::to_owned);
            if next.is_none() || which.count.is_some_and(|count| done >= count) {
                return Ok(Acted { done, held });
            }
        }
    }

    pub(super) fn close(self) {
        self.client.close();
    }
}

/// The queue of this name.
pub(super) fn key(name: &str) -> Key<'_> {
    Key { entity_type: Some(QUEUE.full), name: Some(name), identity: None }
}

/// The body of a request about some messages.
pub(super) fn arguments(which: &Which, mut arguments: Attributes) -> Value {
    if let Some(selector) = &which.selector {
        arguments.set("selector", Value::from(selector.as_str()));
    }
    if let Some(count) = which.count {
        arguments.set("count", Value::Long(count));
    }
    Value::Map(arguments.to_map())
}

/// A refusal, with what can be done about it.
fn told(error: ClientError, name: Option<&str>) -> Failure {
    if let ClientError::Refused(refusal) = &error {
        if refusal.description.starts_with("No such entity type") {
            return Failure::Told(
                "this router has no queues: it is of a kind or version that does not know them".into(),
            );
        }
        if let (Some(name), StatusClass::NotFound) = (name, refusal.class) {
            let what = match refusal.description.as_str() {
                // The other queue of a move.
                text if text.starts_with("There is no queue") => text.to_owned(),
                _ => format!("There is no queue '{name}'"),
            };
            return Failure::Told(format!("{what}: `waystation queue list` shows those there are"));
        }
        return Failure::Told(refusal.description.clone());
    }
    error.into()
}

/// Prints a value as JSON.
pub(super) fn print(value: &Value, out: &mut dyn Write) -> Result<(), Failure> {
    Ok(writeln!(out, "{}", dump(&to_json(value), Some(2)))?)
}
