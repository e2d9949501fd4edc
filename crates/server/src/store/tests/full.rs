//! A store that may take no more.

use std::sync::Arc;
use std::time::Duration;

use amqp::DeliveryState;
use queue_core::QueueSettings;
use queue_log::{Condition, FaultyDisk};

use super::Directory;
use super::stalling::StallingDisk;
use super::transactions::{coordinator, declare, discharge};
use crate::shard::tests::client::{Happened, message};
use crate::shard::tests::router::Router;
use crate::store::transactional::TransactionalState;
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
    numbers(seed).map(|number| 100 + (number % 8000) as usize)
}

/// Numbers that follow from a seed.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(state)
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

/// Puts numbers in another order, which follows from a seed.
fn shuffled(seed: u64, many: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..many).collect();
    let mut random = numbers(seed);
    for at in (1..many).rev() {
        order.swap(at, random.next().unwrap_or(0) as usize % (at + 1));
    }
    order
}

/// Fills a log with messages of a few bytes, has a consumer take all of them and settle them one by one, in any order, all but
/// one of `every`, which it holds; and so again and again. Whatever was kept is there in the end.
fn a_full_log_of_small_messages_goes_on(seed: u64, every: usize) {
    const SMALL: u64 = 16 * 1024;
    let directory = Directory::new(&format!("full-small-{seed}-{every}"));
    let settings = StoreSettings {
        segment_bytes: SMALL,
        max_bytes: Some(6 * SMALL),
        cache_bytes: SMALL,
        ..StoreSettings::at(directory.path())
    };
    let router = Router::start();
    let store = StoreHandle::open(&router.shards, &settings).expect("the directory can be used");
    store.create_queue(QueueSettings::new("orders")).expect("it can be made");
    let (mut sending, mut taking) = (router.client(), router.client());
    let link = sending.sender(Some("orders"));
    taking.receiver("orders", 100_000);
    let (mut kept, mut sizes) = (Vec::new(), numbers(seed).map(|number| 1 + (number % 60) as usize));
    for round in 0..3 {
        let mut held = Vec::new();
        loop {
            let size = sizes.next().unwrap_or(1);
            let key = sending.send(link, false, &message(size));
            match sending.outcome(key) {
                Some(DeliveryState::Accepted) => held.push((size, taking.receive())),
                Some(DeliveryState::Rejected(_)) => break,
                other => panic!("{other:?}"),
            }
            assert!(held.len() < 10_000, "there is no end to it");
        }
        assert!(held.len() > 10, "in round {round} there was room for {} only", held.len());
        let (before, mut settled) = (kept.len(), 0);
        for (turn, at) in shuffled(seed + round, held.len()).into_iter().enumerate() {
            let (size, received) = &held[at];
            if turn % every == 0 {
                kept.push(*size);
                continue;
            }
            taking.settle(received, DeliveryState::Accepted);
            settled += 1;
            if turn % 8 == 0 {
                // Few at a time: what was said before has been done before the next.
                let left = (before + held.len() - settled) as u64;
                router.wait_until("it is done", |_| store.queue("orders").is_some_and(|queue| queue.messages == left));
                // On a slow machine this takes longer than the router waits for a client that says nothing.
                sending.turn(Duration::ZERO);
            }
        }
        router.wait_until("only those are left", |_| {
            store.queue("orders").is_some_and(|queue| queue.messages == kept.len() as u64)
        });
        router.wait_until("there is room", |_| store.view().condition == Condition::Good);
    }
    router.shards.shutdown();
    store.close();
    let router = Router::start();
    let store = StoreHandle::open(&router.shards, &settings).expect("it is whole");
    let mut client = router.client();
    client.receiver("orders", 10_000);
    let mut found: Vec<usize> = kept.iter().map(|_| client.receive().bytes.len()).collect();
    let mut expected: Vec<usize> = kept.iter().map(|size| message(*size).len()).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(store.queue("orders").map(|queue| queue.messages), Some(kept.len() as u64));
    router.shards.shutdown();
    store.close();
}

#[test]
fn a_full_log_of_messages_of_a_few_bytes_that_are_settled_one_by_one_goes_on() {
    for (seed, every) in [(1, 10_000), (2, 40), (3, 20)] {
        a_full_log_of_small_messages_goes_on(seed, every);
    }
}

/// Fills a log on a disk in memory, takes messages out of it in transactions, and cuts the power again and again: what was committed
/// is gone, and nothing else.
fn what_is_committed_in_a_full_log_survives(seed: u64) {
    const SMALL: u64 = 32 * 1024;
    let settings = StoreSettings { segment_bytes: SMALL, max_bytes: Some(3 * SMALL), ..StoreSettings::at("/store") };
    let disk = FaultyDisk::new(seed);
    let router = Router::start();
    let store = StoreHandle::open_on(&router.shards, &settings, Arc::new(disk.clone())).expect("it is new");
    store.create_queue(QueueSettings::new("orders")).expect("it can be made");
    let (mut sending, mut taking) = (router.client(), router.client());
    let link = sending.sender(Some("orders"));
    let coordinator = coordinator(&mut taking);
    let mut left = 0;
    for size in numbers(seed).map(|number| 1 + (number % 60) as usize) {
        let key = sending.send(link, false, &message(size));
        match sending.outcome(key) {
            Some(DeliveryState::Accepted) => left += 1,
            Some(DeliveryState::Rejected(_)) => break,
            other => panic!("{other:?}"),
        }
    }
    taking.receiver("orders", 100_000);
    // More than the log has room for.
    for turn in 1..=100 {
        let received = taking.receive();
        let txn = declare(&mut taking, coordinator);
        let state = TransactionalState { txn: txn.clone(), outcome: Some(DeliveryState::Accepted) }.state();
        taking.settle(&received, state);
        assert_eq!(discharge(&mut taking, coordinator, &txn, false), Some(DeliveryState::Accepted));
        left -= 1;
        if turn % 7 == 0 {
            let disk = disk.after_power_cut(seed + turn);
            let router = Router::start();
            let store = StoreHandle::open_on(&router.shards, &settings, Arc::new(disk)).expect("it is whole");
            assert_eq!(store.queue("orders").map(|queue| queue.messages), Some(left), "in turn {turn}");
            router.shards.shutdown();
            store.close();
        }
    }
    router.shards.shutdown();
    store.close();
}

