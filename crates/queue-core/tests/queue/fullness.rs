//! That a queue is full is told once, and so is that it has room again.

use crate::support::Host;
use queue_core::*;

/// What was told of fullness since this was asked last.
fn told(host: &mut Host) -> Vec<Event> {
    let events = std::mem::take(&mut host.events);
    events.into_iter().filter(|event| matches!(event, Event::Full(_) | Event::Room(_))).collect()
}

#[test]
fn it_is_told_once_and_room_only_when_there_is_some() {
    for overflow in [Overflow::Hold, Overflow::Reject, Overflow::DropHead, Overflow::Ring] {
        let (mut host, queue) = Host::with(|settings| {
            settings.max_messages = Some(16);
            settings.overflow = overflow;
        });
        (0..15).for_each(|_| drop(host.send(queue, 1)));
        assert_eq!(told(&mut host), []);
        (0..3).for_each(|_| drop(host.send(queue, 1)));
        assert_eq!(told(&mut host), [Event::Full(queue)], "{overflow:?}");
        host.consumer(queue, 100);
        let held = host.deliver();
        let (few, many) = held.split_at(held.len() - 13);
        few.iter().for_each(|message| host.settle(message, Outcome::Accepted));
        assert_eq!(told(&mut host), [Event::Room(queue)], "{overflow:?}");
        many.iter().for_each(|message| host.settle(message, Outcome::Accepted));
        assert_eq!(told(&mut host), []);
        assert_eq!(host.broker.statistics(queue).map(|statistics| statistics.full), Some(false));
    }
}

#[test]
fn a_message_that_comes_and_goes_at_the_limit_is_not_told_of_each_time() {
    let (mut host, queue) = Host::with(|settings| settings.max_messages = Some(100));
    (0..100).for_each(|_| drop(host.send(queue, 1)));
    host.consumer(queue, 100);
    for _ in 0..10 {
        let message = host.next().unwrap();
        host.settle(&message, Outcome::Accepted);
        host.send(queue, 1).unwrap();
    }
    assert_eq!(told(&mut host), [Event::Full(queue)]);
}

#[test]
fn a_message_too_large_for_what_is_left_counts_as_well() {
    let (mut host, queue) = Host::with(|settings| {
        settings.max_bytes = Some(100);
        settings.overflow = Overflow::Reject;
    });
    host.send(queue, 95).unwrap();
    assert_eq!(told(&mut host), []);
    host.send(queue, 10).unwrap_err();
    host.send(queue, 10).unwrap_err();
    assert_eq!(told(&mut host), [Event::Full(queue)]);
}

#[test]
fn other_limits_count_at_once() {
    let (mut host, queue) = Host::with(|settings| settings.max_messages = Some(10));
    (0..5).for_each(|_| drop(host.send(queue, 1)));
    let with = |most| QueueSettings { max_messages: most, ..QueueSettings::new("q") };
    host.apply(Command::ChangeQueue { queue, settings: Box::new(with(Some(5))) }).unwrap();
    assert_eq!(told(&mut host), [Event::Full(queue)]);
    host.apply(Command::ChangeQueue { queue, settings: Box::new(with(None)) }).unwrap();
    assert_eq!(told(&mut host), [Event::Room(queue)]);
}

#[test]
fn after_a_restart_it_can_be_asked_for() {
    let (mut host, queue) = Host::with(|settings| settings.max_messages = Some(2));
    (0..2).for_each(|_| drop(host.send(queue, 1)));
    assert_eq!(host.restored().find_full(), [queue]);
}
