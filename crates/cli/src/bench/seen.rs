//! Which messages of a sender have come.

/// One bit for each message of a sender.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    bits: Vec<u64>,
    count: u64,
    doubled: u64,
}

/// A number beyond this cannot be one of a sender's messages: sending them would take months. (It bounds what a stray
/// message can make us allocate.)
const GREATEST: u64 = 1 << 36;

impl Seen {
    /// Marks a message. False if the number cannot be right.
    #[inline]
    pub(super) fn mark(&mut self, sequence: u64) -> bool {
        if sequence >= GREATEST {
            return false;
        }
        let (word, bit) = ((sequence / 64) as usize, 1 << (sequence % 64));
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        let bits = &mut self.bits[word];
        if *bits & bit == 0 {
            *bits |= bit;
            self.count += 1;
        } else {
            self.doubled += 1;
        }
        true
    }

    /// Adds what came to another receiver of the same sender: what came to both has come twice.
    pub(super) fn merge(&mut self, other: &Seen) {
        if self.bits.len() < other.bits.len() {
            self.bits.resize(other.bits.len(), 0);
        }
        self.doubled += other.doubled;
        for (mine, others) in self.bits.iter_mut().zip(&other.bits) {
            self.doubled += u64::from((*mine & others).count_ones());
            *mine |= others;
        }
        self.count = self.bits.iter().map(|bits| u64::from(bits.count_ones())).sum();
    }

    /// How many different messages came.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// How many came once more.
    pub(super) fn doubled(&self) -> u64 {
        self.doubled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(sequences: &[u64]) -> Seen {
        let mut seen = Seen::default();
        sequences.iter().for_each(|sequence| assert!(seen.mark(*sequence)));
        seen
    }

    #[test]
    fn what_comes_again_is_doubled() {
        let seen = seen(&[0, 63, 64, 1000, 64]);
        assert_eq!((seen.count(), seen.doubled()), (4, 1));
    }

    #[test]
    fn what_came_to_two_receivers_is_doubled() {
        let mut one = seen(&[0, 2, 4, 4]);
        one.merge(&seen(&[1, 3, 4, 500]));
        assert_eq!((one.count(), one.doubled()), (6, 2));
    }

    #[test]
    fn an_absurd_number_is_refused() {
        assert!(!Seen::default().mark(u64::MAX));
    }
}
