//! Local transactions over several queues.

use amqp::DeliveryState;
use amqp::codec::{ListEncoder, encode};
use amqp::message::Message;
use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, TargetTerminus};
use amqp_endpoint::{LinkId, NewLink};
use queue_core::{Overflow, QueueSettings};

use super::{in_memory, volatile};
use crate::shard::tests::client::{Client, Happened, encoded, message};
use crate::store::TemplateSpec;
use crate::store::transactional::TransactionalState;

/// A link to the coordinator.
pub(super) fn coordinator(client: &mut Client) -> LinkId {
    coordinator_with(client, Source::default())
}

fn coordinator_with(client: &mut Client, source: Source) -> LinkId {
    let session = client.session();
    let new = NewLink {
        name: "coordinator".to_owned(),
        sender: true,
        snd_settle_mode: SenderSettleMode::Unsettled,
        rcv_settle_mode: ReceiverSettleMode::First,
        source: Some(source),
        target: Some(TargetTerminus::Coordinator { capabilities: Vec::new() }),
        max_message_size: None,
        offered_capabilities: Vec::new(),
        desired_capabilities: Vec::new(),
        properties: None,
    };
    let link = client.endpoint.attach(session, new).expect("the name is free");
    client.write();
    client.expect("the answer", |happened| matches!(happened, Happened::Attached(of, _) if *of == link));
    link
}

pub(super) fn declare(client: &mut Client, link: LinkId) -> Vec<u8> {
    let key = client.send(link, false, b"\x00\x53\x77\x00\x53\x31\x45");
    let Some(DeliveryState::Other(declared)) = client.outcome(key) else { panic!("not declared") };
    let mut decoder = amqp::Decoder::new(&declared);
    decoder.read_descriptor().expect("a state is described");
    let mut fields = decoder.read_fields("declared", 1).expect("it is a list");
    fields.mandatory("txn-id", amqp::Decoder::read_binary).expect("it has an id").to_vec()
}

pub(super) fn discharge(client: &mut Client, link: LinkId, txn: &[u8], fail: bool) -> Option<DeliveryState> {
    let key = send_discharge(client, link, txn, fail);
    client.outcome(key)
}

pub(super) fn send_discharge(client: &mut Client, link: LinkId, txn: &[u8], fail: bool) -> u64 {
    let mut bytes = vec![0x00, 0x53, 0x77];
    let mut list = ListEncoder::described(&mut bytes, amqp::descriptor::DISCHARGE);
    list.field(|out| encode::binary(out, txn));
    list.field(|out| encode::boolean(out, fail));
    list.finish();
    client.send(link, false, &bytes)
}

pub(super) fn post(client: &mut Client, link: LinkId, txn: &[u8]) {
    let state = TransactionalState { txn: txn.to_vec(), outcome: None }.state();
    let key = client.begin_with(link, false, Some(&state));
    client.send_part(link, &message(10), false);
    let expected = TransactionalState { txn: txn.to_vec(), outcome: Some(DeliveryState::Accepted) };
    assert_eq!(client.outcome(key).as_ref().and_then(TransactionalState::of), Some(expected));
}

#[test]
fn what_is_sent_in_a_transaction_is_there_when_it_is_committed_and_not_before() {
    let (router, store) = in_memory([volatile("a"), volatile("b")]);
    let depth = |address: &str| store.queue(address).map(|queue| queue.messages);
    let mut client = router.client();
    let (coordinator, a, b) = (coordinator(&mut client), client.sender(Some("a")), client.sender(Some("b")));
    let txn = declare(&mut client, coordinator);
    post(&mut client, a, &txn);
    post(&mut client, b, &txn);
    assert_eq!((depth("a"), depth("b")), (Some(0), Some(0)));
    assert_eq!(discharge(&mut client, coordinator, &txn, false), Some(DeliveryState::Accepted));
    assert_eq!((depth("a"), depth("b")), (Some(1), Some(1)));
}

