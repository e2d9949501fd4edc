//! Messages of a group go in order to one consumer at a time.

use crate::support::Host;
use queue_core::*;

fn of(size: u64, group: &str) -> Facts {
    Facts { group: Some(group.into()), ..Facts::plain(size) }
}

fn sent(groups: &[(u64, &str)]) -> (Host, QueueId) {
    let (mut host, queue) = Host::with(|_| {});
    for (size, group) in groups {
        host.send_facts(queue, of(*size, group)).unwrap();
    }
    (host, queue)
}

fn who(delivered: &[Assignment]) -> Vec<(u64, ConsumerId)> {
    delivered.iter().map(|d| (d.size, d.consumer)).collect()
}

#[test]
fn a_group_belongs_to_the_consumer_that_holds_messages_of_it() {
    let (mut host, queue) = sent(&[(1, "a"), (2, "a"), (3, "b"), (4, "a")]);
    let x = host.consumer(queue, 2);
    let y = host.consumer(queue, 10);
    let delivered = host.deliver();
    assert_eq!(who(&delivered), [(1, x), (2, x), (3, y)]);
    host.settle(&delivered[0], Outcome::Accepted);
    assert_eq!(host.next(), None);
    host.settle(&delivered[1], Outcome::Accepted);
    assert_eq!(who(&host.deliver()), [(4, y)]);
}

// QPID-3804
#[test]
fn a_released_message_of_a_group_is_the_next_of_it() {
    let (mut host, queue) = sent(&[(1, "a"), (2, "a"), (3, "a")]);
    let x = host.consumer(queue, 2);
    let delivered = host.deliver();
    host.settle(&delivered[0], Outcome::Released);
    host.broker.set_credit(x, 10, false);
    assert_eq!(host.sizes(), [1, 3]);
}

// QPID-3899
#[test]
fn a_message_of_a_group_that_expires_makes_way_for_the_next() {
    let (mut host, queue) = Host::with(|_| {});
    host.send_facts(queue, Facts { expires_at: Some(host.now + 10), ..of(1, "a") }).unwrap();
    host.send_facts(queue, of(2, "a")).unwrap();
    host.wait(10);
    host.consumer(queue, 10);
    assert_eq!(host.sizes(), [2]);
}

#[test]
fn a_group_whose_consumer_is_lost_goes_on_with_another_in_order() {
    let (mut host, queue) = sent(&[(1, "a"), (2, "a"), (3, "a")]);
    let x = host.consumer(queue, 2);
    host.deliver();
    host.consumer(queue, 10);
    assert_eq!(host.next(), None);
    let mut commands = Vec::new();
    host.broker.cancel(x, &Outcome::lost(), host.now, &mut commands);
    // Not before it is settled what becomes of the first ones.
    assert_eq!(host.next(), None);
    host.apply_all(commands);
    assert_eq!(host.sizes(), [1, 2, 3]);
}

#[test]
fn a_failed_message_of_a_group_that_waits_is_not_overtaken() {
    let (mut host, queue) = Host::with(|settings| settings.redelivery_delay = 10);
    for size in 1..=2 {
        host.send_facts(queue, of(size, "a")).unwrap();
    }
    host.consumer(queue, 1);
    let first = host.next().unwrap();
    host.settle(&first, Outcome::lost());
    host.consumer(queue, 10);
    assert_eq!(host.next(), None);
    host.wait(10);
    assert_eq!(host.sizes(), [1, 2]);
}

#[test]
fn messages_without_a_group_keep_their_place_among_those_with_one() {
    let (mut host, queue) = Host::with(|_| {});
    host.send_facts(queue, of(1, "a")).unwrap();
    host.send(queue, 2).unwrap();
    host.send_facts(queue, of(3, "b")).unwrap();
    host.consumer(queue, 10);
    assert_eq!(host.sizes(), [1, 2, 3]);
}

#[test]
fn a_filter_finds_its_messages_within_groups() {
    struct Size(u64);
    impl Matcher for Size {
        fn matches(&mut self, _: ConsumerId, candidate: &Candidate<'_>) -> Match {
            if candidate.size == self.0 { Match::Yes } else { Match::No }
        }
    }
    let (mut host, queue) = sent(&[(1, "a"), (2, "a"), (3, "b")]);
    host.subscribe(queue, 10, ConsumerSettings { filter: true, ..ConsumerSettings::new("f") });
    assert_eq!(host.broker.next_delivery(host.now, &mut Size(2)).map(|d| d.size), Some(2));
    assert_eq!(host.broker.next_delivery(host.now, &mut Size(2)), None);
    // The rest of the group is nobody else's now.
    host.consumer(queue, 10);
    assert_eq!(host.broker.next_delivery(host.now, &mut Size(0)).map(|d| d.size), Some(3));
}

#[test]
fn groups_can_be_switched_off_and_on() {
    let (mut host, queue) = sent(&[(1, "a"), (2, "a"), (3, "a"), (4, "a")]);
    host.consumer(queue, 1);
    let first = host.next().unwrap();
    host.consumer(queue, 1);
    assert_eq!(host.next(), None);
    let settings = QueueSettings { groups: false, ..QueueSettings::new("q") };
    host.apply(Command::ChangeQueue { queue, settings: Box::new(settings) }).unwrap();
    assert_eq!(host.sizes(), [2]);
    host.apply(Command::ChangeQueue { queue, settings: Box::new(QueueSettings::new("q")) }).unwrap();
    host.consumer(queue, 1);
    assert_eq!(host.next(), None);
    host.settle(&first, Outcome::Accepted);
}
