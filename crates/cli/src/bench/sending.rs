//! What the senders of a worker have in common: the message they send, and what became of it.

use amqp::DeliveryState;

use super::histogram::Histogram;
use super::plan::{Plan, Settle};
use super::shared::Window;
use super::stamp;

/// What the senders of a worker have in common.
pub(super) struct Sending {
    /// The run's mark on its messages.
    pub(super) run: u32,
    /// What each message begins with, before its stamp.
    pub(super) head: Vec<u8>,
    /// What follows the stamp.
    pub(super) fill: Vec<u8>,
    pub(super) settled: bool,
    /// How long after they were due measured messages were sent.
    pub(super) late: Histogram,
    /// How long after they were due the outcomes of measured messages came.
    pub(super) answers: Histogram,
    pub(super) window: Option<Window>,
    pub(super) outcomes: Outcomes,
    pub(super) sent: u64,
    pub(super) settled_count: u64,
    pub(super) waiting: u64,
    pub(super) told: [u64; 4],
}

/// What receivers said of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Outcomes {
    /// Taken.
    pub accepted: u64,
    /// Refused for good.
    pub rejected: u64,
    /// Not taken, without judgement.
    pub released: u64,
    /// Not taken, with changes.
    pub modified: u64,
    /// Anything else.
    pub other: u64,
}

impl Sending {
    pub(super) fn new(plan: &Plan, run: u32) -> Self {
        Self {
            run,
            head: stamp::head(plan.size, plan.durable),
            fill: vec![b'.'; plan.size - stamp::LENGTH],
            settled: plan.settle == Settle::Presettled,
            late: Histogram::default(),
            answers: Histogram::default(),
            window: None,
            outcomes: Outcomes::default(),
            sent: 0,
            settled_count: 0,
            waiting: 0,
            told: [0; 4],
        }
    }

    /// An outcome came.
    pub(super) fn count(&mut self, state: Option<&DeliveryState>) {
        self.settled_count += 1;
        let outcomes = &mut self.outcomes;
        match state {
            // Settled without a state: the default outcome, which is accepted here.
            None | Some(DeliveryState::Accepted) => outcomes.accepted += 1,
            Some(DeliveryState::Rejected(_)) => outcomes.rejected += 1,
            Some(DeliveryState::Released) => outcomes.released += 1,
            Some(DeliveryState::Modified(_)) => outcomes.modified += 1,
            Some(_) => outcomes.other += 1,
        }
    }
}