#[test]
fn what_is_taken_in_a_transaction_that_is_rolled_back_is_still_with_its_receiver() {
    let (router, store) = in_memory([volatile("a")]);
    let mut client = router.client();
    let (coordinator, a) = (coordinator(&mut client), client.sender(Some("a")));
    let key = client.send(a, false, &message(10));
    client.outcome(key);
    let txn = declare(&mut client, coordinator);
    client.receiver("a", 1);
    let received = client.receive();
    let state = TransactionalState { txn: txn.clone(), outcome: Some(DeliveryState::Accepted) }.state();
    client.endpoint.update_incoming(received.link, received.delivery_id, Some(state), false);
    client.write();
    assert_eq!(discharge(&mut client, coordinator, &txn, true), Some(DeliveryState::Accepted));
    assert_eq!(store.queue("a").map(|queue| (queue.messages, queue.acquired)), Some((1, 1)));
    client.settle(&received, DeliveryState::Accepted);
    router.wait_until("it is gone", |_| store.queue("a").is_some_and(|queue| queue.messages == 0));
}

#[test]
fn a_transaction_of_a_client_that_is_lost_is_rolled_back() {
    let (router, store) = in_memory([volatile("a")]);
    let mut client = router.client();
    let (link, a) = (coordinator(&mut client), client.sender(Some("a")));
    let key = client.send(a, false, &message(10));
    client.outcome(key);
    let txn = declare(&mut client, link);
    post(&mut client, a, &txn);
    client.receiver("a", 1);
    let received = client.receive();
    let state = TransactionalState { txn, outcome: Some(DeliveryState::Accepted) }.state();
    client.endpoint.update_incoming(received.link, received.delivery_id, Some(state), true);
    client.write();
    drop(client);
    router.wait_until("it is free", |_| {
        store.queue("a").is_some_and(|queue| queue.consumers == 0 && queue.acquired == 0)
    });
    assert_eq!(store.queue("a").map(|queue| queue.messages), Some(1));
}

#[test]
fn a_transaction_that_is_not_known_is_refused() {
    let (router, _store) = in_memory([volatile("a")]);
    let mut client = router.client();
    let link = coordinator(&mut client);
    let Some(DeliveryState::Rejected(Some(error))) = discharge(&mut client, link, b"nonsense", false) else {
        panic!("not rejected");
    };
    assert_eq!(error.condition.as_str(), "amqp:transaction:unknown-id");
}

#[test]
fn a_coordinator_of_which_nothing_can_be_rejected_says_by_the_end_of_its_link_what_cannot_be_done() {
    let (router, _store) = in_memory([volatile("a")]);
    let mut client = router.client();
    let only = |outcome: &str| Source { outcomes: vec![outcome.into()], ..Source::default() };
    let link = coordinator_with(&mut client, only("amqp:accepted:list"));
    let txn = declare(&mut client, link);
    assert_eq!(discharge(&mut client, link, &txn, false), Some(DeliveryState::Accepted));
    send_discharge(&mut client, link, &txn, false);
    assert_eq!(end_of(&mut client, link).as_deref(), Some("amqp:transaction:unknown-id"));
    let mut client = router.client();
    let link = coordinator_with(&mut client, only("amqp:rejected:list"));
    assert!(matches!(discharge(&mut client, link, b"nonsense", false), Some(DeliveryState::Rejected(Some(_)))));
}

#[test]
fn whoever_settles_or_sends_settled_in_a_transaction_that_is_not_known_hears_it_by_the_end_of_the_link() {
    for settled in [false, true] {
        let (router, store) = in_memory([volatile("a")]);
        let mut client = router.client();
        let a = client.sender(Some("a"));
        let key = client.send(a, false, &message(10));
        client.outcome(key);
        client.receiver("a", 1);
        let received = client.receive();
        let state = TransactionalState { txn: vec![7; 16], outcome: Some(DeliveryState::Accepted) }.state();
        client.endpoint.update_incoming(received.link, received.delivery_id, Some(state.clone()), settled);
        client.write();
        assert_eq!(end_of(&mut client, received.link).as_deref(), Some("amqp:transaction:unknown-id"));
        client.begin_with(a, true, Some(&state));
        client.send_part(a, &message(10), false);
        assert_eq!(end_of(&mut client, a).as_deref(), Some("amqp:transaction:unknown-id"));
        router.wait_until("it is in its queue", |_| {
            store.queue("a").is_some_and(|queue| (queue.messages, queue.acquired) == (1, 0))
        });
    }
}

