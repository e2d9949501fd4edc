//! The latest entries, kept for management.

use crate::entry::{Entry, Origin};
use crate::{Level, Module, RING_SIZE};
use std::collections::VecDeque;
use std::time::Duration;

/// The last [`RING_SIZE`] entries. Space of forgotten entries is used again.
pub(crate) struct Ring {
    entries: VecDeque<Entry>,
}

impl Ring {
    pub(crate) const fn new() -> Self {
        Ring { entries: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, module: Module, level: Level, text: &str, origin: Option<Origin>, time: Duration) {
        let mut kept = String::new();
        if self.entries.len() >= RING_SIZE
            && let Some(oldest) = self.entries.pop_front()
        {
            kept = oldest.text;
            kept.clear();
        }
        kept.push_str(text);
        self.entries.push_back(Entry { module, level, text: kept, origin, time });
    }

    /// The newest entries, oldest first.
    pub(crate) fn newest(&self, limit: Option<usize>) -> Vec<Entry> {
        let count = limit.unwrap_or(usize::MAX).min(self.entries.len());
        self.entries.range(self.entries.len() - count..).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring_of(count: usize) -> Ring {
        let mut ring = Ring::new();
        for number in 0..count {
            ring.push(Module::Server, Level::Info, &number.to_string(), None, Duration::ZERO);
        }
        ring
    }

    fn texts(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|entry| entry.text.as_str()).collect()
    }

    #[test]
    fn a_limit_keeps_the_newest() {
        let ring = ring_of(5);
        assert_eq!(texts(&ring.newest(Some(2))), ["3", "4"]);
    }

    #[test]
    fn a_full_ring_forgets_the_oldest() {
        let ring = ring_of(RING_SIZE + 3);
        let all = ring.newest(None);
        assert_eq!((all.len(), all[0].text.as_str()), (RING_SIZE, "3"));
    }
}
