//! Old messages among many that are gone.

use amqp::DeliveryState;
use queue_core::QueueSettings;
use queue_log::Condition;

use super::Directory;
use crate::shard::tests::client::message;
use crate::shard::tests::router::Router;
use crate::store::{StoreHandle, StoreSettings};

const SEGMENT: u64 = 1024 * 1024;
/// Messages of which each is alone among others that are gone.
const KEPT: usize = 96;

fn settings(directory: &Directory) -> StoreSettings {
    StoreSettings {
        segment_bytes: SEGMENT,
        max_bytes: Some(KEPT as u64 / 4 * SEGMENT),
        cache_bytes: SEGMENT,
        ..StoreSettings::at(directory.path())
    }
}

#[test]
fn old_messages_do_not_keep_the_space_of_those_after_them() {
    let directory = Directory::new("relocation");
    let router = Router::start();
    let store = StoreHandle::open(&router.shards, &settings(&directory)).expect("the directory can be used");
    for address in ["kept", "passing"] {
        store.create_queue(QueueSettings::new(address)).expect("it can be made");
    }
    let mut client = router.client();
    let (kept, passing) = (client.sender(Some("kept")), client.sender(Some("passing")));
    let mut other = router.client();
    other.receiver("passing", 100_000);
    // Four times what the store may take, and in each of its files one message stays.
    for number in 0..KEPT {
        let key = client.send(kept, false, &message(100 + number));
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted), "message {number}");
        for _ in 0..SEGMENT / 100_000 {
            loop {
                let key = client.send(passing, false, &message(100_000));
                match client.outcome(key) {
                    Some(DeliveryState::Accepted) => break,
                    // It is faster than what makes room. There will be some.
                    Some(DeliveryState::Rejected(_)) => {
                        router.wait_until("there is room", |_| store.view().condition == Condition::Good);
                    }
                    other => panic!("{other:?} after message {number}"),
                }
            }
            other.accept_last();
        }
    }
    router.shards.shutdown();
    store.close();
    let router = Router::start();
    let store = StoreHandle::open(&router.shards, &settings(&directory)).expect("it is whole");
    let mut client = router.client();
    client.receiver("kept", 1000);
    for number in 0..KEPT {
        assert!(client.receive().bytes == message(100 + number), "message {number}");
    }
    router.shards.shutdown();
    store.close();
}