/// A message in a transaction whose sender has not sent all of it.
fn begin_to_post(client: &mut Client, link: LinkId, txn: &[u8]) {
    let state = TransactionalState { txn: txn.to_vec(), outcome: None }.state();
    client.begin_with(link, false, Some(&state));
    client.send_part(link, &message(200_000), true);
}

/// The error that the router ends a link with.
pub(super) fn end_of(client: &mut Client, link: LinkId) -> Option<String> {
    let end =
        client.expect("the end", |happened| matches!(happened, Happened::Detached { link: of, .. } if *of == link));
    let Happened::Detached { error, .. } = end else { unreachable!("it was looked for") };
    error.map(|error| error.condition.as_str().to_owned())
}

#[test]
fn a_transaction_that_ends_before_all_of_a_message_has_come_is_rolled_back_and_its_link_ended() {
    let (router, store) = in_memory([volatile("a"), volatile("b")]);
    let mut client = router.client();
    let (link, a, b) = (coordinator(&mut client), client.sender(Some("a")), client.sender(Some("b")));
    let txn = declare(&mut client, link);
    post(&mut client, b, &txn);
    begin_to_post(&mut client, a, &txn);
    send_discharge(&mut client, link, &txn, false);
    assert_eq!(end_of(&mut client, link).as_deref(), Some("amqp:transaction:rollback"));
    assert_eq!(store.queue("b").map(|queue| queue.messages), Some(0));
}

#[test]
fn a_large_message_is_part_of_its_transaction_also_if_that_ends_before_it_is_on_disk() {
    let directory = super::Directory::new("large-in-transaction");
    let stored = super::Stored::at(&directory);
    stored.queue("a");
    let mut client = stored.router.client();
    let (link, a) = (coordinator(&mut client), client.sender(Some("a")));
    let txn = declare(&mut client, link);
    let state = TransactionalState { txn: txn.clone(), outcome: None }.state();
    client.begin_with(a, false, Some(&state));
    client.send_part(a, &message(3_000_000), false);
    assert_eq!(discharge(&mut client, link, &txn, false), Some(DeliveryState::Accepted));
    assert_eq!(stored.store.queue("a").map(|queue| queue.messages), Some(1));
}

/// Sends a message, in a transaction if there is one, and waits for nothing.
fn send_in(client: &mut Client, link: LinkId, txn: Option<&[u8]>, size: usize) {
    let state = txn.map(|txn| TransactionalState { txn: txn.to_vec(), outcome: None }.state());
    client.begin_with(link, false, state.as_ref());
    client.send_part(link, &message(size), false);
}

#[test]
fn messages_that_wait_behind_large_ones_are_part_of_a_transaction_that_is_to_end_meanwhile() {
    let directory = super::Directory::new("behind-large-in-transaction");
    let stored = super::Stored::at(&directory);
    ["a", "b"].into_iter().for_each(|address| stored.queue(address));
    let mut client = stored.router.client();
    let (link, a, b) = (coordinator(&mut client), client.sender(Some("a")), client.sender(Some("b")));
    let mut expected = 0;
    for of_it in [false, true] {
        let txn = declare(&mut client, link);
        let before = of_it.then_some(&txn[..]);
        send_in(&mut client, b, Some(&txn), 10);
        for size in [3_000_000, 10, 2_000_000] {
            send_in(&mut client, a, before, size);
        }
        send_in(&mut client, a, Some(&txn), 10);
        expected += 4;
        assert_eq!(discharge(&mut client, link, &txn, false), Some(DeliveryState::Accepted));
        assert_eq!(stored.store.queue("a").map(|queue| queue.messages), Some(expected));
    }
    assert_eq!(stored.store.queue("b").map(|queue| queue.messages), Some(2));
}

