//! Management while the disk of the store does not answer.

use super::queues::Directory;
use super::*;
use crate::control::errands::Errands;
use crate::entities::StoreSlot;
use crate::shard::tests::client::{Client, encoded};
use crate::store::tests::stalling::StallingDisk;
use crate::store::{StoreHandle, StoreSettings};
use amqp::message::{Body, Message};
use amqp::{DeliveryState, Map, Value};
use amqp_endpoint::LinkId;

/// Somebody who manages the router over a connection of his own.
struct Manager {
    client: Client,
    requests: LinkId,
    replies: String,
}

impl Manager {
    fn connect(port: u16, name: &str) -> Self {
        let mut client = Client::connect(([127, 0, 0, 1], port).into());
        let replies = format!("replies.{name}");
        client.receiver(&replies, 100);
        let requests = client.sender(Some("$management"));
        Self { client, requests, replies }
    }

    fn request(&mut self, operation: &str, entity_type: &str, name: Option<&str>, body: &[(&str, &str)]) {
        let mut message = Message::default();
        message.properties.reply_to = Some(self.replies.clone());
        let (key, to) =
            if operation == "QUERY" { ("entityType", "org.amqp.management") } else { ("type", entity_type) };
        let mut properties: Map = [("operation", operation), ("type", to), (key, entity_type)].into_iter().collect();
        if let Some(name) = name {
            properties.insert("name", name);
        }
        message.application_properties = properties;
        message.body = Body::Value(Value::Map(body.iter().copied().collect()));
        self.client.send(self.requests, true, &encoded(&message));
    }

    fn reload(&mut self) {
        self.request("RELOAD", "org.amqp.management", None, &[]);
    }

    /// The next answer: its status, and its description.
    fn answer(&mut self) -> (i64, String) {
        self.answer_with_body().0
    }

    /// The same, and what else it says.
    fn answer_with_body(&mut self) -> ((i64, String), Body) {
        let received = self.client.receive();
        self.client.settle(&received, DeliveryState::Accepted);
        let reply = Message::decode(&received.bytes).unwrap();
        let of = |name: &str| reply.application_properties.get(name).cloned().unwrap();
        let description = of("statusDescription").as_text().unwrap_or_default().to_owned();
        ((of("statusCode").as_i64().unwrap(), description), reply.body)
    }
}

/// A configuration file that is written anew while the router runs.
#[derive(Clone)]
struct File {
    path: std::path::PathBuf,
    begins: String,
}

impl File {
    /// That of a router, which has read in it of its store.
    fn of(router: &mut Router, directory: &Directory, port: u16) -> Self {
        let store = format!("store {{\n path: {}\n}}\n", directory.0.display());
        let file = Self { path: router._config.0.clone(), begins: format!("{SILENT}{store}{}", listener(port)) };
        file.says("");
        // The store is open already, which is what this says of it.
        let entities = &mut router.plane.entities;
        let told = entities.read_again().unwrap().make(&entities.shards, &entities.store);
        assert!(told.len() == 1 && told[0].contains("store"), "{told:?}");
        file
    }

    fn says(&self, sections: &str) {
        std::fs::write(&self.path, format!("{}{sections}", self.begins)).unwrap();
    }
}

/// A router with a store on a disk that stalls when told to, a queue, and the port it listens on.
async fn start(directory: &Directory) -> (Router, StallingDisk, u16) {
    let port = free_port();
    let mut router = Router::start(&listener(port));
    router.until_listening().await;
    let disk = StallingDisk::default();
    let opened =
        StoreHandle::open_on(&router.plane.shards, &StoreSettings::at(&directory.0), std::sync::Arc::new(disk.clone()));
    router.plane.entities.store.set(opened.unwrap());
    router.create("queue", &[("address", "orders")]).unwrap();
    (router, disk, port)
}

