//! Attributes as words and as JSON.

use amqp::{Map, Value};
use management::client::full_type;
use management::json;
use management::schema::{self, AttributeType};

use crate::client::ClientError;
use crate::python;

/// Attributes given as words, `NAME=VALUE` or `NAME` (which stands for null). If the type is given, names and numbers
/// are checked against the schema.
pub(super) fn from_words(words: &[String], full_type: Option<&str>) -> Result<Map, ClientError> {
    let mut attributes = Map::new();
    for word in words {
        let Some((name, text)) = word.split_once('=') else {
            attributes.insert(word.as_str(), Value::Null);
            continue;
        };
        attributes.insert(name, value(name, text, full_type)?);
    }
    complete_type(&mut attributes);
    Ok(attributes)
}

fn value(name: &str, text: &str, full_type: Option<&str>) -> Result<Value, ClientError> {
    if let Some(full_type) = full_type {
        let entity_type = schema::entity_type(full_type)
            .filter(|known| known.full == full_type)
            .ok_or_else(|| ClientError::Invalid(format!("No such entity type '{full_type}'")))?;
        let attribute = entity_type
            .attribute(name)
            .or_else(|| entity_type.attribute_formerly(name))
            .ok_or_else(|| ClientError::Invalid(format!("Unknown attribute '{name}' for '{full_type}'")))?;
        if attribute.kind == AttributeType::Integer {
            return python::int(text).map(Value::Long).map_err(ClientError::Value);
        }
    }
    Ok(match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => Value::from(text),
    })
}

/// Attributes read as a JSON map; a shortened type in it is completed.
pub(super) fn from_json(json: &serde_json::Value) -> Option<Map> {
    let Value::Map(mut attributes) = json::from_json(json) else { return None };
    complete_type(&mut attributes);
    Some(attributes)
}

fn complete_type(attributes: &mut Map) {
    if let Some(Value::String(name)) = attributes.get("type") {
        let name = full_type(name);
        attributes.insert("type", name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str], full_type: Option<&str>) -> Result<Map, ClientError> {
        from_words(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), full_type)
    }

    #[test]
    fn integers_are_those_of_the_schema() {
        let map = words(&["arg1=7", "num1=7", "arg2"], Some("org.apache.qpid.dispatch.dummy")).expect("valid");
        assert_eq!(map, Map::from_iter([("arg1", Value::from("7")), ("num1", Value::Long(7)), ("arg2", Value::Null)]));
    }

    #[test]
    fn former_names_are_sent_as_they_are() {
        let map = words(&["addr=a", "dir=in"], Some("org.apache.qpid.dispatch.router.config.autoLink")).expect("valid");
        assert_eq!(map, Map::from_iter([("addr", "a"), ("dir", "in")]));
    }

    #[test]
    fn without_a_type_all_is_text_but_truth() {
        let map = words(&["limit=1", "c=true", "d=False", "e=a=b"], None).expect("valid");
        let wanted = [("limit", Value::from("1")), ("c", true.into()), ("d", "False".into()), ("e", "a=b".into())];
        assert_eq!(map, Map::from_iter(wanted));
    }

    #[test]
    fn unknown_types_and_attributes_are_refused() {
        let refused = |result: Result<Map, ClientError>| match result {
            Err(ClientError::Invalid(text)) => text,
            other => panic!("not refused: {other:?}"),
        };
        let dummy = "org.apache.qpid.dispatch.dummy";
        assert_eq!(refused(words(&["a=b"], Some("x.y"))), "No such entity type 'x.y'");
        assert_eq!(refused(words(&["=b"], Some(dummy))), format!("Unknown attribute '' for '{dummy}'"));
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        let Err(error @ ClientError::Value(_)) = words(&["num1=x"], Some("org.apache.qpid.dispatch.dummy")) else {
            panic!("refused")
        };
        assert_eq!(error.to_string(), "invalid literal for int() with base 10: 'x'");
    }
}
