//! Who gets which message.

use crate::support::Host;
use queue_core::*;

/// Even sizes are for consumers with a filter. Counts how many messages it was asked about.
#[derive(Default)]
struct Even {
    asked: usize,
}

impl Matcher for Even {
    fn matches(&mut self, _: ConsumerId, candidate: &Candidate<'_>) -> Match {
        self.asked += 1;
        if candidate.size.is_multiple_of(2) { Match::Yes } else { Match::No }
    }
}

fn filtered() -> ConsumerSettings {
    ConsumerSettings { filter: true, ..ConsumerSettings::new("f") }
}

#[test]
fn consumers_take_turns() {
    let (mut host, queue) = Host::with(|_| {});
    (1..=4).for_each(|size| drop(host.send(queue, size)));
    let a = host.consumer(queue, 10);
    let b = host.consumer(queue, 10);
    let who: Vec<ConsumerId> = host.deliver().iter().map(|d| d.consumer).collect();
    assert_eq!(who, [a, b, a, b]);
}

#[test]
fn a_consumer_of_higher_priority_gets_messages_as_long_as_it_has_credit() {
    let (mut host, queue) = Host::with(|_| {});
    (1..=3).for_each(|size| drop(host.send(queue, size)));
    let low = host.consumer(queue, 10);
    let high = host.subscribe(queue, 2, ConsumerSettings { priority: 5, ..ConsumerSettings::new("h") });
    let who: Vec<ConsumerId> = host.deliver().iter().map(|d| d.consumer).collect();
    assert_eq!(who, [high, high, low]);
}

// QPID-5280, QPID-5283
#[test]
fn an_exclusive_consumer_shares_with_nobody() {
    let (mut host, queue) = Host::with(|_| {});
    let exclusive = ConsumerSettings { exclusive: true, ..ConsumerSettings::new("x") };
    let first = host.subscribe(queue, 1, exclusive.clone());
    let refused = host.broker.subscribe(queue, ConsumerSettings::new("y"));
    assert_eq!(refused, Err(SubscribeError::Exclusive { queue: "q".into(), holder: "x".into() }));
    host.subscribe(queue, 1, ConsumerSettings::browser("b"));
    host.broker.cancel(first, &Outcome::lost(), host.now, &mut Vec::new());
    host.consumer(queue, 1);
    let refused = host.broker.subscribe(queue, exclusive);
    assert_eq!(refused, Err(SubscribeError::NotAlone { queue: "q".into(), others: 1 }));
}

#[test]
fn only_one_consumer_is_active_and_the_next_takes_over() {
    let (mut host, queue) = Host::with(|settings| settings.single_active = true);
    (1..=3).for_each(|size| drop(host.send(queue, size)));
    let first = host.consumer(queue, 1);
    let second = host.consumer(queue, 10);
    assert_eq!(host.deliver().iter().map(|d| (d.consumer, d.size)).collect::<Vec<_>>(), [(first, 1)]);
    let mut commands = Vec::new();
    host.broker.cancel(first, &Outcome::Released, host.now, &mut commands);
    assert_eq!(commands, []);
    assert!(host.broker.is_active(second));
    assert_eq!(host.sizes(), [1, 2, 3]);
}

#[test]
fn what_a_lost_consumer_held_counts_as_failed_and_is_said_in_one_command() {
    let (mut host, queue) = Host::with(|_| {});
    (1..=3).for_each(|size| drop(host.send(queue, size)));
    let lost = host.consumer(queue, 3);
    host.deliver();
    let mut commands = Vec::new();
    host.broker.cancel(lost, &Outcome::lost(), host.now, &mut commands);
    assert_eq!(commands.len(), 1);
    host.consumer(queue, 10);
    assert_eq!(host.next(), None);
    host.apply_all(commands);
    let again: Vec<_> = host.deliver().iter().map(|d| (d.size, d.delivery_count)).collect();
    assert_eq!(again, [(1, 1), (2, 1), (3, 1)]);
}

#[test]
fn a_filter_looks_at_each_message_once() {
    let (mut host, queue) = Host::with(|_| {});
    (0..1000).for_each(|_| drop(host.send(queue, 1)));
    host.subscribe(queue, 10, filtered());
    let mut even = Even::default();
    for _ in 0..10 {
        assert_eq!(host.broker.next_delivery(host.now, &mut even), None);
        host.send(queue, 1).unwrap();
    }
    assert_eq!(even.asked, 1009);
    host.send(queue, 2).unwrap();
    let found = host.broker.next_delivery(host.now, &mut even).unwrap();
    host.settle(&found, Outcome::Released);
    let again = host.broker.next_delivery(host.now, &mut even).unwrap();
    assert_eq!((again.seq, even.asked), (found.seq, 1012));
}

