//! When messages are due in a run at a fixed rate. The schedule does not wait for anybody: that is what makes the times
//! measured those that somebody would have waited who wanted to send then (no coordinated omission).

use super::shared::Window;

/// A schedule for the links of one worker, which take turns.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    start: u64,
    end: u64,
    /// Nanoseconds between two messages.
    interval: f64,
    next: u64,
    /// No more than this many.
    limit: u64,
    links: u64,
}

impl Pacer {
    /// A schedule of `rate` messages a second over so many links, at most `limit` messages.
    pub(super) fn new(window: Window, rate: f64, links: usize, limit: u64) -> Self {
        Self {
            start: window.start,
            end: window.end,
            interval: 1e9 / rate,
            next: 0,
            limit,
            links: (links as u64).max(1),
        }
    }

    /// When the next message is due; `None`: there is none.
    pub(super) fn next_due(&self) -> Option<u64> {
        // Rates have fractions; a run is far too short for the precision of a double to matter.
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "see above"
        )]
        let due = self.start.saturating_add((self.next as f64 * self.interval) as u64);
        (self.next < self.limit && due < self.end).then_some(due)
    }

    /// The next message that is due by now: which link is to send it, and when it was due.
    pub(super) fn take(&mut self, now: u64) -> Option<(usize, u64)> {
        let due = self.next_due().filter(|due| *due <= now)?;
        // Fits: it is less than the number of links, which came as one.
        let link = (self.next % self.links) as usize;
        self.next += 1;
        Some((link, due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { start: 1000, measured_from: 1000, end: 1000 + 1_000_000_000 };

    #[test]
    fn links_take_turns_at_even_distances() {
        let mut pacer = Pacer::new(WINDOW, 1e6, 2, u64::MAX);
        let taken: Vec<_> = std::iter::from_fn(|| pacer.take(3000)).collect();
        assert_eq!(taken, [(0, 1000), (1, 2000), (0, 3000)]);
        assert_eq!(pacer.next_due(), Some(4000));
    }

    #[test]
    fn what_was_missed_is_still_due_when_it_was() {
        let mut pacer = Pacer::new(WINDOW, 1e3, 1, u64::MAX);
        let late: Vec<_> = std::iter::from_fn(|| pacer.take(10_001_000)).map(|(_, due)| due).collect();
        assert_eq!((late.len(), late[10]), (11, 10_001_000));
    }

    #[test]
    fn the_schedule_ends_with_its_window_or_its_limit() {
        let mut pacer = Pacer::new(WINDOW, 1e3, 1, u64::MAX);
        assert_eq!(std::iter::from_fn(|| pacer.take(u64::MAX)).count(), 1000);
        let mut limited = Pacer::new(WINDOW, 1e3, 1, 7);
        assert_eq!(std::iter::from_fn(|| limited.take(u64::MAX)).count(), 7);
        assert_eq!(limited.next_due(), None);
    }
}
