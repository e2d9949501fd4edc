//! The habits of the configuration agent, as the old router shows them.

use super::node::{Lists, Node, map, request};
use amqp::Value;
use management::Failure;

const LISTENER: &str = "org.apache.qpid.dispatch.listener";
const DUMMY: &str = "org.apache.qpid.dispatch.dummy";

fn with_listener_and_logs() -> Node {
    let listener = [
        ("host", Value::from("127.0.0.1")),
        ("port", Value::from("5672")),
        ("name", Value::from("l0")),
        ("identity", Value::from("listener/127.0.0.1:5672:l0")),
    ];
    let log = |module: &str| {
        let name = Value::String(format!("log/{module}"));
        [("module", Value::from(module)), ("name", name.clone()), ("identity", name)]
    };
    Node::of(Lists::default().with("listener", &listener).with("log", &log("AGENT")).with("log", &log("ROUTER")))
}

fn create(node: &mut Node, type_name: &str, body: &[(&str, Value)]) -> (i64, String) {
    node.status(&[("operation", "CREATE"), ("type", type_name)], map(body))
}

fn update_log(body: &[(&str, Value)]) -> (i64, String) {
    with_listener_and_logs().status(&[("operation", "UPDATE"), ("identity", "log/AGENT")], map(body))
}

#[test]
fn a_request_without_reply_to_is_ignored() {
    let mut message = request(&[("operation", "QUERY")], Value::Null);
    message.properties.reply_to = None;
    assert!(Node::default().send(&message).is_none());
}

#[test]
fn the_reply_carries_the_correlation_id_whatever_its_type() {
    for id in [Value::Ulong(7), Value::from("seven"), Value::Binary(vec![7]), Value::Uuid([7; 16])] {
        let mut message = request(&[("operation", "QUERY")], Value::Null);
        message.properties.correlation_id = Some(id.clone());
        let (to, reply) = Node::default().send(&message).unwrap();
        assert_eq!(
            (to.as_str(), reply.properties.to.as_deref(), reply.properties.correlation_id),
            ("reply", Some("reply"), Some(id))
        );
    }
}

#[test]
fn a_request_without_operation_is_a_bad_one() {
    let (code, description) = Node::default().status(&[], Value::Null);
    assert_eq!(code, 400);
    assert!(description.starts_with("No 'operation' property: "));
}

#[test]
fn an_operation_nobody_knows_is_not_implemented() {
    let (code, description) =
        Node::default().status(&[("operation", "nosuch"), ("type", "org.amqp.management")], Value::Null);
    assert_eq!(code, 501);
    assert!(
        description.starts_with(
            "Operation 'NOSUCH' not implemented for 'org.apache.qpid.dispatch.management' ['GET-SCHEMA', "
        )
    );
}

#[test]
fn the_case_of_an_operation_does_not_matter() {
    let answer = with_listener_and_logs().ask(&[("operation", "query"), ("entityType", LISTENER)], Value::Null);
    assert_eq!(answer.rows().len(), 1);
}

#[test]
fn unset_attributes_are_null_in_a_query_and_left_out_in_a_read() {
    let mut node = with_listener_and_logs();
    let query = node.ask(&[("operation", "QUERY"), ("entityType", "listener")], Value::Null);
    assert_eq!((query.columns().len(), query.rows()[0].contains(&Value::Null)), (32, true));
    let read = node.ask(&[("operation", "READ"), ("name", "l0")], Value::Null);
    assert_eq!(read.body.as_map().unwrap().len(), 5);
}

#[test]
fn columns_that_no_listener_has_are_not_found() {
    let names = Value::List(vec![Value::from("name"), Value::from("foo")]);
    let status = with_listener_and_logs()
        .status(&[("operation", "QUERY"), ("entityType", LISTENER)], map(&[("attributeNames", names)]));
    assert_eq!(status, (404, format!("Unknown attributes ['foo'] for type {LISTENER}.")));
}

#[test]
fn a_query_without_type_lists_the_node_itself_and_all_that_is_configured() {
    let names = Value::List(vec![Value::from("name"), Value::from("type")]);
    let answer = with_listener_and_logs().ask(&[("operation", "QUERY")], map(&[("attributeNames", names)]));
    let rows: Vec<String> = answer.rows().iter().map(|row| row[0].as_text().unwrap().to_owned()).collect();
    assert_eq!(rows, ["self", "l0", "log/AGENT", "log/ROUTER"]);
}

