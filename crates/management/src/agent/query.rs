//! Tables: which columns, which rows.

use crate::attributes::Attributes;
use amqp::{Map, Value};

/// The names of columns that a query asks for; empty if it leaves them to the agent.
pub(super) fn requested_columns(body: &Value) -> Option<Vec<&Value>> {
    let names = body.as_map().and_then(|map| map.get("attributeNames"));
    match names {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(names) => names.as_sequence().map(|names| names.iter().collect()),
    }
}

/// The body of the reply to a query. What an entity does not have is null.
pub(super) fn table<'a>(columns: &[&str], entities: impl IntoIterator<Item = &'a Attributes>) -> Value {
    let row = |entity: &Attributes| {
        Value::List(columns.iter().map(|name| entity.get(name).cloned().unwrap_or(Value::Null)).collect())
    };
    let mut body = Map::new();
    body.insert("attributeNames", Value::List(columns.iter().map(|name| Value::from(*name)).collect()));
    body.insert("results", Value::List(entities.into_iter().map(row).collect()));
    Value::Map(body)
}
