//! How long deliveries take, counted by size.

use std::time::Duration;

/// Classes of delay: up to 1 ms, 2 ms, 4 ms and so on to 16.384 s, and longer.
const CLASSES: usize = 16;

/// Delays, counted by size. Counting one costs a handful of instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    counts: [u64; CLASSES],
    millis: u64,
}

impl Delays {
    /// Counts a delay in milliseconds.
    #[inline]
    pub(crate) fn count(&mut self, millis: u32) {
        // Below 1 ms: class 0; from there on, a class for each power of two.
        let class = (u32::BITS - millis.leading_zeros()).min(CLASSES as u32 - 1);
        self.counts[class as usize] += 1;
        self.millis += u64::from(millis);
    }

    /// For each class its upper bound (`None`: there is none), and how many delays were in it or in those before.
    pub fn cumulative(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        self.counts.iter().enumerate().scan(0, |sum, (class, count)| {
            *sum += count;
            Some(((class + 1 < CLASSES).then(|| Duration::from_millis(1 << class)), *sum))
        })
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// What they come to together; each is known to the millisecond below.
    pub fn sum(&self) -> Duration {
        Duration::from_millis(self.millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_in_the_first_class_that_is_not_below_it() {
        let mut delays = Delays::default();
        for millis in [0, 1, 2, 3, 4, 16_383, 16_384, u32::MAX] {
            delays.count(millis);
        }
        let cumulative: Vec<_> =
            delays.cumulative().map(|(bound, count)| (bound.map(|b| b.as_millis()), count)).collect();
        assert_eq!(cumulative[..4], [(Some(1), 1), (Some(2), 2), (Some(4), 4), (Some(8), 5)]);
        assert_eq!(cumulative[14..], [(Some(16_384), 6), (None, 8)]);
        assert_eq!(delays.total(), 8);
    }

    #[test]
    fn the_sum_is_that_of_all_delays() {
        let mut delays = Delays::default();
        delays.count(1);
        delays.count(5);
        assert_eq!(delays.sum(), Duration::from_millis(6));
    }
}