#[test]
fn a_query_without_type_and_names_has_all_names_sorted() {
    let columns = Node::default().ask(&[("operation", "QUERY")], Value::Null).columns();
    assert!(
        columns.is_sorted()
            && columns.contains(&"type".to_owned())
            && columns.contains(&"zeroCreditSeconds".to_owned())
    );
}

#[test]
fn a_query_for_a_base_type_lists_what_extends_it() {
    let query = [("operation", "QUERY"), ("entityType", "org.apache.qpid.dispatch.configurationEntity")];
    assert_eq!(with_listener_and_logs().ask(&query, Value::Null).rows().len(), 3);
}

#[test]
fn the_router_shows_its_configured_side() {
    let router = [
        ("name", Value::from("router/A")),
        ("identity", Value::from("router/A")),
        ("id", Value::from("A")),
        ("hostName", Value::from("h")),
        ("linkCount", Value::Ulong(9)),
        ("acceptedDeliveries", Value::Ulong(9)),
    ];
    let mut node = Node::of(Lists::default().with("router", &router));
    let answer = node.ask(&[("operation", "READ"), ("name", "router/A")], Value::Null).map();
    assert_eq!(
        (answer.text("hostName"), answer.integer("linkCount"), answer.get("acceptedDeliveries")),
        (Some("h"), Some(0), None)
    );
}

#[test]
fn a_configured_address_is_called_by_its_section() {
    let address = [
        ("name", Value::from("n")),
        ("identity", Value::from("4")),
        ("fallback", Value::Bool(true)),
        ("pattern", Value::Null),
    ];
    let mut node = Node::of(Lists::default().with("router.config.address", &address));
    let read = node.ask(&[("operation", "READ"), ("identity", "address/4")], Value::Null).map();
    assert_eq!((read.text("name"), read.boolean("enableFallback")), (Some("n"), Some(true)));
}

#[test]
fn an_entity_of_another_type_is_refused() {
    let read = [("operation", "READ"), ("type", "connector"), ("name", "l0")];
    let text = "Entity type 'org.apache.qpid.dispatch.listener' does not extend requested type 'org.apache.qpid.dispatch.connector'";
    assert_eq!(with_listener_and_logs().status(&read, Value::Null), (400, text.into()));
}

#[test]
fn what_is_missing_is_named() {
    let mut node = with_listener_and_logs();
    let by_name = [("operation", "READ"), ("type", "listener"), ("name", "x")];
    assert_eq!(node.status(&by_name, Value::Null), (404, "No entity with name=x".into()));
    let by_identity = [("operation", "READ"), ("type", "listener"), ("identity", "x")];
    assert_eq!(node.status(&by_identity, Value::Null), (404, "No entity with identity=x".into()));
    let by_nothing = [("operation", "READ"), ("type", "listener")];
    assert_eq!(node.status(&by_nothing, Value::Null), (400, format!("{LISTENER}: No name or identity provided")));
}

#[test]
fn name_and_identity_must_mean_the_same() {
    let read = [("operation", "READ"), ("name", "l0"), ("identity", "log/AGENT")];
    assert_eq!(
        with_listener_and_logs().status(&read, Value::Null),
        (400, "Conflicting name=l0 identity=log/AGENT".into())
    );
}

#[test]
fn the_node_itself_can_be_read() {
    let read = Node::default().ask(&[("operation", "READ")], Value::Null).map();
    assert_eq!((read.text("identity"), read.text("type")), (Some("self"), Some("org.apache.qpid.dispatch.management")));
}

#[test]
fn a_type_that_does_not_exist_is_a_bad_request() {
    let expected = (400, "No such entity type 'nosuch'".to_owned());
    assert_eq!(create(&mut Node::default(), "nosuch", &[]), expected);
    assert_eq!(Node::default().status(&[("operation", "QUERY"), ("entityType", "nosuch")], Value::Null), expected);
}

#[test]
fn a_creation_without_type_is_refused() {
    let status = Node::default().status(&[("operation", "CREATE"), ("name", "d5")], map(&[]));
    assert_eq!(status, (400, "No 'type' attribute in {'type': None, 'name': 'd5'}".into()));
}

