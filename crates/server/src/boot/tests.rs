//! Whole routers, started from configurations, in this process: seen and changed through the management backend, as
//! the agent sees them.

use super::*;
use crate::control::plane::End;
use management::{Attributes, Backend, EntityType, Failure, RequestContext};
use ports::free_port;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

mod authentication;
mod http;
mod names;
mod network;
mod policy;
#[path = "../../../cli/tests/support/ports.rs"]
mod ports;
mod queues;
mod reload;
mod stalled;
mod stopping;
mod tls;

/// A router in a test. What it logs goes nowhere.
struct Router {
    plane: Plane,
    _config: ConfigFile,
}

/// A configuration file that is removed afterwards.
struct ConfigFile(PathBuf);

impl ConfigFile {
    fn new(text: &str) -> Self {
        let name = format!("waystation-test-{}-{:x}.conf", std::process::id(), identity::random());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        ConfigFile(path)
    }

    fn options(&self) -> Options {
        Options {
            program: "test".to_owned(),
            config: ConfigSource::File(self.0.clone()),
            daemon: None,
            test_hooks: false,
            on_ready: None,
        }
    }
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        self.plane.shards.shutdown();
        if let Some(store) = self.plane.entities.store.get() {
            store.close();
        }
    }
}

const SILENT: &str = "router {\n id: QDR\n}\nlog {\n module: DEFAULT\n enable: none\n}\n";

impl Router {
    fn start(sections: &str) -> Self {
        Self::from_text(&format!("{SILENT}{sections}"))
    }

    fn from_text(text: &str) -> Self {
        Self::resolving(text, Resolver::of_system())
    }

    /// The same with names looked up by whoever is given.
    fn resolving(text: &str, resolver: Resolver) -> Self {
        let config = ConfigFile::new(text);
        Router { plane: start_resolving(&config.options(), resolver).unwrap(), _config: config }
    }

    /// Runs the control plane until the condition holds.
    async fn until(&mut self, mut condition: impl FnMut(&mut Entities) -> bool) {
        while !condition(&mut self.plane.entities) {
            self.plane.step().await.unwrap();
        }
    }

    /// Runs the control plane while something blocks.
    async fn meanwhile<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let thread = std::thread::spawn(work);
        while !thread.is_finished() {
            tokio::select! {
                stepped = self.plane.step() => stepped.unwrap(),
                () = tokio::time::sleep(Duration::from_millis(2)) => {}
            }
        }
        thread.join().unwrap()
    }

    async fn until_listening(&mut self) {
        self.until(|entities| entities.listeners.required_ones_listen()).await;
    }

    /// The attribute of the only instance of a type.
    fn only(&mut self, entity_type: &str, attribute: &str) -> Option<String> {
        let rows = self.plane.entities.list(type_of(entity_type));
        assert_eq!(rows.len(), 1, "one {entity_type} was expected");
        rows[0].text(attribute).map(str::to_owned)
    }

    fn create(&mut self, entity_type: &str, pairs: &[(&str, &str)]) -> Result<Attributes, Failure> {
        let context = RequestContext::default();
        self.plane.entities.create(type_of(entity_type), attributes(pairs), &context)
    }

    fn update(&mut self, entity_type: &str, identity: &str, pairs: &[(&str, &str)]) -> Result<Attributes, Failure> {
        let context = RequestContext::default();
        self.plane.entities.update(type_of(entity_type), identity, attributes(pairs), &context)
    }

    fn delete(&mut self, entity_type: &str, identity: &str) -> Result<(), Failure> {
        self.plane.entities.delete(type_of(entity_type), identity, &RequestContext::default())
    }
}

fn type_of(name: &str) -> &'static EntityType {
    management::schema::entity_type(name).unwrap()
}

fn attributes(pairs: &[(&str, &str)]) -> Attributes {
    Attributes(pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).into())).collect())
}

