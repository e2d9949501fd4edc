//! Log lines that are not written each time: what clients can make happen as often as they like fills no disk.

use queue_core::Millis;

/// How long after a line the next one of its kind is written, in milliseconds.
const PAUSE: Millis = 60_000;

/// When a line was written last, and how often it was not.
#[derive(Debug, Default)]
pub(super) struct Seldom {
    next: Millis,
    unsaid: u64,
}

impl Seldom {
    /// Whether a line is to be written now; if so, how many were not since the last one.
    pub(super) fn speaks(&mut self, now: Millis) -> Option<u64> {
        if now < self.next {
            self.unsaid += 1;
            return None;
        }
        self.next = now + PAUSE;
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_written_once_a_minute_and_says_how_many_were_not() {
        let mut seldom = Seldom::default();
        assert_eq!([1000, 1001, 60_999].map(|now| seldom.speaks(now)), [Some(0), None, None]);
        assert_eq!([61_000, 121_000].map(|now| seldom.speaks(now)), [Some(2), Some(0)]);
    }
}