#[test]
fn a_created_listener_is_named_completed_and_logged() {
    let mut node = Node::default();
    let answer = node.ask(&[("operation", "CREATE"), ("type", LISTENER)], map(&[("port", Value::Ulong(29700))]));
    let listener = answer.map();
    assert_eq!(
        (answer.code, listener.text("name"), listener.text("identity")),
        (201, Some("listener/:29700"), Some("listener/:29700"))
    );
    assert_eq!((listener.text("port"), listener.integer("maxFrameSize")), (Some("29700"), Some(16384)));
    assert!(
        node.backend
            .logged
            .iter()
            .any(|(level, text)| level == "debug" && text.starts_with("Add entity: ListenerEntity("))
    );
}

#[test]
fn a_name_in_use_is_refused_with_both_entities() {
    let status = with_listener_and_logs()
        .status(&[("operation", "CREATE"), ("type", LISTENER), ("name", "l0")], map(&[("port", Value::from("1"))]));
    assert_eq!(status.0, 400);
    assert!(
        status.1.starts_with("adding ListenerEntity(")
            && status.1.contains("duplicates unique attribute 'name' from existing ListenerEntity(")
    );
}

#[test]
fn what_the_schema_refuses_never_reaches_the_backend() {
    let mut node = Node::default();
    assert_eq!(
        create(&mut node, "dummy", &[("nosuch", Value::Int(1))]),
        (400, format!("Unknown attribute 'nosuch' for '{DUMMY}'"))
    );
    assert_eq!(
        create(&mut node, "dummy", &[("num1", Value::from("x"))]),
        (400, format!("{DUMMY}: invalid literal for int() with base 10: 'x'"))
    );
    assert_eq!(
        create(&mut node, "dummy", &[("identity", Value::from("5"))]),
        (400, "Cannot set attribute 'identity' in CREATE".into())
    );
    assert_eq!(
        create(&mut node, "connector", &[("failoverUrls", Value::from("x"))]),
        (400, "Cannot set attribute 'failoverUrls' in CREATE".into())
    );
    assert!(node.backend.entities.is_empty());
}

#[test]
fn a_boolean_that_is_none_is_refused() {
    let status = create(&mut Node::default(), LISTENER, &[("authenticatePeer", Value::from("maybe"))]);
    assert_eq!(status, (400, format!("{LISTENER}: Invalid Boolean value ''maybe''")));
}

#[test]
fn a_required_attribute_that_is_missing_is_named() {
    let status = create(&mut Node::default(), "vhost", &[("maxConnections", Value::Int(3))]);
    assert_eq!(status, (400, "org.apache.qpid.dispatch.vhost: Missing required attribute 'hostname'".into()));
}

#[test]
fn values_that_contradict_the_properties_are_refused() {
    let create = |body: &[(&str, Value)]| {
        Node::default().status(&[("operation", "CREATE"), ("type", "dummy"), ("name", "a")], map(body))
    };
    assert_eq!(create(&[("name", Value::from("b"))]), (400, "Conflicting values for 'name'".into()));
    assert_eq!(create(&[("type", Value::from("listener"))]), (400, "Conflicting values for 'type'".into()));
    assert_eq!(create(&[("type", Value::from(DUMMY)), ("name", Value::from("a"))]).0, 201);
}

#[test]
fn what_cannot_be_created_is_not_implemented() {
    let text = "Operation 'CREATE' not implemented for 'org.apache.qpid.dispatch.log' ['UPDATE', 'READ']";
    assert_eq!(create(&mut Node::default(), "log", &[("module", Value::from("AGENT"))]), (501, text.into()));
}

#[test]
fn numbered_entities_do_not_collide_with_those_from_the_file() {
    let from_file = [("name", Value::from("dummy/0")), ("identity", Value::from("dummy/0"))];
    let mut node = Node::of(Lists::default().with("dummy", &from_file));
    let created = node.ask(&[("operation", "CREATE"), ("type", "dummy")], map(&[])).map();
    assert_eq!(created.text("identity"), Some("dummy/1"));
}

#[test]
fn former_names_are_taken_with_a_warning() {
    let mut node = Node::default();
    let body = map(&[("port", Value::from("1")), ("protocolFamily", Value::from("IPv4"))]);
    let created = node.ask(&[("operation", "CREATE"), ("type", LISTENER)], body).map();
    assert_eq!((created.text("socketAddressFamily"), created.get("protocolFamily")), (Some("IPv4"), None));
    let warning =
        "Attribute 'protocolFamily' of entity 'listener' has been deprecated. Use 'socketAddressFamily' instead";
    assert!(node.backend.logged.contains(&("warning".into(), warning.into())));
}

