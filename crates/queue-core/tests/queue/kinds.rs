//! Queues of special kinds: priorities, last value, rings, limits, duplicates.

use crate::support::Host;
use queue_core::*;

fn priority(size: u64, priority: u8) -> Facts {
    Facts { priority, ..Facts::plain(size) }
}

fn keyed(size: u64, key: &str) -> Facts {
    Facts { keys: vec![("k".into(), key.as_bytes().into())], ..Facts::plain(size) }
}

fn known(size: u64, id: &str) -> Facts {
    Facts { duplicate_id: Some(id.as_bytes().into()), ..Facts::plain(size) }
}

#[test]
fn higher_priorities_go_first_and_those_above_9_count_as_9() {
    let (mut host, queue) = Host::with(|_| {});
    for (size, level) in [(1, 4), (2, 9), (3, 0), (4, 200), (5, 4)] {
        host.send_facts(queue, priority(size, level)).unwrap();
    }
    host.consumer(queue, 10);
    assert_eq!(host.sizes(), [2, 4, 1, 5, 3]);
}

#[test]
fn priorities_can_be_switched_off() {
    let (mut host, queue) = Host::with(|settings| settings.priorities = false);
    for (size, level) in [(1, 4), (2, 9), (3, 0)] {
        host.send_facts(queue, priority(size, level)).unwrap();
    }
    host.consumer(queue, 10);
    assert_eq!(host.sizes(), [1, 2, 3]);
}

#[test]
fn a_newer_message_of_the_same_key_takes_the_place_of_the_older_at_the_tail() {
    let (mut host, queue) = Host::with(|settings| settings.last_value_key = Some("k".into()));
    for (size, key) in [(1, "a"), (2, "b"), (3, "a")] {
        host.send_facts(queue, keyed(size, key)).unwrap();
    }
    host.send(queue, 4).unwrap();
    host.consumer(queue, 10);
    assert_eq!(host.sizes(), [2, 3, 4]);
}

#[test]
fn an_older_message_of_the_key_that_is_held_is_left_to_finish() {
    let (mut host, queue) = Host::with(|settings| settings.last_value_key = Some("k".into()));
    host.send_facts(queue, keyed(1, "a")).unwrap();
    host.consumer(queue, 10);
    let held = host.next().unwrap();
    host.events.clear();
    host.send_facts(queue, keyed(2, "a")).unwrap();
    // Its bytes are kept as long as its consumer may still read them.
    assert_eq!(host.events, []);
    assert_eq!(host.broker.outcome(held.acquisition.unwrap(), Outcome::Accepted, host.now), None);
    host.broker.take_events(&mut host.events);
    assert_eq!(host.events, [Event::BodyGone { body: held.body, size: 1 }]);
    assert_eq!(host.sizes(), [2]);
}

#[test]
fn a_ring_drops_its_oldest() {
    let (mut host, queue) = Host::with(|settings| {
        settings.max_messages = Some(2);
        settings.overflow = Overflow::Ring;
        settings.dead_letter_address = Some("dead".into());
    });
    (1..=4).for_each(|size| drop(host.send(queue, size)));
    assert_eq!(host.broker.node("dead"), None);
    host.consumer(queue, 10);
    assert_eq!(host.sizes(), [3, 4]);
}

#[test]
fn a_full_queue_that_drops_its_head_sends_it_to_the_dead_letter_address() {
    let (mut host, queue) = Host::with(|settings| {
        settings.max_bytes = Some(10);
        settings.overflow = Overflow::DropHead;
        settings.dead_letter_address = Some("dead".into());
    });
    [4, 5, 6].into_iter().for_each(|size| drop(host.send(queue, size)));
    let dead = host.queue("dead");
    host.consumer(dead, 10);
    assert_eq!(host.sizes(), [4, 5]);
    assert_eq!(host.broker.statistics(queue).unwrap().bytes, 6);
}

#[test]
fn a_full_queue_that_rejects_says_so_and_takes_again_when_there_is_room() {
    let (mut host, queue) = Host::with(|settings| {
        settings.max_messages = Some(1);
        settings.overflow = Overflow::Reject;
    });
    host.send(queue, 1).unwrap();
    host.consumer(queue, 1);
    assert_eq!(host.send(queue, 2), Err(Refused::Full { queue: "q".into() }));
    assert!(matches!(host.events[..], [Event::Full(_), Event::BodyGone { size: 2, .. }]), "{:?}", host.events);
    let message = host.next().unwrap();
    host.settle(&message, Outcome::Accepted);
    host.send(queue, 3).unwrap();
}

#[test]
fn a_queue_that_holds_senders_back_tells_its_room_and_refuses_nothing() {
    let (mut host, queue) = Host::with(|settings| {
        settings.max_messages = Some(2);
        settings.max_bytes = Some(100);
    });
    host.send(queue, 30).unwrap();
    assert_eq!(host.broker.room(queue), Room { messages: 1, bytes: 70 });
    (0..2).for_each(|_| drop(host.send(queue, 60)));
    assert_eq!(host.broker.room(queue), Room { messages: 0, bytes: 0 });
    assert_eq!(host.depth(queue), 3);
}

#[test]
fn a_duplicate_is_not_taken_as_long_as_its_id_is_known() {
    let (mut host, queue) = Host::with(|settings| {
        settings.duplicate_count = 2;
        settings.duplicate_time = 100;
    });
    host.send_facts(queue, known(1, "a")).unwrap();
    assert_eq!(host.send_facts(queue, known(2, "a")), Err(Refused::Duplicate));
    host.send_facts(queue, known(3, "b")).unwrap();
    host.send_facts(queue, known(4, "c")).unwrap();
    // Three ids are more than are remembered.
    host.send_facts(queue, known(5, "a")).unwrap();
    host.wait(100);
    host.send_facts(queue, known(6, "a")).unwrap();
    let depth = host.restored().statistics(queue).unwrap();
    assert_eq!((depth.depth, depth.totals.duplicates), (5, 1));
}

#[test]
fn ids_are_known_after_a_restart() {
    let (mut host, queue) = Host::with(|settings| settings.duplicate_count = 2);
    host.send_facts(queue, known(1, "a")).unwrap();
    host.broker = host.restored();
    assert_eq!(host.send_facts(queue, known(2, "a")), Err(Refused::Duplicate));
}
