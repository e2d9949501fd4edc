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

/// Sizes that follow from a seed.
fn sizes(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(100 + (state % 8000) as usize)
    })
}

/// Fills a small log with messages of which one of `every` stays, takes all others out of it, and sends another one.
fn a_full_log_goes_on(seed: u64, every: usize) {
    const SMALL: u64 = 256 * 1024;
    let directory = Directory::new(&format!("full-{seed}"));
    let settings = StoreSettings {
        segment_bytes: SMALL,
        max_bytes: Some(6 * SMALL),
        cache_bytes: SMALL,
        ..StoreSettings::at(directory.path())
    };
    let router = Router::start();
    let store = StoreHandle::open(&router.shards, &settings).expect("the directory can be used");
    for address in ["kept", "passing"] {
        store.create_queue(QueueSettings::new(address)).expect("it can be made");
    }
    let mut client = router.client();
    let links = ["kept", "passing"].map(|address| client.sender(Some(address)));
    let (mut kept, mut passing) = (Vec::new(), 0);
    for (number, size) in sizes(seed).enumerate() {
        let stays = number % every == 0;
        let key = client.send(links[usize::from(!stays)], false, &message(size));
        match client.outcome(key) {
            Some(DeliveryState::Accepted) if stays => kept.push(size),
            Some(DeliveryState::Accepted) => passing += 1,
            Some(DeliveryState::Rejected(_)) => break,
            other => panic!("{other:?}"),
        }
    }
    // No part of the log is without one that stays.
    let mut other = router.client();
    other.receiver("passing", 10_000);
    (0..passing).for_each(|_| other.accept_last());
    router.wait_until("there is room", |_| store.view().condition == Condition::Good);
    let key = client.send(links[0], false, &message(5000));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    kept.push(5000);
    router.shards.shutdown();
    store.close();
    let router = Router::start();
    let store = StoreHandle::open(&router.shards, &settings).expect("it is whole");
    let mut client = router.client();
    client.receiver("kept", 10_000);
    for size in kept {
        assert!(client.receive().bytes.ends_with(&message(size)));
    }
    router.shards.shutdown();
    store.close();
}

#[test]
fn a_full_log_in_which_little_is_left_everywhere_goes_on() {
    for seed in 1..=4 {
        a_full_log_goes_on(seed, 25);
    }
}
