//! Topics, transactions, what people do with queues, and queues that go by themselves.

use crate::support::{Host, enqueue};
use queue_core::*;

fn topic(host: &mut Host) -> TopicId {
    match host.apply(Command::CreateTopic(Box::new(QueueSettings::new("t")))) {
        Ok(Done::TopicCreated(topic)) => topic,
        other => panic!("{other:?}"),
    }
}

fn settle(queue: QueueId, seq: Seq) -> Command {
    let settle = Settle { queue, items: seq.into(), outcome: Outcome::Accepted, by: None };
    Command::Settle(Box::new(settle))
}

// QPID-2482, QPID-5534
#[test]
fn a_message_for_a_topic_is_in_each_queue_once_and_its_bytes_go_with_the_last() {
    let mut host = Host::new();
    let t = topic(&mut host);
    let a = host.create("a", |settings| settings.topic = Some(t));
    let b = host.create("b", |settings| settings.topic = Some(t));
    let c = host.create("c", |settings| settings.topic = Some(t));
    let to = [Target::Topic { topic: t, except: vec![c] }, Target::Queue(a)];
    let command =
        Command::Enqueue(Box::new(Enqueue { to: to.into_iter().collect(), facts: Facts::plain(7), body: Body::Here }));
    assert_eq!(host.apply(command), Ok(Done::Enqueued { copies: 2 }));
    assert_eq!([a, b, c].map(|queue| host.depth(queue)), [1, 1, 0]);
    host.broker = host.restored();
    host.apply(Command::Purge { queue: a, what: Selection::All }).unwrap();
    assert_eq!(host.events, []);
    host.apply(Command::Purge { queue: b, what: Selection::All }).unwrap();
    assert!(matches!(host.events[..], [Event::BodyGone { size: 7, .. }]));
}

#[test]
fn a_topic_without_queues_takes_messages_and_keeps_none() {
    let mut host = Host::new();
    let topic = topic(&mut host);
    assert_eq!(
        host.apply(enqueue(Target::Topic { topic, except: vec![] }, Facts::plain(1))),
        Ok(Done::Enqueued { copies: 0 })
    );
    assert!(matches!(host.events[..], [Event::BodyGone { size: 1, .. }]));
}

#[test]
fn a_topic_with_queues_stays() {
    let mut host = Host::new();
    let topic = topic(&mut host);
    let queue = host.create("a", |settings| settings.topic = Some(topic));
    assert_eq!(host.apply(Command::DeleteTopic { topic }), Err(Refused::InUse));
    host.apply(Command::DeleteQueue { queue, if_empty: true, orphans: Orphans::Drop }).unwrap();
    host.apply(Command::DeleteTopic { topic }).unwrap();
    assert_eq!(host.broker.node("t"), None);
}

#[test]
fn subscriptions_are_named_by_container_unless_they_are_global() {
    assert_eq!(subscription_address("t", "c", "s", false), "t::c_s");
    assert_eq!(subscription_address("t", "c", "s", true), "t::s");
}

#[test]
fn a_transaction_is_done_as_a_whole() {
    let (mut host, a) = Host::with(|_| {});
    let b = host.create("b", |_| {});
    host.send(a, 1).unwrap();
    host.consumer(a, 1);
    let message = host.next().unwrap();
    let accept = host.broker.settlement(message.acquisition.unwrap(), Outcome::Accepted).unwrap();
    let send = enqueue(Target::Queue(b), Facts::plain(2));
    assert_eq!(host.apply(Command::Transaction(vec![accept, send])), Ok(Done::Committed));
    assert_eq!((host.depth(a), host.depth(b)), (0, 1));
}

#[test]
fn a_transaction_of_which_one_part_cannot_be_does_nothing() {
    let (mut host, a) = Host::with(|_| {});
    let b = host.create("b", |settings| {
        settings.max_messages = Some(1);
        settings.overflow = Overflow::Reject;
    });
    host.send(a, 1).unwrap();
    host.consumer(a, 1);
    let message = host.next().unwrap();
    let accept = host.broker.settlement(message.acquisition.unwrap(), Outcome::Accepted).unwrap();
    let send = enqueue(Target::Queue(b), Facts::plain(2));
    let refused = host.apply(Command::Transaction(vec![send.clone(), accept, send]));
    assert_eq!(refused, Err(Refused::Full { queue: "b".into() }));
    assert_eq!((host.depth(a), host.depth(b)), (1, 0));
    assert_eq!(host.events.len(), 2);
    // The consumer still holds its message, and can say again what becomes of it.
    host.settle(&message, Outcome::Accepted);
    assert_eq!(host.depth(a), 0);
}

