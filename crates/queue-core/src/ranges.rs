//! Sets of places in a queue, as ranges: outcomes mostly come in order.

use crate::ids::Seq;
use crate::wire::{CodecError, Put, Reader};
use smallvec::SmallVec;

/// Places in a queue, in the order in which they were added. First and last of each range belong to it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Ranges(SmallVec<[(Seq, Seq); 1]>);

impl Ranges {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a place; extends the last range if it goes on there.
    pub fn push(&mut self, seq: Seq) {
        self.push_range(seq, seq);
    }

    /// Adds the places from `first` to `last`, both included. Nothing if `last` is before `first`.
    pub fn push_range(&mut self, first: Seq, last: Seq) {
        if last < first {
            return;
        }
        match self.0.last_mut() {
            Some((_, end)) if end.next() == first && end.lane() == first.lane() => *end = last,
            _ => self.0.push((first, last)),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, first and last of each.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, Seq)> + '_ {
        self.0.iter().copied()
    }

    /// Those of the places that are not before this one.
    pub fn not_before(&self, seq: Seq) -> Self {
        let mut rest = Self::new();
        self.iter().for_each(|(first, last)| rest.push_range(first.max(seq), last));
        rest
    }

    /// Adds all of another set.
    pub fn append(&mut self, other: &Self) {
        for (first, last) in other.iter() {
            self.push_range(first, last);
        }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.number(self.0.len() as u64);
        let mut before = 0;
        for (first, last) in self.iter() {
            // Mostly near each other.
            out.step(first.raw(), before);
            out.number(last.raw() - first.raw());
            before = last.raw();
        }
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let count = reader.count()?;
        let mut ranges = SmallVec::new();
        let mut before = 0u64;
        for _ in 0..count {
            let wrong = reader.wrong("range of places");
            let first = reader.step(before)?;
            let last = first.checked_add(reader.number()?).ok_or(wrong)?;
            ranges.push((Seq::from_raw(first), Seq::from_raw(last)));
            before = last;
        }
        Ok(Self(ranges))
    }
}

impl FromIterator<Seq> for Ranges {
    fn from_iter<I: IntoIterator<Item = Seq>>(places: I) -> Self {
        let mut ranges = Self::new();
        places.into_iter().for_each(|seq| ranges.push(seq));
        ranges
    }
}

impl From<Seq> for Ranges {
    fn from(seq: Seq) -> Self {
        Self(smallvec::smallvec![(seq, seq)])
    }
}
