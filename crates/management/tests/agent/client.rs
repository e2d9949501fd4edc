//! The client and the agent understand each other.

use super::node::{Lists, Node};
use amqp::Value;
use management::Attributes;
use management::client::{Key, Pages, Refusal, Request, read_reply};

fn call(node: &mut Node, request: Request) -> Result<Value, Refusal> {
    let (to, reply) = node.send(&request.into_message("me", Value::Ulong(1))).expect("there should be a reply");
    assert_eq!((to.as_str(), &reply.properties.correlation_id), ("me", &Some(Value::Ulong(1))));
    read_reply(reply)
}

fn dummy(name: &str) -> Key<'_> {
    Key { entity_type: Some("org.apache.qpid.dispatch.dummy"), name: Some(name), identity: None }
}

#[test]
fn an_entity_lives_from_creation_to_deletion() {
    let mut node = Node::default();
    let attributes = Attributes::new().with("arg1", Value::from("START"));
    let created = call(&mut node, Request::create("org.apache.qpid.dispatch.dummy", Some("d"), &attributes)).unwrap();
    assert_eq!(created.as_map().and_then(|map| map.get("identity")), Some(&Value::from("dummy/0")));
    let changes = Attributes::new().with("num1", Value::from(42i64));
    call(&mut node, Request::update(dummy("d"), &changes)).unwrap();
    let read = call(&mut node, Request::read(dummy("d"))).unwrap();
    assert_eq!(read.as_map().and_then(|map| map.get("num1")), Some(&Value::Int(42)));
    call(&mut node, Request::delete(dummy("d"))).unwrap();
    assert_eq!(call(&mut node, Request::read(dummy("d"))).unwrap_err().class.name(), "NotFoundStatus");
}

#[test]
fn more_entities_than_a_page_holds_are_all_found() {
    let link = |n: usize| [("identity", Value::String(n.to_string()))];
    let mut node = Node::of((0..1100).fold(Lists::default(), |lists, n| lists.with("router.link", &link(n))));
    let mut pages = Pages::new(Some("org.apache.qpid.dispatch.router.link"), &["identity"], 0);
    while let Some(request) = pages.next() {
        assert!(pages.take(call(&mut node, request).unwrap()));
    }
    let entities = pages.into_table().into_entities();
    assert_eq!((entities.len(), entities[1099].text("identity")), (1100, Some("1099")));
}

#[test]
fn the_node_answers_for_itself() {
    let log = call(&mut Node::default(), Request::node("GET-LOG").with("limit", 2i64)).unwrap();
    assert_eq!(log.as_list().map(<[Value]>::len), Some(2));
}
