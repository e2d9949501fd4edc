//! Where connections, links, addresses and deliveries live: slots found by index, with keys that age.
//!
//! Slots come in pages that never move, so growing copies nothing; new values take the lowest page with room, and pages
//! that have become empty are given back, so that memory follows the load down again. Every insertion gets a new
//! generation, which is part of its key: the key of something removed finds nothing.

use std::ops::{Index, IndexMut};

/// No index: the end of a list.
pub(crate) const NONE: u32 = u32::MAX;

const PAGE: usize = 64;

/// Joins the parts of a key.
fn key(generation: u32, index: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(index)
}

/// The index within a key.
pub(crate) fn index_of(key: u64) -> u32 {
    key as u32
}

enum Entry<T> {
    Vacant { next: u32 },
    Occupied(T),
}

struct Slot<T> {
    /// Of the value that is here, or was here last; never zero for a value.
    generation: u32,
    entry: Entry<T>,
}

type Page<T> = [Slot<T>; PAGE];

fn new_page<T>() -> Box<Page<T>> {
    let vacant = |at: usize| Slot {
        generation: 0,
        entry: Entry::Vacant { next: if at + 1 == PAGE { NONE } else { at as u32 + 1 } },
    };
    let slots: Box<[Slot<T>]> = (0..PAGE).map(vacant).collect();
    slots.try_into().unwrap_or_else(|_| unreachable!("it was made of so many slots"))
}

/// What is known of a page without looking into it.
#[derive(Clone, Copy)]
struct PageState {
    /// First vacant slot.
    free: u32,
    /// Occupied slots.
    used: u32,
}

/// A growing and shrinking set of values with stable indices.
pub(crate) struct Arena<T> {
    pages: Vec<Option<Box<Page<T>>>>,
    states: Vec<PageState>,
    /// One bit per page: it is there and has room.
    room: Vec<u64>,
    /// No word of `room` below this one has a bit set.
    first_room: usize,
    /// Indices of pages that are not there.
    absent: Vec<u32>,
    /// Pages that are there and empty: at most one is kept.
    empty: u32,
    generation: u32,
    len: usize,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self {
            pages: Vec::new(),
            states: Vec::new(),
            room: Vec::new(),
            first_room: 0,
            absent: Vec::new(),
            empty: 0,
            generation: 0,
            len: 0,
        }
    }
}

impl<T> Arena<T> {
    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a value and returns its key.
    pub(crate) fn insert(&mut self, value: T) -> u64 {
        let number = self.page_with_room();
        self.generation = self.generation.wrapping_add(1).max(1);
        let generation = self.generation;
        let state = &mut self.states[number];
        let at = state.free;
        let page = self.pages[number].as_mut().unwrap_or_else(|| unreachable!("pages with room are there"));
        let slot = &mut page[at as usize % PAGE];
        if let Entry::Vacant { next } = slot.entry {
            state.free = next;
        }
        *slot = Slot { generation, entry: Entry::Occupied(value) };
        self.empty -= u32::from(state.used == 0);
        state.used += 1;
        if state.free == NONE {
            self.room[number / 64] &= !(1 << (number % 64));
        }
        self.len += 1;
        key(generation, (number * PAGE) as u32 + at)
    }

    /// Removes the value with this key.
    pub(crate) fn remove(&mut self, key: u64) -> Option<T> {
        let index = index_of(key);
        let number = index as usize / PAGE;
        let page = self.pages.get_mut(number)?.as_mut()?;
        let slot = &mut page[index as usize % PAGE];
        if slot.generation != (key >> 32) as u32 || matches!(slot.entry, Entry::Vacant { .. }) {
            return None;
        }
        let state = &mut self.states[number];
        let entry = std::mem::replace(&mut slot.entry, Entry::Vacant { next: state.free });
        let was_full = state.free == NONE;
        state.free = index % PAGE as u32;
        state.used -= 1;
        self.len -= 1;
        if state.used == 0 {
            self.page_emptied(number);
        } else if was_full {
            self.mark_room(number);
        }
        match entry {
            Entry::Occupied(value) => Some(value),
            Entry::Vacant { .. } => None,
        }
    }

    /// Removes the value at this index.
    pub(crate) fn remove_at(&mut self, index: u32) -> Option<T> {
        self.remove(self.key_at(index))
    }

    /// The value with this key.
    pub(crate) fn get(&self, key: u64) -> Option<&T> {
        let index = index_of(key) as usize;
        match self.pages.get(index / PAGE)?.as_ref()?[index % PAGE] {
            Slot { generation, entry: Entry::Occupied(ref value) } if generation == (key >> 32) as u32 => Some(value),
            _ => None,
        }
    }

