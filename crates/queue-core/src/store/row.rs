//! Things by number, of which new ones come at the end and old ones mostly go from the beginning: a row is searched faster
//! than a tree, and needs no memory for one that comes as another goes.

use std::collections::VecDeque;

/// Things by number, in order.
#[derive(Clone, Debug)]
pub(crate) struct Row<T>(VecDeque<(u64, T)>);

impl<T> Default for Row<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Row<T> {
    /// Where a number is, or would be. The last and the first are what is mostly asked for.
    #[inline(always)] // Most of what is done with a message begins with it.
    fn place(&self, number: u64) -> Result<usize, usize> {
        match self.0.back() {
            Some((last, _)) if *last == number => Ok(self.0.len() - 1),
            _ => self.search(number),
        }
    }

    #[inline(never)]
    fn search(&self, number: u64) -> Result<usize, usize> {
        let (Some((first, _)), Some((last, _))) = (self.0.front(), self.0.back()) else { return Err(0) };
        if *first == number {
            Ok(0)
        } else if *last < number {
            Err(self.0.len())
        } else {
            self.0.binary_search_by_key(&number, |(number, _)| *number)
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.place(number).is_ok()
    }

    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        Some(&self.0.get(self.place(number).ok()?)?.1)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let place = self.place(number).ok()?;
        Some(&mut self.0.get_mut(place)?.1)
    }

    /// Puts something at a number; what was there is gone.
    pub(crate) fn insert(&mut self, number: u64, thing: T) {
        match self.place(number) {
            Ok(place) => self.0[place].1 = thing,
            Err(place) => self.0.insert(place, (number, thing)),
        }
    }

    pub(crate) fn remove(&mut self, number: u64) {
        if let Ok(place) = self.place(number) {
            self.0.remove(place);
        }
    }

    /// The number of the first of all.
    #[inline]
    pub(crate) fn first(&self) -> Option<u64> {
        self.0.front().map(|(number, _)| *number)
    }

    /// The last of all.
    #[inline]
    pub(crate) fn last(&self) -> Option<(u64, &T)> {
        self.0.back().map(|(number, thing)| (*number, thing))
    }

    #[inline]
    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.0.back_mut().map(|(_, thing)| thing)
    }

    pub(crate) fn pop_last(&mut self) {
        self.0.pop_back();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.0.iter().map(|(number, thing)| (*number, thing))
    }

    /// From a number on.
    #[inline]
    pub(crate) fn from(&self, number: u64) -> impl Iterator<Item = (u64, &T)> {
        let (Ok(place) | Err(place)) = self.place(number);
        self.0.range(place..).map(|(number, thing)| (*number, thing))
    }
}

impl<T: Default> Row<T> {
    /// What is at a number, if need be something new.
    #[inline(always)] // Each message comes by here.
    pub(crate) fn get_or_default(&mut self, number: u64) -> &mut T {
        let place = self.place(number).unwrap_or_else(|place| self.insert_default(place, number));
        &mut self.0[place].1
    }

    #[inline(never)]
    fn insert_default(&mut self, place: usize, number: u64) -> usize {
        self.0.insert(place, (number, T::default()));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_found_wherever_they_are() {
        let mut row = Row::default();
        for number in [3, 9, 5, 20, 1] {
            row.insert(number, number * 10);
        }
        row.remove(5);
        assert_eq!(row.iter().map(|(number, _)| number).collect::<Vec<_>>(), [1, 3, 9, 20]);
        assert_eq!(row.from(4).map(|(_, thing)| *thing).collect::<Vec<_>>(), [90, 200]);
        assert_eq!((row.get(9), row.get(5), row.get(21)), (Some(&90), None, None));
        assert_eq!(*row.get_or_default(7), 0);
        assert!(row.contains(7) && !row.contains(8) && row.from(21).next().is_none());
    }
}
