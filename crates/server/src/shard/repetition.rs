//! What was said already.

use std::collections::HashSet;

use parking_lot::Mutex;

/// Kinds of failure that are remembered. There are seldom more than a few for each server a connector may turn to.
const MOST: usize = 256;

/// Why a connector's attempts failed since it last had a connection. An attempt every few seconds that fails for the
/// same reason as before is no news; without this the log would hold little else.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    said: Mutex<HashSet<String>>,
}

impl Repetition {
    /// Whether a failure is said for the first time. `line` is its log line; the connection's number, with which it
    /// begins, does not count.
    pub(crate) fn is_news(&self, line: &str) -> bool {
        let reason = line.split_once("] ").map_or(line, |(_, reason)| reason);
        let mut said = self.said.lock();
        if said.contains(reason) {
            return false;
        }
        if said.len() >= MOST {
            said.clear();
        }
        said.insert(reason.to_owned())
    }

    /// A connection was made: whatever fails after it is news.
    pub(crate) fn forget(&self) {
        self.said.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_news_once() {
        let repetition = Repetition::default();
        assert!(repetition.is_news("[C1] Connection to h:1 failed: refused"));
        assert!(!repetition.is_news("[C2] Connection to h:1 failed: refused"));
    }

    #[test]
    fn failures_of_several_servers_in_turn_are_news_once_each() {
        let repetition = Repetition::default();
        let news = ["a", "b", "a", "b"].map(|host| repetition.is_news(&format!("[C1] Connection to {host} failed: x")));
        assert_eq!(news, [true, true, false, false]);
    }

    #[test]
    fn after_a_connection_a_failure_is_news_again() {
        let repetition = Repetition::default();
        repetition.is_news("[C1] Connection to h:1 failed: refused");
        repetition.forget();
        assert!(repetition.is_news("[C2] Connection to h:1 failed: refused"));
    }

    #[test]
    fn a_peer_that_gives_a_new_reason_each_time_does_not_fill_the_memory() {
        let repetition = Repetition::default();
        for number in 0..10 * MOST {
            repetition.is_news(&format!("[C1] Connection to h:1 failed: {number}"));
        }
        assert!(repetition.said.lock().len() <= MOST);
    }
}
