//! The time that queues go by: Unix time in milliseconds, which never goes back, not even over a restart, as entries of the log
//! carry it.
//!
//! If the system's clock is set forward, it goes with it: what was to be delivered or to expire by then is due, as it would be
//! after a restart. If the clock is set back, it goes on from where it is, so that a ttl or a delay takes as long as ever; it
//! is *ahead* then, and times that messages name are taken to be as far ahead.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use queue_core::Millis;
use router_core::Now;

/// How often the system's clock is looked at.
const EVERY: Duration = Duration::from_secs(1);
/// How often at least, while something waits for its time, in milliseconds.
pub(super) const AT_LEAST: Millis = 10_000;
/// What is less is no step but how clocks are read, in milliseconds.
const STEP: Millis = 200;
/// From how many milliseconds on a step is told of.
const TOLD: Millis = 1000;

/// See the module.
pub(super) struct Clock {
    /// What the time was when the shards' time began, and that moment.
    start: Millis,
    began: Instant,
    /// How far it is ahead of the system's clock.
    ahead: Millis,
    /// When to look at the system's clock next.
    next: Now,
    /// By how much a test has set the system's clock.
    #[cfg(test)]
    set: i64,
}

impl Clock {
    /// Now, in the shards' time, it is as late as the system says, but not before `last`.
    pub(super) fn new(now: Now, last: Millis) -> Self {
        let began = Instant::now().checked_sub(now).unwrap_or_else(Instant::now);
        let mut clock = Self {
            start: 0,
            began,
            ahead: 0,
            next: now,
            #[cfg(test)]
            set: 0,
        };
        let system = clock.system();
        clock.start = system.max(last).saturating_sub(now.as_millis() as Millis);
        clock.look(now);
        clock
    }

    /// The time, for who was not told.
    pub(super) fn now(&self) -> Millis {
        self.start + self.began.elapsed().as_millis() as Millis
    }

    /// The time at a moment of the shards' time.
    #[inline]
    pub(super) fn at(&self, now: Now) -> Millis {
        self.start + now.as_millis() as Millis
    }

    /// How far ahead of the system's clock it is.
    pub(super) fn ahead(&self) -> Millis {
        self.ahead
    }

    /// Whether it is time to look at the system's clock.
    #[inline]
    pub(super) fn is_due(&self, now: Now) -> bool {
        now >= self.next
    }

    /// Looks at the system's clock. True: it is not as far ahead as before.
    pub(super) fn look(&mut self, now: Now) -> bool {
        self.next = now + EVERY;
        let (time, system) = (self.at(now), self.system());
        if let Some(step) = system.checked_sub(time).filter(|step| *step > STEP) {
            self.start += step;
            if step >= TOLD {
                let seconds = step / 1000;
                logging::log!(
                    ROUTER_CORE,
                    Notice,
                    "The system's clock went forward by {seconds} s, and the queues' with it: messages whose time has come are \
                     delivered, or expire"
                );
            }
        }
        let ahead = Some(time.saturating_sub(system)).filter(|ahead| *ahead > STEP).unwrap_or_default();
        if ahead.abs_diff(self.ahead) <= STEP && (ahead > 0) == (self.ahead > 0) {
            return false;
        }
        if ahead > self.ahead + TOLD {
            let seconds = ahead / 1000;
            logging::log!(
                ROUTER_CORE,
                Notice,
                "The queues' clock is {seconds} s ahead of the system's, which was set back: it goes on, and times that messages name \
                 are taken to be by the system's clock"
            );
        }
        self.ahead = ahead;
        true
    }

    #[cfg(not(test))]
    fn system(&self) -> Millis {
        unix()
    }

    #[cfg(test)]
    fn system(&self) -> Millis {
        unix().saturating_add_signed(self.set)
    }

    /// Sets the system's clock by so many milliseconds from what it is, as far as this one is concerned.
    #[cfg(test)]
    pub(super) fn set_system(&mut self, by: i64) {
        self.set = by;
        self.next = Now::ZERO;
    }
}

fn unix() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as Millis
}
