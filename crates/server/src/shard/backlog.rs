//! How much waits for the in-process subscribers: bounded, so that nobody can fill memory by telling and asking faster than
//! the control plane listens.
//!
//! Each kind of message has room of its own: what clients ask of the management agent never keeps out what routers tell each
//! other, nor does a flood of that keep out the greetings by which neighbours know of each other.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use router_core::SubscriberId;

/// What a message costs beside its bytes.
const OVERHEAD: usize = 256;
const MIB: usize = 1024 * 1024;

/// All that waits, over all shards.
#[derive(Debug)]
pub(super) struct Backlogs {
    /// Subscribers of the routing protocol: that of greetings first.
    protocol: OnceLock<Vec<SubscriberId>>,
    greetings: Backlog,
    routers: Backlog,
    clients: Backlog,
}

impl Default for Backlogs {
    fn default() -> Self {
        Self {
            protocol: OnceLock::new(),
            greetings: Backlog::new(MIB),
            // One message has all addresses of a router: with a million of them it has some 50 MB.
            routers: Backlog::new(64 * MIB),
            clients: Backlog::new(16 * MIB),
        }
    }
}

impl Backlogs {
    /// These subscribers belong to the routing protocol, the first of them to its greetings.
    pub(super) fn take_apart(&self, protocol: &[SubscriberId]) {
        // A router has one routing protocol in its life.
        let _ = self.protocol.set(protocol.to_vec());
    }

    /// Room for a message of `bytes` to a subscriber, or `None` when too much waits already.
    pub(super) fn admit(&self, subscriber: SubscriberId, bytes: usize) -> Option<Ticket> {
        let protocol = self.protocol.get().map(Vec::as_slice).unwrap_or_default();
        let backlog = match protocol.iter().position(|known| *known == subscriber) {
            Some(0) => &self.greetings,
            Some(_) => &self.routers,
            None => &self.clients,
        };
        backlog.admit(bytes)
    }
}

/// The bytes that wait of one kind, and how many may.
#[derive(Clone, Debug)]
struct Backlog {
    waiting: Arc<AtomicUsize>,
    most: usize,
}

impl Backlog {
    fn new(most: usize) -> Self {
        Self { waiting: Arc::default(), most }
    }

    fn admit(&self, bytes: usize) -> Option<Ticket> {
        let cost = bytes.saturating_add(OVERHEAD);
        let before = self.waiting.fetch_add(cost, Ordering::Relaxed);
        let ticket = Ticket { waiting: Arc::clone(&self.waiting), cost };
        // A single message larger than the limit would otherwise never get through.
        (before == 0 || before.saturating_add(cost) <= self.most).then_some(ticket)
    }
}

/// A message's place in the backlog, given back when dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    waiting: Arc<AtomicUsize>,
    cost: usize,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.cost, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_more_than_the_limit_and_takes_again_when_tickets_are_dropped() {
        let backlog = Backlog::new(MIB);
        let first = backlog.admit(MIB - 2 * OVERHEAD).expect("the backlog is empty");
        assert!(backlog.admit(OVERHEAD).is_none());
        drop(first);
        assert!(backlog.admit(OVERHEAD).is_some());
    }

    #[test]
    fn greetings_are_taken_whatever_else_waits() {
        let backlogs = Backlogs::default();
        let [greetings, routers, clients] = [1, 2, 3].map(SubscriberId);
        backlogs.take_apart(&[greetings, routers]);
        let waiting = [routers, clients].map(|subscriber| {
            let held: Vec<_> = std::iter::from_fn(|| backlogs.admit(subscriber, MIB)).collect();
            assert!(!held.is_empty() && backlogs.admit(subscriber, MIB).is_none());
            held
        });
        assert!(backlogs.admit(greetings, 100).is_some());
        drop(waiting);
    }
}
