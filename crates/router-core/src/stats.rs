//! Counters, delays and rates.

use crate::core::{Clock, Core};
use crate::delivery::{Delivery, NO_INGRESS, Outcome};
use crate::link::Link;
use crate::{Host, IngressHistogram, LinkType, RouterStatistics};

/// A delivery settled later than this after it came is delayed, in milliseconds.
const DELAYED: u32 = 1_000;
/// And this is the second, longer class of delay, in milliseconds.
const LONG_DELAYED: u32 = 10_000;
/// Seconds over which the rate of settlement is taken.
const RATE_SECONDS: u32 = 5;

/// Counters that most links never need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RareLinkCounters {
    pub(crate) dropped_presettled: u64,
    pub(crate) rejected: u64,
    pub(crate) released: u64,
    pub(crate) modified: u64,
    pub(crate) delayed_1sec: u64,
    pub(crate) delayed_10sec: u64,
    /// A gauge: deliveries seen stuck and not yet resolved.
    pub(crate) stuck: u64,
    /// A stuck delivery of this link has been logged.
    pub(crate) stuck_logged: bool,
}

/// The counters of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkCounters {
    /// Deliveries that came in or went out.
    pub(crate) deliveries: u64,
    /// Those settled by their sender.
    pub(crate) presettled: u64,
    /// Those accepted.
    pub(crate) accepted: u64,
    /// Outgoing: those concluded that came to the network at this router.
    pub(crate) from_here: u64,
    /// Outgoing: those that came to it at other routers, by their numbers.
    pub(crate) from_elsewhere: Vec<u64>,
    rare: Option<Box<RareLinkCounters>>,
}

impl LinkCounters {
    /// The rare counters, made at need.
    pub(crate) fn rare(&mut self) -> &mut RareLinkCounters {
        self.rare.get_or_insert_default()
    }

    /// Outgoing: counts a delivery by the router where it came to the network.
    pub(crate) fn count_ingress(&mut self, ingress: u16) {
        match ingress {
            0 => self.from_here += 1,
            NO_INGRESS => {}
            elsewhere => self.count_elsewhere(usize::from(elsewhere)),
        }
    }

    /// Outgoing: the counts by router.
    pub(crate) fn histogram(&self) -> IngressHistogram {
        IngressHistogram::new(self.from_here, &self.from_elsewhere)
    }

    fn count_elsewhere(&mut self, router: usize) {
        if self.from_elsewhere.len() <= router {
            self.from_elsewhere.resize(router + 1, 0);
        }
        self.from_elsewhere[router] += 1;
    }

    /// The rare counters as they are.
    pub(crate) fn all(&self) -> RareLinkCounters {
        self.rare.as_deref().copied().unwrap_or_default()
    }
}

/// How many deliveries were settled in each of the last seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    counts: [u32; RATE_SECONDS as usize],
    /// The second of the newest count.
    second: u32,
}

impl Rate {
    /// Counts a settlement.
    pub(crate) fn count(&mut self, second: u32) {
        if second != self.second {
            self.advance(second);
        }
        self.counts[(second % RATE_SECONDS) as usize] += 1;
    }

    /// Settlements per second over the last seconds, as of `second`.
    pub(crate) fn per_second(mut self, second: u32) -> u64 {
        self.advance(second);
        self.counts.iter().map(|&count| u64::from(count)).sum::<u64>() / u64::from(RATE_SECONDS)
    }

    fn advance(&mut self, second: u32) {
        let passed = second.saturating_sub(self.second).min(RATE_SECONDS);
        for back in 0..passed {
            self.counts[(second.wrapping_sub(back) % RATE_SECONDS) as usize] = 0;
        }
        self.second = second;
    }
}

impl<H: Host> Link<H> {
    /// Whether the router's counters include this link: each delivery counts once in each router, where it comes in.
    /// Control messages are no deliveries.
    fn counts_for_router(&self) -> u64 {
        u64::from(self.incoming && self.link_type != LinkType::RouterControl)
    }