#[test]
fn an_update_changes_what_it_names_and_nothing_else() {
    let mut node = with_listener_and_logs();
    let update = [("operation", "UPDATE"), ("identity", "log/AGENT"), ("type", "log")];
    let log = node.ask(&update, map(&[("enable", Value::from("info+")), ("source", Value::from("yes"))])).map();
    assert_eq!(
        (log.text("enable"), log.boolean("includeSource"), log.text("module")),
        (Some("info+"), Some(true), Some("AGENT"))
    );
}

#[test]
fn an_update_with_null_unsets_an_attribute() {
    let mut node = with_listener_and_logs();
    let update = [("operation", "UPDATE"), ("identity", "log/AGENT")];
    node.ask(&update, map(&[("enable", Value::from("info+"))]));
    assert_eq!(node.ask(&update, map(&[("enable", Value::Null)])).map().get("enable"), None);
}

#[test]
fn an_update_may_repeat_what_cannot_be_changed() {
    let same =
        [("name", Value::from("log/AGENT")), ("identity", Value::from("log/AGENT")), ("module", Value::from("AGENT"))];
    assert_eq!(update_log(&same), (200, "OK".into()));
}

#[test]
fn an_update_of_what_cannot_be_changed_is_refused() {
    assert_eq!(
        update_log(&[("module", Value::from("ROUTER"))]),
        (400, "Cannot update attribute 'module' in UPDATE".into())
    );
}

#[test]
fn a_failure_of_the_backend_is_passed_on() {
    let mut node = with_listener_and_logs();
    node.backend.refuse = Some(Failure::internal("CError: Configuration: Failed to open log file '/nosuch/x'"));
    let update = [("operation", "UPDATE"), ("identity", "log/AGENT")];
    let status = node.status(&update, map(&[("outputFile", Value::from("/nosuch/x"))]));
    assert_eq!(status, (500, "CError: Configuration: Failed to open log file '/nosuch/x'".into()));
}

#[test]
fn callme_gives_the_properties_back() {
    let mut node = Node::default();
    create(&mut node, "dummy", &[("name", Value::from("d"))]);
    let answer = node.ask(&[("operation", "callme"), ("name", "d"), ("data", "5")], Value::Null).map();
    assert_eq!((answer.text("operation"), answer.text("data")), (Some("callme"), Some("5")));
}

#[test]
fn get_log_gives_the_newest_entries() {
    let entries = |limit: &str| Node::default().ask(&[("operation", "GET-LOG"), ("limit", limit)], Value::Null).body;
    assert_eq!(entries("2"), Value::List(vec![Value::Int(4), Value::Int(5)]));
    assert_eq!(entries("0").as_list().map(<[Value]>::len), Some(5));
}

#[test]
fn a_request_is_logged_before_it_is_answered() {
    let mut node = Node::default();
    node.ask(&[("operation", "GET-LOG"), ("limit", "1")], Value::Null);
    assert!(node.backend.logged[0].1.starts_with(
        "Agent request Message(address=None, properties={'operation': 'GET-LOG', 'limit': '1'}, body=None, "
    ));
}

#[test]
fn an_error_is_logged_with_its_operation() {
    let mut node = Node::default();
    create(&mut node, "nosuch", &[]);
    assert!(
        node.backend.logged.contains(&("error".into(), "Error performing CREATE: No such entity type 'nosuch'".into()))
    );
}

#[test]
fn names_that_are_repeated_without_end_are_refused() {
    let names = Value::List(vec![Value::from("name"); 1000]);
    let status = with_listener_and_logs()
        .status(&[("operation", "QUERY"), ("entityType", LISTENER)], map(&[("attributeNames", names)]));
    assert_eq!(status, (400, "More than 32 names of attributes".into()));
}

#[test]
fn attributes_without_end_are_refused() {
    let attributes: Vec<(String, Value)> = (0..1000).map(|n| (format!("a{n}"), Value::Null)).collect();
    let attributes: Vec<(&str, Value)> =
        attributes.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    assert_eq!(create(&mut Node::default(), "dummy", &attributes).0, 400);
}

#[test]
fn passwords_do_not_appear_in_the_log() {
    let mut node = Node::default();
    create(&mut node, "connector", &[("port", Value::from("1")), ("saslPassword", Value::from("hush"))]);
    assert!(node.backend.logged.len() > 2 && !node.backend.logged.iter().any(|(_, text)| text.contains("hush")));
}
