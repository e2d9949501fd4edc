//! Peers that mean harm, by kind of attack. Each is shown what it is refused with, the router's memory stays bounded, and
//! the traffic of others goes on.
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
use std::time::Duration;

use crate::support::CAPACITY;
use crate::support::codec::{message, text_of};
use crate::support::router::Router;

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

/// Has two clients exchange messages meanwhile, each of which must arrive and be accepted.
fn undisturbed<T>(router: &Router, meanwhile: impl FnOnce() -> T) -> T {
    let (mut sender, mut receiver) = (router.client(), router.client());
    let from = receiver.receiver("of others", 10);
    let to = sender.sender("of others");
    sender.expect_credit(to, CAPACITY);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            for number in 1.. {
                let text = number.to_string();
                let sent = sender.send_message(to, false, &message(&text));
                let received = receiver.receive();
                assert_eq!(text_of(&received.bytes), text);
                receiver.accept(&received);
                sender.outcome(sent);
                receiver.credit(from, number, 10);
                if over.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(PAUSE);
            }
        });
        let end = End(&over);
        let result = meanwhile();
        drop(end);
        others.join().expect("the messages of others come through");
        result
    })
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
