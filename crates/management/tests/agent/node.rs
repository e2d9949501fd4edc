//! A management node in memory: a backend that keeps entities in lists, and the agent in front of it.

use amqp::message::{Body, Message};
use amqp::{Map, Value};
use management::{Agent, Attributes, Backend, EntityType, Failure, RequestContext};

/// Keeps entities in lists; numbers those that the core numbers.
#[derive(Default)]
pub(crate) struct Lists {
    pub(crate) entities: Vec<(&'static EntityType, Attributes)>,
    pub(crate) logged: Vec<(String, String)>,
    pub(crate) refuse: Option<Failure>,
    /// Identity, operation and arguments of calls.
    pub(crate) called: Vec<(String, String, Attributes)>,
    /// Deletions were forced.
    pub(crate) forced: Vec<bool>,
}

impl Lists {
    pub(crate) fn with(mut self, type_name: &str, attributes: &[(&str, Value)]) -> Self {
        let ty = management::schema::entity_type(type_name).expect("a type of the schema");
        let entity =
            attributes.iter().fold(Attributes::new(), |entity, (name, value)| entity.with(*name, value.clone()));
        self.entities.push((ty, entity.with("type", Value::from(ty.full))));
        self
    }
}

impl Backend for Lists {
    fn list(&mut self, ty: &'static EntityType) -> Vec<Attributes> {
        self.entities.iter().filter(|(other, _)| *other == ty).map(|(_, entity)| entity.clone()).collect()
    }

    fn create(
        &mut self,
        ty: &'static EntityType,
        attributes: Attributes,
        _: &RequestContext,
    ) -> Result<Attributes, Failure> {
        if let Some(failure) = self.refuse.take() {
            return Err(failure);
        }
        let mut entity = attributes;
        if !entity.contains("identity") {
            entity.set("identity", Value::String((self.entities.len() + 1).to_string()));
        }
        self.entities.push((ty, entity.clone()));
        Ok(entity)
    }

    fn update(
        &mut self,
        ty: &'static EntityType,
        identity: &str,
        changes: Attributes,
        _: &RequestContext,
    ) -> Result<Attributes, Failure> {
        if let Some(failure) = self.refuse.take() {
            return Err(failure);
        }
        let entity =
            self.entities.iter_mut().find(|(other, entity)| *other == ty && entity.text("identity") == Some(identity));
        let (_, entity) = entity.ok_or_else(Failure::not_found)?;
        for (name, value) in changes.0 {
            entity.set(name, value);
        }
        Ok(entity.clone())
    }

    fn delete(&mut self, ty: &'static EntityType, identity: &str, context: &RequestContext) -> Result<(), Failure> {
        self.forced.push(context.forced);
        let before = self.entities.len();
        self.entities.retain(|(other, entity)| *other != ty || entity.text("identity") != Some(identity));
        if self.entities.len() < before { Ok(()) } else { Err(Failure::not_found()) }
    }

    fn call(
        &mut self,
        _: &'static EntityType,
        identity: &str,
        operation: &str,
        arguments: &Attributes,
    ) -> Result<Attributes, Failure> {
        self.called.push((identity.to_owned(), operation.to_owned(), arguments.clone()));
        Ok(Attributes::new().with("messages", Value::Ulong(3)))
    }

    fn log_entries(&self, limit: Option<usize>) -> Vec<Value> {
        let all = (1..=5).map(Value::Int).collect::<Vec<_>>();
        all[5 - limit.unwrap_or(5).min(5)..].to_vec()
    }

    fn management_nodes(&self) -> Vec<String> {
        vec!["amqp:/_topo/0/A/$management".to_owned()]
    }

    fn log(&mut self, level: &str, text: &str) {
        self.logged.push((level.to_owned(), text.to_owned()));
    }
}

/// A management node.
#[derive(Default)]
pub(crate) struct Node {
    pub(crate) agent: Agent,
    pub(crate) backend: Lists,
}

/// A reply, taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i64,
    pub(crate) description: String,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn map(&self) -> Attributes {
        Attributes::from_map(self.body.as_map().expect("the body should be a map"))
    }

    pub(crate) fn columns(&self) -> Vec<String> {
        let names = self.body.as_map().and_then(|map| map.get("attributeNames")).and_then(Value::as_list);
        names.expect("a query has columns").iter().filter_map(|name| name.as_text().map(str::to_owned)).collect()
    }

    pub(crate) fn rows(&self) -> Vec<Vec<Value>> {
        let rows = self.body.as_map().and_then(|map| map.get("results")).and_then(Value::as_list);
        rows.expect("a query has rows").iter().filter_map(|row| row.as_list().map(<[Value]>::to_vec)).collect()
    }
}

pub(crate) fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(Map(entries.iter().map(|(key, value)| (Value::from(*key), value.clone())).collect()))
}

/// A request message with these application-properties.
pub(crate) fn request(properties: &[(&str, &str)], body: Value) -> Message {
    let mut message = Message::new(Body::Value(body));
    message.properties.reply_to = Some("reply".to_owned());
    message.application_properties =
        Map(properties.iter().map(|(key, value)| (Value::from(*key), Value::from(*value))).collect());
    message
}

impl Node {
    pub(crate) fn of(backend: Lists) -> Self {
        Node { agent: Agent::new(), backend }
    }

    pub(crate) fn send(&mut self, message: &Message) -> Option<(String, Message)> {
        self.agent.handle(message, &RequestContext::default(), &mut self.backend)
    }

    pub(crate) fn ask(&mut self, properties: &[(&str, &str)], body: Value) -> Answer {
        let (_, reply) = self.send(&request(properties, body)).expect("there should be a reply");
        let properties = &reply.application_properties;
        Answer {
            code: properties.get("statusCode").and_then(Value::as_i64).expect("a status code"),
            description: properties
                .get("statusDescription")
                .and_then(Value::as_text)
                .expect("a description")
                .to_owned(),
            body: match reply.body {
                Body::Value(value) => value,
                other => panic!("the body should be a value, not {other:?}"),
            },
        }
    }

    /// Status code and description of a reply.
    pub(crate) fn status(&mut self, properties: &[(&str, &str)], body: Value) -> (i64, String) {
        let answer = self.ask(properties, body);
        (answer.code, answer.description)
    }
}