    /// The value with this key.
    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        let index = index_of(key) as usize;
        match self.pages.get_mut(index / PAGE)?.as_mut()?[index % PAGE] {
            Slot { generation, entry: Entry::Occupied(ref mut value) } if generation == (key >> 32) as u32 => {
                Some(value)
            }
            _ => None,
        }
    }

    /// The key of what is, or was last, at this index.
    pub(crate) fn key_at(&self, index: u32) -> u64 {
        let page = self.pages.get(index as usize / PAGE).and_then(Option::as_ref);
        key(page.map_or(0, |page| page[index as usize % PAGE].generation), index)
    }

    /// All values with their keys, in order of index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.pages.iter().enumerate().filter_map(|(number, page)| Some((number, page.as_ref()?))).flat_map(
            |(number, page)| {
                page.iter().enumerate().filter_map(move |(at, slot)| match &slot.entry {
                    Entry::Occupied(value) => Some((key(slot.generation, (number * PAGE + at) as u32), value)),
                    Entry::Vacant { .. } => None,
                })
            },
        )
    }

    /// All values, in order of index.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.pages.iter_mut().flatten().flat_map(|page| {
            page.iter_mut().filter_map(|slot| match &mut slot.entry {
                Entry::Occupied(value) => Some(value),
                Entry::Vacant { .. } => None,
            })
        })
    }

    /// The lowest page that is there and has room, or a new one.
    fn page_with_room(&mut self) -> usize {
        while let Some(&word) = self.room.get(self.first_room) {
            if word != 0 {
                return self.first_room * 64 + word.trailing_zeros() as usize;
            }
            self.first_room += 1;
        }
        let number = match self.absent.pop() {
            Some(number) => number as usize,
            None => {
                self.pages.push(None);
                self.states.push(PageState { free: 0, used: 0 });
                if self.room.len() * 64 < self.pages.len() {
                    self.room.push(0);
                }
                self.pages.len() - 1
            }
        };
        self.pages[number] = Some(new_page());
        self.states[number] = PageState { free: 0, used: 0 };
        self.empty += 1;
        self.mark_room(number);
        number
    }

    fn mark_room(&mut self, number: usize) {
        self.room[number / 64] |= 1 << (number % 64);
        self.first_room = self.first_room.min(number / 64);
    }

    /// Gives an emptied page back unless it is the only empty one: one is kept, so that a load which hovers at a page's
    /// edge does not allocate.
    fn page_emptied(&mut self, number: usize) {
        if self.empty == 0 {
            self.empty = 1;
            self.mark_room(number);
        } else {
            self.pages[number] = None;
            self.room[number / 64] &= !(1 << (number % 64));
            self.absent.push(number as u32);
        }
    }
}

/// By index, for what is known to be there: links in a list, the address of a link, the copies of a delivery. Whatever is
/// removed is first taken out of every list and record that names it, so a missing value is a fault of the core itself.
impl<T> Index<u32> for Arena<T> {
    type Output = T;

    fn index(&self, index: u32) -> &T {
        let page = self.pages[index as usize / PAGE].as_ref();
        match page.map(|page| &page[index as usize % PAGE].entry) {
            Some(Entry::Occupied(value)) => value,
            _ => unreachable!("an index kept in the core names nothing"),
        }
    }
}

impl<T> IndexMut<u32> for Arena<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        let page = self.pages[index as usize / PAGE].as_mut();
        match page.map(|page| &mut page[index as usize % PAGE].entry) {
            Some(Entry::Occupied(value)) => value,
            _ => unreachable!("an index kept in the core names nothing"),
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
    fn pages_are_given_back_when_a_burst_is_over() {
        let mut arena = Arena::default();
        let keys: Vec<_> = (0..10_000).map(|value| arena.insert(value)).collect();
        for key in keys {
            arena.remove(key);
        }
        assert_eq!(arena.pages.iter().flatten().count(), 1);
    }

    #[test]
    fn given_back_pages_are_used_again_before_new_ones() {
        let mut arena = Arena::default();
        let keys: Vec<_> = (0..1_000).map(|value| arena.insert(value)).collect();
        let pages = arena.pages.len();
        for key in keys {
            arena.remove(key);
        }
        for value in 0..1_000 {
            arena.insert(value);
        }
        assert_eq!((arena.pages.len(), arena.iter().count()), (pages, 1_000));
    }

    #[test]
    fn one_value_coming_and_going_at_the_edge_of_a_page_keeps_the_page() {
        let mut arena = Arena::default();
        for value in 0..PAGE {
            arena.insert(value);
        }
        let key = arena.insert(PAGE);
        arena.remove(key);
        assert_eq!(arena.pages.iter().flatten().count(), 2);
    }
}
