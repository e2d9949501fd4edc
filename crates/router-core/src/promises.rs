//! What edge routers were told of link routes: an attach that comes because of it is never taken for one to an ordinary
//! address, though the link route may be gone by then.

use std::collections::VecDeque;

use crate::Now;

/// An attach that follows from a look-up comes within this time.
const MEMORY: Now = Now::from_secs(10);
/// So many look-ups of one edge router are remembered.
const MOST: usize = 64;

/// The addresses that one edge router was told to be link routes, and whose attaches have not come yet.
#[derive(Debug, Default)]
pub(crate) struct Promises(VecDeque<(Now, Box<str>)>);

impl Promises {
    /// The edge router was told that this address is a link route.
    pub(crate) fn note(&mut self, now: Now, address: &str) {
        while self.0.len() >= MOST || self.0.front().is_some_and(|(at, _)| *at + MEMORY <= now) {
            self.0.pop_front();
        }
        self.0.push_back((now, address.into()));
    }

    /// An attach to this address has come. Whether the edge router takes it for a link route.
    pub(crate) fn take(&mut self, now: Now, address: &str) -> bool {
        let found = self.0.iter().position(|(at, known)| &**known == address && *at + MEMORY > now);
        found.and_then(|at| self.0.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now::from_secs(100);

    #[test]
    fn a_promise_holds_once_and_not_for_long() {
        let mut promises = Promises::default();
        promises.note(NOW, "a");
        assert!(!promises.take(NOW, "b") && promises.take(NOW, "a") && !promises.take(NOW, "a"));
        promises.note(NOW, "a");
        assert!(!promises.take(NOW + MEMORY, "a"));
    }

    #[test]
    fn memory_is_bounded() {
        let mut promises = Promises::default();
        (0..1_000).for_each(|number| promises.note(NOW, &format!("{number}")));
        assert_eq!(promises.0.len(), MOST);
    }
}
