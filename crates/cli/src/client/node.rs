//! Requests to a management node.

use amqp::message::{Body, Message, Scan, Scanner};
use amqp::performative::SenderSettleMode;
use amqp::{DeliveryState, Map, Value};
use management::Attributes;

use super::{Client, ClientError, Receiver, ReceiverOptions, Sender, StatusClass};

/// How many entities are asked for at a time, as the old tools do.
const PAGE: usize = 500;

/// A management node: an address to send requests to, and one to have the replies sent to.
pub struct Node {
    sender: Sender,
    receiver: Receiver,
    requests: u64,
}

/// What a query finds: a value for each column in each row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryRows {
    /// Names of the attributes.
    pub columns: Vec<String>,
    /// Entities.
    pub rows: Vec<Vec<Value>>,
}

impl QueryRows {
    /// The entities, each with the attributes it has.
    pub fn entities(self) -> Vec<Attributes> {
        let columns = self.columns;
        let entity = |row: Vec<Value>| {
            let pairs = columns.iter().cloned().zip(row);
            Attributes(pairs.filter(|(_, value)| !value.is_null()).collect())
        };
        self.rows.into_iter().map(entity).collect()
    }
}

impl Node {
    /// Attaches to the management node at this address.
    ///
    /// # Errors
    /// If the peer refuses the links or does not answer.
    pub fn attach(client: &mut Client, address: &str) -> Result<Self, ClientError> {
        let sender = client.sender(Some(address), SenderSettleMode::Mixed)?;
        let receiver = client.receiver(&ReceiverOptions { credit: 1, ..ReceiverOptions::default() })?;
        Ok(Self { sender, receiver, requests: 0 })
    }

    /// Sends a request and waits for the reply to it. `properties` are the request's application-properties.
    ///
    /// # Errors
    /// If the node refuses, or no reply comes in time.
    pub fn call(&mut self, client: &mut Client, properties: Map, body: Value) -> Result<Value, ClientError> {
        self.requests += 1;
        let id = Value::String(self.requests.to_string());
        let mut request = Message::new(Body::Value(body));
        request.properties.reply_to = Some(self.receiver.address.clone());
        request.properties.correlation_id = Some(id.clone());
        request.application_properties = properties;
        client.send(&self.sender, &request.to_bytes(), false)?;
        let deadline = client.deadline();
        loop {
            let Some(incoming) = client.receive(&self.receiver, deadline)? else {
                return Err(client.timed_out("Waiting for response"));
            };
            if !incoming.settled {
                client.settle(&self.receiver, incoming.delivery_id, DeliveryState::Accepted);
            }
            client.grant(&self.receiver, 1);
            let reply = decode(&incoming.bytes)?;
            // A late reply to a request that was given up is passed over.
            if reply.properties.correlation_id.as_ref() == Some(&id) {
                return outcome(reply);
            }
        }
    }

    /// Asks for entities of a type (all if `None`), their attributes (all if none are named), at most `limit` of them
    /// (all if 0), page by page.
    ///
    /// # Errors
    /// As [`Node::call`], and if the reply has not the form of a query's result.
    pub fn query(
        &mut self,
        client: &mut Client,
        entity_type: Option<&str>,
        attributes: &[&str],
        limit: usize,
    ) -> Result<QueryRows, ClientError> {
        let mut found = QueryRows::default();
        loop {
            let wanted = if limit == 0 { PAGE } else { (limit - found.rows.len()).min(PAGE) };
            let mut properties = node_operation("QUERY");
            if let Some(entity_type) = entity_type {
                properties.insert("entityType", entity_type);
            }
            properties.insert("offset", long(found.rows.len()));
            properties.insert("count", long(wanted));
            let names: Vec<Value> = attributes.iter().map(|name| Value::from(*name)).collect();
            let body = Map::from_iter([("attributeNames", Value::List(names))]);
            let page = rows(self.call(client, properties, Value::Map(body))?)?;
            let count = page.rows.len();
            if count > 0 && found.rows.ends_with(&page.rows) {
                return Ok(found);
            }
            found.columns = page.columns;
            found.rows.extend(page.rows);
            // An agent that ignores offset and count sends everything at once: more or fewer than asked for, or the same
            // once more.
            if count != wanted || (limit != 0 && found.rows.len() >= limit) {
                return Ok(found);
            }
        }
    }

