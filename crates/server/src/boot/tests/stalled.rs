//! Management while the disk of the store does not answer.

use super::queues::Directory;
use super::*;
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

    /// The next answer: its status, and its description.
    fn answer(&mut self) -> (i64, String) {
        let received = self.client.receive();
        self.client.settle(&received, DeliveryState::Accepted);
        let reply = Message::decode(&received.bytes).unwrap();
        let of = |name: &str| reply.application_properties.get(name).cloned().unwrap();
        (of("statusCode").as_i64().unwrap(), of("statusDescription").as_text().unwrap_or_default().to_owned())
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
    router.plane.entities.store = Some(opened.unwrap());
    router.create("queue", &[("address", "orders")]).unwrap();
    (router, disk, port)
}

#[tokio::test]
async fn others_are_answered_while_the_disk_hangs_and_who_waits_is_told_why() {
    let directory = Directory::new();
    let (mut router, disk, port) = start(&directory).await;
    router.plane.errands.patience = Duration::from_millis(300);
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
