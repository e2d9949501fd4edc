//! Hosts that do not log: what takes effect at once comes to the same as commands that are applied.

use crate::support::{Host, enqueue};
use proptest::prelude::*;
use queue_core::*;

#[derive(Clone, Debug)]
enum Step {
    /// `delivers`: consumers are given what there is before the next step.
    Send {
        size: u64,
        ttl: Option<u64>,
        grouped: bool,
        delivers: bool,
    },
    /// One, and so many after it.
    Accept(usize, usize),
    Release(usize),
    Credit {
        consumer: usize,
        credit: u32,
        drain: bool,
    },
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (ttl, grouped) = (prop::option::weighted(0.1, 1..5000u64), prop::bool::weighted(0.1));
    let send = (1..50u64, ttl, grouped, any::<bool>());
    let send = send.prop_map(|(size, ttl, grouped, delivers)| Step::Send { size, ttl, grouped, delivers });
    let credit = (0..3usize, 0..6u32, prop::bool::weighted(0.2));
    let credit = credit.prop_map(|(consumer, credit, drain)| Step::Credit { consumer, credit, drain });
    let step = prop_oneof![
        6 => send,
        4 => (0..8usize, 1..5usize).prop_map(|(which, count)| Step::Accept(which, count)),
        1 => (0..8usize).prop_map(Step::Release),
        2 => credit,
        1 => (1..3000u64).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..120)
}

fn settings(kind: usize) -> impl FnOnce(&mut QueueSettings) {
    move |settings| match kind {
        1 => settings.groups = true,
        2 => (settings.overflow, settings.max_messages) = (Overflow::Ring, Some(5)),
        3 => (settings.overflow, settings.max_messages) = (Overflow::Reject, Some(5)),
        4 => settings.lifetime = Lifetime::UnusedAndEmpty,
        5 => settings.single_active = true,
        6 => settings.priorities = true,
        7 => settings.max_bytes = Some(200),
        _ => {}
    }
}

/// A host with a queue that has three consumers: in one kind of queue they differ, in another one of them browses.
fn host(kind: usize) -> (Host, QueueId, Vec<ConsumerId>) {
    let (mut host, queue) = Host::with(settings(kind));
    let settings = |priority: i32| match (kind, priority) {
        (8, _) => ConsumerSettings { priority, ..ConsumerSettings::new("c") },
        (9, 1) => ConsumerSettings::browser("c"),
        _ => ConsumerSettings::new("c"),
    };
    let consumers = (0..3).map(|priority| host.subscribe(queue, 10, settings(priority))).collect();
    (host, queue, consumers)
}

fn facts(host: &Host, size: u64, ttl: Option<u64>, grouped: bool) -> Facts {
    let expires_at = ttl.map(|ttl| host.now + ttl);
    let priority = if size < 10 { size as u8 } else { DEFAULT_PRIORITY };
    Facts { expires_at, priority, group: grouped.then(|| "g".into()), ..Facts::plain(size) }
}

/// All that has happened, in whatever order.
fn events(host: &mut Host) -> Vec<String> {
    host.broker.take_events(&mut host.events);
    let mut events: Vec<_> = host.events.iter().map(|event| format!("{event:?}")).collect();
    events.sort();
    events
}

/// A message that a consumer holds, and by what each of the two hosts knows that.
struct Held {
    message: Assignment,
    logged: AcqId,
    direct: AcqId,
}

/// Has consumers be given what there is, by both hosts alike. `passed`: what those of the direct one were given as it came.
fn deliver(logged: &mut Host, direct: &mut Host, passed: &mut Vec<Assignment>) -> Vec<Held> {
    let mut given = std::mem::take(passed);
    given.extend(direct.deliver());
    let same = logged.deliver();
    // What they are known by depends on the order in which others went.
    let but_for_that = |of: &Assignment| Assignment { acquisition: None, ..of.clone() };
    assert_eq!(given.iter().map(but_for_that).collect::<Vec<_>>(), same.iter().map(but_for_that).collect::<Vec<_>>());
    let held = |(direct, message): (Assignment, Assignment)| {
        Some(Held { logged: message.acquisition?, direct: direct.acquisition?, message })
    };
    given.into_iter().zip(same).filter_map(held).collect()
}

/// Those who drain, and what they had left.
fn drained(host: &mut Host) -> Vec<(ConsumerId, u32)> {
    std::iter::from_fn(|| host.broker.next_drained()).collect()
}

