//! What can happen.

use proptest::prelude::*;
use proptest::sample::select;
use queue_core::*;

/// Queues that are there from the start. The last two are bound to the topic.
pub(crate) const QUEUES: [&str; 4] = ["q0", "q1", "q2", "q3"];

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// To these queues (by number), or the topic.
    Send {
        to: Vec<usize>,
        topic: bool,
        message: Sent,
    },
    Subscribe {
        queue: usize,
        copy: bool,
        exclusive: bool,
        priority: i32,
        filter: bool,
        name: u8,
    },
    Credit {
        consumer: usize,
        credit: u32,
        drain: bool,
    },
    Cancel {
        consumer: usize,
        lost: bool,
    },
    Say {
        which: usize,
        outcome: Said,
    },
    /// Outcomes and messages, as one.
    Transaction {
        outcomes: Vec<(usize, Said)>,
        sent: Vec<(usize, Sent)>,
    },
    /// Commands under way are applied, in one entry of the log.
    Flush,
    /// The last command under way is never applied.
    Withdraw,
    Deliver,
    /// The same, a little later than it was last looked what is due.
    DeliverLate,
    Wait(Millis),
    Purge {
        queue: usize,
        first: Option<u64>,
    },
    Move {
        from: usize,
        to: usize,
        first: Option<u64>,
    },
    Retry {
        queue: usize,
    },
    Delete {
        queue: usize,
        bury: bool,
    },
    Change {
        queue: usize,
        settings: Box<QueueSettings>,
    },
    /// The queues are made that dead letters and expired messages of one go to.
    Graves {
        queue: usize,
    },
    Relocate,
    Restart,
}

#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) priority: u8,
    pub(crate) ttl: Option<Millis>,
    pub(crate) delay: Option<Millis>,
    pub(crate) group: Option<&'static str>,
    pub(crate) key: Option<&'static str>,
    pub(crate) duplicate: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Said {
    Accepted,
    Released,
    Rejected,
    Failed,
    NotHere,
    FailedNotHere,
}

impl Said {
    pub(crate) fn outcome(self) -> Outcome {
        let modified = |failed, undeliverable_here| Outcome::Modified { failed, undeliverable_here, annotations: None };
        match self {
            Self::Accepted => Outcome::Accepted,
            Self::Released => Outcome::Released,
            Self::Rejected => Outcome::Rejected { error: None },
            Self::Failed => modified(true, false),
            Self::NotHere => modified(false, true),
            Self::FailedNotHere => modified(true, true),
        }
    }
}

fn rarely<T: Clone + std::fmt::Debug + 'static>(values: Vec<T>) -> impl Strategy<Value = Option<T>> {
    prop_oneof![3 => Just(None), 1 => select(values).prop_map(Some)]
}

fn sent() -> impl Strategy<Value = Sent> {
    (
        prop_oneof![2 => Just(4u8), 1 => select(vec![0, 3, 9, 12])],
        rarely(vec![0, 3, 20]),
        rarely(vec![0, 4, 15]),
        rarely(vec!["g", "h"]),
        rarely(vec!["x", "y"]),
        rarely(vec!["1", "2", "3"]),
    )
        .prop_map(|(priority, ttl, delay, group, key, duplicate)| Sent {
            priority,
            ttl,
            delay,
            group,
            key,
            duplicate,
        })
}