#[test]
fn a_transaction_that_settles_what_is_gone_is_refused() {
    let (mut host, queue) = Host::with(|_| {});
    host.send(queue, 1).unwrap();
    host.consumer(queue, 1);
    let message = host.next().unwrap();
    host.apply(Command::Purge { queue, what: Selection::All }).unwrap();
    let refused = host.apply(Command::Transaction(vec![settle(queue, message.seq)]));
    assert_eq!(refused, Err(Refused::Gone));
}

#[test]
fn bodies_in_transactions_are_numbered_where_they_stand() {
    let (mut host, queue) = Host::with(|_| {});
    let send = |size| enqueue(Target::Queue(queue), Facts::plain(size));
    host.apply_all(vec![send(1), Command::Transaction(vec![send(2), send(3)]), send(4)]);
    host.consumer(queue, 9);
    let entry = host.log.len() as u64;
    let bodies: Vec<BodyRef> = host.deliver().iter().map(|d| d.body).collect();
    assert_eq!(bodies, [0, 1, 2, 3].map(|part| BodyRef::Log { entry, part }));
}

#[test]
fn moved_messages_go_to_the_tail_of_the_other_queue() {
    let (mut host, a) = Host::with(|_| {});
    let b = host.create("b", |_| {});
    (1..=3).for_each(|size| drop(host.send(a, size)));
    host.send(b, 9).unwrap();
    let done = host.apply(Command::Move { from: a, to: b, what: Selection::First(2) });
    assert_eq!(done, Ok(Done::Messages { count: 2 }));
    assert_eq!(host.depth(a), 1);
    host.consumer(b, 10);
    assert_eq!(host.sizes(), [9, 1, 2]);
    assert_eq!(host.events, []);
}

#[test]
fn moving_to_the_same_queue_comes_to_an_end() {
    let (mut host, queue) = Host::with(|_| {});
    (1..=3).for_each(|size| drop(host.send(queue, size)));
    host.apply(Command::Move { from: queue, to: queue, what: Selection::First(2) }).unwrap();
    host.consumer(queue, 10);
    assert_eq!(host.sizes(), [3, 1, 2]);
}

#[test]
fn one_can_look_into_a_queue() {
    let (mut host, queue) = Host::with(|_| {});
    (1..=5).for_each(|size| drop(host.send(queue, size)));
    let consumer = host.consumer(queue, 1);
    host.deliver();
    let seen = host.broker.peek(queue, Seq::FIRST, 2);
    assert_eq!(seen.iter().map(|m| (m.size, m.held_by)).collect::<Vec<_>>(), [(1, Some(consumer)), (2, None)]);
    let rest = host.broker.peek(queue, Seq::from_raw(seen[1].seq.raw() + 1), 10);
    assert_eq!(rest.iter().map(|m| m.size).collect::<Vec<_>>(), [3, 4, 5]);
}

#[test]
fn bytes_of_old_messages_can_be_copied_to_a_newer_entry() {
    let (mut host, queue) = Host::with(|_| {});
    host.send(queue, 1).unwrap();
    host.send(queue, 2).unwrap();
    let old = host.broker.living_in(&(0..=host.log.len() as u64 - 1), 10);
    let [Living { seq, body, size: 1, .. }] = old[..] else { panic!("{old:?}") };
    host.apply(Command::Relocate { from: body, of: vec![(queue, seq)] }).unwrap();
    assert_eq!(host.events, [Event::BodyGone { body, size: 1 }]);
    let new = BodyRef::Log { entry: host.log.len() as u64, part: 0 };
    assert_eq!(host.broker.peek(queue, Seq::FIRST, 1)[0].body, new);
    assert_eq!(host.broker.living_in(&(0..=host.log.len() as u64 - 2), 10), []);
}

