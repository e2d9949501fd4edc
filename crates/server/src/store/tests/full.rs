//! A store that may take no more.

use amqp::DeliveryState;
use queue_core::QueueSettings;
use queue_log::Condition;

use super::Directory;
use crate::shard::tests::client::{Happened, message};
use crate::shard::tests::router::Router;
use crate::store::{StoreHandle, StoreSettings};

const SEGMENT: u64 = 1024 * 1024;

#[test]
fn a_full_store_takes_nothing_says_so_and_goes_on_when_messages_were_taken() {
    let directory = Directory::new("full");
    let router = Router::start();
    let settings = StoreSettings {
        segment_bytes: SEGMENT,
        max_bytes: Some(2 * SEGMENT),
        cache_bytes: 0,
        ..StoreSettings::at(directory.path())
    };
    let store = StoreHandle::open(&router.shards, &settings).expect("the directory can be used");
    store.create_queue(QueueSettings::new("orders")).expect("it can be made");
    let mut client = router.client();
    let link = client.sender(Some("orders"));
    let (mut accepted, mut refused) = (0_u64, None);
    while refused.is_none() {
        assert!(accepted < 3 * SEGMENT / 10_000, "there is no end to it");
        let key = client.send(link, false, &message(10_000));
        match client.outcome(key) {
            Some(DeliveryState::Accepted) => accepted += 1,
            Some(DeliveryState::Rejected(Some(error))) => refused = Some(error),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        refused.map(|error| error.condition.as_str().to_owned()).as_deref(),
        Some("amqp:resource-limit-exceeded")
    );
    let mut other = router.client();
    other.receiver("orders", 10_000);
    for _ in 0..accepted {
        other.accept_last();
    }
    router.wait_until("all are gone", |_| store.queue("orders").is_some_and(|queue| queue.messages == 0));
    router.wait_until("there is room", |_| store.view().condition == Condition::Good);
    let key = client.send(link, false, &message(10_000));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    assert!(!client.happened.iter().any(|happened| matches!(happened, Happened::Failed(_))));
    router.shards.shutdown();
    store.close();
}
