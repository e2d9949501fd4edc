//! Where connections, links, addresses and deliveries live: slots found by index, with keys that age.
//!
//! New values take the lowest vacant slot, and vacant slots at the end are given up, so that memory follows the load
//! down again. Every insertion gets a new generation, which is part of its key: the key of something removed finds
//! nothing.

use std::ops::{Index, IndexMut};

/// No index: the end of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// Slots below which memory is not given back.
const KEPT: usize = 64;

/// Joins the parts of a key.
fn key(generation: u32, index: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(index)
}

/// The index within a key.
pub(crate) fn index_of(key: u64) -> u32 {
    key as u32
}

struct Slot<T> {
    /// Of the value that is here; 0 if there is none.
    generation: u32,
    value: Option<T>,
}

/// A growing and shrinking set of values with stable indices.
pub(crate) struct Arena<T> {
    /// The last slot is never vacant.
    slots: Vec<Slot<T>>,
    /// One bit per slot: it is vacant.
    vacant: Vec<u64>,
    /// No word of `vacant` below this one has a bit set.
    first_vacant: usize,
    generation: u32,
    len: usize,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new(), first_vacant: 0, generation: 0, len: 0 }
    }
}

impl<T> Arena<T> {
    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a value and returns its key.
    pub(crate) fn insert(&mut self, value: T) -> u64 {
        self.generation = self.generation.wrapping_add(1).max(1);
        let slot = Slot { generation: self.generation, value: Some(value) };
        self.len += 1;
        while let Some(word) = self.vacant.get_mut(self.first_vacant) {
            if *word != 0 {
                let index = self.first_vacant * 64 + word.trailing_zeros() as usize;
                *word &= *word - 1;
                self.slots[index] = slot;
                return key(self.generation, index as u32);
            }
            self.first_vacant += 1;
        }
        let index = self.slots.len();
        self.slots.push(slot);
        if self.vacant.len() * 64 <= index {
            self.vacant.push(0);
        }
        key(self.generation, index as u32)
    }

    /// The key that the next insertion will get.
    #[inline]
    pub(crate) fn next_key(&self) -> u64 {
        let words = self.vacant.get(self.first_vacant..).unwrap_or_default();
        let index = match words.iter().position(|word| *word != 0) {
            Some(at) => (self.first_vacant + at) * 64 + words[at].trailing_zeros() as usize,
            None => self.slots.len(),
        };
        key(self.generation.wrapping_add(1).max(1), index as u32)
    }

    /// No insertion gets the key that the next one would get.
    pub(crate) fn skip_key(&mut self) {
        self.generation = self.generation.wrapping_add(1).max(1);
    }

    /// Removes the value with this key.
    pub(crate) fn remove(&mut self, key: u64) -> Option<T> {
        let value = self.take(key)?;
        self.discard(index_of(key));
        Some(value)
    }

    fn take(&mut self, key: u64) -> Option<T> {
        let slot = self.slots.get_mut(index_of(key) as usize)?;
        if slot.generation == (key >> 32) as u32 { slot.value.take() } else { None }
    }

    /// Removes the value at this index, which is there, without moving it.
    pub(crate) fn discard(&mut self, index: u32) {
        let index = index as usize;
        let slot = &mut self.slots[index];
        slot.value = None;
        slot.generation = 0;
        self.len -= 1;
        if index + 1 == self.slots.len() {
            self.give_up_vacant_end();
        } else {
            self.vacant[index / 64] |= 1 << (index % 64);
            self.first_vacant = self.first_vacant.min(index / 64);
        }
    }

    /// Removes the value at this index.
    pub(crate) fn remove_at(&mut self, index: u32) -> Option<T> {
        self.remove(self.key_at(index))
    }

    /// The value with this key.
    pub(crate) fn get(&self, key: u64) -> Option<&T> {
        match self.slots.get(index_of(key) as usize) {
            Some(slot) if slot.generation == (key >> 32) as u32 => slot.value.as_ref(),
            _ => None,
        }
    }

