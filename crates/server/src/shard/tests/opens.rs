//! What the router says of itself, and the connections it makes.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use amqp::{ErrorCondition, Map, Symbol, Value};
use amqp_endpoint::{Connection, ConnectionConfig, Event, Input, Side};

use super::client::Happened;
use super::router::{PATIENCE, Router};
use crate::shard::{ConnectionSettings, ConnectorAttempt, ConnectorId, FailoverServer, Role, ShardEvent};

fn symbol(text: &str) -> Value {
    Value::Symbol(Symbol::from(text))
}

fn open_with(settings: ConnectionSettings) -> Arc<amqp::performative::Open> {
    let router = Router::with(1, settings);
    let client = router.client();
    Arc::clone(client.endpoint.remote_open().expect("the client waits for it"))
}

#[test]
fn the_open_says_what_the_old_router_says() {
    let open = open_with(ConnectionSettings::default());
    assert_eq!(open.container_id, "QDR");
    assert_eq!(open.hostname, None);
    assert_eq!((open.max_frame_size, open.channel_max, open.idle_time_out), (16384, 32767, Some(8000)));
    let capabilities = ["ANONYMOUS-RELAY", "qd.streaming-links"].map(Symbol::from);
    assert_eq!(open.offered_capabilities, capabilities);
    assert_eq!(open.desired_capabilities, capabilities);
    let expected = Map(vec![
        (symbol("product"), Value::String("qpid-dispatch-router".to_owned())),
        (symbol("version"), Value::String("1.19.0".to_owned())),
        (symbol("qd.conn-id"), Value::Int(1)),
    ]);
    assert_eq!(open.properties, Some(expected));
}

#[test]
fn routers_offer_each_other_to_share_what_they_know_and_nobody_else() {
    let offers = |role| {
        let open = open_with(ConnectionSettings { role, ..ConnectionSettings::default() });
        open.offered_capabilities.iter().any(|offered| offered.as_str() == "waystation.sync")
    };
    assert!(offers(Role::InterRouter) && !offers(Role::Normal) && !offers(Role::Edge));
}

#[test]
fn the_open_follows_the_settings() {
    let settings = ConnectionSettings {
        max_frame_size: 100,
        max_sessions: 10,
        idle_timeout: Duration::ZERO,
        open_properties: Map(vec![(symbol("mine"), Value::Bool(true))]),
        failover: vec![FailoverServer { scheme: None, host: "other".to_owned(), port: "5672".to_owned() }],
        ..ConnectionSettings::default()
    };
    let open = open_with(settings);
    assert_eq!((open.max_frame_size, open.channel_max, open.idle_time_out), (512, 9, None));
    let server = Map(vec![
        (symbol("network-host"), Value::String("other".to_owned())),
        (symbol("port"), Value::String("5672".to_owned())),
    ]);
    let expected =
        [(symbol("failover-server-list"), Value::List(vec![Value::Map(server)])), (symbol("mine"), Value::Bool(true))];
    assert_eq!(open.properties.as_ref().expect("there are some").0[3..], expected);
}

fn attempt(addresses: Vec<std::net::SocketAddr>) -> ConnectorAttempt {
    ConnectorAttempt {
        id: ConnectorId(7),
        host_port: "localhost:1".to_owned(),
        hostname: "localhost".to_owned(),
        addresses,
        settings: Arc::new(ConnectionSettings::default()),
        tls: None,
        sasl: None,
        failures: Arc::default(),
    }
}