    /// Calls one of the operations of the management node itself that give something back: `GET-…`.
    ///
    /// # Errors
    /// As [`Node::call`].
    pub fn get(&mut self, client: &mut Client, operation: &str, entity_type: Option<&str>) -> Result<Value, ClientError> {
        let mut properties = node_operation(operation);
        if let Some(entity_type) = entity_type {
            properties.insert("entityType", entity_type);
        }
        self.call(client, properties, Value::Map(Map::new()))
    }

    /// The newest entries of the log, all there are if `limit` is 0.
    ///
    /// # Errors
    /// As [`Node::call`].
    pub fn log(&mut self, client: &mut Client, limit: usize) -> Result<Value, ClientError> {
        let mut properties = node_operation("GET-LOG");
        if limit > 0 {
            properties.insert("limit", long(limit));
        }
        self.call(client, properties, Value::Map(Map::new()))
    }
}

/// A reply. The old router's refusals may end in a body that is no section: then what stands before it counts.
fn decode(bytes: &[u8]) -> Result<Message, ClientError> {
    let mut scanner = Scanner::new(bytes, true);
    while let Ok(Scan::Section(_)) = scanner.next() {}
    Message::decode(&bytes[..scanner.position()])
        .map_err(|error| ClientError::Value(format!("the reply is not a valid message: {error}")))
}

/// What every request to the management node itself says.
fn node_operation(operation: &str) -> Map {
    Map::from_iter([("name", "self"), ("type", "org.amqp.management"), ("operation", operation)])
}

fn long(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The body of a reply, or the refusal it is.
fn outcome(reply: Message) -> Result<Value, ClientError> {
    let status = reply.application_properties.get("statusCode").and_then(Value::as_u64).unwrap_or(0);
    let status = u16::try_from(status).unwrap_or(0);
    if !(200..300).contains(&status) {
        let description = reply.application_properties.get("statusDescription").and_then(Value::as_text);
        let description = description.unwrap_or("the reply has no status").to_owned();
        return Err(ClientError::Status { class: StatusClass::of(status), description });
    }
    Ok(match reply.body {
        Body::Value(value) => value,
        Body::Empty => Value::Null,
        Body::Data(parts) => Value::Binary(parts.concat()),
        Body::Sequence(parts) => Value::List(parts.concat()),
    })
}

fn rows(body: Value) -> Result<QueryRows, ClientError> {
    let odd = || ClientError::Value("the reply to the query is not a table of attributes".to_owned());
    let Value::Map(mut map) = body else { return Err(odd()) };
    let columns = map.remove("attributeNames").ok_or_else(odd)?;
    let columns = columns.as_sequence().ok_or_else(odd)?;
    let columns = columns.iter().map(|name| name.as_text().unwrap_or_default().to_owned()).collect();
    let Some(Value::List(results)) = map.remove("results") else { return Err(odd()) };
    let row = |row: Value| match row {
        Value::List(values) => Ok(values),
        _ => Err(odd()),
    };
    Ok(QueryRows { columns, rows: results.into_iter().map(row).collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: i32, description: &str) -> Message {
        let mut message = Message::new(Body::Value("body".into()));
        message.application_properties.insert("statusCode", status);
        message.application_properties.insert("statusDescription", description);
        message
    }

    #[test]
    fn a_refusal_with_a_broken_body_is_still_a_refusal() {
        let mut message = reply(403, "Forbidden");
        message.body = Body::Empty;
        let bytes = [message.to_bytes(), vec![0xd1, 0, 0, 0, 4, 0, 0, 0, 0]].concat();
        let error = outcome(decode(&bytes).expect("the sections before the body are whole")).unwrap_err();
        assert_eq!((error.class(), error.to_string().as_str()), ("ForbiddenStatus", "Forbidden"));
    }

    #[test]
    fn any_status_of_the_two_hundreds_is_success() {
        assert_eq!(outcome(reply(204, "No Content")).expect("success"), "body".into());
        assert_eq!(outcome(reply(0, "odd")).unwrap_err().class(), "ManagementError");
    }

    #[test]
    fn rows_are_entities_without_what_is_null() {
        let table = Map::from_iter([
            ("attributeNames", Value::List(vec!["name".into(), "port".into()])),
            ("results", Value::List(vec![Value::List(vec!["a".into(), Value::Null])])),
        ]);
        let entities = rows(table.into()).expect("a table").entities();
        assert_eq!(entities, [Attributes::new().with("name", "a".into())]);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let odd = Map::from_iter([("attributeNames", Value::from(1_u8))]);
        assert!(rows(odd.into()).is_err());
        assert!(rows(Value::Null).is_err());
    }
}
