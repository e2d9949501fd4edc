//! The management node: numbers cut off, answers that are none, changes that come too late.

use std::time::Duration;

use amqp::message::{Message, Properties};
use amqp::{DeliveryState, Value};
use management::Attributes;
use management::client::{Key, Request};

use crate::support::CAPACITY;
use crate::support::codec::message;
use crate::support::program::qdmanage;
use crate::support::router::{Router, Setup};
use crate::support::wire::Wire;

// DISPATCH-2003
#[test]
fn the_memory_in_use_is_told_in_full() {
    // Address space that is only reserved counts, and needs no memory.
    let router = Setup { environment: &[("MIMALLOC_ARENA_RESERVE", "5GiB")], ..Setup::default() }.start();

    let told = router.management().only("router").integer("memoryUsage").expect("it is told");

    let status = std::fs::read_to_string(format!("/proc/{}/status", router.process_id())).expect("it is running");
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).expect("the system tells it");
    let size = size.trim().trim_end_matches(" kB").parse::<i64>().expect("a number") * 1024;
    assert!(size > i64::from(u32::MAX), "the test needs a process of more than 4 GiB, not {size}");
    assert!((told - size).abs() < 64 * 1024 * 1024, "told {told}, is {size}");
}

// DISPATCH-2003
#[test]
fn counters_go_on_beyond_32_bits() {
    let router = Router::start("");
    let mut client = router.client();
    client.receiver("a", 10);
    let to = client.sender("a");
    client.expect_credit(to, CAPACITY);
    client.send_message(to, true, &message("x"));
    client.receive();

    let link = router.management().query("router.link").into_iter().next().expect("there are links");

    assert!(matches!(link.get("deliveryCount"), Some(Value::Ulong(_) | Value::Long(_))), "{link:?}");
}

// DISPATCH-2204
#[test]
fn queries_while_the_configuration_changes_are_answered_in_full() {
    let sections: String = (0..200).map(|number| format!("address {{\n prefix: stays/{number}\n}}\n")).collect();
    let router = Router::start(&sections);
    let mut changing = router.management();
    let mut asking = router.management();

    std::thread::scope(|scope| {
        let changes = scope.spawn(move || {
            for number in 0..200 {
                let (name, prefix) = (format!("comes-{number}"), format!("comes/{number}"));
                changing.create("address", &name, &[("prefix", Value::from(prefix.as_str()))]).expect("it is new");
                changing.delete("address", &name).expect("it was created");
            }
        });
        while !changes.is_finished() {
            let found = asking.query("address");
            let staying = found.iter().filter(|row| row.text("prefix").is_some_and(|p| p.starts_with("stays/")));
            assert_eq!(staying.count(), 200);
            assert!(found.len() <= 201, "{found:?}");
        }
    });
}

// DISPATCH-2204
#[test]
fn a_query_that_is_made_while_links_come_and_go_is_consistent() {
    let router = Router::start("");
    let mut client = router.client();
    let mut management = router.management();

    std::thread::scope(|scope| {
        let changes = scope.spawn(move || {
            for number in 0..500 {
                let link = client.receiver(&format!("a/{number}"), 1);
                client.detach(link);
            }
        });
        while !changes.is_finished() {
            for link in management.query("router.link") {
                assert!(link.contains("identity") && link.contains("linkDir"), "{link:?}");
            }
        }
    });
}

// skupper-router#1049
#[test]
fn a_request_to_the_node_of_a_router_that_is_not_there_is_not_answered_by_another() {
    let router = Router::start("");
    let mut client = router.client();
    let to = client.anonymous_sender();
    client.expect_credit(to, CAPACITY);
    let properties = Properties { to: Some("_topo/0/ghost/$management".to_owned()), ..Properties::default() };

    let delivery = client.send_message(to, false, &Message { properties, ..Message::default() }.to_bytes());

    assert_eq!(client.outcome(delivery), Some(DeliveryState::Released));
}

// skupper-router#1049
#[test]
fn a_tool_that_asks_a_router_that_is_not_there_says_so() {
    let router = Router::start("");

    let ended = qdmanage(router.port, &["query", "--type=router", "-r", "ghost", "--timeout", "1"]);

    assert_eq!(ended.status, 1);
    assert!(!ended.text.trim().is_empty() && !ended.text.contains("QDR"), "{}", ended.text);
}

// DISPATCH-1514
#[test]
fn frames_of_connections_that_were_there_before_are_traced_from_the_moment_it_is_switched_on() {
    let mut router = Router::start("");
    let mut client = router.client();
    client.sync();
    assert_eq!(router.count_in_log("@attach"), 0);
    let mut management = router.management();

    management.update("log", "log/PROTOCOL", &[("enable", Value::from("trace+"))]).expect("it can be changed");
    client.sender("traced");

    router.wait_for_log("@attach", |line| line.contains("PROTOCOL (trace) [C1]") && line.contains("traced"));
}

// DISPATCH-1514
#[test]
fn frames_are_traced_until_the_moment_it_is_switched_off() {
    let mut router = Router::start("log {\n module: PROTOCOL\n enable: trace+\n}\n");
    let mut client = router.client();
    client.sender("before");
    router.wait_for_log("@attach", |line| line.contains("before"));
    let mut management = router.management();

    management.update("log", "log/PROTOCOL", &[("enable", Value::from("info+"))]).expect("it can be changed");
    client.sender("after");

    router.wait_for_log("Link attached", |line| line.contains("after"));
    let traced = |line: &String| line.contains("@attach") && line.contains("after");
    assert!(!router.log().iter().any(traced), "{}", router.log().join("\n"));
}

// DISPATCH-1514
#[test]
fn one_connection_alone_can_be_traced() {
    let mut router = Router::start("");
    let (mut traced, mut other) = (router.client(), router.client());
    let mut management = router.management();
    let connection = Key { entity_type: Some("org.apache.qpid.dispatch.connection"), identity: Some("1"), name: None };
    let on = Attributes(vec![("enableProtocolTrace".to_owned(), Value::Bool(true))]);

    management.ask(Request::update(connection, &on)).expect("it can be switched on");
    other.sender("quiet");
    traced.sender("traced");

    router.wait_for_log("@attach", |line| line.contains("traced"));
    assert_eq!(router.log().iter().filter(|line| line.contains("FRAME") && line.contains("quiet")).count(), 0);
}

// skupper-cli#23
#[test]
fn a_peer_that_falls_silent_is_named_with_how_long_it_was_silent() {
    let mut router = Setup { listener: "idleTimeoutSeconds: 1", ..Setup::default() }.start();
    let _silent = Wire::client(router.port);

    let line = router.wait_for_log("local-idle-timeout expired", |_| true);

    assert!(line.contains("[C1] Connection from 127.0.0.1:"), "{line}");
    assert!(line.contains("nothing came from the peer for"), "{line}");
}

// skupper-cli#23
#[test]
fn a_peer_that_spoke_while_the_router_was_held_up_is_not_taken_for_silent() {
    let router = Setup { listener: "idleTimeoutSeconds: 1", ..Setup::default() }.start();
    let mut speaking = Wire::client(router.port);
    speaking.sync();

    router.hold_up(|| {
        for _ in 0..20 {
            speaking.beat();
            std::thread::sleep(Duration::from_millis(100));
        }
    });

    speaking.sync();
    assert_eq!(router.count_in_log("local-idle-timeout expired"), 0);
}
