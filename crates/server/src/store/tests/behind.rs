//! A disk that does not keep up with senders.

use std::sync::Arc;

use amqp::DeliveryState;
use amqp::condition::names;
use amqp_endpoint::LinkId;
use queue_core::QueueSettings;

use super::stalling::StallingDisk;
use super::{Directory, volatile};
use crate::shard::tests::client::{Client, message};
use crate::shard::tests::router::Router;
use crate::store::{StoreHandle, StoreSettings};

const MIB: u64 = 1024 * 1024;
/// Bytes of the messages of these tests.
const SIZE: usize = 16 * 1024;

/// A router with a queue on a disk that stalls when told to, where only so many bytes may wait for it.
struct Behind {
    router: Router,
    store: StoreHandle,
    disk: StallingDisk,
    _directory: Directory,
}

impl Behind {
    fn start(name: &str, most_waiting: u64) -> Self {
        let directory = Directory::new(name);
        let (router, disk) = (Router::start(), StallingDisk::default());
        let settings = StoreSettings::at(directory.path());
        let store = StoreHandle::open_on(&router.shards, &settings, Arc::new(disk.clone())).expect("it can be used");
        store.with(|node| node.most_waiting = most_waiting);
        for settings in [QueueSettings::new("orders"), volatile("quick")] {
            store.create_queue(settings).expect("it can be made");
        }
        Self { router, store, disk, _directory: directory }
    }

    /// Messages in the queue on the disk.
    fn depth(&self) -> u64 {
        self.store.queues().iter().map(|queue| queue.messages).sum()
    }

    fn waiting(&self) -> u64 {
        self.store.with(|node| node.journal.waiting_bytes())
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.disk.go_on();
        self.router.shards.shutdown();
        self.store.close();
    }
}

fn credit(client: &Client, link: LinkId) -> u32 {
    client.endpoint.link(link).map_or(0, |info| info.credit)
}

/// Has every link send all that it has credit for, until none has any more; what was sent.
fn send_all(client: &mut Client, links: &[LinkId], behind: &Behind) -> Vec<u64> {
    let mut sent = Vec::new();
    loop {
        let before = sent.len();
        for link in links {
            while credit(client, *link) > 0 {
                sent.push(client.send(*link, false, &message(SIZE)));
                assert!(sent.len() as u64 * SIZE as u64 <= 8 * MIB, "there is no end to it");
            }
        }
        client.settle_down();
        assert!(behind.waiting() <= behind.store.with(|node| node.most_waiting));
        if sent.len() == before {
            return sent;
        }
    }
}

#[test]
fn credit_ends_when_enough_waits_for_the_disk_others_are_served_and_it_comes_again() {
    let behind = Behind::start("behind", MIB);
    let mut client = behind.router.client();
    let links: Vec<_> = (0..20).map(|_| client.sender(Some("orders"))).collect();
    // So that it is known how large their messages are.
    for link in &links {
        let key = client.send(*link, false, &message(SIZE));
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
    behind.disk.stall();
    let sent = send_all(&mut client, &links, &behind);
    assert!(behind.waiting() > MIB / 4, "there was room for more: {}", behind.waiting());
    // Messages that need no disk go their way.
    let mut other = behind.router.client();
    for address in ["anywhere", "quick"] {
        other.receiver(address, 10);
        let link = other.sender(Some(address));
        other.send(link, false, &message(100));
        other.accept_last();
    }
    behind.disk.go_on();
    for key in sent {
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
    for link in links {
        let key = client.send(link, false, &message(SIZE));
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
    assert_eq!(behind.waiting(), 0);
}

#[test]
fn who_is_gone_needs_no_memory() {
    let behind = Behind::start("behind-gone", MIB);
    for _ in 0..3 {
        let mut client = behind.router.client();
        let link = client.sender(Some("orders"));
        client.wait_for_credit(link);
        assert!(behind.store.with(|node| node.reserved) > 0);
        drop(client);
        behind.router.wait_until("it is gone", |_| behind.store.with(|node| node.reserved) == 0);
    }
}

#[test]
fn messages_much_larger_than_those_before_are_refused_when_there_is_no_memory_for_them() {
    let behind = Behind::start("behind-larger", MIB);
    let mut client = behind.router.client();
    let link = client.sender(Some("orders"));
    while credit(&client, link) < 20 {
        let key = client.send(link, false, &message(10));
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
    behind.disk.stall();
    let keys: Vec<_> = (0..20).map(|_| client.send(link, false, &message(100_000))).collect();
    let mut refused = 0;
    for key in &keys[10..] {
        let Some(DeliveryState::Rejected(Some(error))) = client.outcome(*key) else { panic!("it was taken") };
        assert_eq!(error.condition.as_str(), names::RESOURCE_LIMIT_EXCEEDED);
        refused += 1;
    }
    assert!(refused == 10 && behind.waiting() <= MIB);
    behind.disk.go_on();
    for key in &keys[..10] {
        assert_eq!(client.outcome(*key), Some(DeliveryState::Accepted));
    }
}

#[test]
fn what_a_lost_receiver_said_settles_nothing_of_the_one_in_its_place() {
    let behind = Behind::start("in-its-place", MIB);
    let mut sender = behind.router.client();
    let link = sender.sender(Some("orders"));
    for size in [7, 8] {
        let key = sender.send(link, false, &message(size));
        assert_eq!(sender.outcome(key), Some(DeliveryState::Accepted));
    }
    let links = || behind.store.with(|node| node.links.len());
    let before = links();
    let mut lost = behind.router.client();
    lost.receiver("orders", 1);
    let first = lost.receive();
    behind.disk.stall();
    lost.endpoint.update_incoming(first.link, first.delivery_id, Some(DeliveryState::Accepted), false);
    lost.write();
    behind.router.wait_until("it is on its way to the disk", |_| behind.waiting() > 0);
    drop(lost);
    behind.router.wait_until("its link is gone", |_| links() == before);
    let mut client = behind.router.client();
    client.receiver("orders", 1);
    let second = client.receive();
    assert_eq!(second.bytes, message(8));
    behind.disk.go_on();
    behind.router.wait_until("it is on the disk", |_| behind.waiting() == 0);
    client.settle(&second, DeliveryState::Accepted);
    behind.router.wait_until("both messages are gone", |_| behind.depth() == 0);
}
