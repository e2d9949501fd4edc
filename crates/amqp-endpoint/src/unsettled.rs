//! The unsettled deliveries of one direction of a session, by delivery id.

use std::collections::{BTreeMap, VecDeque};

/// `Slot::link` of an id that is settled, or was never unsettled.
const HOLE: u32 = u32::MAX;
/// A ring this long may be mostly holes; see [`Unsettled::push`].
const SPARSE_RING: usize = 64;
/// A ring with more room than this gives it back when it becomes empty.
const KEPT_ROOM: usize = 1024;
/// A key this close to the oldest delivery is looked for without an index.
const SEARCHED: usize = 64;

/// What is kept of an unsettled delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The owner's key, if `keyed`.
    pub(crate) key: u64,
    /// Index of the link.
    pub(crate) link: u32,
    pub(crate) keyed: bool,
    /// The peer has settled, which the owner is told once it has set the key.
    pub(crate) settled: bool,
}

/// A ring of slots whose position is the delivery id less `base`: ids are given out in sequence, so neither hashing
/// nor searching is needed. A delivery that stays unsettled while thousands pass by would make the ring ever longer;
/// then the old ones move to a tree, so that memory follows the count of unsettled deliveries.
#[derive(Debug, Default)]
pub(crate) struct Unsettled {
    base: u32,
    ring: VecDeque<Slot>,
    /// Slots of the ring that are not holes.
    live: usize,
    rare: Option<Box<Rare>>,
}

/// What a session in steady state does without.
#[derive(Debug, Default)]
struct Rare {
    /// Older than everything in the ring.
    old: BTreeMap<u32, Slot>,
    /// Ids by key, once somebody looked for a key far from the oldest delivery.
    by_key: Option<BTreeMap<u64, u32>>,
}

impl Unsettled {
    /// Adds the delivery `id`, which follows all ids added before (in serial number arithmetic).
    #[inline]
    pub(crate) fn push(&mut self, id: u32, slot: Slot) {
        if self.live == 0 {
            self.ring.clear();
            self.base = id;
        }
        let end = id.wrapping_sub(self.base) as usize;
        if end >= SPARSE_RING + 4 * self.live {
            self.retire(id);
        } else {
            let hole = Slot { key: 0, link: HOLE, keyed: false, settled: false };
            self.ring.resize(end, hole);
        }
        self.ring.push_back(slot);
        self.live += 1;
        if let Some(by_key) = self.rare.as_mut().and_then(|rare| rare.by_key.as_mut()) {
            by_key.insert(slot.key, id);
        }
    }