fn can_connect(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

fn listener(port: u16) -> String {
    format!("listener {{\n host: 127.0.0.1\n port: {port}\n}}\n")
}

#[tokio::test]
async fn a_listener_of_the_file_can_be_connected_to() {
    let port = free_port();
    let mut router = Router::start(&listener(port));
    router.until_listening().await;
    assert!(can_connect(port));
}

#[tokio::test]
async fn a_port_chosen_by_the_system_can_be_asked_for() {
    let mut router = Router::start(&listener(0));
    router.until_listening().await;
    let listening = router.plane.entities.listeners.listening_on();
    assert!(TcpStream::connect(&listening[0]).is_ok(), "{listening:?}");
}

#[tokio::test]
async fn a_listener_of_the_file_that_cannot_listen_ends_the_router() {
    let occupied = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = occupied.local_addr().unwrap().port();
    let mut router = Router::start(&listener(port));
    let end = loop {
        if let Err(end) = router.plane.step().await {
            break end;
        }
    };
    assert!(matches!(end, End::ListenerFailed(failed) if failed.host_port == format!("127.0.0.1:{port}")));
}

#[tokio::test]
async fn a_listener_created_later_listens_until_it_is_deleted() {
    let mut router = Router::start("");
    let port = free_port();
    let pairs = [("host", "127.0.0.1"), ("port", &port.to_string()), ("identity", "listener/l"), ("name", "l")];
    router.create("listener", &pairs).unwrap();
    router.until(|_| can_connect(port)).await;

    router.delete("listener", "listener/l").unwrap();

    router.until(|_| !can_connect(port)).await;
    assert!(router.plane.entities.list(type_of("listener")).is_empty());
}

#[tokio::test]
async fn a_listener_created_later_that_cannot_listen_does_not_end_the_router() {
    let occupied = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = occupied.local_addr().unwrap().port().to_string();
    let mut router = Router::start("");
    router.create("listener", &[("host", "127.0.0.1"), ("port", &port), ("identity", "listener/l")]).unwrap();
    let failed = |entities: &mut Entities| {
        entities.listeners.iter().all(|listener| listener.stand == crate::control::listener::Stand::Failed)
    };
    router.until(failed).await;
}

#[tokio::test]
async fn a_connector_to_a_router_succeeds_and_says_so() {
    let port = free_port();
    let connector = format!("connector {{\n port: {port}\n}}\n");
    let mut router = Router::start(&(listener(port) + &connector));
    router.until(|entities| entities.connectors.iter().all(|connector| connector.status() == "SUCCESS")).await;
    let message = router.only("connector", "connectionMsg").unwrap();
    assert!(message.contains("Connection Opened: dir=out host=127.0.0.1"), "{message}");
}

#[tokio::test]
async fn what_is_due_has_its_turn_however_many_events_there_are() {
    let port = free_port();
    let mut router = Router::start(&format!("connector {{\n port: {port}\n}}\n"));
    let (floods, events) = mpsc::unbounded_channel();
    router.plane.events = events;
    let flood = |entities: &mut Entities| {
        let listener = crate::shard::ListenerId(u64::MAX);
        floods.send(ShardEvent::ListenerFailed { listener, message: String::new() }).unwrap();
        entities.connectors.iter().all(|connector| connector.due().is_none())
    };
    router.until(flood).await;
}

#[tokio::test]
async fn a_connector_to_nobody_says_why_it_fails() {
    let port = free_port();
    let mut router = Router::start(&format!("connector {{\n port: {port}\n}}\n"));
    router.until(|entities| entities.connectors.iter().all(|connector| !connector.message().is_empty())).await;
    let message = router.only("connector", "connectionMsg").unwrap();
    assert!(
        message.contains(&format!("Connection to 127.0.0.1:{port} failed: proton:io Connection refused")),
        "{message}"
    );
    assert_eq!(router.only("connector", "connectionStatus").as_deref(), Some("CONNECTING"));
}

#[tokio::test]
async fn deleting_a_connection_drops_it_and_the_connector_makes_a_new_one() {
    let port = free_port();
    let connector = format!("connector {{\n port: {port}\n}}\n");
    let mut router = Router::start(&(listener(port) + &connector));
    let opened = |entities: &mut Entities| {
        entities
            .connectors
            .iter()
            .find_map(|connector| (connector.status() == "SUCCESS").then(|| connector.connection()).flatten())
    };
    let mut first = None;
    router
        .until(|entities| {
            first = opened(entities);
            first.is_some()
        })
        .await;

    let identity = first.unwrap().to_string();
    let deleted = router.update("connection", &identity, &[("adminStatus", "deleted")]).unwrap();

    assert_eq!(deleted.text("operStatus"), Some("closing"));
    router.until(|entities| opened(entities).is_some_and(|connection| Some(connection) != first)).await;
}

#[tokio::test]
async fn a_password_of_a_connector_is_not_shown() {
    let port = free_port();
    let connector = format!("connector {{\n port: {port}\n saslUsername: joe\n saslPassword: env:PATH\n}}\n");
    let mut router = Router::start(&connector);
    assert_eq!(router.only("connector", "saslPassword").as_deref(), Some("*"));
}

#[tokio::test]
async fn an_address_of_the_file_is_configured() {
    let mut router = Router::start("address {\n prefix: news\n distribution: multicast\n}\n");
    assert_eq!(router.only("router.config.address", "distribution").as_deref(), Some("multicast"));
}

#[tokio::test]
async fn an_address_that_is_configured_already_is_refused() {
    let mut router = Router::start("address {\n prefix: news\n}\n");
    let refused = router.create("router.config.address", &[("prefix", "news")]).unwrap_err();
    assert_eq!((refused.status, refused.description.as_str()), (400, "Already exists"));
}

#[tokio::test]
async fn a_role_that_the_mode_does_not_allow_is_refused_and_leaves_no_trace() {
    let mut router = Router::start("");
    let refused = router.create("listener", &[("role", "inter-router"), ("port", "0"), ("identity", "listener/l")]);
    assert_eq!(refused.unwrap_err().status, 400);
    assert!(router.plane.entities.list(type_of("listener")).is_empty());
}

#[tokio::test]
async fn a_log_update_that_fails_changes_nothing() {
    let mut router = Router::start("");
    let refused = router.update("log", "log/AUTHSERVICE", &[("enable", "error"), ("outputFile", "/nonexistent/x")]);
    assert_eq!(refused.unwrap_err().description, "CError: Configuration: Failed to open log file '/nonexistent/x'");
    let rows = router.plane.entities.list(type_of("log"));
    let row = rows.iter().find(|row| row.text("identity") == Some("log/AUTHSERVICE")).unwrap();
    assert_eq!((row.text("enable"), row.text("outputFile")), (None, None));
}

#[tokio::test]
async fn the_router_tells_its_version_and_how_much_memory_it_has_taken() {
    let mut router = Router::start("");
    let rows = router.plane.entities.list(type_of("router"));
    assert_eq!(rows[0].text("version"), Some(DISPATCH_VERSION));
    assert!(rows[0].integer("memoryUsage").is_some_and(|bytes| bytes > 0));
}

#[tokio::test]
async fn every_kind_of_object_that_tools_look_for_is_accounted_for() {
    let mut router = Router::start("");
    let rows = router.plane.entities.list(type_of("allocator"));
    for name in ["qdr_address_t", "qd_message_t", "qd_buffer_t", "qdr_delivery_t"] {
        let row = rows.iter().find(|row| row.text("typeName") == Some(name)).unwrap();
        assert!(row.integer("totalAllocFromHeap").is_some(), "{name}");
    }
}

#[test]
fn a_file_that_is_not_there_is_reported_in_the_old_words() {
    let config = ConfigFile(PathBuf::from("/nonexistent/qdrouterd.conf"));
    let failure = start(&config.options()).err().unwrap();
    assert_eq!(failure.to_string(), "Not found: Configuration file could not be opened");
}

#[test]
fn a_log_file_that_cannot_be_opened_keeps_the_router_from_starting() {
    let config = ConfigFile::new("log {\n module: AUTHSERVICE\n outputFile: /nonexistent/x\n}\n");
    let failure = start(&config.options()).err().unwrap();
    assert_eq!(failure.to_string(), "Python: CError: Configuration: Failed to open log file '/nonexistent/x'");
}
