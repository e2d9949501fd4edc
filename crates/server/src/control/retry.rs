//! When a connector tries again.

use std::time::Duration;

/// Time from a failed attempt to the next.
const RETRY: Duration = Duration::from_secs(5);
/// Time from the loss of an opened connection to the next attempt.
const RETRY_AFTER_LOSS: Duration = Duration::from_secs(2);
/// Time between attempts when there are several servers.
const RETRY_NEXT_SERVER: Duration = Duration::from_secs(1);
/// The first pause on the way to a router of the network. The old router waits as long as for any other server, and the
/// network does without the router for so long.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause on the way to a router of the network: with what HELLOs take, a router that returns is in use
/// within two seconds.
const LONGEST: Duration = Duration::from_millis(800);

/// The pauses between a connector's attempts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retry {
    /// A router of the network is at the other end.
    router: bool,
    /// Failures since there was a connection last.
    failures: u32,
}

/// What has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// An attempt.
    Attempt,
    /// An attempt, and there are other servers.
    WithAlternatives,
    /// An opened connection was lost.
    Connection,
}

impl Retry {
    pub(crate) fn new(router: bool) -> Self {
        Self { router, failures: 0 }
    }

    /// There is a connection.
    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// How long to wait now. `random` keeps connectors of many routers from trying all at once: pauses on the way to
    /// routers double from one to the next and are shortened by up to a quarter.
    pub(crate) fn pause(&mut self, failed: Failed, random: u8) -> Duration {
        if !self.router {
            return match failed {
                Failed::Attempt => RETRY,
                Failed::WithAlternatives => RETRY_NEXT_SERVER,
                Failed::Connection => RETRY_AFTER_LOSS,
            };
        }
        let pause = FIRST.saturating_mul(1 << self.failures.min(8)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        pause - pause * u32::from(random) / 1024
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(retry: &mut Retry, random: u8) -> u128 {
        retry.pause(Failed::Attempt, random).as_millis()
    }

    #[test]
    fn pauses_on_the_way_to_a_router_double_up_to_a_bound() {
        let mut retry = Retry::new(true);
        assert_eq!([0; 6].map(|random| millis(&mut retry, random)), [100, 200, 400, 800, 800, 800]);
    }

    #[test]
    fn a_connection_makes_the_next_pause_short_again() {
        let mut retry = Retry::new(true);
        for _ in 0..5 {
            retry.pause(Failed::Attempt, 0);
        }
        retry.succeeded();
        assert_eq!(retry.pause(Failed::Connection, 0), FIRST);
    }

    #[test]
    fn pauses_differ_by_up_to_a_quarter() {
        assert_eq!(millis(&mut Retry::new(true), u8::MAX), 75);
    }

    #[test]
    fn other_servers_are_tried_as_often_as_the_old_router_does() {
        let mut retry = Retry::new(false);
        let pauses = [Failed::Attempt, Failed::Connection, Failed::WithAlternatives].map(|it| retry.pause(it, 200));
        assert_eq!(pauses.map(|pause| pause.as_secs()), [5, 2, 1]);
    }
}
