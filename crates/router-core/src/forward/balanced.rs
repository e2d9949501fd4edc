//! Balanced distribution: to the receiver with the fewest deliveries outstanding.
//!
//! A receiver's load is what is queued for it and what it has not settled. It is eligible while its load is below its
//! capacity. The eligible receiver with the smallest load is chosen, or the least loaded of all if none is eligible;
//! among equals, the first in list order. A chosen receiver without load moves to the end of the list, which makes idle
//! receivers take turns.
//!
//! The loads form a tournament: a change costs the logarithm of the number of receivers, the choice itself one look.

use crate::Host;
use crate::arena::NONE;
use crate::core::Core;
use crate::forward::Destination;

#[derive(Clone, Copy, Debug)]
struct Receiver {
    /// The link; `NONE`: this slot is free.
    link: u32,
    load: u32,
    capacity: u32,
    /// Rank in list order.
    rank: u64,
}

const FREE: Receiver = Receiver { link: NONE, load: 0, capacity: 0, rank: 0 };

impl Receiver {
    /// Smaller is better: a taken slot, one with room, the smaller load, the smaller rank.
    fn order(&self) -> u128 {
        let (free, full) = (u128::from(self.link == NONE), u128::from(self.load >= self.capacity));
        free << 127 | full << 126 | u128::from(self.load) << 64 | u128::from(self.rank)
    }
}

/// The loads of the receivers of one address.
#[derive(Debug)]
pub(crate) struct Loads {
    receivers: Vec<Receiver>,
    /// Slot of the best receiver of each subtree; the root is at 1, slot `n` alone at `receivers.len() + n`.
    best: Vec<u32>,
    free: Vec<u32>,
    next_rank: u64,
}

impl Loads {
    /// No receivers.
    pub(crate) fn new() -> Self {
        Self { receivers: vec![FREE; 2], best: vec![0, 0, 0, 1], free: vec![1, 0], next_rank: 0 }
    }

    /// Adds a receiver at the end of the list and returns its slot.
    pub(crate) fn add(&mut self, link: u32, load: u32, capacity: u32) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        let rank = self.take_rank();
        self.receivers[slot as usize] = Receiver { link, load, capacity, rank };
        self.replay(slot);
        slot
    }

    /// Removes the receiver in this slot.
    pub(crate) fn remove(&mut self, slot: u32) {
        self.receivers[slot as usize] = FREE;
        self.free.push(slot);
        self.replay(slot);
    }

    /// Notes the load of the receiver in this slot.
    pub(crate) fn set(&mut self, slot: u32, load: u32) {
        self.receivers[slot as usize].load = load;
        self.replay(slot);
    }

    /// Chooses the link for a delivery; `None` if there are none.
    pub(crate) fn choose(&mut self) -> Option<u32> {
        let slot = self.best[1];
        let chosen = self.receivers[slot as usize];
        if chosen.link == NONE {
            return None;
        }
        if chosen.load == 0 {
            self.receivers[slot as usize].rank = self.take_rank();
            self.replay(slot);
        }
        Some(chosen.link)
    }

    /// The receiver that [`Loads::choose`] would choose, as (load, capacity); `None` if there are none.
    pub(crate) fn best(&self) -> Option<(u32, u32)> {
        let best = self.receivers[self.best[1] as usize];
        (best.link != NONE).then_some((best.load, best.capacity))
    }

    fn take_rank(&mut self) -> u64 {
        self.next_rank += 1;
        self.next_rank
    }

    /// Doubles the room and returns a slot.
    fn grow(&mut self) -> u32 {
        let (old, new) = (self.receivers.len() as u32, self.receivers.len() as u32 * 2);
        self.receivers.resize(new as usize, FREE);
        self.best.resize(new as usize * 2, 0);
        for slot in 0..new {
            self.best[(new + slot) as usize] = slot;
        }
        for node in (1..new as usize).rev() {
            self.best[node] = self.winner(node);
        }
        self.free.extend((old + 1..new).rev());
        old
    }

    /// Plays the games of one slot again, up to the root or to one that it neither won nor wins.
    fn replay(&mut self, slot: u32) {
        let mut node = (self.receivers.len() + slot as usize) / 2;
        while node > 0 {
            let winner = self.winner(node);
            let before = std::mem::replace(&mut self.best[node], winner);
            if before != slot && winner != slot {
                break;
            }
            node /= 2;
        }
    }

    fn winner(&self, node: usize) -> u32 {
        let (left, right) = (self.best[node * 2], self.best[node * 2 + 1]);
        let left_is_worse = self.receivers[left as usize].order() > self.receivers[right as usize].order();
        if left_is_worse { right } else { left }
    }
}

