//! Messages that expire, or are not to be delivered yet.

use crate::support::Host;
use queue_core::*;

#[test]
fn an_expired_message_is_not_delivered_and_goes_to_the_expiry_address() {
    let (mut host, queue) = Host::with(|settings| settings.expiry_address = Some("late".into()));
    let expires_at = Some(host.now + 100);
    host.send_facts(queue, Facts { expires_at, ..Facts::plain(1) }).unwrap();
    host.send(queue, 2).unwrap();
    assert_eq!(host.broker.next_timeout(), Some(0));
    assert_eq!(host.next(), None);
    assert_eq!(host.broker.next_timeout(), expires_at);
    host.now += 100;
    host.consumer(queue, 5);
    assert_eq!(host.sizes(), [2]);
    host.wait(0);
    let late = host.queue("late");
    assert_eq!((host.depth(queue), host.depth(late)), (1, 1));
    // It does not expire there again.
    assert_eq!(host.broker.next_timeout(), Some(0));
    assert_eq!(host.next(), None);
    assert_eq!(host.broker.next_timeout(), None);
}

// QPID-3222
#[test]
fn a_ttl_too_large_to_be_added_to_now_is_one_without_end() {
    let (mut host, queue) = Host::with(|settings| settings.default_ttl = Some(u64::MAX));
    host.send(queue, 1).unwrap();
    host.consumer(queue, 1);
    assert_eq!(host.sizes(), [1]);
}

#[test]
fn a_held_message_expires_only_when_it_is_back() {
    let (mut host, queue) = Host::with(|settings| settings.default_ttl = Some(10));
    host.send(queue, 1).unwrap();
    host.consumer(queue, 5);
    let held = host.next().unwrap();
    host.wait(20);
    assert_eq!(host.depth(queue), 1);
    host.settle(&held, Outcome::Released);
    assert_eq!(host.next(), None);
    host.wait(0);
    assert_eq!(host.depth(queue), 0);
}

#[test]
fn a_delayed_message_is_delivered_at_its_time_and_before_those_that_came_later() {
    let (mut host, queue) = Host::with(|_| {});
    host.send_facts(queue, Facts { deliver_at: Some(host.now + 50), ..Facts::plain(1) }).unwrap();
    host.send(queue, 2).unwrap();
    host.send(queue, 3).unwrap();
    let consumer = host.consumer(queue, 1);
    assert_eq!(host.sizes(), [2]);
    assert_eq!(host.broker.next_timeout(), Some(host.now + 50));
    host.wait(50);
    host.broker.set_credit(consumer, 2, false);
    assert_eq!(host.sizes(), [1, 3]);
}

#[test]
fn failed_deliveries_wait_longer_each_time() {
    let (mut host, queue) = Host::with(|settings| {
        settings.redelivery_delay = 100;
        settings.redelivery_multiplier = 200;
        settings.max_redelivery_delay = Some(350);
    });
    host.send(queue, 1).unwrap();
    host.consumer(queue, 100);
    for delay in [100, 200, 350, 350] {
        let message = host.next().unwrap();
        host.settle(&message, Outcome::lost());
        host.wait(delay - 1);
        assert_eq!(host.next(), None);
        host.wait(1);
    }
    assert_eq!(host.sizes(), [1]);
}

// QPID-4490
#[test]
fn a_message_expires_at_its_time_also_if_the_program_was_started_again_meanwhile() {
    let (mut host, queue) = Host::with(|settings| settings.default_ttl = Some(100));
    host.send(queue, 1).unwrap();
    host.broker = host.restored();
    assert_eq!(host.broker.next_timeout(), Some(host.now + 100));
    host.wait(100);
    assert_eq!(host.depth(queue), 0);
}
