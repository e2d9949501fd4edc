//! Topics with very many subscriptions that have filters.

use amqp::DeliveryState;
use queue_core::QueueSettings;
use router_core::OutKey;

use super::{in_memory, volatile};
use crate::content::Whole;
use crate::shard::tests::client::message;
use crate::shard::tests::router::Router;
use crate::store::admission::{Answers, Asking};
use crate::store::links::{Arrival, Destination, Side};
use crate::store::receive::Bytes;
use crate::store::{StoreHandle, TopicSpec};

/// Subscriptions that let nothing in.
const OTHERS: usize = 35;

/// A topic with these and one that lets everything in, all with filters, of which ten are asked in one turn.
fn topic() -> (Router, StoreHandle, Destination) {
    let (router, store) = in_memory([volatile("orders")]);
    store.create_topic(TopicSpec { address: "news".to_owned(), subscription: volatile("any") }).expect("it is new");
    let to = store.with(|node| node.find("news")).expect("it was made");
    let Destination::Topic(topics) = to else { panic!("{to:?}") };
    let subscribe = |address: &str, filter: &str| {
        let (topic, filter) = (Some(topics[Side::Memory as usize]), Some(filter.into()));
        store.create_queue(QueueSettings { topic, filter, ..volatile(address) }).expect("it can be made");
    };
    for number in 0..OTHERS {
        subscribe(&format!("other-{number}"), "JMSPriority = 7");
    }
    subscribe("all", "JMSPriority = 4");
    store.with(|node| node.most_asked = 10);
    (router, store, to)
}

#[test]
fn few_filters_are_asked_at_a_time_and_each_once() {
    let (router, store, to) = topic();
    store.with(|node| {
        let mut asking = Asking {
            time: 0,
            arrival: Arrival { link: 0, key: OutKey(0), settled: true },
            bytes: Bytes::Whole(Whole::plain(message(10))),
            said: Default::default(),
            to,
            look: node.look_of(to),
            container: "".into(),
            answers: Answers::default(),
        };
        let answered = |asking: &Asking| asking.answers.except[Side::Memory as usize].len();
        node.admissions.rest();
        let mut calls = 1;
        loop {
            let before = answered(&asking);
            let done = node.ask_filters(&mut asking);
            assert!(answered(&asking) - before <= 10);
            if done {
                break;
            }
            node.admissions.rest();
            calls += 1;
        }
        assert!(calls >= 4 && answered(&asking) == OTHERS, "{calls} calls, {} answers", answered(&asking));
    });
    router.shards.shutdown();
}

#[test]
fn messages_come_in_order_and_others_go_on_meanwhile() {
    let (router, store, _) = topic();
    let mut client = router.client();
    let (news, orders) = (client.sender(Some("news")), client.sender(Some("orders")));
    let mut keys: Vec<_> = (1..=8).map(|size| client.send(news, false, &message(size))).collect();
    keys.push(client.send(orders, false, &message(1)));
    for key in keys {
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
    client.receiver("all", 10);
    for size in 1..=8 {
        assert_eq!(client.receive().bytes, message(size));
    }
    assert!(store.queues().iter().all(|queue| !queue.settings.address.starts_with("other") || queue.messages == 0));
}

#[test]
fn what_its_sender_has_settled_comes_although_the_sender_is_gone() {
    let (router, store, _) = topic();
    let mut client = router.client();
    let news = client.sender(Some("news"));
    (1..=8).for_each(|size| _ = client.send(news, true, &message(size)));
    drop(client);
    router.wait_until("all have come", |_| store.queue("all").is_some_and(|queue| queue.messages == 8));
}
