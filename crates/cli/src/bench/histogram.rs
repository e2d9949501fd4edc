//! Times, counted in classes that are narrow where times are short: three significant digits from nanoseconds to hours.

/// Each power of two is divided into this many classes, which makes a class at most 1/1024 wide of its value.
const DIVISIONS: u64 = 1 << DIVISION_BITS;
const DIVISION_BITS: u32 = 10;
/// Times from here on (4.9 hours) count as this long.
const LONGEST: u64 = 1 << 44;

/// A histogram of nanoseconds.
#[derive(Clone, Debug)]
pub struct Histogram {
    classes: Vec<u64>,
    count: u64,
    longest: u64,
    shortest: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { classes: vec![0; class(LONGEST) + 1], count: 0, longest: 0, shortest: u64::MAX }
    }
}

/// Below `DIVISIONS` each number is a class of its own; each power of two above adds `DIVISIONS` classes.
fn class(nanos: u64) -> usize {
    let nanos = nanos.min(LONGEST);
    let power = (64 - nanos.leading_zeros()).saturating_sub(DIVISION_BITS + 1);
    // At most (44 - 10 + 1) * 1024: fits every usize.
    (u64::from(power) * DIVISIONS + (nanos >> power)) as usize
}

/// The greatest number of a class.
fn top(class: usize) -> u64 {
    let class = class as u64;
    if class < 2 * DIVISIONS {
        return class;
    }
    let power = class / DIVISIONS - 1;
    let within = class % DIVISIONS + DIVISIONS;
    ((within + 1) << power) - 1
}

impl Histogram {
    /// Counts a time.
    #[inline]
    pub fn add(&mut self, nanos: u64) {
        self.classes[class(nanos)] += 1;
        self.count += 1;
        self.longest = self.longest.max(nanos);
        self.shortest = self.shortest.min(nanos);
    }

    /// Counts what another histogram counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (class, count) in self.classes.iter_mut().zip(&other.classes) {
            *class += count;
        }
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
        self.shortest = self.shortest.min(other.shortest);
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest; 0 if none was counted.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// The shortest; 0 if none was counted.
    pub fn shortest(&self) -> u64 {
        if self.count == 0 { 0 } else { self.shortest }
    }

    /// The time below or at which this share of all is, in thousandths of a percent: 99_900 for p99.9. 0 if none was
    /// counted.
    pub fn percentile(&self, share: u64) -> u64 {
        // 128 bits: the product may exceed 64.
        let rank = (u128::from(self.count) * u128::from(share)).div_ceil(100_000).max(1);
        let mut seen = 0_u128;
        for (class, count) in self.classes.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= rank {
                return top(class).clamp(self.shortest(), self.longest);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_at_most_a_thousandth_wide() {
        for nanos in [0, 1, 1023, 1024, 2047, 2048, 1_234_567, 987_654_321, LONGEST - 1] {
            let top = top(class(nanos));
            assert!(top >= nanos && top - nanos <= nanos / 1000, "{nanos} is in a class up to {top}");
        }
    }

    #[test]
    fn classes_follow_each_other_without_gaps() {
        for edge in 1..20 * DIVISIONS {
            assert!(class(edge) - class(edge - 1) <= 1);
            assert_eq!(class(top(class(edge))), class(edge));
        }
    }

    #[test]
    fn percentiles_are_those_of_the_numbers_counted() {
        let mut histogram = Histogram::default();
        (1..=1000).rev().for_each(|n| histogram.add(n * 1000));
        let within = |share, nanos: u64| {
            let found = histogram.percentile(share);
            assert!(found.abs_diff(nanos) <= nanos / 1000, "{found} is not {nanos}");
        };
        within(50_000, 500_000);
        within(99_000, 990_000);
        within(99_900, 999_000);
        assert_eq!(
            (histogram.shortest(), histogram.percentile(100_000), histogram.longest()),
            (1000, 1_000_000, 1_000_000)
        );
    }

    #[test]
    fn merged_histograms_count_both() {
        let (mut one, mut other) = (Histogram::default(), Histogram::default());
        one.add(10);
        other.add(30);
        one.merge(&other);
        assert_eq!((one.count(), one.shortest(), one.percentile(50_000), one.longest()), (2, 10, 10, 30));
    }

    #[test]
    fn an_empty_histogram_and_an_endless_time_are_taken() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.percentile(50_000), histogram.longest(), histogram.shortest()), (0, 0, 0));
        histogram.add(u64::MAX);
        assert_eq!(histogram.longest(), u64::MAX);
    }
}