fn next_event(router: &mut Router) -> ShardEvent {
    let begun = std::time::Instant::now();
    loop {
        if let Ok(event) = router.events.try_recv() {
            return event;
        }
        assert!(begun.elapsed() < PATIENCE, "no event came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// An address that nobody listens on.
fn nobody() -> std::net::SocketAddr {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("some port is free");
    socket.local_addr().expect("it is bound")
}

#[test]
fn a_connector_that_finds_nobody_says_why() {
    let mut router = Router::start();
    let id = router.shards.connect(attempt(vec![nobody()]));
    let event = next_event(&mut router);
    let ShardEvent::ConnectorFailed { connector, connection_id, message } = event else { panic!("not {event:?}") };
    assert_eq!((connector, connection_id), (ConnectorId(7), id));
    let expected =
        format!("[C{id}] Connection to localhost:1 failed: proton:io Connection refused - disconnected localhost:1");
    assert_eq!(message, expected);
}

#[test]
fn a_connector_tries_all_addresses_and_tells_when_it_is_open_and_when_it_is_lost() {
    let peer = Router::start();
    let mut router = Router::start();
    let id = router.shards.connect(attempt(vec![nobody(), peer.address]));
    let event = next_event(&mut router);
    let ShardEvent::ConnectorOpened { open, connection_id, message, .. } = event else { panic!("not {event:?}") };
    assert_eq!((open.container_id.as_str(), connection_id), ("QDR", id));
    let expected = format!(
        "[C{id}] Connection Opened: dir=out host=localhost:1 vhost= encrypted=no auth=no user=(null) container_id=QDR"
    );
    assert_eq!(message, expected);
    drop(peer);
    let event = next_event(&mut router);
    assert!(matches!(event, ShardEvent::ConnectorLost { connection_id, .. } if connection_id == id), "not {event:?}");
}

/// Opens a connection, and closes it with this error.
fn close_with(listener: std::net::TcpListener, error: ErrorCondition) {
    let (mut stream, _) = listener.accept().expect("the router connects");
    let config = ConnectionConfig { container_id: "sends on".to_owned(), ..ConnectionConfig::default() };
    let side = Side::Acceptor { sasl: None, sasl_required: false };
    let mut endpoint = Connection::new(config, side, Duration::ZERO);
    let mut bytes = [0; 4096];
    loop {
        let count = stream.read(&mut bytes).expect("the router speaks");
        let mut input = Input::new(&bytes[..count]);
        while let Some(event) = endpoint.poll(Duration::ZERO, &mut input) {
            if matches!(event, Event::Opened(_)) {
                endpoint.open(None);
                endpoint.close(Some(error.clone()));
            }
        }
        endpoint.flush(Duration::ZERO);
        stream.write_all(endpoint.output()).expect("the router reads");
        let written = endpoint.output().len();
        endpoint.consume_output(written);
        if count == 0 {
            return;
        }
    }
}

#[test]
fn a_connector_that_is_sent_elsewhere_says_where() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("some port is free");
    let address = listener.local_addr().expect("it is bound");
    let info = Map(vec![(symbol("network-host"), Value::from("elsewhere"))]);
    let error = ErrorCondition { info: Some(info.clone()), ..ErrorCondition::new("amqp:connection:redirect", "go on") };
    let peer = std::thread::spawn(move || close_with(listener, error));
    let mut router = Router::start();
    router.shards.connect(attempt(vec![address]));
    assert!(matches!(next_event(&mut router), ShardEvent::ConnectorOpened { .. }));
    let event = next_event(&mut router);
    assert!(matches!(&event, ShardEvent::ConnectorRedirected { info: told, .. } if *told == info), "not {event:?}");
    assert!(matches!(next_event(&mut router), ShardEvent::ConnectorLost { .. }));
    drop(router);
    peer.join().expect("the peer has read to the end");
}

#[test]
fn a_listener_that_is_closed_keeps_its_connections() {
    let router = Router::start();
    let mut client = router.client();
    router.shards.stop_listening(crate::shard::ListenerId(0));
    let begun = std::time::Instant::now();
    while std::net::TcpStream::connect(router.address).is_ok() {
        assert!(begun.elapsed() < PATIENCE, "it still listens");
        std::thread::sleep(Duration::from_millis(2));
    }
    client.settle_down();
}

#[test]
fn router_annotations_are_sent_where_they_are_not_stripped() {
    let router = Router::start();
    let open = router.listen(ConnectionSettings {
        strip_annotations: crate::shard::StripAnnotations::No,
        ..ConnectionSettings::default()
    });
    let mut receiver = super::client::Client::connect(open);
    receiver.receiver("a", 1);
    let mut sender = router.client();
    let link = sender.sender(Some("a"));
    sender.send(link, true, &super::client::message(1));
    let received = amqp::message::Message::decode(&receiver.receive().bytes).expect("it is a message");
    let trace = Value::List(vec![Value::String("0/QDR".to_owned())]);
    let expected = Map(vec![
        (symbol("x-opt-qd.to"), Value::String("a".to_owned())),
        (symbol("x-opt-qd.ingress"), Value::String("0/QDR".to_owned())),
        (symbol("x-opt-qd.trace"), trace),
    ]);
    assert_eq!(received.message_annotations, expected);
}

#[test]
fn a_closed_connection_is_answered_with_a_close() {
    let router = Router::start();
    let mut client = router.client();
    client.endpoint.close(None);
    client.expect("a close", |happened| matches!(happened, Happened::Closed(None)));
}
