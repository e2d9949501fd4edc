//! Ports for programs under test, which nobody else takes, not even while such a program is away for a moment.
//!
//! They are none of those that the system gives to whoever asks for any. Of the tests that run on a machine, in whatever
//! process, each has ports of its own: who holds the UDP port of a number has the TCP port of that number. (interop/python
//! goes by the same rule.)

use std::net::{TcpListener, UdpSocket};
use std::sync::Mutex;

/// The ports that tests share out among them.
const PORTS: std::ops::Range<u16> = 11_000..20_000;

/// Those of this process, as long as it runs.
static HELD: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// A port that nobody listens on, nor will until this process ends.
pub(crate) fn free_port() -> u16 {
    let mut held = HELD.lock().expect("no test panics here");
    // Processes begin at different places, so that few attempts are in vain.
    let begin = std::process::id().wrapping_mul(61) as usize;
    let place = |number: usize| PORTS.start + ((begin + number) % PORTS.len()) as u16;
    for port in (0..PORTS.len()).map(place) {
        let address = ("127.0.0.1", port);
        if let Ok(token) = UdpSocket::bind(address)
            && TcpListener::bind(address).is_ok()
        {
            held.push(token);
            return port;
        }
    }
    panic!("none of the ports {PORTS:?} is free");
}