/// What the best receiver of an address has to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lightest {
    pub(crate) load: u32,
    /// It has room.
    pub(crate) eligible: bool,
}

impl<H: Host> Core<H> {
    /// The load of the receiver that [`Core::least_loaded`] would choose; `None` if there are none.
    pub(crate) fn lightest_receiver(&self, addr: u32) -> Option<Lightest> {
        let address = &self.addresses[addr];
        let (load, capacity) = match &address.loads {
            Some(loads) => loads.best()?,
            None if address.receivers.head == NONE => return None,
            None => {
                let only = &self.links[address.receivers.head];
                (only.load(), only.capacity)
            }
        };
        Some(Lightest { load, eligible: load < capacity })
    }

    /// The receiver with the least load; a single one needs no choice.
    #[inline(always)] // As before there were other routers: most addresses have consumers here only.
    pub(crate) fn least_loaded(&mut self, addr: u32) -> Destination {
        let address = &mut self.addresses[addr];
        let chosen = match &mut address.loads {
            Some(loads) => loads.choose(),
            None => Some(address.receivers.head).filter(|&head| head != NONE),
        };
        chosen.map_or(Destination::Nobody, Destination::Link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(given: &[u32]) -> Loads {
        let mut loads = Loads::new();
        for (link, &load) in given.iter().enumerate() {
            loads.add(link as u32, load, 10);
        }
        loads
    }

    #[test]
    fn idle_receivers_take_turns() {
        let mut loads = loads(&[0, 0, 0]);
        let chosen: Vec<_> = (0..6).filter_map(|_| loads.choose()).collect();
        assert_eq!(chosen, [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn the_least_loaded_is_chosen_and_among_equals_the_first_in_the_list() {
        assert_eq!(loads(&[3, 1, 2, 1]).choose(), Some(1));
    }

    #[test]
    fn a_loaded_receiver_keeps_its_place_in_the_list() {
        let mut loads = loads(&[1, 1]);
        assert_eq!((loads.choose(), loads.choose()), (Some(0), Some(0)));
    }

    #[test]
    fn a_receiver_with_room_is_preferred_to_a_less_loaded_one_without() {
        let mut loads = Loads::new();
        loads.add(0, 3, 3);
        loads.add(1, 9, 10);
        assert_eq!(loads.choose(), Some(1));
    }

    #[test]
    fn without_any_room_the_least_loaded_is_chosen() {
        assert_eq!(loads(&[12, 11, 13]).choose(), Some(1));
    }

    #[test]
    fn a_removed_receiver_is_not_chosen() {
        let mut loads = loads(&[0, 5]);
        loads.remove(0);
        assert_eq!(loads.choose(), Some(1));
    }

    #[test]
    fn nobody_is_chosen_when_all_are_gone() {
        let mut loads = loads(&[0]);
        loads.remove(0);
        assert_eq!(loads.choose(), None);
    }

    mod against_the_rule_as_written {
        use proptest::prelude::*;

        use super::super::*;

        /// The list, walked from the front.
        #[derive(Default)]
        struct Walked(Vec<(u32, u32, u32)>);

        impl Walked {
            fn choose(&mut self) -> Option<u32> {
                let least = |eligible: bool| {
                    let wanted = self.0.iter().enumerate().filter(|(_, (_, load, room))| (room > load) == eligible);
                    wanted.min_by_key(|(at, (_, load, _))| (*load, *at)).map(|(at, _)| at)
                };
                let at = least(true).or_else(|| least(false))?;
                let (link, load, capacity) = self.0[at];
                if load == 0 {
                    self.0.remove(at);
                    self.0.push((link, load, capacity));
                }
                Some(link)
            }
        }

        proptest! {
            #[test]
            fn every_choice_is_the_same(steps in prop::collection::vec((0..4u8, 0..12usize, 0..6u32), 1..200)) {
                let (mut loads, mut walked, mut slots) = (Loads::new(), Walked::default(), Vec::new());
                for (number, (step, at, load)) in steps.into_iter().enumerate() {
                    let link = number as u32;
                    match step {
                        0 => {
                            slots.push((link, loads.add(link, load, 4)));
                            walked.0.push((link, load, 4));
                        }
                        1 if at < slots.len() => {
                            let (link, slot) = slots.remove(at);
                            loads.remove(slot);
                            walked.0.retain(|(other, ..)| *other != link);
                        }
                        2 if at < slots.len() => {
                            let (link, slot) = slots[at];
                            loads.set(slot, load);
                            walked.0.iter_mut().filter(|(other, ..)| *other == link).for_each(|entry| entry.1 = load);
                        }
                        _ => prop_assert_eq!(loads.choose(), walked.choose()),
                    }
                }
            }
        }
    }
}