#[test]
fn a_queue_that_lives_as_long_as_it_is_used_or_has_messages_goes_with_the_last_of_both() {
    let (mut host, queue) = Host::with(|settings| {
        settings.lifetime = Lifetime::UnusedAndEmpty;
        settings.auto_delete_delay = 10;
    });
    host.broker.link_attached(queue);
    host.send(queue, 1).unwrap();
    host.broker.link_detached(queue, host.now);
    host.wait(10);
    let consumer = host.consumer(queue, 1);
    let message = host.next().unwrap();
    host.settle(&message, Outcome::Accepted);
    host.wait(10);
    assert!(host.broker.node("q").is_some());
    host.broker.cancel(consumer, &Outcome::Released, host.now, &mut Vec::new());
    host.wait(9);
    assert!(host.broker.node("q").is_some());
    host.wait(1);
    assert_eq!(host.broker.node("q"), None);
}

#[test]
fn a_queue_goes_with_its_owner() {
    let (mut host, _) = Host::with(|settings| {
        settings.lifetime = Lifetime::OnClose;
        settings.owner = Some(7);
    });
    let mut commands = Vec::new();
    host.broker.owner_gone(8, &mut commands);
    assert_eq!(commands, []);
    host.broker.owner_gone(7, &mut commands);
    host.apply_all(commands);
    assert_eq!(host.broker.node("q"), None);
}

// QPID-5278
#[test]
fn settings_that_cannot_be_are_refused_and_leave_no_trace() {
    let mut host = Host::new();
    let settings = QueueSettings { max_messages: Some(0), ..QueueSettings::new("q") };
    assert!(matches!(host.apply(Command::CreateQueue(Box::new(settings))), Err(Refused::BadSettings(_))));
    assert_eq!(host.broker.node("q"), None);
    host.create("q", |_| {});
    let twice = host.apply(Command::CreateQueue(Box::new(QueueSettings::new("q"))));
    assert_eq!(twice, Err(Refused::Exists("q".into())));
}

#[test]
fn messages_of_a_transaction_that_is_refused_are_given_back_if_their_consumer_is_gone() {
    let (mut host, queue) = Host::with(|_| {});
    (1..=2).for_each(|size| drop(host.send(queue, size)));
    let consumer = host.consumer(queue, 2);
    let held = host.deliver();
    let settlements: Vec<Command> =
        held.iter().map(|held| host.broker.settlement(held.acquisition.unwrap(), Outcome::Accepted).unwrap()).collect();
    host.broker.cancel(consumer, &Outcome::lost(), host.now, &mut Vec::new());
    host.apply(Command::Purge { queue, what: Selection::First(1) }).unwrap();
    assert_eq!(host.apply(Command::Transaction(settlements)), Err(Refused::Gone));
    host.consumer(queue, 2);
    assert_eq!(host.sizes(), [2]);
}

#[test]
fn topics_and_templates_are_the_same_after_a_restart() {
    let mut host = Host::new();
    let topic = topic(&mut host);
    let settings = QueueSettings { max_messages: Some(3), ..QueueSettings::new("t") };
    host.apply(Command::ChangeTopic { topic, settings: Box::new(settings.clone()) }).unwrap();
    let template = QueueSettings { max_bytes: Some(9), ..QueueSettings::new("q.#") };
    let set = |is_new| Command::SetTemplate { settings: Box::new(template.clone()), is_new };
    assert_eq!(host.apply(set(false)), Err(Refused::NoTemplate));
    host.apply(set(true)).unwrap();
    assert_eq!(host.apply(set(true)), Err(Refused::Exists("q.#".into())));
    host.apply(set(false)).unwrap();
    host.broker = host.restored();
    assert_eq!(host.broker.topic(topic).map(|topic| &**topic), Some(&settings));
    assert_eq!(host.broker.templates().map(|found| (**found).clone()).collect::<Vec<_>>(), [template]);
    host.apply(Command::DeleteTemplate { pattern: "q.#".into() }).unwrap();
    assert_eq!(host.broker.templates().count(), 0);
}

#[test]
fn topics_are_read_as_they_were_written_before_they_had_settings() {
    let (batch, _) = decode_batch(&[1, 1, 4, 1, b't']).unwrap();
    assert_eq!(batch, [Command::CreateTopic(Box::new(QueueSettings::new("t")))]);
}