#[tokio::test]
async fn others_are_answered_while_the_disk_hangs_and_who_waits_is_told_why() {
    let directory = Directory::new();
    let (mut router, disk, port) = start(&directory).await;
    router.plane.entities.errands.patience = Duration::from_millis(300);
    disk.stall();
    let told = router
        .meanwhile(move || {
            let (mut one, mut other) = (Manager::connect(port, "one"), Manager::connect(port, "other"));
            one.request("CREATE", "org.apache.qpid.dispatch.queue", Some("new"), &[("address", "new")]);
            one.request("PURGE", "queue", Some("orders"), &[]);
            for (entity_type, name) in [("queue", Some("orders")), ("listener", None), ("store", Some("store"))] {
                let operation = if name.is_some() { "READ" } else { "QUERY" };
                other.request(operation, entity_type, name, &[]);
                assert_eq!(other.answer().0, 200, "{operation} {entity_type}");
            }
            [one.answer(), one.answer()]
        })
        .await;
    let [(begun, why), (waiting, _)] = &told;
    assert_eq!((*begun, *waiting), (500, 500), "{told:?}");
    assert!(why.contains("The disk of the store has not answered for"), "{told:?}");
    assert!(why.contains("may still be done") && told[1].1.contains("Nothing was done"), "{told:?}");
    disk.go_on();
    router.until(|entities| entities.find(type_of("queue"), "address", "new").is_some()).await;
}

#[tokio::test]
async fn requests_of_one_connection_are_done_in_their_order() {
    let directory = Directory::new();
    let (mut router, _, port) = start(&directory).await;
    let statuses = router
        .meanwhile(move || {
            let mut manager = Manager::connect(port, "one");
            manager.request("CREATE", "queue", Some("a"), &[("address", "a")]);
            manager.request("UPDATE", "queue", Some("a"), &[("maxMessages", "5")]);
            manager.request("READ", "queue", Some("a"), &[]);
            manager.request("PEEK", "queue", Some("a"), &[]);
            manager.request("DELETE", "queue", Some("a"), &[]);
            manager.request("READ", "queue", Some("a"), &[]);
            (0..6).map(|_| manager.answer().0).collect::<Vec<_>>()
        })
        .await;
    assert_eq!(statuses, [201, 200, 200, 200, 204, 404]);
}

#[tokio::test]
async fn a_reload_holds_nobody_up_while_the_disk_hangs_and_tells_all_at_the_end() {
    let directory = Directory::new();
    let (mut router, disk, port) = start(&directory).await;
    let (file, other_port) = (File::of(&mut router, &directory, port), free_port());
    let queues = "queue {\n address: a\n}\nqueue {\n address: orders\n durable: no\n}\nqueue {\n address: b\n}\n";
    file.says(&format!("{queues}{}", listener(other_port)));
    disk.stall();
    let answers = router
        .meanwhile(move || {
            let (mut one, mut other) = (Manager::connect(port, "one"), Manager::connect(port, "other"));
            one.reload();
            one.request("CREATE", "queue", Some("later"), &[("address", "later")]);
            // The control plane goes on: it makes the listener, and answers.
            while !can_connect(other_port) {
                other.request("QUERY", "listener", None, &[]);
                assert_eq!(other.answer().0, 200);
            }
            disk.go_on();
            [one.answer_with_body(), one.answer_with_body()]
        })
        .await;
    let [((told, _), Body::Value(Value::List(lines))), ((created, _), _)] = &answers else { panic!("{answers:?}") };
    assert_eq!((*told, *created), (200, 201), "{answers:?}");
    let lines: Vec<&str> = lines.iter().filter_map(Value::as_text).collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    let failed: Vec<_> = lines.iter().filter(|line| line.contains("failed")).collect();
    assert!(failed.len() == 1 && failed[0].contains("durable cannot change"), "{lines:?}");
    for address in ["a", "b", "later"] {
        assert!(router.plane.entities.find(type_of("queue"), "address", address).is_some(), "{address}");
    }
}

