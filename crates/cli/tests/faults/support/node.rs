//! A client of the management node.

use amqp::Value;
use amqp::message::Message;
use amqp::terminus::Source;
use management::Attributes;
use management::client::{Key, Refusal, Request, Table, full_type, read_reply};

use super::links::Link;
use super::wire::Wire;

/// The management node of a router.
pub(crate) struct Node {
    wire: Wire,
    sender: Link,
    receiver: Link,
    reply_to: String,
    asked: u32,
}

impl Node {
    pub(crate) fn of(mut wire: Wire) -> Self {
        let (receiver, source) = wire.receiver_from(Source { dynamic: true, ..Source::default() }, 10);
        let reply_to = source.and_then(|source| source.address).expect("a dynamic source gets an address");
        let sender = wire.sender("$management");
        wire.expect_credit(sender, 250);
        Self { wire, sender, receiver, reply_to, asked: 0 }
    }

    /// The reply to a request.
    pub(crate) fn reply(&mut self, request: Request) -> Message {
        let message = request.into_message(&self.reply_to, Value::Ulong(u64::from(self.asked)));
        self.wire.send_message(self.sender, false, &message.to_bytes());
        let received = self.wire.receive();
        self.wire.accept(&received);
        self.asked += 1;
        self.wire.credit(self.receiver, self.asked, 10);
        Message::decode(&received.bytes).expect("the reply is a message")
    }

    pub(crate) fn ask(&mut self, request: Request) -> Result<Value, Refusal> {
        read_reply(self.reply(request))
    }

    /// All entities of a type, by its short name.
    pub(crate) fn query(&mut self, short_type: &str) -> Vec<Attributes> {
        let request = Request::query(Some(&full_type(short_type)), &[]);
        let body = self.ask(request).expect("a query is answered");
        Table::from_body(body).expect("a query is answered by a table").into_entities()
    }

    /// The only entity of a type.
    pub(crate) fn only(&mut self, short_type: &str) -> Attributes {
        let found = self.query(short_type);
        assert_eq!(found.len(), 1, "one {short_type} was expected");
        found.into_iter().next().expect("there is one")
    }

    /// The entity of a type with this name.
    pub(crate) fn named(&mut self, short_type: &str, name: &str) -> Attributes {
        let found = self.query(short_type).into_iter().find(|entity| entity.text("name") == Some(name));
        found.unwrap_or_else(|| panic!("no {short_type} is named {name}"))
    }

    pub(crate) fn create(&mut self, short_type: &str, name: &str, pairs: &[(&str, Value)]) -> Result<Value, Refusal> {
        self.ask(Request::create(&full_type(short_type), Some(name), &attributes(pairs)))
    }

    pub(crate) fn update(&mut self, short_type: &str, name: &str, pairs: &[(&str, Value)]) -> Result<Value, Refusal> {
        self.ask(Request::update(key(&full_type(short_type), name), &attributes(pairs)))
    }

    pub(crate) fn delete(&mut self, short_type: &str, name: &str) -> Result<Value, Refusal> {
        self.ask(Request::delete(key(&full_type(short_type), name)))
    }
}

fn key<'a>(entity_type: &'a str, name: &'a str) -> Key<'a> {
    Key { entity_type: Some(entity_type), name: Some(name), identity: None }
}

fn attributes(pairs: &[(&str, Value)]) -> Attributes {
    Attributes(pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}
