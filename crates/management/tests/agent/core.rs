//! The habits of the core agent, as the old router shows them.

use super::node::{Lists, Node, map};
use amqp::Value;
use management::Failure;

const ADDRESS: &str = "org.apache.qpid.dispatch.router.config.address";
const LINK: &str = "org.apache.qpid.dispatch.router.link";
const CONNECTION: &str = "org.apache.qpid.dispatch.connection";

fn three_links() -> Node {
    let link = |id: &str, name: &str| {
        [("name", Value::from(name)), ("identity", Value::from(id)), ("linkDir", Value::from("in"))]
    };
    Node::of(Lists::default().with(LINK, &link("1", "a")).with(LINK, &link("2", "b")).with(LINK, &link("3", "c")))
}

fn one_connection() -> Node {
    let connection = [
        ("name", Value::from("connection/h")),
        ("identity", Value::from("7")),
        ("adminStatus", Value::from("enabled")),
    ];
    Node::of(Lists::default().with(CONNECTION, &connection))
}

#[test]
fn a_query_without_columns_reports_all_in_the_old_routers_order() {
    let answer = three_links()
        .ask(&[("operation", "QUERY"), ("entityType", LINK)], map(&[("attributeNames", Value::List(vec![]))]));
    assert_eq!(&answer.columns()[..6], ["name", "identity", "type", "linkName", "linkType", "linkDir"]);
    assert_eq!(answer.rows().len(), 3);
}

#[test]
fn a_column_that_does_not_exist_is_null() {
    let names = Value::List(vec![Value::from("name"), Value::from("colour"), Value::from("linkDir")]);
    let answer = three_links().ask(&[("operation", "QUERY"), ("entityType", LINK)], map(&[("attributeNames", names)]));
    assert_eq!(answer.columns(), ["name", "colour", "linkDir"]);
    assert_eq!(answer.rows()[0], [Value::from("a"), Value::Null, Value::from("in")]);
}

#[test]
fn offset_and_count_cut_a_page_out() {
    let page = [("operation", "QUERY"), ("entityType", LINK), ("offset", "1"), ("count", "1")];
    let answer = three_links().ask(&page, map(&[("attributeNames", Value::List(vec![Value::from("name")]))]));
    assert_eq!(answer.rows(), [[Value::from("b")]]);
}

#[test]
fn a_page_beyond_the_end_is_empty() {
    let page = [("operation", "QUERY"), ("entityType", LINK), ("offset", "100")];
    assert!(three_links().ask(&page, Value::Null).rows().is_empty());
}

#[test]
fn the_router_is_called_by_its_id_and_numbered_one() {
    let router = [("name", Value::from("router/A")), ("identity", Value::from("router/A")), ("id", Value::from("A"))];
    let mut node = Node::of(Lists::default().with("router", &router));
    let answer = node.ask(&[("operation", "QUERY"), ("entityType", "org.apache.qpid.dispatch.router")], Value::Null);
    assert_eq!(answer.rows()[0][..3], [Value::from("A"), Value::from("1"), Value::from("A")]);
}

#[test]
fn the_router_can_only_be_queried() {
    let mut node = Node::default();
    for operation in ["READ", "CREATE", "DELETE", "UPDATE"] {
        let request = [("operation", operation), ("type", "org.apache.qpid.dispatch.router"), ("name", "x")];
        assert_eq!(node.status(&request, map(&[])), (403, "Forbidden".into()));
    }
}

#[test]
fn the_console_is_out_of_bounds() {
    let answer =
        Node::default().ask(&[("operation", "QUERY"), ("entityType", "org.apache.qpid.dispatch.console")], map(&[]));
    assert_eq!((answer.code, answer.columns().len()), (403, 0));
}

#[test]
fn a_created_address_is_reported_with_nulls() {
    let mut node = Node::default();
    let answer =
        node.ask(&[("operation", "CREATE"), ("type", ADDRESS), ("name", "n")], map(&[("prefix", Value::from("a"))]));
    assert_eq!((answer.code, answer.description.as_str()), (201, "Created"));
    let body = answer.body.as_map().unwrap();
    assert_eq!(body.get("name"), Some(&Value::from("n")));
    assert_eq!(body.get("pattern"), Some(&Value::Null));
}

#[test]
fn a_refused_creation_has_no_body() {
    let mut node = Node::default();
    node.backend.refuse = Some(Failure::bad_request("Already exists"));
    let answer = node.ask(&[("operation", "CREATE"), ("type", ADDRESS)], map(&[("prefix", Value::from("a"))]));
    assert_eq!((answer.code, answer.description.as_str(), answer.body), (400, "Already exists", Value::Null));
}

#[test]
fn a_creation_needs_a_map() {
    let status = Node::default().status(&[("operation", "CREATE"), ("type", ADDRESS)], Value::from("x"));
    assert_eq!(status, (400, "Body of request must be a map".into()));
}

#[test]
fn a_creation_with_an_impossible_word_is_refused_rather_than_guessed_at() {
    let body = map(&[("prefix", Value::from("a")), ("distribution", Value::from("nosuch"))]);
    assert_eq!(Node::default().status(&[("operation", "CREATE"), ("type", ADDRESS)], body).0, 400);
}

