//! Management of routers through others.

use amqp::Value;
use management::client::{Request, Table};

use crate::support::{Router, ask_through, printed};

const QDSTAT: &str = env!("CARGO_BIN_EXE_qdstat");
const QDMANAGE: &str = env!("CARGO_BIN_EXE_qdmanage");
const WAYSTATION: &str = env!("CARGO_BIN_EXE_waystation");

/// Three routers in a line, of which the second connection costs 3.
fn three() -> [Router; 3] {
    let a = Router::start("A", &[]);
    let b = Router::start("B", &[(&a, 1)]);
    let c = Router::start("C", &[(&b, 3)]);
    a.reaches(&["B", "C"]);
    c.reaches(&["A", "B"]);
    [a, b, c]
}

/// The names of routers in a table of `qdstat -n`, with how they are reached.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().skip_while(|line| !line.starts_with("  ===")).skip(1);
    rows.take_while(|line| line.starts_with("  ")).map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn any_router_can_be_asked_through_any_other() {
    let [a, _b, c] = three();
    let query = || Request::query(Some("org.apache.qpid.dispatch.router"), &["id"]);
    for (through, id) in [(&a, "C"), (&c, "A"), (&a, "A")] {
        let answer = ask_through(through, &format!("_topo/0/{id}/$management"), query()).expect("it answers");
        let table = Table::from_body(answer).expect("it is a table").into_entities();
        assert_eq!(table[0].text("id"), Some(id));
    }
}

#[test]
fn the_management_nodes_of_all_routers_are_known_to_each() {
    let [_a, b, _c] = three();
    let answer = ask_through(&b, "$management", Request::node("GET-MGMT-NODES")).expect("it answers");
    let mut nodes: Vec<_> = answer.as_sequence().unwrap_or_default().iter().filter_map(Value::as_text).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, ["A", "B", "C"].map(|id| format!("amqp:/_topo/0/{id}/$management")));
}

#[test]
fn qdstat_and_qdmanage_show_the_network_and_each_router_of_it() {
    let [a, _b, _c] = three();
    let bus = format!("-b 127.0.0.1:{}", a.clients);
    assert_eq!(
        rows(&printed(QDSTAT, &format!("{bus} -n"))),
        [vec!["A", "(self)", "-"], vec!["B", "-", "0"], vec!["C", "B", "-"]]
    );
    assert!(printed(QDSTAT, &format!("{bus} -n")).contains("\nLast Topology Change: "));
    let general = printed(QDSTAT, &format!("{bus} -g -r C"));
    let row = |label: &str, value: &str| general.contains(&format!("  {label:33}{value}\n"));
    assert!(row("Router Id", "C") && row("Mode", "interior") && row("Nodes", "2") && row("Area", "0"), "{general}");
    let all = printed(QDSTAT, &format!("{bus} --all-routers --links"));
    assert_eq!((all.matches("inter-router").count(), all.matches("router-control").count()), (80, 8), "{all}");
    assert!(["A", "B", "C"].iter().all(|id| all.contains(&format!("Router  {id}\n"))), "{all}");
    let nodes = printed(QDMANAGE, &format!("{bus} -r B query --type node"));
    assert_eq!(nodes.matches("\"nextHop\"").count(), 1, "{nodes}");
    assert!(nodes.contains("\"cost\": 3"), "{nodes}");
}

#[test]
fn the_whole_network_is_in_one_picture() {
    let [a, _b, _c] = three();
    let url = format!("--url 127.0.0.1:{}", a.clients);
    let text = printed(WAYSTATION, &format!("stat --network {url}"));
    for part in ["Network of 3 routers, seen from A", "  A --- B  1\n", "  B --- C  3\n", "4 via B"] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    let dot = printed(WAYSTATION, &format!("stat --network --dot {url}"));
    assert!(dot.contains("\"B\" -- \"C\" [label=\"3\"];"), "{dot}");
}

#[test]
fn a_connection_of_a_router_that_is_a_neighbour_cannot_be_deleted() {
    let [a, _b, _c] = three();
    let connections = a.entities("connection");
    let peer = connections.iter().find(|it| it.text("role") == Some("inter-router")).expect("there is one");
    assert_eq!((peer.text("container"), peer.text("dir")), (Some("B"), Some("in")));
    let identity = peer.text("identity").expect("it has one");
    let line = format!("-b 127.0.0.1:{} update --type connection --identity {identity} adminStatus=deleted", a.clients);
    let refused = crate::support::run(QDMANAGE, &line);
    let text = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(text.contains("ForbiddenStatus: You are not allowed to perform this operation."), "{text}");
}
