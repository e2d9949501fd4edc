//! Gathering dispositions, so that deliveries with consecutive ids and the same state share a frame.

use amqp::DeliveryState;
use amqp::performative::{Disposition, Role};

use crate::output::Output;

/// Lists of ranges with more room than this give it back when they become empty.
const KEPT_ROOM: usize = 64;

/// Dispositions of one role in one session, not yet written. All that wait have the same state.
#[derive(Debug, Default)]
pub(crate) struct Dispositions {
    /// First and last ids. Deliveries settled in the order of their ids need one range only.
    ranges: Vec<(u32, u32)>,
    state: Option<DeliveryState>,
    settled: bool,
}

impl Dispositions {
    /// Adds one. If its state is not that of those that wait, they are written first.
    #[inline]
    pub(crate) fn add(&mut self, id: u32, state: Option<DeliveryState>, settled: bool, wire: &mut Wire<'_>) {
        if self.ranges.is_empty() || self.settled != settled || self.state != state {
            self.write(wire);
            self.state = state;
            self.settled = settled;
        }
        match self.ranges.last_mut() {
            Some((_, last)) if last.wrapping_add(1) == id => *last = id,
            _ => self.ranges.push((id, id)),
        }
    }

    /// Writes what waits.
    #[inline]
    pub(crate) fn write(&mut self, wire: &mut Wire<'_>) {
        if self.ranges.is_empty() {
            return;
        }
        self.sort();
        let mut disposition = Disposition {
            role: wire.role,
            first: 0,
            last: None,
            settled: self.settled,
            state: self.state.take(),
            batchable: false,
        };
        for (first, last) in self.ranges.drain(..) {
            disposition.first = first;
            disposition.last = (first != last).then_some(last);
            wire.output.disposition(wire.channel, &mut disposition);
        }
        if self.ranges.capacity() > KEPT_ROOM {
            self.ranges = Vec::new();
        }
    }

    /// Brings the ranges in order and joins those that touch. Ids wrap around, so they are compared by their distance
    /// from an id that is surely older than all.
    fn sort(&mut self) {
        let [(start, _), _, ..] = self.ranges[..] else { return };
        let age = |id: u32| id.wrapping_sub(start.wrapping_sub(1 << 31));
        self.ranges.sort_unstable_by_key(|&(first, _)| age(first));
        self.ranges.dedup_by(|next, joined| {
            let touch = joined.1.wrapping_add(1) == next.0;
            if touch {
                joined.1 = next.1;
            }
            touch
        });
    }
}

/// Where dispositions are written to.
pub(crate) struct Wire<'o> {
    pub(crate) output: &'o mut Output,
    pub(crate) channel: u16,
    /// Our role on the links concerned.
    pub(crate) role: Role,
}
