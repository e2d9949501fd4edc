//! What routers log of each other: neither too much nor too little.

use amqp::message::{Body, Message, Properties};
use amqp::performative::{Attach, Role};
use amqp::terminus::{Source, Target};
use amqp::{Map, Symbol, Value};

use super::{pass, receiver, sender, two};
use crate::support::CAPACITY;
use crate::support::interior::{Interior, connector_to};
use crate::support::peer::Peer;
use crate::support::wire::Wire;

// skupper-router#1385
#[test]
fn a_router_that_stays_away_is_missed_in_the_log_once() {
    let peer = Peer::new();
    let mut router = Interior::configured("A", &connector_to(peer.port(), 1), &[]);
    let failure = format!("Connection to 127.0.0.1:{} failed", peer.port());

    for _ in 0..4 {
        drop(peer.accept());
    }

    router.wait_for_log(&failure, |_| true);
    assert_eq!(router.count_in_log(&failure), 1, "{}", router.log().join("\n"));
}

// skupper-router#1385
#[test]
fn a_router_that_is_lost_again_and_again_is_logged_each_time_it_was_there() {
    let mut a = Interior::start("A", &[]);
    let b = Interior::start("B", &[(&a, 1)]);
    b.reaches(&["A"]);
    let failure = format!("Connection to 127.0.0.1:{} failed", a.port_for_routers);

    for round in 1..4 {
        a.kill();
        b.wait_for_log_times(&failure, round);
        a.start_again();
        b.reaches(&["A"]);
        // The loss, and perhaps that nobody listens.
        assert!(b.count_in_log(&failure) <= 2 * round, "{}", b.log().join("\n"));
    }
}

/// A message of the routing protocol that says which addresses a router has.
fn address_update(id: &str, address: &str) -> Vec<u8> {
    let text = |text: &str| Value::from(text);
    let opcode = Map(vec![(text("opcode"), text("MAU"))]);
    let to = Some("_topo/0/all/qdrouter.ma".to_owned());
    let properties = Properties { to, ..Properties::default() };
    let body = Map(vec![
        (text("id"), text(id)),
        (text("pv"), Value::Ulong(1)),
        (text("area"), text("0")),
        (text("mobile_seq"), Value::Ulong(1)),
        (text("add"), Value::List(vec![text(&format!("M0{address}"))])),
        (text("del"), Value::List(Vec::new())),
    ]);
    Message { properties, application_properties: opcode, ..Message::new(Body::Value(Value::Map(body))) }.to_bytes()
}

// DISPATCH-2247
#[test]
fn an_update_from_a_router_that_nobody_knows_is_logged_with_its_id_and_changes_nothing() {
    let mut a = Interior::configured("A", "log {\n module: ROUTER_MA\n enable: debug+\n}\n", &[]);
    let b = Interior::start("B", &[(&a, 1)]);
    a.reaches(&["B"]);
    // On a control link of a router that is no neighbour, because it has not greeted.
    let mut stranger = Wire::client(a.port_for_routers);
    let attach = stranger.new_attach(Role::Sender);
    let capabilities = vec![Symbol::from("qd.router")];
    let source = Source { capabilities: capabilities.clone(), ..Source::default() };
    let target = Target { capabilities, ..Target::default() };
    let (to, _) = stranger.attach(Attach { source: Some(source), target: Some(target.into()), ..attach });
    stranger.expect_credit(to, CAPACITY);

    stranger.send_message(to, true, &address_update("GHOST", "nowhere"));

    let line = a.wait_for_log("GHOST", |line| line.contains("ROUTER_MA"));
    assert!(line.contains("(debug)"), "{line}");
    a.knows("nowhere", 0, 0);
    let (mut receiver, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");
    pass(&mut sender, to, &mut receiver, "all is well");
}

// DISPATCH-2247
#[test]
fn routers_in_a_quiet_network_have_nothing_to_complain_about() {
    let [a, b] = two();
    let (mut receiver, _) = receiver(&b, "a", 10);
    let (mut sender, to) = sender(&a, "a");
    pass(&mut sender, to, &mut receiver, "x");

    for router in [&a, &b] {
        let complaints = ["(warning)", "(error)", "(critical)"].map(|level| router.count_in_log(level));
        assert_eq!(complaints, [0; 3], "{}", router.log().join("\n"));
    }
}