    /// Moves the whole ring to the tree; the next delivery is `base`. As the ring is mostly holes, each push since the
    /// ring was last empty has paid for its share of this.
    #[cold]
    fn retire(&mut self, base: u32) {
        let rare = self.rare.get_or_insert_default();
        let ids = (0..).map(|offset| self.base.wrapping_add(offset));
        rare.old.extend(ids.zip(self.ring.drain(..)).filter(|(_, slot)| slot.link != HOLE));
        self.live = 0;
        self.base = base;
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut Slot> {
        let place = id.wrapping_sub(self.base) as usize;
        if place < self.ring.len() {
            self.ring.get_mut(place).filter(|slot| slot.link != HOLE)
        } else {
            self.rare.as_mut()?.old.get_mut(&id)
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: u32) -> Option<Slot> {
        let place = id.wrapping_sub(self.base) as usize;
        let removed = match self.ring.get_mut(place) {
            Some(slot) if slot.link == HOLE => return None,
            Some(slot) => {
                let removed = *slot;
                slot.link = HOLE;
                self.live -= 1;
                self.drop_leading_holes();
                removed
            }
            None => self.rare.as_mut()?.old.remove(&id)?,
        };
        if self.rare.is_some() {
            self.tidy(removed.key);
        }
        Some(removed)
    }

    #[inline]
    fn drop_leading_holes(&mut self) {
        while self.ring.front().is_some_and(|slot| slot.link == HOLE) {
            self.ring.pop_front();
            self.base = self.base.wrapping_add(1);
        }
        if self.live == 0 && self.ring.capacity() > KEPT_ROOM {
            self.ring = VecDeque::new();
        }
    }

    /// Takes a key from the index, and frees what is not needed any longer.
    #[cold]
    fn tidy(&mut self, key: u64) {
        if let Some(by_key) = self.rare.as_mut().and_then(|rare| rare.by_key.as_mut()) {
            by_key.remove(&key);
        }
        if self.live == 0 && self.rare.as_ref().is_some_and(|rare| rare.old.is_empty()) {
            self.rare = None;
        }
    }

    /// The first unsettled delivery from `at` to `last`, both included. Costs no more than the ring is long, however
    /// long the range.
    #[inline]
    pub(crate) fn next_between(&self, at: u32, last: u32) -> Option<(u32, Slot)> {
        let span = last.wrapping_sub(at);
        if let Some(rare) = &self.rare {
            let old = if at <= last {
                rare.old.range(at..=last).next()
            } else {
                rare.old.range(at..).next().or_else(|| rare.old.range(..=last).next())
            };
            if let Some((&id, &slot)) = old {
                return Some((id, slot));
            }
        }
        let place = at.wrapping_sub(self.base);
        let skipped = if (place as i32) < 0 { place.wrapping_neg() } else { 0 };
        let start = if skipped > 0 { 0 } else { place as usize };
        if skipped > span || start >= self.ring.len() {
            return None;
        }
        let end = self.ring.len().min(start.saturating_add((span - skipped) as usize).saturating_add(1));
        let found = self.ring.range(start..end).position(|slot| slot.link != HOLE)?;
        let place = start + found;
        Some((self.base.wrapping_add(place as u32), self.ring[place]))
    }

    /// Forgets the deliveries of a link.
    pub(crate) fn remove_link(&mut self, link: u32) {
        let mut keys = Vec::new();
        for slot in self.ring.iter_mut().filter(|slot| slot.link == link) {
            slot.link = HOLE;
            self.live -= 1;
            keys.push(slot.key);
        }
        self.drop_leading_holes();
        if let Some(rare) = &mut self.rare {
            rare.old.retain(|_, slot| {
                if slot.link == link {
                    keys.push(slot.key);
                }
                slot.link != link
            });
            keys.into_iter().for_each(|key| self.tidy(key));
        }
    }

    /// The id of the delivery of `link` with this key. Settling oldest first finds it at once; otherwise an index is
    /// made, and kept until nothing is unsettled, so that no order of settlement is dear.
    pub(crate) fn find_key(&mut self, link: u32, key: u64) -> Option<u32> {
        let is_it = |slot: &Slot| slot.link == link && slot.key == key;
        if self.rare.is_none() {
            if let Some(place) = self.ring.iter().take(SEARCHED).position(is_it) {
                return Some(self.base.wrapping_add(place as u32));
            }
            if self.ring.len() <= SEARCHED {
                return None;
            }
        }
        let id = *self.index().get(&key)?;
        self.get_mut(id).filter(|slot| is_it(slot)).map(|_| id)
    }

    fn index(&mut self) -> &BTreeMap<u64, u32> {
        let base = self.base;
        let rare = self.rare.get_or_insert_default();
        rare.by_key.get_or_insert_with(|| {
            let ring = self.ring.iter().enumerate().filter(|(_, slot)| slot.link != HOLE);
            let ring = ring.map(|(place, slot)| (slot.key, base.wrapping_add(place as u32)));
            rare.old.iter().map(|(&id, slot)| (slot.key, id)).chain(ring).collect()
        })
    }

    /// Frees room kept for bursts.
    pub(crate) fn shrink(&mut self) {
        self.ring.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slot(key: u64, link: u32) -> Slot {
        Slot { key, link, keyed: true, settled: false }
    }

    #[test]
    fn one_delivery_that_stays_unsettled_does_not_make_the_ring_grow() {
        let mut unsettled = Unsettled::default();
        unsettled.push(0, slot(0, 1));
        for id in 1..100_000 {
            unsettled.push(id, slot(id.into(), 1));
            unsettled.remove(id);
        }
        assert!(unsettled.ring.capacity() <= 2 * SPARSE_RING);
        assert_eq!(unsettled.next_between(0, 200_000), Some((0, slot(0, 1))));
    }

    #[test]
    fn a_gap_of_settled_deliveries_does_not_make_the_ring_grow() {
        let mut unsettled = Unsettled::default();
        unsettled.push(0, slot(0, 1));
        unsettled.push(1_000_000_000, slot(1, 1));
        assert!(unsettled.ring.capacity() <= SPARSE_RING);
    }

    #[test]
    fn room_for_a_burst_is_given_back_when_all_is_settled() {
        let mut unsettled = Unsettled::default();
        (0..10_000).for_each(|id| unsettled.push(id, slot(id.into(), 1)));
        (0..10_000).for_each(|id| assert!(unsettled.remove(id).is_some()));
        assert_eq!(unsettled.ring.capacity(), 0);
    }

    #[test]
    fn an_index_by_key_is_made_only_when_the_key_is_far_from_the_oldest() {
        let mut unsettled = Unsettled::default();
        (0..1000).for_each(|id| unsettled.push(id, slot(u64::from(id) + 5, 1)));
        assert_eq!(unsettled.find_key(1, 6), Some(1));
        assert!(unsettled.rare.is_none());
        assert_eq!(unsettled.find_key(1, 905), Some(900));
        assert_eq!(unsettled.find_key(2, 905), None);
        assert!(unsettled.rare.is_some());
    }

    /// Does as `Unsettled` does, the simple way.
    #[derive(Default)]
    struct Model(Vec<(u32, Slot)>);

    impl Model {
        fn next_between(&self, at: u32, last: u32) -> Option<(u32, Slot)> {
            let within = |id: u32| id.wrapping_sub(at) <= last.wrapping_sub(at);
            self.0.iter().copied().find(|&(id, _)| within(id))
        }
        fn remove(&mut self, id: u32) -> Option<Slot> {
            let place = self.0.iter().position(|&(there, _)| there == id)?;
            Some(self.0.remove(place).1)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push { gap: u32, link: u32 },
        Remove { nth: usize },
        RemoveLink { link: u32 },
        FindKey { nth: usize },
        Range { back: u32, span: u32 },
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (prop_oneof![6 => Just(0u32), 2 => 0u32..5, 1 => 0u32..500], 0u32..3)
                .prop_map(|(gap, link)| Step::Push { gap, link }),
            6 => (0usize..400).prop_map(|nth| Step::Remove { nth }),
            1 => (0u32..3).prop_map(|link| Step::RemoveLink { link }),
            1 => (0usize..400).prop_map(|nth| Step::FindKey { nth }),
            3 => (0u32..600, 0u32..600).prop_map(|(back, span)| Step::Range { back, span }),
        ]
    }

    proptest! {
        #[test]
        fn it_answers_as_a_list_does(start in any::<u32>(), steps in proptest::collection::vec(step(), 0..400)) {
            let mut unsettled = Unsettled::default();
            let mut model = Model::default();
            let mut next = start;
            for step in steps {
                match step {
                    Step::Push { gap, link } => {
                        next = next.wrapping_add(gap);
                        let slot = slot(u64::from(next) * 3, link);
                        unsettled.push(next, slot);
                        model.0.push((next, slot));
                        next = next.wrapping_add(1);
                    }
                    Step::Remove { nth } => {
                        let id = model.0.get(nth).map_or(next, |&(id, _)| id);
                        prop_assert_eq!(unsettled.remove(id), model.remove(id));
                    }
                    Step::RemoveLink { link } => {
                        unsettled.remove_link(link);
                        model.0.retain(|(_, slot)| slot.link != link);
                    }
                    Step::FindKey { nth } => {
                        let (id, wanted) = model.0.get(nth).copied().unwrap_or((next, slot(1, 0)));
                        let expected = (nth < model.0.len()).then_some(id);
                        prop_assert_eq!(unsettled.find_key(wanted.link, wanted.key), expected);
                    }
                    Step::Range { back, span } => {
                        let at = next.wrapping_sub(back);
                        let last = at.wrapping_add(span);
                        prop_assert_eq!(unsettled.next_between(at, last), model.next_between(at, last));
                    }
                }
                prop_assert_eq!(unsettled.live + unsettled.rare.as_ref().map_or(0, |r| r.old.len()), model.0.len());
            }
        }
    }
}
