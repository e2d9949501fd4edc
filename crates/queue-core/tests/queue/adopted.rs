//! Messages that come from a queue of another broker.

use crate::support::Host;
use queue_core::*;

/// What another broker is told of the first message of a queue.
fn adopt(host: &mut Host, from: QueueId, to: Target, if_room: bool) -> Command {
    let peeked = host.broker.peek(from, Seq::FIRST, 1).remove(0);
    Command::Adopt(Box::new(Adopt::of(&peeked, to, if_room)))
}

/// A message of a group with a key, rejected in `q`, from where dead letters go to `dead`.
fn with_dead_letter(dead: impl FnOnce(&mut QueueSettings)) -> (Host, QueueId) {
    let (mut host, queue) = Host::with(|settings| {
        settings.dead_letter_address = Some("dead".into());
        settings.last_value_key = Some("k".into());
    });
    let grave = host.create("dead", dead);
    let facts = Facts {
        priority: 7,
        durable: true,
        expires_at: Some(host.now + 1000),
        group: Some("g".into()),
        keys: vec![("k".into(), b"v"[..].into())],
        ..Facts::plain(5)
    };
    host.send_facts(queue, facts).unwrap();
    host.consumer(queue, 9);
    let message = host.next().unwrap();
    let annotations = Some([0xa3, 1, b'a', 0x41].into());
    host.settle(&message, Outcome::Modified { failed: true, undeliverable_here: false, annotations });
    let message = host.next().unwrap();
    host.settle(&message, Outcome::Rejected { error: Some("why".into()) });
    (host, grave)
}

fn ttl(settings: &mut QueueSettings) {
    settings.max_ttl = Some(77);
    settings.last_value_key = Some("k".into());
}

#[test]
fn it_is_there_as_one_that_comes_from_a_queue_of_this_broker() {
    let (mut here, grave) = with_dead_letter(ttl);
    let (mut elsewhere, shadow) = with_dead_letter(|_| {});
    let mut host = Host::new();
    let dead = host.create("dead", ttl);
    let command = adopt(&mut elsewhere, shadow, Target::Queue(dead), true);
    assert_eq!(host.apply(command), Ok(Done::Enqueued { copies: 1 }));
    let entry = host.log.len() as u64;
    let mut expected = here.broker.peek(grave, Seq::FIRST, 1).remove(0);
    assert!(expected.overlay.is_some() && expected.key.is_some() && expected.expires_at.is_some());
    expected.body = BodyRef::Log { entry, part: 0 };
    assert_eq!(host.broker.peek(dead, Seq::FIRST, 2), [expected.clone()]);
    assert_eq!(host.broker.written(), here.broker.written());
    assert_eq!(host.restored().peek(dead, Seq::FIRST, 2), [expected]);
}

#[test]
fn it_comes_into_all_queues_of_a_topic_that_have_room_and_its_bytes_go_with_the_last() {
    let (mut elsewhere, shadow) = with_dead_letter(|_| {});
    let mut host = Host::new();
    let Ok(Done::TopicCreated(topic)) = host.apply(Command::CreateTopic(Box::new(QueueSettings::new("t")))) else {
        panic!("it is new");
    };
    let queues = ["a", "b", "full"].map(|address| host.create(address, |settings| settings.topic = Some(topic)));
    let except = host.create("except", |settings| settings.topic = Some(topic));
    let full = QueueSettings {
        topic: Some(topic),
        max_bytes: Some(4),
        overflow: Overflow::Reject,
        ..QueueSettings::new("full")
    };
    host.apply(Command::ChangeQueue { queue: queues[2], settings: Box::new(full) }).unwrap();
    let to = Target::Topic { topic, except: vec![except] };
    let command = adopt(&mut elsewhere, shadow, to, true);
    assert_eq!(host.apply(command), Err(Refused::PartlyFull { queue: "full".into() }));
    assert_eq!([queues[0], queues[1], queues[2], except].map(|queue| host.depth(queue)), [1, 1, 0, 0]);
    host.events.clear();
    for (queue, gone) in [(queues[0], 0), (queues[1], 1)] {
        host.apply(Command::Purge { queue, what: Selection::All }).unwrap();
        assert_eq!(host.events.iter().filter(|event| matches!(event, Event::BodyGone { .. })).count(), gone);
    }
}

#[test]
fn a_full_queue_takes_it_only_if_it_has_to() {
    let (mut elsewhere, shadow) = with_dead_letter(|_| {});
    let mut host = Host::new();
    let dead = host.create("dead", |settings| (settings.max_bytes, settings.overflow) = (Some(4), Overflow::Reject));
    assert!(!host.broker.takes(dead, 1, 5) && host.broker.takes(dead, 1, 4));
    let command = adopt(&mut elsewhere, shadow, Target::Queue(dead), true);
    assert_eq!(host.apply(command), Err(Refused::Full { queue: "dead".into() }));
    assert!(host.events.iter().any(|event| matches!(event, Event::BodyGone { size: 5, .. })));
    let command = adopt(&mut elsewhere, shadow, Target::Queue(dead), false);
    assert_eq!(host.apply(command), Ok(Done::Enqueued { copies: 1 }));
}

