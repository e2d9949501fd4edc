//! A router in a process of its own, and those who talk to it.

pub(crate) mod cable;
pub(crate) mod codec;
pub(crate) mod deliveries;
pub(crate) mod interior;
pub(crate) mod links;
pub(crate) mod node;
pub(crate) mod peer;
pub(crate) mod program;
pub(crate) mod router;
pub(crate) mod wire;

use std::time::{Duration, Instant};

/// How long anything here may take before it is taken to hang. Nothing takes that long unless something is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The credit that a listener gives unless its `linkCapacity` says otherwise.
pub(crate) const CAPACITY: u32 = 250;

/// Asks again and again until there is an answer.
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