#[test]
fn what_is_settled_in_transactions_in_a_full_log_is_on_the_disk_when_they_are_committed() {
    (1..=3).for_each(what_is_committed_in_a_full_log_survives);
}

#[test]
fn what_waits_for_a_disk_that_turns_out_to_be_full_is_refused_and_does_not_stop_those_who_take_messages() {
    const SMALL: u64 = 64 * 1024;
    let directory = Directory::new("full-behind");
    let settings = StoreSettings {
        segment_bytes: SMALL,
        max_bytes: Some(3 * SMALL),
        cache_bytes: SMALL,
        ..StoreSettings::at(directory.path())
    };
    let (router, disk) = (Router::start(), StallingDisk::default());
    let store = StoreHandle::open_on(&router.shards, &settings, Arc::new(disk.clone())).expect("it can be used");
    store.create_queue(QueueSettings::new("orders")).expect("it can be made");
    let mut client = router.client();
    let link = client.sender(Some("orders"));
    let key = client.send(link, false, &message(10_000));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    disk.stall();
    // Each is an entry of its own, and all together are more than the log may hold.
    let mut keys = Vec::new();
    for number in 1..=60 {
        keys.push(client.send(link, false, &message(10_000 + number)));
        router.wait_until("it is on its way", |_| {
            store.with(|node| node.journal.flight.len() + usize::from(!node.journal.gathering[0].is_empty())) >= number
        });
    }
    disk.go_on();
    let mut sizes = vec![message(10_000).len()];
    for (number, key) in (1..).zip(keys) {
        match client.outcome(key) {
            Some(DeliveryState::Accepted) => sizes.push(message(10_000 + number).len()),
            Some(DeliveryState::Rejected(Some(error))) => {
                assert_eq!(error.condition.as_str(), "amqp:resource-limit-exceeded");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!((2..60).contains(&sizes.len()), "{} of 61 found room", sizes.len());
    let mut other = router.client();
    other.receiver("orders", 10_000);
    for size in &sizes {
        let received = other.receive();
        assert_eq!(received.bytes.len(), *size);
        other.settle(&received, DeliveryState::Accepted);
    }
    router.wait_until("there is room", |_| store.view().condition == Condition::Good);
    let key = client.send(link, false, &message(77));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    assert!(other.receive().bytes.ends_with(&message(77)));
    router.shards.shutdown();
    store.close();
}

#[test]
fn a_large_message_for_which_the_disk_has_no_room_is_refused_with_the_place_and_what_to_do() {
    let disk = FaultyDisk::new(9);
    let router = Router::start();
    let settings = StoreSettings { segment_bytes: SEGMENT, ..StoreSettings::at("/store") };
    let store = StoreHandle::open_on(&router.shards, &settings, Arc::new(disk.clone())).expect("it is new");
    store.create_queue(QueueSettings::new("orders")).expect("it can be made");
    disk.set_capacity(Some(disk.used() + SEGMENT));
    let mut client = router.client();
    let link = client.sender(Some("orders"));
    let key = client.send(link, false, &message(4 * SEGMENT as usize));
    match client.outcome(key) {
        Some(DeliveryState::Rejected(Some(error))) => {
            assert_eq!(error.condition.as_str(), "amqp:resource-limit-exceeded");
            let text = error.description.unwrap_or_default().to_string();
            assert!(text.contains("in /store: ") && text.ends_with("free space there, and send it again"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    router.shards.shutdown();
    store.close();
}

#[test]
fn what_a_start_has_read_again_counts_for_the_next_checkpoint_however_often_the_router_is_killed() {
    let mut disk = FaultyDisk::new(11);
    let settings = StoreSettings { segment_bytes: SEGMENT, ..StoreSettings::at("/store") };
    for round in 0..3 {
        let router = Router::start();
        let store = StoreHandle::open_on(&router.shards, &settings, Arc::new(disk.clone())).expect("it is whole");
        assert!(store.with(|node| node.journal.since_checkpoint) >= round * 50_000, "in round {round}");
        store.declare_queue(QueueSettings::new("orders")).expect("it can be made");
        let mut client = router.client();
        let link = client.sender(Some("orders"));
        for _ in 0..5 {
            let key = client.send(link, false, &message(10_000));
            assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
        }
        let killed = disk.after_kill();
        router.shards.shutdown();
        store.close();
        disk = killed;
    }
}
