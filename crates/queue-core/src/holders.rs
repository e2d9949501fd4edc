//! Who holds which messages of a queue. They are mostly held, and let go, in the order of their places: so they are found by
//! their numbers, a block of neighbours at once.

use crate::ids::{PRIORITIES, Seq};
use crate::store::Row;

/// Places of a block.
const BLOCK: u64 = 64;

/// Messages that are held, and indices of acquisitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    lanes: [Row<Box<Block>>; PRIORITIES],
    count: usize,
}

/// Neighbours.
#[derive(Clone, Debug)]
struct Block {
    /// A bit for each that is held.
    held: u64,
    by: [u32; BLOCK as usize],
}

impl Default for Block {
    fn default() -> Self {
        Self { held: 0, by: [0; BLOCK as usize] }
    }
}

/// The block of a place, and its bit there.
#[inline]
fn split(seq: Seq) -> (u64, usize) {
    (seq.number() / BLOCK, (seq.number() % BLOCK) as usize)
}

impl Holders {
    /// How many are held.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Who holds a message.
    #[inline]
    pub(crate) fn get(&self, seq: Seq) -> Option<usize> {
        let (at, bit) = split(seq);
        let block = self.lanes.get(seq.lane())?.get(at)?;
        (block.held >> bit & 1 != 0).then(|| block.by[bit] as usize)
    }

    /// A message is held from now on. Acquisitions have indices of 32 bits.
    #[inline(always)] // Each message comes by here.
    pub(crate) fn insert(&mut self, seq: Seq, holder: usize) {
        let (at, bit) = split(seq);
        match self.lanes[seq.lane()].get_mut(at) {
            Some(block) => {
                self.count += usize::from(block.held >> bit & 1 == 0);
                block.held |= 1 << bit;
                block.by[bit] = holder as u32;
            }
            None => self.insert_into_new(seq, holder),
        }
    }

    /// The same where no neighbour of the message is held.
    #[inline(never)]
    fn insert_into_new(&mut self, seq: Seq, holder: usize) {
        let (at, bit) = split(seq);
        let row = &mut self.lanes[seq.lane()];
        if row.last().is_some_and(|(last, block)| last < at && block.held == 0) {
            // The last one is kept until it is not the last any more, for mostly its next place is held soon.
            row.pop_last();
        }
        let block = row.get_or_default(at);
        self.count += usize::from(block.held >> bit & 1 == 0);
        block.held |= 1 << bit;
        block.by[bit] = holder as u32;
    }

    /// A message is not held any more. Who held it.
    #[inline(always)] // Each message comes by here.
    pub(crate) fn remove(&mut self, seq: Seq) -> Option<usize> {
        let (at, bit) = split(seq);
        let row = self.lanes.get_mut(seq.lane())?;
        let block = row.get_mut(at).filter(|block| block.held >> bit & 1 != 0)?;
        let holder = block.by[bit] as usize;
        block.held &= !(1 << bit);
        let is_empty = block.held == 0;
        self.count -= 1;
        if is_empty && row.last().is_some_and(|(last, _)| last != at) {
            row.remove(at);
        }
        Some(holder)
    }

    /// All that are held, in order of their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Seq, usize)> + '_ {
        self.from(Seq::FIRST)
    }

    /// Those at a place and behind it.
    pub(crate) fn from(&self, first: Seq) -> impl Iterator<Item = (Seq, usize)> + '_ {
        let lanes = self.lanes.iter().enumerate().skip(first.lane());
        let all = lanes.flat_map(move |(lane, row)| {
            let from = if lane == first.lane() { split(first).0 } else { 0 };
            row.from(from).flat_map(move |(at, block)| {
                let held = (0..BLOCK).filter(|bit| block.held >> bit & 1 != 0);
                held.map(move |bit| (Seq::new(lane, at * BLOCK + bit), block.by[bit as usize] as usize))
            })
        });
        all.skip_while(move |(seq, _)| *seq < first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_same_holders_are_found_as_in_a_map(
            steps in prop::collection::vec((0..3usize, 0..400u64, any::<bool>()), 1..300),
            from in (0..3usize, 0..400u64),
        ) {
            let (mut holders, mut map) = (Holders::default(), BTreeMap::new());
            for (holder, (lane, number, holds)) in steps.into_iter().enumerate() {
                let seq = Seq::new(lane, number);
                if holds {
                    holders.insert(seq, holder);
                    map.insert(seq, holder);
                } else {
                    prop_assert_eq!(holders.remove(seq), map.remove(&seq));
                }
                prop_assert_eq!(holders.get(seq), map.get(&seq).copied());
                prop_assert_eq!(holders.len(), map.len());
            }
            let from = Seq::new(from.0, from.1);
            let expected: Vec<_> = map.range(from..).map(|(seq, holder)| (*seq, *holder)).collect();
            prop_assert_eq!(holders.from(from).collect::<Vec<_>>(), expected);
            prop_assert_eq!(holders.iter().count(), map.len());
        }
    }

    #[test]
    fn what_is_let_go_takes_no_memory() {
        let mut holders = Holders::default();
        (0..10_000).for_each(|number| holders.insert(Seq::new(4, number), 1));
        (0..10_000).for_each(|number| assert_eq!(holders.remove(Seq::new(4, number)), Some(1)));
        holders.insert(Seq::new(4, 20_000), 1);
        assert_eq!((holders.len(), holders.lanes[4].iter().count()), (1, 1));
    }
}
