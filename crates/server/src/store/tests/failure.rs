//! A disk that fails under the log.

use std::sync::Arc;

use amqp::message::{Body, Message, Properties};
use amqp::{DeliveryState, ErrorCondition};
use queue_core::QueueSettings;

use super::stalling::StallingDisk;
use super::transactions::{coordinator, declare, post, send_discharge};
use super::{Directory, Stored, volatile};
use crate::shard::tests::client::{Client, Happened, encoded, message};
use crate::shard::tests::router::Router;
use crate::store::{StoreError, StoreHandle, StoreSettings};

/// A router whose disk does what it is told, with a durable queue `orders` and one in memory, `passing`.
struct Site {
    router: Router,
    store: StoreHandle,
    disk: StallingDisk,
}

impl Site {
    fn at(directory: &Directory) -> Self {
        let (router, disk) = (Router::start(), StallingDisk::default());
        let settings = StoreSettings::at(directory.path());
        let store = StoreHandle::open_on(&router.shards, &settings, Arc::new(disk.clone())).expect("it can be made");
        for queue in [QueueSettings::new("orders"), volatile("passing")] {
            store.create_queue(queue).expect("it is new");
        }
        Self { router, store, disk }
    }

    /// What is on its way to the disk never arrives there.
    fn fail(&self) {
        self.disk.fail();
        self.disk.go_on();
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.router.shards.shutdown();
        self.store.close();
    }
}

/// How the router ends a link, or refuses it.
fn end(client: &mut Client) -> ErrorCondition {
    match client.expect("an end", |happened| matches!(happened, Happened::Detached { .. })) {
        Happened::Detached { error: Some(error), .. } => error,
        other => panic!("{other:?}"),
    }
}

/// Nobody knows whether the message is there.
fn has_failed(outcome: Option<DeliveryState>) -> bool {
    matches!(outcome, Some(DeliveryState::Modified(how)) if how.delivery_failed)
}

fn says_what_to_do(error: &ErrorCondition, directory: &Directory) {
    assert_eq!(error.condition.as_str(), "amqp:internal-error");
    let text = error.description.as_deref().unwrap_or_default();
    let path = directory.path().display().to_string();
    assert!(text.contains(&path) && text.contains("see to the disk and restart"), "{text}");
}

#[test]
fn senders_and_receivers_of_a_log_that_fails_are_told_by_the_end_of_their_links() {
    let directory = Directory::new("failure");
    let site = Site::at(&directory);
    let (mut sending, mut receiving) = (site.router.client(), site.router.client());
    receiving.receiver("orders", 1);
    let link = sending.sender(Some("orders"));
    sending.wait_for_credit(link);
    site.disk.stall();
    let key = sending.send(link, false, &message(10));
    site.fail();
    says_what_to_do(&end(&mut sending), &directory);
    says_what_to_do(&end(&mut receiving), &directory);
    assert!(has_failed(sending.outcome(key)));
}

#[test]
fn a_message_that_names_a_queue_of_a_log_that_fails_is_given_back() {
    let directory = Directory::new("failure-named");
    let site = Site::at(&directory);
    let mut client = site.router.client();
    let link = client.sender(None);
    site.disk.stall();
    let properties = Properties { to: Some("orders".into()), ..Properties::default() };
    let named = Message { properties, ..Message::new(Body::Data(vec![b"x".to_vec()])) };
    let key = client.send(link, false, &encoded(&named));
    site.fail();
    assert!(has_failed(client.outcome(key)));
}

#[test]
fn whoever_ends_a_transaction_when_the_log_fails_is_told_by_the_end_of_the_link() {
    let directory = Directory::new("failure-transaction");
    let site = Site::at(&directory);
    let mut client = site.router.client();
    let (coordinator, orders) = (coordinator(&mut client), client.sender(Some("orders")));
    let txn = declare(&mut client, coordinator);
    post(&mut client, orders, &txn);
    site.disk.stall();
    send_discharge(&mut client, coordinator, &txn, false);
    site.fail();
    let ended =
        client.expect("an end", |happened| matches!(happened, Happened::Detached { link, .. } if *link == coordinator));
    let Happened::Detached { error: Some(error), .. } = ended else { panic!("{ended:?}") };
    says_what_to_do(&error, &directory);
}

#[test]
fn after_the_log_has_failed_durable_queues_are_refused_and_others_go_on() {
    let directory = Directory::new("failure-after");
    let site = Site::at(&directory);
    let mut client = site.router.client();
    let link = client.sender(Some("orders"));
    client.wait_for_credit(link);
    site.disk.fail();
    client.send(link, false, &message(10));
    end(&mut client);
    for sends in [true, false] {
        client.begin_link(sends, "orders");
        says_what_to_do(&end(&mut client), &directory);
    }
    let told = site.store.create_queue(QueueSettings::new("another"));
    assert!(matches!(&told, Err(StoreError::Unavailable(why)) if why.contains("the disk has failed")), "{told:?}");
    let link = client.sender(Some("passing"));
    let key = client.send(link, false, &message(10));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
}

#[test]
fn what_was_accepted_before_the_log_failed_is_there_after_a_restart() {
    let directory = Directory::new("failure-restart");
    let site = Site::at(&directory);
    let mut client = site.router.client();
    let link = client.sender(Some("orders"));
    let key = client.send(link, false, &message(7));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    site.disk.fail();
    client.send(link, false, &message(10));
    end(&mut client);
    drop(site);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    client.receiver("orders", 1);
    assert_eq!(client.receive().bytes, message(7));
}

#[test]
fn a_large_message_that_is_on_the_disk_nevertheless_is_whole_after_a_restart() {
    let directory = Directory::new("failure-large");
    let site = Site::at(&directory);
    let mut client = site.router.client();
    let link = client.sender(Some("orders"));
    client.wait_for_credit(link);
    // The message gets its file, and then its entry is written, but whether that is on the disk is not known.
    site.disk.fail();
    client.send(link, false, &message(3_000_000));
    end(&mut client);
    drop(site);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    client.receiver("orders", 1);
    let received = client.receive();
    assert!(!received.aborted && received.bytes.ends_with(&message(3_000_000)));
}

#[test]
fn whoever_uses_a_store_whose_directory_is_removed_is_told_as_if_the_disk_had_failed() {
    let directory = Directory::new("failure-removed");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    let (mut sending, mut receiving) = (stored.router.client(), stored.router.client());
    receiving.receiver("orders", 1);
    let link = sending.sender(Some("orders"));
    sending.wait_for_credit(link);
    std::fs::remove_dir_all(directory.path()).expect("it is there");
    for client in [&mut sending, &mut receiving] {
        let text = end(client).description.unwrap_or_default();
        let path = directory.path().display().to_string();
        assert!(
            text.contains(&path) && text.contains("is gone") && text.contains("restore it from a backup"),
            "{text}"
        );
    }
}