proptest! {
    #[test]
    fn what_takes_effect_at_once_comes_to_the_same(kind in 0..10usize, steps in steps()) {
        let ((mut logged, queue, consumers), (mut direct, same, _)) = (host(kind), host(kind));
        prop_assert_eq!(queue, same);
        let (mut held, mut entry) = (Vec::new(), 1);
        // What consumers were given as it came.
        let mut passed = Vec::new();
        for step in steps {
            // Whatever else happens comes after what came before: direct consumers have that already.
            if !matches!(step, Step::Send { .. }) {
                held.extend(deliver(&mut logged, &mut direct, &mut passed));
            }
            let mut delivers = true;
            match step {
                Step::Send { size, ttl, grouped, delivers: now } => {
                    entry += 1;
                    delivers = now;
                    let (at, now) = (EntryIndex(entry), direct.now);
                    let facts = facts(&direct, size, ttl, grouped);
                    if facts.priority != DEFAULT_PRIORITY || grouped || ttl.is_some() {
                        // It might overtake others that were not given to anybody yet.
                        held.extend(deliver(&mut logged, &mut direct, &mut passed));
                        delivers = true;
                    }
                    let command = enqueue(Target::Queue(queue), facts.clone());
                    let came = direct.broker.enqueue_at_once(at, now, queue, facts, &mut direct.events);
                    let mut out = Output::default();
                    logged.broker.apply(at, now, &[command], &mut out);
                    logged.events.append(&mut out.events);
                    let applied = came.map(|came| {
                        if let Came::Given { consumer, acquisition } = came {
                            let assignment = direct.broker.assignment(acquisition).unwrap();
                            assert_eq!(assignment.consumer, consumer);
                            passed.push(assignment);
                        }
                        Done::Enqueued { copies: 1 }
                    });
                    prop_assert_eq!(&out.applied, &[applied]);
                }
                Step::Accept(which, count) if !held.is_empty() => {
                    let which = which % held.len();
                    let some: Vec<Held> = held.drain(which..held.len().min(which + count)).collect();
                    let all: Vec<AcqId> = some.iter().map(|of| of.direct).collect();
                    let mut accepted = AcceptedAtOnce::default();
                    direct.broker.accept_at_once(&all, &mut accepted, &mut direct.events);
                    prop_assert!(accepted.queues.iter().all(|of| *of == queue));
                    for body in accepted.gone {
                        let size = some.iter().find(|of| of.message.body == body).unwrap().message.size;
                        direct.events.push(Event::BodyGone { body, size });
                    }
                    for of in some {
                        let command = logged.broker.outcome(of.logged, Outcome::Accepted, logged.now);
                        if accepted.left.contains(&of.direct) {
                            let same = direct.broker.outcome(of.direct, Outcome::Accepted, direct.now);
                            prop_assert_eq!(&same, &command);
                            same.into_iter().for_each(|command| drop(direct.apply(command)));
                        }
                        command.into_iter().for_each(|command| drop(logged.apply(command)));
                    }
                }
                Step::Release(which) if !held.is_empty() => {
                    let of = held.remove(which % held.len());
                    for (host, acquisition) in [(&mut logged, of.logged), (&mut direct, of.direct)] {
                        prop_assert_eq!(host.broker.outcome(acquisition, Outcome::Released, host.now), None);
                    }
                }
                Step::Accept(..) | Step::Release(_) => {}
                Step::Credit { consumer, credit, drain } => {
                    logged.broker.set_credit(consumers[consumer], credit, drain);
                    direct.broker.set_credit(consumers[consumer], credit, drain);
                }
                Step::Wait(millis) => {
                    logged.wait(millis);
                    direct.wait(millis);
                }
            }
            if delivers {
                held.extend(deliver(&mut logged, &mut direct, &mut passed));
                prop_assert_eq!(drained(&mut direct), drained(&mut logged));
                prop_assert_eq!(direct.broker.statistics(queue), logged.broker.statistics(queue));
            }
        }
        prop_assert_eq!(events(&mut direct), events(&mut logged));
        for host in [&mut logged, &mut direct] {
            // What takes effect at once carries no time of an entry.
            host.broker.apply(EntryIndex(0), host.now, &[], &mut Output::default());
        }
        let snapshot = |host: &Host| host.broker.snapshot(EntryIndex(0)).to_bytes();
        prop_assert_eq!(snapshot(&direct), snapshot(&logged));
    }
}
