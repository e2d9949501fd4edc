//! Hosts that do not log: what takes effect at once comes to the same as commands that are applied.

use crate::support::{Host, enqueue};
use proptest::prelude::*;
use queue_core::*;

#[derive(Clone, Debug)]
enum Step {
    Send { size: u64, ttl: Option<u64>, grouped: bool },
    Accept(usize),
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let send = (1..50u64, prop::option::weighted(0.2, 1..5000u64), prop::bool::weighted(0.2));
    let send = send.prop_map(|(size, ttl, grouped)| Step::Send { size, ttl, grouped });
    let step = prop_oneof![4 => send, 4 => (0..8usize).prop_map(Step::Accept), 1 => (1..3000u64).prop_map(Step::Wait)];
    prop::collection::vec(step, 1..120)
}

fn settings(kind: usize) -> impl FnOnce(&mut QueueSettings) {
    move |settings| match kind {
        0 => {}
        1 => settings.groups = true,
        2 => (settings.overflow, settings.max_messages) = (Overflow::Ring, Some(5)),
        3 => (settings.overflow, settings.max_messages) = (Overflow::Reject, Some(5)),
        4 => settings.lifetime = Lifetime::UnusedAndEmpty,
        _ => settings.single_active = true,
    }
}

/// A host with a queue that has two consumers.
fn host(kind: usize) -> (Host, QueueId) {
    let (mut host, queue) = Host::with(settings(kind));
    host.consumer(queue, 1000);
    host.consumer(queue, 1000);
    (host, queue)
}

fn facts(host: &Host, size: u64, ttl: Option<u64>, grouped: bool) -> Facts {
    let expires_at = ttl.map(|ttl| host.now + ttl);
    Facts { expires_at, group: grouped.then(|| "g".into()), ..Facts::plain(size) }
}

/// All that has happened, in whatever order.
fn events(host: &mut Host) -> Vec<String> {
    host.broker.take_events(&mut host.events);
    let mut events: Vec<_> = host.events.iter().map(|event| format!("{event:?}")).collect();
    events.sort();
    events
}

proptest! {
    #[test]
    fn what_takes_effect_at_once_comes_to_the_same(kind in 0..6usize, steps in steps()) {
        let ((mut logged, queue), (mut direct, same)) = (host(kind), host(kind));
        prop_assert_eq!(queue, same);
        let (mut held, mut entry) = (Vec::new(), 1);
        for step in steps {
            match step {
                Step::Send { size, ttl, grouped } => {
                    entry += 1;
                    let Command::Enqueue(message) = enqueue(Target::Queue(queue), facts(&direct, size, ttl, grouped)) else {
                        unreachable!("it is one");
                    };
                    let (at, now) = (EntryIndex(entry), direct.now);
                    let applied = direct.broker.enqueue_at_once(at, now, &message, &mut direct.events);
                    let mut out = Output::default();
                    logged.broker.apply(at, now, &[Command::Enqueue(message)], &mut out);
                    logged.events.append(&mut out.events);
                    prop_assert_eq!(&out.applied, &[applied]);
                }
                Step::Accept(which) if !held.is_empty() => {
                    let assignment: Assignment = held.remove(which % held.len());
                    let acquisition = assignment.acquisition.unwrap();
                    let command = logged.broker.outcome(acquisition, Outcome::Accepted, logged.now);
                    if !direct.broker.accept_at_once(acquisition, &mut direct.events) {
                        prop_assert_eq!(direct.broker.outcome(acquisition, Outcome::Accepted, direct.now), command.clone());
                        command.iter().for_each(|command| drop(direct.apply(command.clone())));
                    }
                    command.into_iter().for_each(|command| drop(logged.apply(command)));
                }
                Step::Accept(_) => {}
                Step::Wait(millis) => {
                    logged.wait(millis);
                    direct.wait(millis);
                }
            }
            let delivered = logged.deliver();
            prop_assert_eq!(&direct.deliver(), &delivered);
            held.extend(delivered);
            prop_assert_eq!(direct.broker.statistics(queue), logged.broker.statistics(queue));
        }
        prop_assert_eq!(events(&mut direct), events(&mut logged));
        let snapshot = |host: &Host| host.broker.snapshot(EntryIndex(0)).to_bytes();
        prop_assert_eq!(snapshot(&direct), snapshot(&logged));
    }
}
