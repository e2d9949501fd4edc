//! How much filters look at in one call: others have their turn, however many messages and groups there are.

use crate::support::Host;
use queue_core::*;

/// What is looked for has this size.
const WANTED: u64 = 2;

/// Looks for messages of one size, and counts. It has had enough for one call after so many.
struct Counting {
    asked: usize,
    enough: usize,
    in_this_call: usize,
}

impl Matcher for Counting {
    fn matches(&mut self, _: ConsumerId, candidate: &Candidate<'_>) -> Match {
        self.asked += 1;
        self.in_this_call += 1;
        if candidate.size == WANTED { Match::Yes } else { Match::No }
    }

    fn tires(&mut self) -> bool {
        self.in_this_call >= self.enough
    }
}

impl Counting {
    fn new(enough: usize) -> Self {
        Self { asked: 0, enough, in_this_call: 0 }
    }

    fn next(&mut self, host: &mut Host) -> Option<Assignment> {
        self.in_this_call = 0;
        host.broker.next_delivery(host.now, self)
    }
}

fn filtered() -> ConsumerSettings {
    ConsumerSettings { filter: true, ..ConsumerSettings::new("f") }
}

fn send(host: &mut Host, queue: QueueId, group: usize, size: u64) {
    let facts = Facts { group: Some(format!("g{group}").into()), ..Facts::plain(size) };
    host.send_facts(queue, facts).unwrap();
}

#[test]
fn one_call_looks_at_few_messages_of_groups_and_the_next_goes_on() {
    for groups in [1, 300, 3000] {
        let (mut host, queue) = Host::with(|_| {});
        (0..3000).for_each(|number| send(&mut host, queue, number % groups, 1));
        send(&mut host, queue, 0, WANTED);
        host.subscribe(queue, 10, filtered());
        let mut counting = Counting::new(50);
        let mut calls = 1;
        let found = loop {
            let found = counting.next(&mut host);
            assert!(counting.in_this_call <= 50);
            match found {
                Some(found) => break found,
                None => assert_eq!(host.broker.next_timeout(), Some(0), "it goes on"),
            }
            calls += 1;
            assert!(calls <= 62, "it begins anew each time");
        };
        // What was found is looked at once more in each call.
        assert!(found.size == WANTED && counting.asked <= 3001 + calls, "{groups} groups: {}", counting.asked);
    }
}

#[test]
fn without_a_host_that_tires_there_is_an_end_too() {
    let (mut host, queue) = Host::with(|_| {});
    (0..10_000).for_each(|number| send(&mut host, queue, number, 1));
    host.subscribe(queue, 10, filtered());
    let mut counting = Counting::new(usize::MAX);
    assert_eq!(counting.next(&mut host), None);
    assert!(counting.in_this_call < 5000, "{}", counting.in_this_call);
}

#[test]
fn looking_comes_to_an_end_although_groups_change_all_the_time() {
    let (mut host, queue) = Host::with(|_| {});
    (0..1000).for_each(|number| send(&mut host, queue, number, 1));
    send(&mut host, queue, 1000, WANTED);
    host.subscribe(queue, 10, filtered());
    let mut counting = Counting::new(20);
    let mut others = 0;
    while counting.next(&mut host).is_none() {
        send(&mut host, queue, 2000 + others, 1);
        others += 1;
        assert!(others < 60, "nothing is found");
    }
}

#[test]
fn what_has_come_while_it_looked_is_found() {
    let (mut host, queue) = Host::with(|_| {});
    (0..100).for_each(|number| send(&mut host, queue, number, 1));
    host.subscribe(queue, 10, filtered());
    let mut counting = Counting::new(60);
    assert_eq!(counting.next(&mut host), None);
    // In a group that was looked through.
    send(&mut host, queue, 0, WANTED);
    let found = (0..10).find_map(|_| counting.next(&mut host)).unwrap();
    assert_eq!(found.size, WANTED);
}

#[test]
fn what_was_found_and_taken_by_another_is_given_to_nobody_else() {
    let (mut host, queue) = Host::with(|_| {});
    send(&mut host, queue, 0, WANTED);
    host.send(queue, 1).unwrap();
    host.send(queue, 1).unwrap();
    let slow = host.subscribe(queue, 1, filtered());
    let (mut counting, mut found) = (Counting::new(1), Vec::new());
    found.extend(counting.next(&mut host));
    assert!(found.is_empty(), "it has had enough before it is given what it found");
    host.broker.set_credit(slow, 0, false);
    let quick = host.consumer(queue, 10);
    found.extend(host.deliver());
    host.broker.set_credit(slow, 1, false);
    found.extend((0..5).filter_map(|_| counting.next(&mut host)));
    let mut given: Vec<_> = found.iter().map(|assignment| assignment.seq).collect();
    given.sort();
    given.dedup();
    assert_eq!(given.len(), found.len(), "one message went to two: {slow:?} {quick:?} {found:?}");
    assert_eq!(found.len(), 3);
}
