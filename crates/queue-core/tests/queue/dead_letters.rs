//! Where messages go that cannot be delivered.

use crate::support::Host;
use queue_core::*;

fn deaths(assignment: &Assignment) -> Vec<(&str, Reason, u32)> {
    let overlay = assignment.overlay.as_ref().unwrap();
    overlay.deaths.iter().map(|death| (&*death.address, death.reason, death.count)).collect()
}

#[test]
fn a_rejected_message_goes_to_the_dead_letter_address_with_the_reason() {
    let (mut host, queue) = Host::with(|settings| settings.dead_letter_address = Some("dead".into()));
    host.send(queue, 1).unwrap();
    host.consumer(queue, 1);
    let message = host.next().unwrap();
    host.settle(&message, Outcome::Rejected { error: Some("too old".into()) });
    assert_eq!(host.depth(queue), 0);
    let dead = host.queue("dead");
    assert!(host.broker.settings(dead).unwrap().auto_created);
    host.consumer(dead, 1);
    let letter = host.next().unwrap();
    assert_eq!((letter.body, letter.delivery_count), (message.body, 0));
    assert_eq!(deaths(&letter), [("q", Reason::Rejected, 1)]);
    assert_eq!(letter.overlay.unwrap().deaths[0].error.as_deref(), Some("too old"));
}

#[test]
fn without_a_dead_letter_address_a_rejected_message_is_dropped() {
    let (mut host, queue) = Host::with(|_| {});
    host.send(queue, 1).unwrap();
    host.consumer(queue, 1);
    let message = host.next().unwrap();
    host.settle(&message, Outcome::Rejected { error: None });
    assert_eq!(host.depth(queue), 0);
    assert!(host.events.contains(&Event::BodyGone { body: message.body, size: 1 }));
    assert!(host.events.contains(&Event::Dropped { queue, reason: Reason::Rejected }));
}

#[test]
fn a_message_that_failed_too_often_is_a_dead_letter() {
    let (mut host, queue) = Host::with(|settings| {
        settings.dead_letter_address = Some("dead".into());
        settings.delivery_limit = 3;
    });
    host.send(queue, 1).unwrap();
    host.consumer(queue, 100);
    for count in 0..3 {
        let message = host.next().unwrap();
        assert_eq!(message.delivery_count, count);
        host.settle(&message, Outcome::lost());
    }
    assert_eq!(host.next(), None);
    let dead = host.queue("dead");
    assert_eq!(host.depth(dead), 1);
}

#[test]
fn messages_that_only_expire_in_a_circle_of_queues_are_dropped_at_its_end() {
    let mut host = Host::new();
    let ring = ["a", "b", "c"];
    let queues: Vec<QueueId> = (0..3)
        .map(|at| {
            host.create(ring[at], |settings| {
                settings.default_ttl = Some(10);
                settings.expiry_address = Some(ring[(at + 1) % 3].into());
            })
        })
        .collect();
    host.send(queues[0], 1).unwrap();
    for depths in [[0, 1, 0], [0, 0, 1], [0, 0, 0]] {
        host.wait(10);
        assert_eq!([0, 1, 2].map(|at| host.depth(queues[at])), depths);
    }
    assert!(host.events.contains(&Event::Dropped { queue: queues[2], reason: Reason::Expired }));
}

// QPID-3481, QPID-4349, QPID-5404
#[test]
fn messages_of_a_deleted_queue_go_to_the_dead_letter_address_once_each_whoever_holds_them() {
    let (mut host, queue) = Host::with(|settings| settings.dead_letter_address = Some("dead".into()));
    (1..=3).for_each(|size| drop(host.send(queue, size)));
    let consumer = host.consumer(queue, 1);
    let held = host.next().unwrap();
    host.apply(Command::DeleteQueue { queue, if_empty: false, orphans: Orphans::DeadLetter }).unwrap();
    let consumers = vec![consumer];
    assert!(host.events.contains(&Event::QueueDeleted { queue, address: "q".into(), consumers }));
    // What its consumer says now comes too late.
    assert_eq!(host.broker.outcome(held.acquisition.unwrap(), Outcome::Released, host.now), None);
    let dead = host.queue("dead");
    host.consumer(dead, 10);
    assert_eq!(host.sizes(), [1, 2, 3]);
}

#[test]
fn dead_letters_go_back_to_where_they_came_from() {
    let (mut host, queue) = Host::with(|settings| settings.dead_letter_address = Some("dead".into()));
    host.send(queue, 1).unwrap();
    host.consumer(queue, 5);
    let message = host.next().unwrap();
    host.settle(&message, Outcome::Rejected { error: None });
    let dead = host.queue("dead");
    let done = host.apply(Command::Retry { queue: dead, what: Selection::All });
    assert_eq!(done, Ok(Done::Messages { count: 1 }));
    let again = host.next().unwrap();
    assert_eq!((again.queue, again.delivery_count, again.overlay), (queue, 0, None));
}

#[test]
fn bytes_that_another_queue_has_are_kept_when_a_message_is_dropped() {
    let (mut host, queue) = Host::with(|_| {});
    let other = host.create("other", |_| {});
    let to = [Target::Queue(queue), Target::Queue(other)].into_iter().collect();
    let enqueue = Enqueue { to, facts: Facts::plain(1), body: Body::Here };
    host.apply(Command::Enqueue(Box::new(enqueue))).unwrap();
    host.consumer(queue, 1);
    let message = host.next().unwrap();
    host.settle(&message, Outcome::Rejected { error: None });
    assert_eq!(host.events, [Event::Dropped { queue, reason: Reason::Rejected }]);
}