#[test]
fn impossible_words_are_told_as_the_core_agent_tells_them() {
    let create = |ty: &str, name: &str| {
        let ty = format!("org.apache.qpid.dispatch.router.config.{ty}");
        Node::default().status(&[("operation", "CREATE"), ("type", &ty)], map(&[(name, Value::from("x"))])).1
    };
    assert_eq!(create("linkRoute", "direction"), "Invalid value for 'direction'");
    assert_eq!(create("exchange", "matchMethod"), "Exchange matchMethod must be either 'amqp' or 'mqtt'");
}

#[test]
fn a_prefix_that_is_no_text_is_left_to_the_backend_to_refuse() {
    let answer = Node::default().ask(&[("operation", "CREATE"), ("type", ADDRESS)], map(&[("prefix", Value::Int(5))]));
    assert_eq!(answer.map().get("prefix"), Some(&Value::Int(5)));
}

#[test]
fn former_names_are_taken_without_a_warning() {
    let mut node = Node::default();
    let body = map(&[("addr", Value::from("x")), ("dir", Value::from("in"))]);
    let answer =
        node.ask(&[("operation", "CREATE"), ("type", "org.apache.qpid.dispatch.router.config.autoLink")], body);
    assert_eq!(answer.map().text("address"), Some("x"));
    assert!(!node.backend.logged.iter().any(|(level, _)| level == "warning"));
}

#[test]
fn what_was_read_can_be_created_again() {
    let mut node = Node::default();
    let create = [("operation", "CREATE"), ("type", ADDRESS)];
    let first = node.ask(&create, map(&[("prefix", Value::from("a")), ("fallback", Value::Bool(true))]));
    let second = node.ask(&create, first.body);
    assert_eq!((second.code, second.map().text("prefix")), (201, Some("a")));
}

#[test]
fn an_entity_is_found_by_its_identity_before_its_name() {
    let read = [("operation", "READ"), ("type", LINK), ("identity", "2"), ("name", "c")];
    assert_eq!(three_links().ask(&read, Value::Null).map().text("name"), Some("b"));
}

#[test]
fn an_entity_that_is_not_there_is_not_found() {
    let read = [("operation", "READ"), ("type", LINK), ("identity", "99")];
    assert_eq!(three_links().status(&read, Value::Null), (404, "Not Found".into()));
}

#[test]
fn neither_name_nor_identity_is_a_bad_request() {
    let delete = [("operation", "DELETE"), ("type", ADDRESS)];
    assert_eq!(Node::default().status(&delete, Value::Null), (400, "No name or identity provided".into()));
}

#[test]
fn connections_are_read_by_identity_only() {
    let read = [("operation", "READ"), ("type", CONNECTION), ("name", "connection/h")];
    assert_eq!(one_connection().status(&read, Value::Null), (400, "Name not supported. Identity required".into()));
}

#[test]
fn a_connection_can_be_closed_by_an_update() {
    let update = [("operation", "UPDATE"), ("type", CONNECTION), ("identity", "7")];
    let answer = one_connection().ask(&update, map(&[("adminStatus", Value::from("deleted"))]));
    assert_eq!((answer.code, answer.map().text("adminStatus")), (200, Some("deleted")));
}

#[test]
fn whatever_is_wrong_with_an_update_of_a_connection_is_a_bad_request() {
    let bad = || (400, "Bad Request".to_owned());
    let update = |id: &'static str| [("operation", "UPDATE"), ("type", CONNECTION), ("identity", id)];
    let mut node = one_connection();
    assert_eq!(node.status(&update("99"), map(&[("adminStatus", Value::from("deleted"))])), bad());
    assert_eq!(node.status(&update("7"), map(&[("adminStatus", Value::from("zz"))])), bad());
    assert_eq!(node.status(&update("7"), map(&[("colour", Value::from("red"))])), bad());
    assert_eq!(node.status(&update("7"), Value::Null), bad());
    assert_eq!(node.status(&update("7"), map(&[])), bad());
}

#[test]
fn an_operation_that_the_type_does_not_have_is_answered() {
    let delete = [("operation", "DELETE"), ("type", LINK), ("identity", "1")];
    assert_eq!(three_links().status(&delete, Value::Null).0, 501);
}

#[test]
fn a_deleted_entity_is_gone() {
    let address = [("name", Value::from("n")), ("identity", Value::from("4")), ("prefix", Value::from("a"))];
    let mut node = Node::of(Lists::default().with(ADDRESS, &address));
    let delete = [("operation", "DELETE"), ("type", ADDRESS), ("name", "n")];
    assert_eq!(node.status(&delete, Value::Null), (204, "No Content".into()));
    assert_eq!(node.status(&delete, Value::Null), (404, "Not Found".into()));
}

#[test]
fn an_error_is_logged_with_operation_and_type() {
    let mut node = three_links();
    node.ask(&[("operation", "READ"), ("type", LINK), ("identity", "99")], Value::Null);
    let expected = format!("Error performing READ of {LINK}: Not Found");
    assert!(node.backend.logged.contains(&("error".into(), expected)));
}
