//! `qdstat` and `qdmanage`: numbers printed as the language's own, and routers that know less than the tool.

use amqp::message::{Body, Message};
use amqp::{Map, Value};

use crate::support::peer::Peer;
use crate::support::program::{Ended, qdmanage, qdstat};
use crate::support::router::Router;

/// Every view that `qdstat` has of one router.
const VIEWS: [&str; 13] = [
    "-g",
    "-c",
    "-l",
    "-n",
    "-e",
    "-a",
    "-m",
    "--autolinks",
    "--linkroutes",
    "--vhosts",
    "--vhostgroups",
    "--vhoststats",
    "-p",
];

// DISPATCH-2104, DISPATCH-2110
#[test]
fn numbers_are_plain_in_every_view() {
    let router = Router::start("");
    let mut client = router.client();
    client.receiver("a", 1);
    for view in VIEWS {
        for format in [&[view][..], &[view, "-v"], &[view, "--csv"]] {
            let Ended { status, text } = qdstat(router.port, format);
            assert_eq!(status, 0, "{view}: {text}");
            for trace in ["int32(", "int64(", "ulong(", "uint(", "Ulong", "Long("] {
                assert!(!text.contains(trace), "{view}: {text}");
            }
        }
    }
}

// DISPATCH-2104
#[test]
fn an_entity_is_printed_with_plain_numbers() {
    let router = Router::start("");

    let Ended { status, text } = qdmanage(router.port, &["query", "--type=router"]);

    assert_eq!(status, 0);
    assert!(text.contains("\"workerThreads\": 4"), "{text}");
}

// DISPATCH-1494, DISPATCH-1505
#[test]
fn vhosts_their_groups_and_their_statistics_can_be_shown() {
    let groups = "groups: {\nmen: {\nusers: joe\nmaxSessions: 7\n}\n}\n";
    let router = Router::start(&format!("vhost {{\nhostname: example.com\n{groups}}}\n"));
    for (view, title, content) in [
        ("--vhosts", "Vhosts", Some("example.com")),
        ("--vhostgroups", "Vhost Groups", Some("men")),
        ("--vhoststats", "Vhost Stats", None),
    ] {
        let Ended { status, text } = qdstat(router.port, &[view]);
        assert_eq!(status, 0, "{text}");
        assert!(text.contains(title), "{view}: {text}");
        assert!(content.is_none_or(|content| text.contains(content)), "{view}: {text}");
    }
}

/// What a router of another time answers to a request: it knows routers and connections only, and few attributes of
/// these.
fn old_answer(request: &Message) -> Message {
    let asked = |key: &str| request.application_properties.get(key).and_then(Value::as_text).unwrap_or_default();
    let entity = asked("entityType").rsplit('.').next().unwrap_or_default();
    let rows: Option<(&[&str], Vec<Value>)> = match (asked("operation"), entity) {
        ("QUERY", "router") => {
            Some((&["id", "mode", "linkCount"], vec!["OLD".into(), "standalone".into(), 7_i64.into()]))
        }
        ("QUERY", "connection") => {
            Some((&["container", "host", "role", "dir"], ["c", "h", "normal", "in"].map(Value::from).to_vec()))
        }
        _ => None,
    };
    let mut reply = Message::new(Body::Empty);
    reply.properties.to.clone_from(&request.properties.reply_to);
    reply.properties.correlation_id.clone_from(&request.properties.correlation_id);
    let (status, description) = match &rows {
        Some(_) => (200, "OK".to_owned()),
        None => (400, format!("No such entity type '{}'", asked("entityType"))),
    };
    reply.application_properties.insert("statusCode", status);
    reply.application_properties.insert("statusDescription", description.as_str());
    if let Some((names, values)) = rows {
        let names = Value::List(names.iter().copied().map(Value::from).collect());
        let table = [("attributeNames", names), ("results", Value::List(vec![Value::List(values)]))];
        reply.body = Body::Value(Value::Map(table.into_iter().collect::<Map>()));
    }
    reply
}

/// How `qdstat` ends that asks such a router for a view.
fn qdstat_of_old_router(view: &str) -> Ended {
    let peer = Peer::new();
    let port = peer.port();
    std::thread::scope(|scope| {
        scope.spawn(|| peer.accept_and_open(None).serve("amqp:/_topo/0/OLD/temp.1", old_answer));
        qdstat(port, &[view])
    })
}

// DISPATCH-1718, DISPATCH-1958
#[test]
fn a_router_that_lacks_attributes_is_shown_with_those_it_has() {
    let Ended { status, text } = qdstat_of_old_router("-g");
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("OLD") && text.contains("standalone"), "{text}");

    let Ended { status, text } = qdstat_of_old_router("-c");
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("normal"), "{text}");
}

// DISPATCH-1718, DISPATCH-1958
#[test]
fn a_router_that_does_not_know_a_type_is_shown_without_it() {
    let Ended { status, text } = qdstat_of_old_router("--vhostgroups");
    assert_eq!(status, 0, "{text}");
}