    /// Counts what became of a delivery.
    pub(crate) fn count_outcome(&mut self, router: &mut RouterStatistics, outcome: Outcome) {
        let counted = self.counts_for_router();
        let (on_link, on_router) = match outcome {
            Outcome::Accepted => (&mut self.counters.accepted, &mut router.accepted_deliveries),
            Outcome::Rejected => (&mut self.counters.rare().rejected, &mut router.rejected_deliveries),
            Outcome::Released => (&mut self.counters.rare().released, &mut router.released_deliveries),
            Outcome::Modified => (&mut self.counters.rare().modified, &mut router.modified_deliveries),
            Outcome::None | Outcome::Other => return,
        };
        *on_link += 1;
        *on_router += counted;
    }

    /// Counts a delivery settled by its sender.
    pub(crate) fn count_presettled(&mut self, router: &mut RouterStatistics) {
        self.counters.presettled += 1;
        router.presettled_deliveries += self.counts_for_router();
    }

    /// Counts a presettled delivery that was dropped.
    pub(crate) fn count_dropped(&mut self, router: &mut RouterStatistics) {
        self.counters.rare().dropped_presettled += 1;
        router.dropped_presettled_deliveries += 1;
    }

    /// Outgoing: counts a presettled delivery that was dropped before it was out. On this side a delivery counts as
    /// presettled when it is over, either way.
    pub(crate) fn count_presettled_dropped(&mut self, router: &mut RouterStatistics) {
        self.count_presettled(router);
        self.count_dropped(router);
    }

    /// Counts a settlement and how long it took since `born`.
    pub(crate) fn count_settled(&mut self, router: &mut RouterStatistics, clock: Clock, born: u32) {
        self.rate.count(clock.second);
        let delay = clock.millis.wrapping_sub(born);
        if delay > DELAYED {
            self.count_delayed(router, delay);
        }
    }

    /// Incoming: counts a settlement with the sender and how long it took since `born`.
    #[inline]
    pub(crate) fn count_settled_with_sender(&mut self, router: &mut RouterStatistics, clock: Clock, born: u32) {
        self.count_settled(router, clock, born);
        if self.link_type != LinkType::RouterControl {
            router.settlement_delays.count(clock.millis.wrapping_sub(born));
        }
    }

    /// Outgoing: counts how long a delivery that is out took since `born`.
    #[inline]
    pub(crate) fn count_sent(&self, router: &mut RouterStatistics, clock: Clock, born: u32) {
        if self.link_type != LinkType::RouterControl {
            router.transit_delays.count(clock.millis.wrapping_sub(born));
        }
    }

    /// Outgoing: counts a delivery that was settled after it went out.
    pub(crate) fn count_concluded(
        &mut self,
        router: &mut RouterStatistics,
        clock: Clock,
        delivery: &Delivery<H::Content>,
    ) {
        self.count_outcome(router, delivery.outcome);
        self.count_settled(router, clock, delivery.born);
        self.counters.count_ingress(delivery.ingress);
    }

    #[cold]
    fn count_delayed(&mut self, router: &mut RouterStatistics, delay: u32) {
        let counted = self.counts_for_router();
        if delay > LONG_DELAYED {
            self.counters.rare().delayed_10sec += 1;
            router.deliveries_delayed_10sec += counted;
        } else {
            self.counters.rare().delayed_1sec += 1;
            router.deliveries_delayed_1sec += counted;
        }
    }
}

impl<H: Host> Core<H> {
    /// A delivery that was seen stuck is so no longer.
    #[cold]
    pub(crate) fn unstick(&mut self, link: Option<u32>) {
        self.statistics.deliveries_stuck -= 1;
        if let Some(link) = link {
            self.links[link].counters.rare().stuck -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(settlements: &[(u32, u32)]) -> Rate {
        let mut rate = Rate::default();
        for &(second, count) in settlements {
            (0..count).for_each(|_| rate.count(second));
        }
        rate
    }

    #[test]
    fn the_rate_is_the_mean_of_the_last_five_seconds() {
        assert_eq!(rate(&[(100, 10), (101, 20), (104, 20)]).per_second(104), 10);
    }

    #[test]
    fn what_is_older_than_five_seconds_no_longer_counts() {
        let rate = rate(&[(100, 10), (104, 20)]);
        assert_eq!((rate.per_second(105), rate.per_second(109)), (4, 0));
    }
}
