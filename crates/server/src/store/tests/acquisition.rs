//! Messages that are acquired in a transaction: a flow names it (part 4, section 4.4.3).

use amqp::performative::SenderSettleMode;
use amqp::{DeliveryState, Map, Value};
use amqp_endpoint::{LinkId, NewLink};

use super::surface::{attach, receiver};
use super::transactions::{coordinator, declare, discharge, end_of};
use super::{Directory, Stored, in_memory, volatile};
use crate::shard::tests::client::{Client, Happened, Received, message};
use crate::shard::tests::router::Router;
use crate::store::StoreHandle;
use crate::store::transactional::TransactionalState;

/// A router with a queue that holds messages of these sizes, and a client of it with a link to the coordinator.
fn site(sizes: &[usize]) -> (Router, StoreHandle, Client, LinkId) {
    let (router, store) = in_memory([volatile("a")]);
    let mut client = router.client();
    let link = client.sender(Some("a"));
    for size in sizes {
        let key = client.send(link, false, &message(*size));
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
    let link = coordinator(&mut client);
    (router, store, client, link)
}

fn names(txn: &[u8]) -> Box<Map> {
    Box::new(Map::from_iter([(Value::Symbol("txn-id".into()), Value::Binary(txn.to_vec()))]))
}

/// Gives a receiver credit for messages that it is to acquire in a transaction.
fn acquire(client: &mut Client, link: LinkId, txn: &[u8], credit: u32) {
    client.endpoint.say_with_flow(link, names(txn));
    client.endpoint.add_credit(link, credit);
    client.write();
}

fn in_transaction(txn: &[u8], outcome: Option<DeliveryState>) -> TransactionalState {
    TransactionalState { txn: txn.to_vec(), outcome }
}

/// The transaction that a delivery says it was acquired in.
fn transaction_of(received: &Received) -> Option<TransactionalState> {
    received.state.as_ref().and_then(TransactionalState::of)
}

/// Says what becomes of a delivery if a transaction is committed.
fn retire(client: &mut Client, received: &Received, txn: &[u8]) {
    let state = in_transaction(txn, Some(DeliveryState::Accepted)).state();
    client.endpoint.update_incoming(received.link, received.delivery_id, Some(state), false);
    client.write();
}

/// Messages in the queue, and those of them that somebody has.
fn depth(store: &StoreHandle) -> Option<(u64, u64)> {
    store.queue("a").map(|queue| (queue.messages, queue.acquired))
}

#[test]
fn what_was_acquired_in_a_transaction_is_free_again_if_that_is_rolled_back() {
    let (router, store, mut client, coordinator) = site(&[1, 2]);
    let txn = declare(&mut client, coordinator);
    let link = client.receiver("a", 0);
    acquire(&mut client, link, &txn, 2);
    let (first, second) = (client.receive(), client.receive());
    assert_eq!(transaction_of(&first), Some(in_transaction(&txn, None)));
    assert_eq!(depth(&store), Some((2, 2)));
    // Whatever was said of one of them.
    retire(&mut client, &second, &txn);
    for received in [&first, &second] {
        client.endpoint.set_incoming_key(link, received.delivery_id, received.delivery_id.into());
    }
    assert_eq!(discharge(&mut client, coordinator, &txn, true), Some(DeliveryState::Accepted));
    assert_eq!(depth(&store), Some((2, 0)));
    for received in [&first, &second] {
        let told = client.expect(
            "its end",
            |happened| matches!(happened, Happened::SenderOutcome { key, .. } if *key == u64::from(received.delivery_id)),
        );
        assert!(matches!(told, Happened::SenderOutcome { state: Some(DeliveryState::Released), settled: true, .. }));
    }
    let mut other = router.client();
    other.receiver("a", 2);
    assert!(other.receive().bytes.ends_with(&first.bytes) && other.receive().bytes.ends_with(&second.bytes));
}

#[test]
fn what_was_acquired_in_a_transaction_stays_with_its_receiver_if_that_is_committed() {
    let (router, store, mut client, coordinator) = site(&[1, 2, 3]);
    let txn = declare(&mut client, coordinator);
    let link = client.receiver("a", 0);
    acquire(&mut client, link, &txn, 2);
    let (first, second) = (client.receive(), client.receive());
    retire(&mut client, &first, &txn);
    assert_eq!(discharge(&mut client, coordinator, &txn, false), Some(DeliveryState::Accepted));
    assert_eq!(depth(&store), Some((2, 1)));
    client.settle(&second, DeliveryState::Accepted);
    router.wait_until("it is gone", |_| depth(&store) == Some((1, 0)));
}

#[test]
fn what_comes_after_the_end_of_a_transaction_belongs_to_none() {
    let (_router, _store, mut client, coordinator) = site(&[1, 2]);
    let txn = declare(&mut client, coordinator);
    let link = client.receiver("a", 0);
    acquire(&mut client, link, &txn, 1);
    client.receive();
    discharge(&mut client, coordinator, &txn, false);
    client.endpoint.add_credit(link, 1);
    client.write();
    assert_eq!(client.receive().state, None);
}

#[test]
fn an_outcome_outside_of_the_transaction_that_a_message_was_acquired_in_is_undone_with_it() {
    let (router, store, mut client, coordinator) = site(&[1]);
    let txn = declare(&mut client, coordinator);
    let link = client.receiver("a", 0);
    acquire(&mut client, link, &txn, 1);
    let received = client.receive();
    client.settle(&received, DeliveryState::Accepted);
    discharge(&mut client, coordinator, &txn, true);
    router.wait_until("it is free", |_| depth(&store) == Some((1, 0)));
}

#[test]
fn what_leaves_settled_is_gone_when_its_transaction_is_committed_and_not_before() {
    for (fail, left) in [(true, 1), (false, 0)] {
        let (_router, store, mut client, coordinator) = site(&[1]);
        let txn = declare(&mut client, coordinator);
        let settled = NewLink { snd_settle_mode: SenderSettleMode::Settled, ..receiver("a") };
        let (link, _) = attach(&mut client, settled, 0);
        acquire(&mut client, link, &txn, 1);
        assert!(client.receive().settled);
        assert_eq!(depth(&store), Some((1, 1)));
        discharge(&mut client, coordinator, &txn, fail);
        assert_eq!(depth(&store), Some((left, 0)));
    }
}

#[test]
fn an_outcome_in_another_transaction_ends_the_link_to_the_coordinator() {
    let (_router, store, mut client, coordinator) = site(&[1]);
    let (one, other) = (declare(&mut client, coordinator), declare(&mut client, coordinator));
    let link = client.receiver("a", 0);
    acquire(&mut client, link, &one, 1);
    let received = client.receive();
    retire(&mut client, &received, &other);
    assert_eq!(end_of(&mut client, coordinator).as_deref(), Some("amqp:transaction:rollback"));
    assert_eq!(depth(&store), Some((1, 0)));
}

#[test]
fn a_flow_that_names_a_transaction_that_there_is_not_ends_its_link() {
    let (router, store, mut client, _) = site(&[1]);
    let link = client.receiver("a", 0);
    acquire(&mut client, link, b"nonsense", 1);
    assert_eq!(end_of(&mut client, link).as_deref(), Some("amqp:transaction:unknown-id"));
    router.wait_until("it is free", |_| depth(&store) == Some((1, 0)));
    assert!(client.take_message().is_none());
}

#[test]
fn a_large_message_is_back_after_a_rollback_however_much_of_it_has_left() {
    let directory = Directory::new("large-acquired");
    let stored = Stored::at(&directory);
    stored.queue("a");
    let mut client = stored.router.client();
    let sender = client.sender(Some("a"));
    let key = client.send(sender, false, &message(3_000_000));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    let coordinator = coordinator(&mut client);
    let txn = declare(&mut client, coordinator);
    let link = client.receiver("a", 0);
    acquire(&mut client, link, &txn, 1);
    stored.router.wait_until("some of it has left", |_| {
        client.turn(std::time::Duration::ZERO);
        client.bytes_received > 0
    });
    discharge(&mut client, coordinator, &txn, true);
    stored.router.wait_until("it is free", |_| {
        client.turn(std::time::Duration::ZERO);
        depth(&stored.store) == Some((1, 0))
    });
    let mut other = stored.router.client();
    other.receiver("a", 1);
    assert!(other.receive().bytes.ends_with(&message(3_000_000)));
}
