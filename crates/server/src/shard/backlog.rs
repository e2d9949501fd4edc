//! How much waits for the in-process subscribers: bounded, so that no client can fill memory by asking faster than the
//! control plane answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of messages that may wait for the control plane; more are refused.
const LIMIT: usize = 16 * 1024 * 1024;
/// What a message costs beside its bytes.
const OVERHEAD: usize = 256;

/// The bytes that wait, over all shards.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog(Arc<AtomicUsize>);

impl Backlog {
    /// Room for a message of `bytes`, or `None` when too much waits already.
    pub(super) fn admit(&self, bytes: usize) -> Option<Ticket> {
        let cost = bytes.saturating_add(OVERHEAD);
        let before = self.0.fetch_add(cost, Ordering::Relaxed);
        let ticket = Ticket { backlog: Arc::clone(&self.0), cost };
        // A single message larger than the limit would otherwise never get through.
        (before == 0 || before.saturating_add(cost) <= LIMIT).then_some(ticket)
    }
}

/// A message's place in the backlog, given back when dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    backlog: Arc<AtomicUsize>,
    cost: usize,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.backlog.fetch_sub(self.cost, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_more_than_the_limit_and_takes_again_when_tickets_are_dropped() {
        let backlog = Backlog::default();
        let first = backlog.admit(LIMIT - 2 * OVERHEAD).expect("the backlog is empty");
        assert!(backlog.admit(OVERHEAD).is_none());
        drop(first);
        assert!(backlog.admit(OVERHEAD).is_some());
    }
}
