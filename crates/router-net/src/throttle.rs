//! Lines of the log that may come again and again: said once, and again when they have changed or after a long pause.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// The network has more routers than this one takes.
    Full,
    /// A router has more addresses than this one takes.
    TooManyAddresses,
    /// A message that cannot be understood.
    Malformed,
}

/// What was said lately: one line of each topic.
#[derive(Clone, Debug, Default)]
pub(crate) struct Throttle(BTreeMap<Topic, (String, Duration)>);

impl Throttle {
    /// The pause after which the same is said again.
    const PAUSE: Duration = Duration::from_secs(600);

    /// Whether something is to be said now. `what`: what would be a change if it were another.
    pub(crate) fn says(&mut self, now: Duration, topic: Topic, what: &str) -> bool {
        if self.0.get(&topic).is_some_and(|(last, at)| last == what && *at + Self::PAUSE > now) {
            return false;
        }
        self.0.insert(topic, (what.to_owned(), now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_said_once_and_again_after_a_long_pause_or_a_change() {
        let mut throttle = Throttle::default();
        let mut says = |seconds, what| throttle.says(Duration::from_secs(seconds), Topic::Full, what);
        assert!(says(0, "A"));
        assert!(!says(1, "A") && !says(599, "A"));
        assert!(says(600, "A"));
        assert!(says(601, "B") && !says(602, "B"));
    }

    #[test]
    fn topics_do_not_disturb_each_other() {
        let mut throttle = Throttle::default();
        assert!(throttle.says(Duration::ZERO, Topic::Full, "A"));
        assert!(throttle.says(Duration::ZERO, Topic::Malformed, "A"));
        assert!(!throttle.says(Duration::ZERO, Topic::Full, "A"));
    }
}
