//! Messages come and go in order.

use crate::support::Host;
use queue_core::*;

#[test]
fn messages_are_delivered_in_order_and_leave_when_they_are_accepted() {
    let (mut host, queue) = Host::with(|_| {});
    for size in 1..=3 {
        assert_eq!(host.send(queue, size), Ok(Done::Enqueued { copies: 1 }));
    }
    host.consumer(queue, 2);
    let delivered = host.deliver();
    assert_eq!(delivered.iter().map(|d| d.size).collect::<Vec<_>>(), [1, 2]);
    host.settle(&delivered[0], Outcome::Accepted);
    assert_eq!(host.depth(queue), 2);
    assert_eq!(host.events, [Event::BodyGone { body: delivered[0].body, size: 1 }]);
}

#[test]
fn a_released_message_is_back_at_its_place_and_nothing_is_logged() {
    let (mut host, queue) = Host::with(|_| {});
    (1..=3).for_each(|size| drop(host.send(queue, size)));
    let consumer = host.consumer(queue, 2);
    let first = host.next().unwrap();
    host.next().unwrap();
    let entries = host.log.len();
    host.settle(&first, Outcome::Released);
    host.broker.set_credit(consumer, 2, false);
    let again = host.deliver();
    assert_eq!(
        again.iter().map(|d| (d.size, d.delivery_count, d.redelivered)).collect::<Vec<_>>(),
        [(1, 0, true), (3, 0, false)]
    );
    assert_eq!(host.log.len(), entries);
}

#[test]
fn a_failed_delivery_is_counted() {
    let (mut host, queue) = Host::with(|_| {});
    host.send(queue, 1).unwrap();
    host.consumer(queue, 5);
    let first = host.next().unwrap();
    host.settle(&first, Outcome::lost());
    let again = host.next().unwrap();
    assert_eq!((again.size, again.delivery_count, again.redelivered), (1, 1, true));
}

#[test]
fn a_snapshot_says_all_that_is_there() {
    let (mut host, queue) = Host::with(|settings| settings.max_messages = Some(5000));
    (1..=3000).for_each(|size| drop(host.send(queue, size)));
    let mut restored = host.restored();
    assert_eq!(restored.statistics(queue).unwrap().depth, 3000);
    let consumer = restored.subscribe(queue, ConsumerSettings::new("c")).unwrap();
    restored.set_credit(consumer, u32::MAX, false);
    let sizes: Vec<u64> = std::iter::from_fn(|| restored.next_delivery(0, &mut MatchAll)).map(|d| d.size).collect();
    assert_eq!(sizes, (1..=3000).collect::<Vec<_>>());
}