#[test]
fn looking_that_has_taken_long_enough_goes_on_in_another_call() {
    struct Slow(Even);
    impl Matcher for Slow {
        fn matches(&mut self, consumer: ConsumerId, candidate: &Candidate<'_>) -> Match {
            self.0.matches(consumer, candidate)
        }

        fn tires(&mut self) -> bool {
            self.0.asked.is_multiple_of(10)
        }
    }
    let (mut host, queue) = Host::with(|_| {});
    (0..95).for_each(|_| drop(host.send(queue, 1)));
    host.send(queue, 2).unwrap();
    host.subscribe(queue, 10, filtered());
    let mut slow = Slow(Even::default());
    for call in 1..=9 {
        assert_eq!(host.broker.next_delivery(host.now, &mut slow), None);
        assert_eq!((slow.0.asked, host.broker.next_timeout()), (10 * call, Some(0)));
    }
    let found = host.broker.next_delivery(host.now, &mut slow).unwrap();
    assert_eq!((found.size, slow.0.asked), (2, 96));
}

#[test]
fn a_filter_that_needs_bytes_waits_for_them_while_others_go_on() {
    struct Absent;
    impl Matcher for Absent {
        fn matches(&mut self, _: ConsumerId, _: &Candidate<'_>) -> Match {
            Match::Unknown
        }
    }
    let (mut host, queue) = Host::with(|_| {});
    (1..=2).for_each(|size| drop(host.send(queue, size)));
    let waiting = host.subscribe(queue, 1, filtered());
    host.broker.set_credit(waiting, 1, true);
    assert_eq!(host.broker.next_delivery(host.now, &mut Absent), None);
    assert_eq!(host.broker.next_drained(), None);
    host.consumer(queue, 1);
    assert_eq!(host.sizes(), [1]);
    host.broker.fetched(waiting);
    assert_eq!(host.sizes(), [2]);
}

#[test]
fn a_message_that_is_undeliverable_here_goes_to_others_only() {
    let (mut host, queue) = Host::with(|_| {});
    (1..=2).for_each(|size| drop(host.send(queue, size)));
    let here = host.subscribe(queue, 1, ConsumerSettings::new("here"));
    let message = host.next().unwrap();
    host.settle(&message, Outcome::Modified { failed: false, undeliverable_here: true, annotations: None });
    host.broker.set_credit(here, 10, false);
    assert_eq!(host.sizes(), [2]);
    // Nor when it comes back.
    host.broker.cancel(here, &Outcome::Released, host.now, &mut Vec::new());
    host.broker = host.restored();
    host.subscribe(queue, 10, ConsumerSettings::new("here"));
    assert_eq!(host.sizes(), [2]);
    host.subscribe(queue, 10, ConsumerSettings::new("there"));
    assert_eq!(host.deliver().iter().map(|d| (d.size, d.delivery_count)).collect::<Vec<_>>(), [(1, 0)]);
}

// QPID-8226, QPID-5253
#[test]
fn a_browser_sees_what_is_there_and_what_comes_and_changes_nothing() {
    let (mut host, queue) = Host::with(|_| {});
    (1..=2).for_each(|size| drop(host.send(queue, size)));
    host.send_facts(queue, Facts { deliver_at: Some(host.now + 10), ..Facts::plain(3) }).unwrap();
    host.consumer(queue, 1);
    let held = host.next().unwrap();
    host.subscribe(queue, 10, ConsumerSettings::browser("b"));
    let seen = host.deliver();
    assert_eq!(seen.iter().map(|d| (d.size, d.acquisition)).collect::<Vec<_>>(), [(1, None), (2, None)]);
    host.send(queue, 4).unwrap();
    assert_eq!(host.sizes(), [4]);
    host.settle(&held, Outcome::lost());
    host.wait(10);
    assert_eq!(host.sizes(), [3]);
    assert_eq!(host.depth(queue), 4);
}

#[test]
fn a_drained_consumer_gets_what_there_is_and_gives_back_the_rest() {
    let (mut host, queue) = Host::with(|_| {});
    host.send(queue, 1).unwrap();
    let consumer = host.consumer(queue, 0);
    host.broker.set_credit(consumer, 5, true);
    assert_eq!(host.sizes(), [1]);
    assert_eq!(host.broker.next_drained(), Some((consumer, 4)));
    assert_eq!((host.broker.next_drained(), host.broker.credit(consumer)), (None, 0));
}

#[test]
fn a_queue_admits_no_more_consumers_than_it_says() {
    let (mut host, queue) = Host::with(|settings| settings.max_consumers = Some(1));
    host.consumer(queue, 1);
    let refused = host.broker.subscribe(queue, ConsumerSettings::browser("b"));
    assert_eq!(refused, Err(SubscribeError::TooMany { queue: "q".into(), most: 1 }));
}

#[test]
fn consumers_that_waited_for_the_active_one_get_messages_when_all_may_be_active() {
    let (mut host, queue) = Host::with(|settings| settings.single_active = true);
    host.consumer(queue, 0);
    let waiting = host.consumer(queue, 1);
    host.send(queue, 1).unwrap();
    assert_eq!(host.next(), None);
    host.apply(Command::ChangeQueue { queue, settings: Box::new(QueueSettings::new("q")) }).unwrap();
    assert_eq!(host.next().map(|d| d.consumer), Some(waiting));
}