/// A queue with so many messages, deleted.
fn deleted(messages: u64, change: impl FnOnce(&mut QueueSettings), orphans: Orphans) -> Host {
    let (mut host, queue) = Host::with(change);
    (0..messages).for_each(|_| drop(host.send(queue, 1)));
    host.apply(Command::DeleteQueue { queue, if_empty: false, orphans }).unwrap();
    host
}

/// Until nothing is to be done any more.
fn sweep(host: &mut Host) {
    while host.deliver().is_empty() && host.broker.next_timeout() == Some(0) {
        host.wait(0);
    }
}

fn gone(host: &Host) -> usize {
    host.events.iter().filter(|event| matches!(event, Event::BodyGone { .. })).count()
}

#[test]
fn a_deleted_queue_gives_up_its_messages_bit_by_bit() {
    let mut host = deleted(3000, |_| {}, Orphans::Drop);
    assert_eq!((host.broker.node("q"), gone(&host)), (None, 0));
    let another = host.create("q", |_| {});
    host.wait(0);
    let first = gone(&host);
    assert!(first > 0 && first < 3000, "{first} at once");
    host.broker = host.restored();
    sweep(&mut host);
    assert_eq!((gone(&host), host.depth(another)), (3000, 0));
}

#[test]
fn of_a_deleted_queue_with_many_messages_none_is_swept_twice() {
    let mut host = deleted(3000, |_| {}, Orphans::Drop);
    let mut commands = Vec::new();
    host.broker.handle_timeout(host.now, &mut commands);
    host.broker.handle_timeout(host.now, &mut commands);
    let [sweep] = &commands[..] else { panic!("{commands:?}") };
    host.deliver();
    assert_eq!(host.broker.next_timeout(), None);
    host.broker.withdraw(sweep, host.now);
    assert_eq!(host.broker.next_timeout(), Some(0), "the log did not take it: it is tried again");
}

#[test]
fn many_messages_of_a_deleted_queue_go_to_its_dead_letter_address() {
    let mut host = deleted(3000, |settings| settings.dead_letter_address = Some("d".into()), Orphans::DeadLetter);
    sweep(&mut host);
    let dead = host.queue("d");
    assert_eq!((host.depth(dead), gone(&host)), (3000, 0));
}

#[test]
fn what_consumers_hold_of_a_queue_that_is_deleted_goes_with_it() {
    let (mut host, queue) = Host::with(|_| {});
    (0..3000).for_each(|_| drop(host.send(queue, 1)));
    host.consumer(queue, 10);
    assert_eq!(host.deliver().len(), 10);
    host.apply(Command::DeleteQueue { queue, if_empty: false, orphans: Orphans::Drop }).unwrap();
    assert_eq!((gone(&host), host.broker.acquired()), (10, 0));
    sweep(&mut host);
    assert_eq!(gone(&host), 3000);
}

#[test]
fn a_queue_is_gone_through_in_slices_up_to_where_it_ended_then() {
    let (mut host, queue) = Host::with(|_| {});
    let priority = |priority| Facts { priority, ..Facts::plain(1) };
    for level in [4, 9, 4, 4] {
        host.send_facts(queue, priority(level)).unwrap();
    }
    let extent = host.broker.extent(queue).unwrap();
    host.send_facts(queue, priority(9)).unwrap();
    let (mut sizes, mut from) = (Vec::new(), Some(Seq::FIRST));
    while let Some(place) = from {
        let (found, next) = host.broker.slice(queue, &extent, place, 2);
        sizes.push(found.iter().map(|(first, last)| last.raw() - first.raw() + 1).sum::<u64>());
        from = next;
    }
    assert_eq!(sizes, [2, 2]);
}

#[test]
fn a_full_queue_of_a_topic_keeps_a_message_from_no_other() {
    let mut host = Host::new();
    let topic = topic(&mut host);
    let full = host.create("full", |settings| {
        (settings.topic, settings.max_messages, settings.overflow) = (Some(topic), Some(1), Overflow::Reject);
    });
    let free = host.create("free", |settings| settings.topic = Some(topic));
    let mut send = || host.apply(enqueue(Target::Topic { topic, except: vec![] }, Facts::plain(1)));
    assert_eq!(send(), Ok(Done::Enqueued { copies: 2 }));
    assert_eq!(send(), Err(Refused::PartlyFull { queue: "full".into() }));
    assert_eq!([full, free].map(|queue| host.depth(queue)), [1, 2]);
    assert_eq!(host.events, [Event::Full(full)], "no bytes are given up");
}

