//! Finding a channel or handle of the peer's choice in constant time, without trusting the peer to choose small ones.

use std::collections::BTreeMap;

/// Marks a place of the dense part that is not taken.
const FREE: u32 = u32::MAX;

/// A map from the peer's numbers to indices of ours (never `u32::MAX`). Numbers that are small for the count of entries,
/// as well-behaved peers choose them, are vector indices; others live in a tree. So memory follows the count of
/// entries, not the largest number.
#[derive(Debug, Default)]
pub(crate) struct SparseIndex {
    dense: Vec<u32>,
    rest: BTreeMap<u32, u32>,
    entries: usize,
}

impl SparseIndex {
    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<u32> {
        match self.dense.get(key as usize) {
            Some(&value) => (value != FREE).then_some(value),
            None if self.rest.is_empty() => None,
            None => self.rest.get(&key).copied(),
        }
    }

    /// Adds an entry; `key` must not be there yet.
    pub(crate) fn insert(&mut self, key: u32, value: u32) {
        self.entries += 1;
        let place = key as usize;
        if place >= self.dense.len() && place < 8 + 2 * self.entries {
            self.grow(place + 1);
        }
        match self.dense.get_mut(place) {
            Some(slot) => *slot = value,
            None => {
                self.rest.insert(key, value);
            }
        }
    }

    pub(crate) fn remove(&mut self, key: u32) -> Option<u32> {
        let removed = match self.dense.get_mut(key as usize) {
            Some(slot) => Some(std::mem::replace(slot, FREE)).filter(|&value| value != FREE),
            None => self.rest.remove(&key),
        };
        if removed.is_some() {
            self.entries -= 1;
            let used = self.dense.iter().rposition(|&value| value != FREE).map_or(0, |last| last + 1);
            self.dense.truncate(used);
        }
        removed
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn shrink(&mut self) {
        self.dense.shrink_to_fit();
    }

    /// Makes the dense part `len` long, and moves into it what belongs there now.
    fn grow(&mut self, len: usize) {
        self.dense.resize(len, FREE);
        while let Some(entry) = self.rest.first_entry().filter(|entry| (*entry.key() as usize) < len) {
            let (key, value) = entry.remove_entry();
            self.dense[key as usize] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_huge_number_costs_no_huge_vector() {
        let mut index = SparseIndex::default();
        index.insert(u32::MAX, 7);
        assert_eq!((index.get(u32::MAX), index.dense.len()), (Some(7), 0));
    }

    #[test]
    fn small_numbers_are_vector_indices() {
        let mut index = SparseIndex::default();
        (0..1000).for_each(|key| index.insert(key, key));
        assert_eq!((index.dense.len(), index.rest.len()), (1000, 0));
    }

    proptest! {
        #[test]
        fn it_answers_as_a_map_does(steps in proptest::collection::vec((0u32..40, any::<bool>()), 0..200)) {
            let mut index = SparseIndex::default();
            let mut map = BTreeMap::new();
            for (at, (key, insert)) in steps.into_iter().enumerate() {
                let key = key * key;
                if insert && !map.contains_key(&key) {
                    map.insert(key, at as u32);
                    index.insert(key, at as u32);
                } else if !insert {
                    prop_assert_eq!(index.remove(key), map.remove(&key));
                }
                for key in (0..40).map(|key| key * key) {
                    prop_assert_eq!(index.get(key), map.get(&key).copied());
                }
            }
        }
    }
}
