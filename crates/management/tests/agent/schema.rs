//! What the node says about its schema: shape, names and numbers are the old router's.

use super::node::Node;
use amqp::{Map, Value};
use management::schema;

fn ask(operation: &str, entity_type: Option<&str>) -> Map {
    let mut properties = vec![("operation", operation)];
    properties.extend(entity_type.map(|name| ("entityType", name)));
    let answer = Node::default().ask(&properties, Value::Null);
    answer.body.as_map().cloned().unwrap_or_default()
}

fn words(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_list).unwrap_or_default().iter().filter_map(Value::as_text).collect()
}

#[test]
fn there_are_29_types() {
    for operation in ["GET-TYPES", "GET-ATTRIBUTES", "GET-OPERATIONS"] {
        assert_eq!(ask(operation, None).len(), 29, "{operation}");
    }
}

#[test]
fn a_type_names_its_bases_nearest_first() {
    let types = ask("GET-TYPES", Some("sslProfile"));
    let bases = ["org.apache.qpid.dispatch.configurationEntity", "org.apache.qpid.dispatch.entity"];
    assert_eq!(words(types.get("org.apache.qpid.dispatch.sslProfile")), bases);
}

#[test]
fn types_can_be_limited_to_those_that_extend_one() {
    let types = ask("GET-TYPES", Some("operationalEntity"));
    assert!(
        types.contains_key("org.apache.qpid.dispatch.router.link")
            && !types.contains_key("org.apache.qpid.dispatch.listener")
    );
}

#[test]
fn own_operations_come_before_inherited_ones() {
    let operations = ask("GET-OPERATIONS", None);
    assert_eq!(words(operations.get("org.apache.qpid.dispatch.router.link")), ["UPDATE", "READ"]);
    assert_eq!(words(operations.get("org.apache.qpid.dispatch.sslProfile")), ["CREATE", "DELETE", "READ"]);
    assert_eq!(
        words(operations.get("org.apache.qpid.dispatch.dummy")),
        ["CREATE", "READ", "UPDATE", "DELETE", "CALLME"]
    );
}

#[test]
fn attributes_come_in_the_order_of_the_schema() {
    let attributes = ask("GET-ATTRIBUTES", Some("sslProfile"));
    let names = words(attributes.get("org.apache.qpid.dispatch.sslProfile"));
    assert_eq!(
        (names.len(), &names[..2], &names[9..]),
        (12, &["ciphers", "protocols"][..], &["name", "identity", "type"][..])
    );
}

#[test]
fn there_are_no_annotations() {
    assert!(ask("GET-ANNOTATIONS", None).is_empty());
}

#[test]
fn management_nodes_are_those_of_the_network() {
    let answer = Node::default().ask(&[("operation", "GET-MGMT-NODES")], Value::Null);
    assert_eq!(words(Some(&answer.body)), ["amqp:/_topo/0/A/$management"]);
}

#[test]
fn the_schema_describes_an_attribute_without_what_is_false_or_empty() {
    let schema = ask("GET-SCHEMA", None);
    assert_eq!(schema.get("prefix"), Some(&Value::from("org.apache.qpid.dispatch")));
    let path = ["entityTypes", "listener", "attributes", "cost"];
    let cost = path
        .iter()
        .fold(Value::Map(schema), |value, key| value.as_map().and_then(|map| map.get(key)).cloned().unwrap());
    let cost = cost.as_map().unwrap();
    assert_eq!((cost.get("type"), cost.get("default")), (Some(&Value::from("integer")), Some(&Value::Int(1))));
    assert_eq!(
        cost.iter().filter_map(|(key, _)| key.as_text()).collect::<Vec<_>>(),
        ["type", "default", "description"]
    );
}

#[test]
fn types_stand_in_the_schema_under_the_names_of_sections() {
    let schema = ask("GET-SCHEMA", None);
    let types = schema.get("entityTypes").and_then(Value::as_map).unwrap();
    let address = types.get("address").and_then(Value::as_map).unwrap();
    assert_eq!(address.get("fullyQualifiedType"), Some(&Value::from("org.apache.qpid.dispatch.router.config.address")));
    assert!(types.contains_key("router.link") && !types.contains_key("link"));
}

#[test]
fn the_schema_as_json_says_the_same() {
    let answer = Node::default().ask(&[("operation", "GET-JSON-SCHEMA"), ("indent", "2")], Value::Null);
    let text = answer.body.as_text().unwrap().to_owned();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(parsed, management::json::to_json(&Value::Map(schema::schema_map())));
    assert!(text.starts_with("{\n  \"prefix\": "));
}

#[test]
fn every_type_and_attribute_is_described() {
    for ty in schema::entity_types().iter().chain(schema::own_types()) {
        assert!(ty.description.ends_with(['.', ')']), "{ty:?}");
        for attribute in ty.attributes.iter().chain(ty.calls.iter().flat_map(|call| call.arguments)) {
            assert!(attribute.description.ends_with(['.', ')']), "{ty:?} {}", attribute.name);
        }
    }
}

#[test]
fn names_lead_to_their_types() {
    for ty in schema::entity_types() {
        assert_eq!(schema::entity_type(ty.full), Some(*ty));
        assert_eq!(schema::entity_type(ty.short), Some(*ty));
        assert_eq!(schema::entity_type_of_section(ty.section), Some(*ty));
    }
}
