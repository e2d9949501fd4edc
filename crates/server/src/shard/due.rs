//! Which connections are read in a turn: those that speak AMQP, and a few of those that are still at their handshakes.
//!
//! To answer a handshake of TLS costs as much as hundreds of messages do. However many peers begin one at once, those who
//! have messages wait for no more than a few handshakes.

use std::collections::VecDeque;

/// How many connections that speak AMQP are read in one turn.
const READS: usize = 32;
/// How many connections that do not yet are read in one turn: with a key of 4096 bits some milliseconds of work.
const HANDSHAKES: usize = 2;

/// Slots of connections that may have something to read.
#[derive(Default)]
pub(super) struct Due {
    speaking: VecDeque<u32>,
    preparing: VecDeque<u32>,
}

impl Due {
    /// Adds a connection; `preparing`: a layer under AMQP is not ready yet.
    pub(super) fn add(&mut self, slot: u32, preparing: bool) {
        if preparing { &mut self.preparing } else { &mut self.speaking }.push_back(slot);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.speaking.is_empty() && self.preparing.is_empty()
    }

    /// Appends those whose turn it is; how many of them, the first ones, are not at their handshakes.
    pub(super) fn take(&mut self, slots: &mut Vec<u32>) -> usize {
        let speaking = READS.min(self.speaking.len());
        slots.extend(self.speaking.drain(..speaking));
        slots.extend(self.preparing.drain(..HANDSHAKES.min(self.preparing.len())));
        speaking
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(due: &mut Due) -> Vec<u32> {
        let mut slots = Vec::new();
        due.take(&mut slots);
        slots
    }

    #[test]
    fn a_thousand_handshakes_do_not_come_before_one_who_speaks() {
        let mut due = Due::default();
        (0..1000).for_each(|slot| due.add(slot, true));
        due.add(1000, false);
        assert_eq!(taken(&mut due), [1000, 0, 1]);
    }

    #[test]
    fn handshakes_go_on_beside_many_who_speak() {
        let mut due = Due::default();
        (0..1000).for_each(|slot| due.add(slot, false));
        due.add(1000, true);
        assert_eq!(taken(&mut due).last(), Some(&1000));
    }

    #[test]
    fn everybody_has_a_turn() {
        let mut due = Due::default();
        (0..100).for_each(|slot| due.add(slot, slot % 2 == 0));
        let mut seen: Vec<u32> = (0..25).flat_map(|_| taken(&mut due)).collect();
        seen.sort_unstable();
        assert!(seen == (0..100).collect::<Vec<_>>() && due.is_empty());
    }
}
