//! Connections that the router makes.

use amqp::frame::SASL_HEADER;
use amqp::{Map, Symbol, Value};

use crate::support::peer::Peer;
use crate::support::router::{Router, Setup};
use crate::support::wait_for;

fn connector(port: u16, more: &str) -> String {
    format!("connector {{\n name: out\n host: 127.0.0.1\n port: {port}\n{more}\n}}\n")
}

/// The property of an open that names other servers.
fn failover(ports: &[u16]) -> Option<Map> {
    let symbol = |text: &str| Value::Symbol(Symbol::from(text));
    let server = |port: &u16| {
        let (host, port) = (Value::from("127.0.0.1"), Value::from(port.to_string().as_str()));
        Value::Map(Map(vec![(symbol("network-host"), host), (symbol("port"), port)]))
    };
    Some(Map(vec![(symbol("failover-server-list"), Value::List(ports.iter().map(server).collect()))]))
}

/// Waits until the connector knows just these servers, in this order.
fn expect_servers(router: &Router, ports: &[u16]) {
    let urls: Vec<_> = ports.iter().map(|port| format!("amqp://127.0.0.1:{port}")).collect();
    let urls = urls.join(", ");
    let mut management = router.management();
    wait_for("the connector's servers", || {
        let connector = management.only("connector");
        (connector.text("failoverUrls") == Some(&urls)).then_some(())
    });
}

// DISPATCH-1008
#[test]
fn a_connector_learns_other_servers_from_its_peer_and_turns_to_them() {
    let (first, second) = (Peer::new(), Peer::new());
    let router = Router::start(&connector(first.port(), ""));
    let accepted = first.accept_and_open(failover(&[second.port()]));
    expect_servers(&router, &[first.port(), second.port()]);

    drop((accepted, first));

    second.accept();
}

// DISPATCH-1008
#[test]
fn a_new_list_of_servers_replaces_the_former_one() {
    let first = Peer::new();
    let router = Router::start(&connector(first.port(), ""));
    let accepted = first.accept_and_open(failover(&[1, 2]));
    expect_servers(&router, &[first.port(), 1, 2]);
    drop(accepted);

    let _accepted = first.accept_and_open(failover(&[3]));

    expect_servers(&router, &[first.port(), 3]);
}

// DISPATCH-1008
#[test]
fn an_empty_list_of_servers_leaves_the_configured_one() {
    let first = Peer::new();
    let router = Router::start(&connector(first.port(), ""));
    let accepted = first.accept_and_open(failover(&[1, 2]));
    expect_servers(&router, &[first.port(), 1, 2]);
    drop(accepted);

    let _accepted = first.accept_and_open(failover(&[]));

    expect_servers(&router, &[first.port()]);
}

// DISPATCH-1008
#[test]
fn a_peer_that_names_no_servers_leaves_the_list_as_it_is() {
    let first = Peer::new();
    let router = Router::start(&connector(first.port(), ""));
    let accepted = first.accept_and_open(failover(&[1, 2]));
    expect_servers(&router, &[first.port(), 1, 2]);
    drop(accepted);

    let _accepted = first.accept_and_open(None);

    let mut management = router.management();
    wait_for("the connection", || {
        (management.only("connector").text("connectionStatus") == Some("SUCCESS")).then_some(())
    });
    expect_servers(&router, &[first.port(), 1, 2]);
}

/// What a connector with this `saslPassword` says of itself to its peer.
fn password_said(password: &str, environment: &[(&str, &str)]) -> Vec<u8> {
    let peer = Peer::new();
    let sections = connector(peer.port(), &format!("saslUsername: joe\nsaslPassword: {password}"));
    let _router = Setup { sections: &sections, environment, ..Setup::default() }.start();
    let (mechanism, response) = peer.accept_and_open(None).sasl.expect("it authenticates");
    assert_eq!(mechanism, "PLAIN");
    response
}

// DISPATCH-1440, DISPATCH-1434
#[test]
fn a_password_may_be_in_the_environment() {
    assert_eq!(
        password_said("env:WAYSTATION_TEST_PASSWORD", &[("WAYSTATION_TEST_PASSWORD", "secret")]),
        b"\0joe\0secret"
    );
}

// DISPATCH-1440, DISPATCH-1445
#[test]
fn a_password_may_be_in_a_file() {
    let path = format!("{}/{}.password", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    std::fs::write(&path, "secret\n").expect("the folder for tests can be written to");

    let said = password_said(&format!("file:{path}"), &[]);

    std::fs::remove_file(&path).expect("it was written");
    assert_eq!(said, b"\0joe\0secret");
}

// DISPATCH-1440
#[test]
fn a_password_in_the_configuration_is_marked_as_one() {
    assert_eq!(password_said("pass:env:secret", &[]), b"\0joe\0env:secret");
}

// DISPATCH-1440
#[test]
fn a_password_is_not_shown_by_management() {
    let peer = Peer::new();
    let sections = connector(peer.port(), "saslUsername: joe\nsaslPassword: pass:secret");
    let router = Router::start(&sections);

    let connector = router.management().only("connector");

    assert!(!format!("{connector:?}").contains("secret"), "{connector:?}");
}

// skupper-router#1385
#[test]
fn a_failure_that_repeats_itself_is_logged_once() {
    let peer = Peer::new();
    let router = Router::start(&connector(peer.port(), ""));
    let failure = format!("Connection to 127.0.0.1:{} failed", peer.port());

    for _ in 0..3 {
        let mut refused = peer.accept();
        assert_eq!(refused.header(), SASL_HEADER);
    }

    // By the third attempt the first two have failed, and have been logged if they are to be.
    assert_eq!(router.count_in_log(&failure), 1, "{}", router.log().join("\n"));
}

// skupper-router#1385
#[test]
fn a_failure_is_logged_again_after_a_connection_was_made() {
    let peer = Peer::new();
    let router = Router::start(&connector(peer.port(), ""));
    let failure = format!("Connection to 127.0.0.1:{} failed", peer.port());
    drop(peer.accept());
    wait_for("the failure in the log", || (router.count_in_log(&failure) == 1).then_some(()));

    drop(peer.accept_and_open(None));

    wait_for("the failure in the log again", || (router.count_in_log(&failure) == 2).then_some(()));
}
