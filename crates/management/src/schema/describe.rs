//! The schema as a value: what GET-SCHEMA and GET-JSON-SCHEMA answer.

use super::entity_type::{Attribute, AttributeType, Call, DefaultValue, EntityType, PREFIX};
use crate::attributes::number;
use crate::json;
use amqp::{Map, Value};

/// The schema as a map: prefix and entity types by the names that sections have. Like in the old router, what is false,
/// zero or empty is left out.
pub fn schema_map() -> Map {
    let types = super::entity_types().iter().map(|ty| (Value::from(ty.section), Value::Map(describe(ty))));
    let mut map = Map::new();
    map.insert("prefix", PREFIX.trim_end_matches('.'));
    map.insert("entityTypes", Value::Map(Map(types.collect())));
    map
}

/// What [`schema_map`] leaves out: a type of this router's own. It says of each attribute whether it may be given at creation and
/// changed later; `calls` are the operations that take arguments.
pub fn own_schema_map(ty: &'static EntityType) -> Map {
    let mut described = describe(ty);
    let attributes = ty.all_attributes().filter(|attribute| attribute.name != "type").map(|attribute| {
        let mut map = describe_attribute(attribute);
        map.insert("create", attribute.create);
        map.insert("update", attribute.update);
        (Value::from(attribute.name), Value::Map(map))
    });
    described.insert("attributes", Value::Map(Map(attributes.collect())));
    let call = |call: &Call| {
        let arguments = call.arguments.iter();
        let arguments = arguments.map(|it| (Value::from(it.name), Value::Map(describe_attribute(it)))).collect();
        let mut map = Map::new();
        map.insert("description", call.description);
        map.insert("arguments", Value::Map(Map(arguments)));
        (Value::from(call.name), Value::Map(map))
    };
    if !ty.calls.is_empty() {
        described.insert("calls", Value::Map(Map(ty.calls.iter().map(call).collect())));
    }
    let mut map = Map::new();
    map.insert("prefix", PREFIX.trim_end_matches('.'));
    map.insert("entityTypes", Value::Map(Map(vec![(Value::from(ty.section), Value::Map(described))])));
    map
}

/// The schema as JSON text.
pub fn schema_json(indent: Option<usize>) -> String {
    json::dump(&json::to_json(&Value::Map(schema_map())), indent)
}

fn describe(ty: &'static EntityType) -> Map {
    let attributes = ty.all_attributes().filter(|attribute| attribute.name != "type");
    let attributes =
        attributes.map(|attribute| (Value::from(attribute.name), Value::Map(describe_attribute(attribute))));
    let mut map = Map::new();
    map.insert("attributes", Value::Map(Map(attributes.collect())));
    let operations: Vec<Value> = ty.all_operations().map(Value::from).collect();
    if !operations.is_empty() {
        map.insert("operations", Value::List(operations));
    }
    map.insert("description", ty.description);
    map.insert("fullyQualifiedType", ty.full);
    if ty.deprecated {
        map.insert("deprecated", true);
    }
    if ty.singleton {
        map.insert("singleton", true);
    }
    map
}

fn describe_attribute(attribute: &Attribute) -> Map {
    let mut map = Map::new();
    map.insert("type", type_of(attribute.kind));
    match attribute.default {
        Some(DefaultValue::Text(text)) if !text.is_empty() => map.insert("default", text),
        Some(DefaultValue::Integer(value)) if value != 0 => map.insert("default", number(value)),
        Some(DefaultValue::Boolean(true)) => map.insert("default", true),
        _ => None,
    };
    for (name, set) in [
        ("required", attribute.required),
        ("unique", attribute.unique),
        ("deprecated", attribute.deprecated),
        ("graph", attribute.graph),
    ] {
        if set {
            map.insert(name, true);
        }
    }
    map.insert("description", attribute.description);
    map
}

fn type_of(kind: AttributeType) -> Value {
    Value::from(match kind {
        AttributeType::String => "string",
        AttributeType::Path => "path",
        AttributeType::Integer => "integer",
        AttributeType::Boolean => "boolean",
        AttributeType::List => "list",
        AttributeType::Map => "map",
        AttributeType::Properties => "properties",
        AttributeType::EntityId => "entityId",
        AttributeType::Enum(words) => return Value::List(words.iter().map(|word| Value::from(*word)).collect()),
    })
}
