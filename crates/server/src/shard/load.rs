//! How busy a shard is, measured by itself.

use std::time::Duration;

/// Over which time the share of busy time is taken.
const WINDOW: Duration = Duration::from_millis(100);

/// The share of time in which a shard's loop did something other than wait.
#[derive(Default)]
pub(super) struct Meter {
    since: Duration,
    busy: Duration,
}

impl Meter {
    /// Takes note of a turn that began at `start` and ended at `end`; at the end of a window gives the share, in per
    /// mille.
    pub(super) fn turn(&mut self, start: Duration, end: Duration) -> Option<u32> {
        self.busy += end.saturating_sub(start);
        let window = end.saturating_sub(self.since);
        if window < WINDOW {
            return None;
        }
        let share = self.busy.as_micros() * 1000 / window.as_micros().max(1);
        *self = Self { since: end, busy: Duration::ZERO };
        Some(u32::try_from(share).unwrap_or(1000).min(1000))
    }
}

/// Per mille: up to this load a shard gets the next connection, so that few shards are awake when few will do.
const PACK_BELOW: u32 = 600;

/// Which shard gets the next connection, given each running shard's load in per mille. `None`: a new one, which is
/// possible while fewer than `workers` run.
pub(super) fn choose(loads: &[u32], workers: usize) -> Option<usize> {
    if let Some(first) = loads.iter().position(|load| *load < PACK_BELOW) {
        return Some(first);
    }
    if loads.len() < workers {
        return None;
    }
    loads.iter().enumerate().min_by_key(|(_, load)| **load).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_packed_onto_the_first_shard_that_is_not_busy() {
        assert_eq!(choose(&[100, 0, 0], 4), Some(0));
        assert_eq!(choose(&[900, 590, 0], 4), Some(1));
    }

    #[test]
    fn a_new_shard_is_asked_for_only_when_all_are_busy() {
        assert_eq!(choose(&[900, 700], 4), None);
    }

    #[test]
    fn the_least_busy_shard_is_taken_when_all_run_and_all_are_busy() {
        assert_eq!(choose(&[900, 700, 800], 3), Some(1));
    }

    #[test]
    fn the_share_of_busy_time_is_given_once_a_window() {
        let ms = Duration::from_millis;
        let mut meter = Meter::default();
        assert_eq!(meter.turn(ms(10), ms(40)), None);
        assert_eq!(meter.turn(ms(80), ms(100)), Some(500));
        assert_eq!(meter.turn(ms(110), ms(120)), None);
    }
}