#[test]
fn a_file_that_came_twice_is_needed_until_both_are_gone() {
    let (mut host, first) = Host::with(|_| {});
    let second = host.create("second", |_| {});
    let body = Body::Large { file: 9 };
    let to = [Target::Queue(first)].into_iter().collect();
    host.apply(Command::Enqueue(Box::new(Enqueue { to, facts: Facts::plain(5), body }))).unwrap();
    assert_eq!(host.broker.files().into_iter().collect::<Vec<_>>(), [(9, 1)]);
    let command = adopt(&mut host, first, Target::Queue(second), false);
    host.apply(command).unwrap();
    assert_eq!(host.broker.files().into_iter().collect::<Vec<_>>(), [(9, 2)]);
    for queue in [first, second] {
        host.events.clear();
        host.apply(Command::Purge { queue, what: Selection::All }).unwrap();
        assert_eq!(host.events, [Event::BodyGone { body: BodyRef::Large { file: 9 }, size: 5 }]);
    }
    assert!(host.broker.files().is_empty());
}

#[test]
fn dead_letters_for_a_topic_wait_in_its_collector_and_nothing_else_comes_there() {
    let (mut host, queue) = Host::with(|settings| settings.dead_letter_address = Some("t".into()));
    let Ok(Done::TopicCreated(topic)) = host.apply(Command::CreateTopic(Box::new(QueueSettings::new("t")))) else {
        panic!("it is new");
    };
    let to = Target::Topic { topic, except: vec![] };
    let [a, b, except, full] = ["a", "b", "except", "full"].map(|address| {
        host.create(address, |settings| {
            settings.topic = Some(topic);
            (settings.max_bytes, settings.overflow) =
                if address == "full" { (Some(4), Overflow::Reject) } else { (None, Overflow::Hold) };
        })
    });
    let settings = QueueSettings::collector("t", topic, true);
    let Ok(Done::Created(collector)) = host.apply(Command::CreateQueue(Box::new(settings))) else {
        panic!("it is new")
    };
    assert_eq!((host.broker.collector(topic), host.broker.bound(topic).count()), (Some(collector), 4));
    assert!(host.broker.node("t").is_some_and(|node| node == Node::Topic(topic)));
    // What is sent to the topic goes to those that are bound to it.
    assert_eq!(host.apply(crate::support::enqueue(to, Facts::plain(4))), Ok(Done::Enqueued { copies: 4 }));
    for queue in [a, b, except, full] {
        host.apply(Command::Purge { queue, what: Selection::All }).unwrap();
    }
    host.send(queue, 5).unwrap();
    host.consumer(queue, 1);
    let message = host.next().unwrap();
    host.settle(&message, Outcome::Rejected { error: None });
    assert_eq!([collector, a, b].map(|queue| host.depth(queue)), [1, 0, 0]);
    assert_eq!(host.restored().collector(topic), Some(collector));
    let item = host.broker.peek(collector, Seq::FIRST, 1)[0].seq;
    host.events.clear();
    let to = Target::Topic { topic, except: vec![except] };
    assert_eq!(host.apply(Command::Spread { from: collector, item, to }), Ok(Done::Messages { count: 1 }));
    assert_eq!([collector, a, b, except, full].map(|queue| host.depth(queue)), [0, 1, 1, 0, 0]);
    for (queue, gone) in [(a, 0), (b, 1)] {
        assert_eq!(host.broker.peek(queue, Seq::FIRST, 1)[0].overlay.as_ref().map(|it| it.deaths.len()), Some(1));
        host.apply(Command::Purge { queue, what: Selection::All }).unwrap();
        assert_eq!(host.events.iter().filter(|event| matches!(event, Event::BodyGone { .. })).count(), gone);
    }
    for queue in [a, b, except, full] {
        host.apply(Command::DeleteQueue { queue, if_empty: false, orphans: Orphans::Drop }).unwrap();
    }
    assert_eq!(host.apply(Command::DeleteTopic { topic }), Err(Refused::InUse));
    host.apply(Command::DeleteQueue { queue: collector, if_empty: false, orphans: Orphans::Drop }).unwrap();
    assert_eq!(host.apply(Command::DeleteTopic { topic }), Ok(Done::Deleted));
}

#[test]
fn a_message_that_nobody_takes_is_dropped() {
    let (mut host, queue) = Host::with(|_| {});
    let full = host.create("full", |settings| (settings.max_bytes, settings.overflow) = (Some(4), Overflow::Reject));
    host.send(queue, 5).unwrap();
    let item = host.broker.peek(queue, Seq::FIRST, 1)[0].seq;
    host.events.clear();
    let to = Target::Queue(full);
    assert_eq!(host.apply(Command::Spread { from: queue, item, to: to.clone() }), Ok(Done::Messages { count: 1 }));
    assert!(host.events.iter().any(|event| matches!(event, Event::BodyGone { size: 5, .. })));
    assert_eq!([queue, full].map(|queue| host.depth(queue)), [0, 0]);
    assert_eq!(host.apply(Command::Spread { from: queue, item, to }), Ok(Done::Messages { count: 0 }));
}