/// Sets aside what of a queue may be, for a command about it.
fn aside(host: &mut Host, queue: QueueId, most: u64) -> Aside {
    let extent = host.broker.extent(queue).expect("it is there");
    let (items, _) = host.broker.slice(queue, &extent, Seq::FIRST, usize::MAX);
    host.broker.set_aside(queue, &items, most, false)
}

#[test]
fn what_consumers_hold_is_not_set_aside() {
    let (mut host, queue) = Host::with(|_| {});
    (0..5).for_each(|_| drop(host.send(queue, 1)));
    host.consumer(queue, 2);
    let held = host.deliver();
    let aside = aside(&mut host, queue, 2);
    assert_eq!((aside.count, aside.held), (2, 2));
    let behind = |more| Seq::from_raw(held[1].seq.raw() + more);
    assert_eq!(aside.items, Ranges::from_iter([behind(1), behind(2)]));
    assert_eq!(aside.rest, Some(behind(3)));
}

#[test]
fn what_is_set_aside_goes_to_no_consumer_and_leaves_with_the_command() {
    let (mut host, queue) = Host::with(|_| {});
    let other = host.create("other", |_| {});
    (0..3).for_each(|_| drop(host.send(queue, 1)));
    let aside = aside(&mut host, queue, 2);
    host.consumer(queue, 10);
    assert_eq!(host.deliver().len(), 1);
    let moved = host.apply(Command::Move { from: queue, to: other, what: Selection::These(aside.items) });
    assert_eq!(moved, Ok(Done::Messages { count: 2 }));
    assert_eq!([queue, other].map(|queue| host.depth(queue)), [1, 2]);
    assert!(host.deliver().is_empty());
}

#[test]
fn what_was_set_aside_and_stays_is_delivered_in_its_order() {
    let (mut host, queue) = Host::with(|_| {});
    let gone = host.create("gone", |_| {});
    host.apply(Command::DeleteQueue { queue: gone, if_empty: true, orphans: Orphans::Drop }).unwrap();
    (0..3).for_each(|size| drop(host.send(queue, size)));
    let refused = Selection::These(aside(&mut host, queue, 1).items);
    assert_eq!(host.apply(Command::Move { from: queue, to: gone, what: refused }), Err(Refused::NoQueue));
    let what = Selection::These(aside(&mut host, queue, 2).items);
    host.broker.withdraw(&Command::Purge { queue, what }, host.now);
    host.consumer(queue, 10);
    assert_eq!(host.deliver().iter().map(|given| given.size).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn only_dead_letters_that_can_go_back_are_set_aside_for_it() {
    let (mut host, queue) = Host::with(|_| {});
    host.send(queue, 1).unwrap();
    let items = Ranges::from(Seq::FIRST);
    assert_eq!(host.broker.set_aside(queue, &items, u64::MAX, true), Aside::default());
}

#[test]
fn a_message_sent_again_after_one_was_full_is_doubled_for_the_others_unless_ids_are_remembered() {
    for (remembered, depth) in [(0, 3), (10, 2)] {
        let mut host = Host::new();
        let topic = topic(&mut host);
        let full = host.create("full", |settings| {
            (settings.topic, settings.max_messages, settings.overflow) = (Some(topic), Some(1), Overflow::Reject);
            settings.duplicate_count = remembered;
        });
        let free = host.create("free", |settings| {
            (settings.topic, settings.duplicate_count) = (Some(topic), remembered);
        });
        let send = |host: &mut Host, id: &[u8]| {
            let facts = Facts { duplicate_id: Some(id.into()), ..Facts::plain(1) };
            host.apply(enqueue(Target::Topic { topic, except: vec![] }, facts))
        };
        send(&mut host, b"1").unwrap();
        assert_eq!(send(&mut host, b"2"), Err(Refused::PartlyFull { queue: "full".into() }));
        host.apply(Command::Purge { queue: full, what: Selection::All }).unwrap();
        send(&mut host, b"2").unwrap();
        assert_eq!([full, free].map(|queue| host.depth(queue)), [1, depth]);
    }
}
