//! Peers that mean harm, by kind of attack. Each is shown what it is refused with, the router's memory stays bounded, and
//! the traffic of others goes on.
//!
//! With `WAYSTATION_SHOW_DELAYS` set and `--nocapture`, each test also prints how long the messages of others took before and
//! during the attack.
//!
//! Broken frames, noise, half-open connections in small numbers and frames for sessions and links that are not there are
//! in `interop/python/test_wire.py`; bad WebSocket frames in the server's tests of `websockets`; SASL exchanges that go
//! wrong in the tests of `amqp-endpoint`.

mod addresses;
mod credit;
mod frames;
mod handshakes;
mod limits;
mod management;
mod sasl;
mod stalled;
mod tls;
mod websockets;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::CAPACITY;
use crate::support::codec::{message, text_of};
use crate::support::links::Link;
use crate::support::router::Router;
use crate::support::wire::Wire;

/// Between the messages of those who go on, so that the attackers have the processor, too.
const PAUSE: Duration = Duration::from_millis(2);

/// Attacks a router while others exchange messages through it. All of these must come through, the router may take at
/// most so many MiB more than it had, and has nothing to do afterwards.
fn withstands<T>(router: &Router, mebibytes: u64, attack: impl FnOnce() -> T) -> T {
    let before = router.memory("VmRSS:");
    let result = undisturbed(router, attack);
    router.wait_until_idle();
    let grown = router.memory("VmHWM:").saturating_sub(before);
    assert!(grown <= mebibytes * 1024, "the router took {grown} KiB more");
    result
}

/// Set: how long messages of others take before an attack and during it is printed, for people to read.
const SHOW_DELAYS: &str = "WAYSTATION_SHOW_DELAYS";
/// Messages before the attack, if that is wanted.
const BEFORE: u32 = 500;

/// Has two clients exchange messages meanwhile, each of which must arrive and be accepted.
#[allow(clippy::print_stdout, reason = "for people who ask for it")]
fn undisturbed<T>(router: &Router, meanwhile: impl FnOnce() -> T) -> T {
    let mut others = Others::new(router);
    let shown = std::env::var_os(SHOW_DELAYS).is_some();
    let before: Vec<Duration> = if shown { (0..BEFORE).map(|_| others.exchange()).collect() } else { Vec::new() };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            let mut during = Vec::new();
            loop {
                during.push(others.exchange());
                if over.load(Ordering::Relaxed) {
                    return during;
                }
            }
        });
        let end = End(&over);
        let result = meanwhile();
        drop(end);
        let during = others.join().expect("the messages of others come through");
        if shown {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            println!("delays of others, {name}: before {}, during {}", told(before), told(during));
        }
        result
    })
}

/// Median, 99th percentile and number of some times.
fn told(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |part: usize| times.get((times.len() * part / 100).min(times.len() - 1)).copied().unwrap_or_default();
    format!("p50 {:?} p99 {:?} of {}", at(50), at(99), times.len())
}

/// Two clients who exchange messages.
struct Others {
    sender: Wire,
    receiver: Wire,
    to: Link,
    from: Link,
    exchanged: u32,
}

impl Others {
    fn new(router: &Router) -> Self {
        let (mut sender, mut receiver) = (router.client(), router.client());
        let from = receiver.receiver("of others", 10);
        let to = sender.sender("of others");
        sender.expect_credit(to, CAPACITY);
        Self { sender, receiver, to, from, exchanged: 0 }
    }

    /// Has a message go and be accepted; how long that took.
    fn exchange(&mut self) -> Duration {
        std::thread::sleep(PAUSE);
        self.exchanged += 1;
        let text = self.exchanged.to_string();
        let begun = Instant::now();
        let sent = self.sender.send_message(self.to, false, &message(&text));
        let received = self.receiver.receive();
        assert_eq!(text_of(&received.bytes), text);
        self.receiver.accept(&received);
        self.sender.outcome(sent);
        let took = begun.elapsed();
        self.receiver.credit(self.from, self.exchanged, 10);
        took
    }
}

/// Ends the traffic of others when it is dropped, also by a panic.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The condition of an error, for comparison.
fn condition(error: Option<&amqp::ErrorCondition>) -> Option<&str> {
    error.map(|error| error.condition.as_str())
}