    /// The value with this key.
    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        match self.slots.get_mut(index_of(key) as usize) {
            Some(slot) if slot.generation == (key >> 32) as u32 => slot.value.as_mut(),
            _ => None,
        }
    }

    /// The key of what is at this index.
    pub(crate) fn key_at(&self, index: u32) -> u64 {
        key(self.slots.get(index as usize).map_or(0, |slot| slot.generation), index)
    }

    /// All values with their keys, in order of index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let value = slot.value.as_ref()?;
            Some((key(slot.generation, index as u32), value))
        })
    }

    /// All values, in order of index.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|slot| slot.value.as_mut())
    }

    fn give_up_vacant_end(&mut self) {
        while self.slots.last().is_some_and(|slot| slot.generation == 0) {
            self.slots.pop();
            let index = self.slots.len();
            self.vacant[index / 64] &= !(1 << (index % 64));
        }
        let (len, capacity) = (self.slots.len(), self.slots.capacity());
        if capacity > KEPT && len < capacity / 4 {
            self.slots.shrink_to((len * 2).max(KEPT));
            self.vacant.truncate(len.div_ceil(64));
            self.first_vacant = self.first_vacant.min(self.vacant.len());
        }
    }
}

/// By index, for what is known to be there: links in a list, the address of a link, the copies of a delivery. Whatever is
/// removed is first taken out of every list and record that names it, so a missing value is a fault of the core itself.
impl<T> Index<u32> for Arena<T> {
    type Output = T;

    #[inline(always)] // Several times for each delivery, and a handful of instructions.
    fn index(&self, index: u32) -> &T {
        match &self.slots[index as usize].value {
            Some(value) => value,
            None => unreachable!("an index kept in the core names nothing"),
        }
    }
}

impl<T> IndexMut<u32> for Arena<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: u32) -> &mut T {
        match &mut self.slots[index as usize].value {
            Some(value) => value,
            None => unreachable!("an index kept in the core names nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_something_removed_finds_nothing_even_when_its_slot_is_taken_again() {
        let mut arena = Arena::default();
        let old = arena.insert("old");
        arena.remove(old);
        let new = arena.insert("new");
        assert_eq!(index_of(old), index_of(new));
        assert_eq!((arena.get(old), arena.get(new)), (None, Some(&"new")));
    }

    #[test]
    fn removing_twice_removes_once() {
        let mut arena = Arena::default();
        let key = arena.insert(1);
        assert_eq!((arena.remove(key), arena.remove(key), arena.len()), (Some(1), None, 0));
    }

    #[test]
    fn the_lowest_vacant_slot_is_taken_first() {
        let mut arena = Arena::default();
        let keys: Vec<_> = (0..1_000).map(|value| arena.insert(value)).collect();
        for at in [700, 3, 64] {
            arena.remove(keys[at]);
        }
        let taken = [0; 4].map(|value| index_of(arena.insert(value)));
        assert_eq!(taken, [3, 64, 700, 1_000]);
    }

    #[test]
    fn memory_is_given_back_when_a_burst_is_over() {
        let mut arena = Arena::default();
        let keys: Vec<_> = (0..10_000).map(|value| arena.insert(value)).collect();
        for key in &keys[10..] {
            arena.remove(*key);
        }
        assert_eq!((arena.slots.len(), arena.len()), (10, 10));
        assert!(arena.slots.capacity() <= KEPT && arena.vacant.len() <= 1);
    }

    #[test]
    fn vacant_slots_at_the_end_are_given_up_together() {
        let mut arena = Arena::default();
        let keys: Vec<_> = (0..100).map(|value| arena.insert(value)).collect();
        for key in &keys[50..99] {
            arena.remove(*key);
        }
        arena.remove(keys[99]);
        assert_eq!((arena.slots.len(), index_of(arena.insert(0))), (50, 50));
    }

    mod against_a_map {
        use std::collections::BTreeMap;

        use proptest::prelude::*;

        use super::super::*;

        proptest! {
            #[test]
            fn the_same_values_are_found(steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..400)) {
                let (mut arena, mut map) = (Arena::default(), BTreeMap::new());
                for (number, (insert, which)) in steps.into_iter().enumerate() {
                    if insert || map.is_empty() {
                        let foreseen = arena.next_key();
                        prop_assert_eq!(arena.insert(number), foreseen);
                        prop_assert!(map.insert(foreseen, number).is_none());
                    } else {
                        let key = *map.keys().nth(which.index(map.len())).unwrap();
                        prop_assert_eq!(arena.remove(key), map.remove(&key));
                        prop_assert_eq!(arena.get(key), None);
                    }
                    prop_assert_eq!(arena.iter().map(|(key, value)| (key, *value)).collect::<BTreeMap<_, _>>(), map.clone());
                    prop_assert_eq!(arena.len(), map.len());
                }
            }
        }
    }
}