fn said() -> impl Strategy<Value = Said> {
    select(vec![Said::Accepted, Said::Released, Said::Rejected, Said::Failed, Said::NotHere, Said::FailedNotHere])
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let queue = || 0..QUEUES.len();
    let first = || prop_oneof![Just(None), (0u64..4).prop_map(Some)];
    prop_oneof![
        10 => (prop::collection::vec(queue(), 1..3), prop::bool::weighted(0.2), sent())
            .prop_map(|(to, topic, message)| Step::Send { to, topic, message }),
        4 => (queue(), prop::bool::weighted(0.2), prop::bool::weighted(0.1), 0..2, prop::bool::weighted(0.3), 0u8..3)
            .prop_map(|(queue, copy, exclusive, priority, filter, name)| {
                Step::Subscribe { queue, copy, exclusive, priority, filter, name }
            }),
        4 => (0usize..20, 0u32..5, prop::bool::weighted(0.2))
            .prop_map(|(consumer, credit, drain)| Step::Credit { consumer, credit, drain }),
        1 => (0usize..20, any::<bool>()).prop_map(|(consumer, lost)| Step::Cancel { consumer, lost }),
        8 => (0usize..20, said()).prop_map(|(which, outcome)| Step::Say { which, outcome }),
        2 => (prop::collection::vec((0usize..20, said()), 0..3), prop::collection::vec((queue(), sent()), 0..3))
            .prop_map(|(outcomes, sent)| Step::Transaction { outcomes, sent }),
        8 => Just(Step::Flush),
        1 => Just(Step::Withdraw),
        10 => Just(Step::Deliver),
        1 => Just(Step::DeliverLate),
        4 => (0u64..12).prop_map(Step::Wait),
        1 => (queue(), first()).prop_map(|(queue, first)| Step::Purge { queue, first }),
        1 => (queue(), queue(), first()).prop_map(|(from, to, first)| Step::Move { from, to, first }),
        1 => queue().prop_map(|queue| Step::Retry { queue }),
        1 => (queue(), any::<bool>()).prop_map(|(queue, bury)| Step::Delete { queue, bury }),
        1 => (queue(), settings("")).prop_map(|(queue, settings)| Step::Change { queue, settings: Box::new(settings) }),
        1 => queue().prop_map(|queue| Step::Graves { queue }),
        1 => Just(Step::Relocate),
        1 => Just(Step::Restart),
    ]
}

fn address() -> impl Strategy<Value = Option<std::sync::Arc<str>>> {
    let all = ["q0", "q1", "q2", "q3", "new", crate::queues::TOPIC];
    prop_oneof![1 => Just(None), 2 => select(all.map(std::sync::Arc::from).to_vec()).prop_map(Some)]
}

fn settings(address_of: &'static str) -> impl Strategy<Value = QueueSettings> {
    let limits = (
        rarely(vec![1u64, 2, 4]),
        rarely(vec![20u64, 60]),
        select(vec![Overflow::Hold, Overflow::Reject, Overflow::DropHead, Overflow::Ring]),
    );
    let times = (rarely(vec![2u64, 10]), rarely(vec![5u64, 30]), address(), address(), 0u32..4);
    let back_off = (select(vec![0u64, 0, 3]), select(vec![100u32, 200]), rarely(vec![5u64]));
    let kinds = (
        any::<bool>(),
        prop::bool::weighted(0.7),
        prop::bool::weighted(0.3),
        prop_oneof![Just(0u32), 1u32..4],
        select(vec![0u64, 8]),
        prop::bool::weighted(0.2),
    );
    (limits, times, back_off, kinds).prop_map(move |(limits, times, back_off, kinds)| {
        let mut s = QueueSettings::new(address_of);
        (s.max_messages, s.max_bytes, s.overflow) = limits;
        if s.max_messages.is_none() && s.max_bytes.is_none() {
            s.overflow = Overflow::Hold;
        }
        (s.default_ttl, s.max_ttl, s.expiry_address, s.dead_letter_address, s.delivery_limit) = times;
        (s.redelivery_delay, s.redelivery_multiplier, s.max_redelivery_delay) = back_off;
        (s.priorities, s.groups, _, s.duplicate_count, s.duplicate_time, s.single_active) = kinds;
        s.last_value_key = kinds.2.then(|| "k".into());
        s
    })
}

/// Settings for each of the queues that are there from the start.
pub(crate) fn all_settings() -> impl Strategy<Value = Vec<QueueSettings>> {
    (settings("q0"), settings("q1"), settings("q2"), settings("q3")).prop_map(|(a, b, c, d)| vec![a, b, c, d])
}
