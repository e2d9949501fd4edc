//! What the threads of a run share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When messages are sent, and which of them are measured: nanoseconds of the run's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// The first message.
    pub start: u64,
    /// What is due from here on is measured.
    pub measured_from: u64,
    /// Nothing is due from here on; `u64::MAX` if a number of messages ends the run.
    pub end: u64,
}

impl Window {
    /// Whether a message that is due then is measured.
    #[inline]
    pub(super) fn measures(&self, due: u64) -> bool {
        due >= self.measured_from && due < self.end
    }
}

/// What a worker is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Send, within this window.
    Go(Window),
    /// Send nothing new.
    Stop,
    /// Attach so many further links on every connection.
    Attach(usize),
    /// Close the connections and end.
    Finish,
}

/// Counters, each written by one thread per kind of worker or added to.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Links attached.
    pub attached: AtomicU64,
    /// Messages sent.
    pub sent: AtomicU64,
    /// Messages sent whose outcome has come.
    pub settled: AtomicU64,
    /// Messages that were accepted.
    pub accepted: AtomicU64,
    /// Messages that are due, and wait for credit or room.
    pub waiting: AtomicU64,
    /// Messages received.
    pub received: AtomicU64,
    /// When the last one was received: nanoseconds of the run's clock.
    pub last_received: AtomicU64,
}

/// What the threads of a run share.
#[derive(Debug)]
pub(super) struct Shared {
    base: Instant,
    /// Progress.
    pub counters: Counters,
    failed: AtomicBool,
    error: Mutex<Option<String>>,
}

impl Shared {
    /// At the beginning of a run, whose clock begins now.
    pub(super) fn new() -> Self {
        Self {
            base: Instant::now(),
            counters: Counters::default(),
            failed: AtomicBool::new(false),
            error: Mutex::new(None),
        }
    }

    /// Time since the run's clock began.
    #[inline]
    pub(super) fn now(&self) -> Duration {
        self.base.elapsed()
    }

    /// As [`Shared::now`], in nanoseconds.
    #[inline]
    pub(super) fn nanos(&self) -> u64 {
        nanos(self.now())
    }

    /// Ends the run for a reason; the first one counts.
    pub(super) fn fail(&self, text: String) {
        if let Ok(mut error) = self.error.lock() {
            error.get_or_insert(text);
        }
        self.failed.store(true, Ordering::Release);
    }

    /// The reason for which the run cannot go on.
    pub(super) fn failure(&self) -> Option<String> {
        if !self.failed.load(Ordering::Acquire) {
            return None;
        }
        let error = self.error.lock().ok().and_then(|error| error.clone());
        Some(error.unwrap_or_else(|| "a thread of the run ended unexpectedly".to_owned()))
    }
}

/// A duration in nanoseconds; 584 years are the most.
pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
