//! When connections want to be looked at. Entries are never moved: a connection's time only gets later as it speaks and
//! hears, so an entry that comes due early is simply looked at and put in again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use amqp_endpoint::Now;

use super::place::ConnRef;

/// A shard's timers.
#[derive(Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(Now, u32, u32)>>);

impl Timers {
    /// Looks at the connection at `when`.
    pub(super) fn add(&mut self, when: Now, conn: ConnRef) {
        self.0.push(Reverse((when, conn.slot, conn.id)));
    }

    /// When the next entry is due.
    pub(super) fn next(&self) -> Option<Now> {
        self.0.peek().map(|Reverse((when, ..))| *when)
    }

    /// The slot and id of an entry that is due.
    pub(super) fn take_due(&mut self, now: Now) -> Option<(u32, u32)> {
        if self.next()? > now {
            return None;
        }
        self.0.pop().map(|Reverse((_, slot, id))| (slot, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_what_is_due_earliest_first() {
        let mut timers = Timers::default();
        let at = |slot| ConnRef { shard: 0, slot, id: slot, peer: false };
        timers.add(Now::from_secs(3), at(3));
        timers.add(Now::from_secs(1), at(1));
        timers.add(Now::from_secs(2), at(2));
        let due: Vec<_> = std::iter::from_fn(|| timers.take_due(Now::from_secs(2))).collect();
        assert_eq!(due, [(1, 1), (2, 2)]);
        assert_eq!(timers.next(), Some(Now::from_secs(3)));
    }
}
