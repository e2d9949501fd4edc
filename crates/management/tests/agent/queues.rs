//! Queues: a type that the old router does not have, with operations that take arguments.

use super::node::{Lists, Node, map};
use amqp::Value;

fn node() -> Node {
    let queue = |address: &str| {
        let (name, identity) = (Value::from(address), Value::String(format!("queue/{address}")));
        [("name", name.clone()), ("identity", identity), ("address", name)]
    };
    Node::of(Lists::default().with("queue", &queue("orders")).with("queue", &queue("bills")))
}

const PURGE: [(&str, &str); 3] = [("operation", "PURGE"), ("type", "queue"), ("name", "orders")];

#[test]
fn a_queue_is_called_by_its_address() {
    let mut node = Node::default();
    let created =
        node.ask(&[("operation", "CREATE"), ("type", "queue")], map(&[("address", Value::from("orders"))])).map();
    assert_eq!((created.text("name"), created.text("identity")), (Some("orders"), Some("queue/orders")));
    assert_eq!((created.boolean("durable"), created.text("overflow")), (Some(true), Some("hold")));
}

#[test]
fn an_operation_gets_its_arguments_from_the_body_and_from_the_properties() {
    let mut node = node();
    let answer = node.ask(&[&PURGE[..], &[("count", "5")]].concat(), map(&[("selector", Value::from("a = 1"))]));
    assert_eq!((answer.code, answer.map().integer("messages")), (200, Some(3)));
    let (identity, operation, arguments) = &node.backend.called[0];
    assert_eq!((identity.as_str(), operation.as_str()), ("queue/orders", "PURGE"));
    assert_eq!((arguments.text("selector"), arguments.integer("count")), (Some("a = 1"), Some(5)));
}

#[test]
fn an_operation_without_a_body_gets_what_is_usual() {
    let mut node = node();
    node.ask(&[("operation", "peek"), ("type", "queue"), ("identity", "queue/bills")], Value::Null);
    assert_eq!(node.backend.called[0].2.integer("count"), Some(10));
}

#[test]
fn a_wrong_argument_is_refused_with_those_there_are() {
    let mut node = node();
    let told = node.status(&PURGE, map(&[("limit", Value::Int(1))]));
    assert_eq!(told, (400, "PURGE has no argument 'limit'; it has selector, count, from".to_owned()));
    let told = node.status(&PURGE, map(&[("count", Value::from("many"))]));
    assert!(told.0 == 400 && told.1.starts_with("PURGE count: "), "{told:?}");
    let told = node.status(&[("operation", "MOVE"), ("type", "queue"), ("name", "orders")], Value::Null);
    assert_eq!(told, (400, "MOVE needs the argument 'to'".to_owned()));
    assert!(node.backend.called.is_empty());
}

#[test]
fn other_types_do_not_have_these_operations() {
    let told = node().status(&[("operation", "PURGE"), ("type", "topic"), ("name", "orders")], Value::Null);
    assert_eq!(told.0, 404);
    let told = Node::default().status(&[("operation", "PURGE")], Value::Null);
    assert_eq!(told.0, 501);
}

#[test]
fn a_deletion_is_forced_only_on_request() {
    let mut node = node();
    node.ask(&[("operation", "DELETE"), ("type", "queue"), ("name", "orders")], Value::Null);
    node.ask(&[("operation", "DELETE"), ("type", "queue"), ("name", "bills"), ("force", "true")], Value::Null);
    assert_eq!(node.backend.forced, [false, true]);
}

#[test]
fn a_query_of_queues_can_be_limited() {
    let mut node = node();
    let query = [("operation", "QUERY"), ("entityType", "queue"), ("offset", "1"), ("count", "1")];
    let columns = map(&[("attributeNames", Value::List(vec![Value::from("address")]))]);
    assert_eq!(node.ask(&query, columns).rows(), [[Value::from("bills")]]);
}

#[test]
fn queues_are_found_by_their_type_alone() {
    let mut node = node();
    let all = node.ask(&[("operation", "QUERY")], Value::Null);
    assert_eq!(all.rows().len(), 1, "only the management node");
    let types = node.ask(&[("operation", "GET-TYPES")], Value::Null);
    assert!(!types.map().contains("org.apache.qpid.dispatch.queue"));
}

#[test]
fn the_schema_of_queues_is_told_to_those_who_name_them() {
    let answer = Node::default().ask(&[("operation", "GET-SCHEMA"), ("entityType", "queue")], Value::Null);
    let path = ["entityTypes", "queue", "calls", "MOVE", "arguments", "to", "required"];
    let required = path.iter().fold(answer.body, |value, key| {
        value.as_map().and_then(|map| map.get(key)).cloned().unwrap_or_else(|| panic!("{key} is missing"))
    });
    assert_eq!(required, Value::Bool(true));
}