#[tokio::test]
async fn reloads_are_made_one_after_the_other_and_who_waits_long_is_told_that_they_go_on() {
    let directory = Directory::new();
    let (mut router, disk, port) = start(&directory).await;
    router.plane.entities.errands.patience = Duration::from_millis(300);
    let file = File::of(&mut router, &directory, port);
    disk.stall();
    let answers = router
        .meanwhile(move || {
            let (mut one, mut other) = (Manager::connect(port, "one"), Manager::connect(port, "other"));
            file.says("queue {\n address: a\n}\nqueue {\n address: b\n}\n");
            one.reload();
            let first = one.answer();
            file.says("queue {\n address: c\n}\n");
            other.reload();
            [first, other.answer()]
        })
        .await;
    for (status, why) in &answers {
        assert!(*status == 500 && why.contains("It goes on, and may still be done"), "{answers:?}");
    }
    disk.go_on();
    router.until(|entities| entities.find(type_of("queue"), "address", "c").is_some()).await;
    let mut names = |address| router.plane.entities.find(type_of("queue"), "address", address).is_some();
    assert!(!names("a") && !names("b"), "the last reload is what counts");
}

/// A router without a store, on a disk that hangs, and the port it listens on.
async fn start_empty() -> (Router, StallingDisk, u16) {
    let port = free_port();
    let mut router = Router::start(&listener(port));
    router.until_listening().await;
    let disk = StallingDisk::default();
    let entities = &mut router.plane.entities;
    entities.store = StoreSlot::on(std::sync::Arc::new(disk.clone()));
    entities.errands = Errands::new(&router.plane.shards, entities.store.clone());
    disk.stall();
    (router, disk, port)
}

#[tokio::test]
async fn a_store_is_opened_while_others_are_served_and_what_comes_behind_it_waits() {
    let directory = Directory::new();
    let path = directory.0.display().to_string();
    let (mut router, disk, port) = start_empty().await;
    let answers = router
        .meanwhile(move || {
            let (mut one, mut other) = (Manager::connect(port, "one"), Manager::connect(port, "other"));
            one.request("CREATE", "org.apache.qpid.dispatch.store", None, &[("path", &path)]);
            one.request("CREATE", "queue", Some("a"), &[("address", "a")]);
            other.request("QUERY", "listener", None, &[]);
            assert_eq!(other.answer().0, 200);
            let refused = loop {
                other.request("CREATE", "queue", Some("b"), &[("address", "b")]);
                let (status, why) = other.answer();
                assert_eq!(status, 400);
                if why.contains(&path) {
                    break why;
                }
            };
            other.request("CREATE", "store", None, &[("path", "/elsewhere")]);
            let second = other.answer();
            disk.go_on();
            ([one.answer(), one.answer()].map(|(status, _)| status), refused, second)
        })
        .await;
    let (made, refused, (status, second)) = answers;
    assert_eq!((made, status), ([201, 201], 400), "{second}");
    assert!(refused.contains("still being opened") && second.contains("already"), "{refused} {second}");
}

#[tokio::test]
async fn a_reload_that_brings_a_store_and_its_queues_holds_nobody_up() {
    let directory = Directory::new();
    let (mut router, disk, port) = start_empty().await;
    let other_port = free_port();
    let store = format!("store {{\n path: {}\n}}\nqueue {{\n address: a\n}}\n", directory.0.display());
    let sections = format!("{SILENT}{}{store}{}", listener(port), listener(other_port));
    std::fs::write(&router._config.0, sections).unwrap();
    let answer = router
        .meanwhile(move || {
            let (mut one, mut other) = (Manager::connect(port, "one"), Manager::connect(port, "other"));
            one.reload();
            while !can_connect(other_port) {
                other.request("QUERY", "listener", None, &[]);
                assert_eq!(other.answer().0, 200);
            }
            disk.go_on();
            one.answer_with_body()
        })
        .await;
    let ((200, _), Body::Value(Value::List(lines))) = &answer else { panic!("{answer:?}") };
    assert!(lines.len() == 3 && lines.iter().all(|line| !line.as_text().unwrap().contains("failed")), "{lines:?}");
    assert!(router.plane.entities.find(type_of("queue"), "address", "a").is_some());
}
