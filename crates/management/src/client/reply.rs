//! Replies.

use crate::attributes::Attributes;
use amqp::message::{Body, Message};
use amqp::{Map, Value};

/// The classes of refusal that status codes stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusClass {
    /// 400
    BadRequest,
    /// 401
    Unauthorized,
    /// 403
    Forbidden,
    /// 404
    NotFound,
    /// 500
    InternalServerError,
    /// 501
    NotImplemented,
    /// Any other.
    Other(u16),
}

impl StatusClass {
    /// The class of a status code.
    pub fn of(code: u16) -> Self {
        match code {
            400 => StatusClass::BadRequest,
            401 => StatusClass::Unauthorized,
            403 => StatusClass::Forbidden,
            404 => StatusClass::NotFound,
            500 => StatusClass::InternalServerError,
            501 => StatusClass::NotImplemented,
            other => StatusClass::Other(other),
        }
    }

    /// The name under which the old tools report it.
    pub fn name(self) -> &'static str {
        match self {
            StatusClass::BadRequest => "BadRequestStatus",
            StatusClass::Unauthorized => "UnauthorizedStatus",
            StatusClass::Forbidden => "ForbiddenStatus",
            StatusClass::NotFound => "NotFoundStatus",
            StatusClass::InternalServerError => "InternalServerErrorStatus",
            StatusClass::NotImplemented => "NotImplementedStatus",
            StatusClass::Other(_) => "ManagementError",
        }
    }
}

/// A management node did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{description}")]
pub struct Refusal {
    /// The kind of refusal.
    pub class: StatusClass,
    /// The node's own words.
    pub description: String,
}

/// The body of a reply.
///
/// # Errors
/// If the reply is a refusal, or says nothing about whether it is one.
pub fn read_reply(reply: Message) -> Result<Value, Refusal> {
    let status = reply.application_properties.get("statusCode").and_then(Value::as_u64);
    let status = status.and_then(|status| u16::try_from(status).ok()).unwrap_or(0);
    if !(200..300).contains(&status) {
        let description = reply.application_properties.get("statusDescription").and_then(Value::as_text);
        let description = description.unwrap_or("the reply has no status").to_owned();
        return Err(Refusal { class: StatusClass::of(status), description });
    }
    Ok(match reply.body {
        Body::Value(value) => value,
        Body::Empty => Value::Null,
        Body::Data(parts) => Value::Binary(parts.concat()),
        Body::Sequence(parts) => Value::List(parts.concat()),
    })
}

/// What a query finds: a value for each column in each row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the attributes.
    pub columns: Vec<String>,
    /// Entities.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// Reads the body of the reply to a query; `None` if it is none.
    pub fn from_body(body: Value) -> Option<Self> {
        let Value::Map(Map(entries)) = body else { return None };
        let mut table = (None, None);
        for (key, value) in entries {
            match key.as_text() {
                Some("attributeNames") => table.0 = Some(value),
                Some("results") => table.1 = Some(value),
                _ => {}
            }
        }
        let name = |value: &Value| value.as_text().unwrap_or_default().to_owned();
        let columns = table.0?.as_sequence()?.iter().map(name).collect();
        let Value::List(rows) = table.1? else { return None };
        let row = |row: Value| match row {
            Value::List(values) => Some(values),
            _ => None,
        };
        Some(Table { columns, rows: rows.into_iter().map(row).collect::<Option<_>>()? })
    }

    /// The entities, each with the attributes that it has.
    pub fn into_entities(self) -> Vec<Attributes> {
        let columns = self.columns;
        let entity = |row: Vec<Value>| {
            Attributes(columns.iter().cloned().zip(row).filter(|(_, value)| !value.is_null()).collect())
        };
        self.rows.into_iter().map(entity).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_known_by_its_status() {
        let mut reply = Message::new(Body::Empty);
        reply.application_properties.insert("statusCode", 404);
        reply.application_properties.insert("statusDescription", "No entity with name=x");
        let refusal = read_reply(reply).unwrap_err();
        assert_eq!((refusal.class.name(), refusal.to_string().as_str()), ("NotFoundStatus", "No entity with name=x"));
    }

    #[test]
    fn a_reply_without_status_is_no_success() {
        assert_eq!(read_reply(Message::new(Body::Empty)).unwrap_err().class, StatusClass::Other(0));
    }

    #[test]
    fn a_body_that_is_no_table_is_noticed() {
        assert_eq!(Table::from_body(Value::Null), None);
        assert_eq!(Table::from_body(Value::Map([("results", Value::List(vec![]))].into_iter().collect())), None);
    }
}