#[test]
fn a_message_that_has_its_queue_made_is_part_of_a_transaction_that_is_to_end_meanwhile() {
    let directory = super::Directory::new("early-in-transaction");
    let stored = super::Stored::at(&directory);
    let template = TemplateSpec { pattern: "tmp.#".to_owned(), queue: QueueSettings::new("any") };
    stored.store.create_template(template).expect("it is new");
    let mut client = stored.router.client();
    let (link, any) = (coordinator(&mut client), client.sender(None));
    for number in 1..=5 {
        let txn = declare(&mut client, link);
        let state = TransactionalState { txn: txn.clone(), outcome: None }.state();
        let mut message = Message::default();
        message.properties.to = Some(format!("tmp.{number}"));
        client.begin_with(any, false, Some(&state));
        client.send_part(any, &encoded(&message), false);
        assert_eq!(discharge(&mut client, link, &txn, false), Some(DeliveryState::Accepted));
        assert_eq!(stored.store.queue(&format!("tmp.{number}")).map(|queue| queue.messages), Some(1));
    }
}

#[test]
fn a_transaction_over_queues_on_disk_and_in_memory_is_done_as_a_whole_or_not_at_all() {
    let directory = super::Directory::new("both-sides");
    let stored = super::Stored::at(&directory);
    let small = QueueSettings { max_messages: Some(1), overflow: Overflow::Reject, ..QueueSettings::new("logged") };
    stored.store.declare_queue(small).expect("it can be made");
    stored.store.declare_queue(volatile("memory")).expect("it can be made");
    let depth = |address: &str| stored.store.queue(address).map(|queue| queue.messages);
    let mut client = stored.router.client();
    let link = coordinator(&mut client);
    let (logged, memory) = (client.sender(Some("logged")), client.sender(Some("memory")));
    for full in [false, true] {
        let txn = declare(&mut client, link);
        post(&mut client, memory, &txn);
        post(&mut client, logged, &txn);
        let outcome = discharge(&mut client, link, &txn, false);
        assert_eq!(matches!(outcome, Some(DeliveryState::Rejected(_))), full);
        assert_eq!((depth("memory"), depth("logged")), (Some(1), Some(1)));
    }
}

#[test]
fn what_is_taken_from_memory_is_still_with_its_receiver_if_the_disk_part_of_its_transaction_is_refused() {
    let directory = super::Directory::new("both-sides-taken");
    let stored = super::Stored::at(&directory);
    let small = QueueSettings { max_messages: Some(1), overflow: Overflow::Reject, ..QueueSettings::new("logged") };
    stored.store.declare_queue(small).expect("it can be made");
    stored.store.declare_queue(volatile("memory")).expect("it can be made");
    let mut client = stored.router.client();
    let link = coordinator(&mut client);
    let (logged, memory) = (client.sender(Some("logged")), client.sender(Some("memory")));
    for full in [logged, memory] {
        let key = client.send(full, false, &message(10));
        client.outcome(key);
    }
    client.receiver("memory", 1);
    let received = client.receive();
    let txn = declare(&mut client, link);
    let state = TransactionalState { txn: txn.clone(), outcome: Some(DeliveryState::Accepted) }.state();
    client.endpoint.update_incoming(received.link, received.delivery_id, Some(state), false);
    client.write();
    post(&mut client, logged, &txn);
    assert!(matches!(discharge(&mut client, link, &txn, false), Some(DeliveryState::Rejected(_))));
    assert_eq!(stored.store.queue("memory").map(|queue| (queue.messages, queue.acquired)), Some((1, 1)));
    client.settle(&received, DeliveryState::Accepted);
    stored.router.wait_until("it is gone", |_| stored.store.queue("memory").is_some_and(|queue| queue.messages == 0));
}
