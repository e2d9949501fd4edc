//! Handshakes that are begun, and not finished.

use amqp::condition::names;
use amqp::frame::AMQP_HEADER;

use super::{condition, withstands};
use crate::support::router::Setup;
use crate::support::wire::Wire;

const MANY: usize = 1000;

/// Long enough for those who are in earnest, however busy the machine is.
const TIME_OUT: &str = "initialHandshakeTimeoutSeconds: 5\n";

/// A thousand peers that begin like this and go no further; what each heard at last.
fn begin_and_stop(setup: Setup<'_>, beginning: &[u8], answered: bool) -> Vec<Option<String>> {
    let router = setup.start();
    withstands(&router, 96, || {
        let mut slow: Vec<Wire> = (0..MANY).map(|_| Wire::connect(router.port)).collect();
        for wire in &mut slow {
            wire.write(beginning);
        }
        let ends = slow.into_iter().map(|mut wire| {
            if answered {
                wire.header();
                let error = wire.refusal();
                wire.expect_end();
                condition(error.as_ref()).map(str::to_owned)
            } else {
                wire.expect_end();
                None
            }
        });
        ends.collect()
    })
}

#[test]
fn a_thousand_peers_that_stop_within_the_protocol_header_are_dropped() {
    begin_and_stop(Setup { listener: TIME_OUT, ..Setup::default() }, b"AMQ", false);
}

#[test]
fn a_thousand_peers_that_never_open_are_told_that_it_is_not_allowed() {
    let mut beginning = AMQP_HEADER.to_vec();
    // The first bytes of a frame that would hold an open.
    beginning.extend_from_slice(&[0, 0, 0, 100, 2, 0, 0, 0, 0, 0x53, 0x10]);

    let heard = begin_and_stop(Setup { listener: TIME_OUT, ..Setup::default() }, &beginning, true);

    assert!(heard.iter().all(|condition| condition.as_deref() == Some(names::NOT_ALLOWED)), "{heard:?}");
}

#[test]
fn a_peer_that_never_ends_to_send_headers_is_refused_at_the_second() {
    let router = Setup::default().start();
    let error = withstands(&router, 32, || {
        let mut wire = Wire::connect(router.port);
        wire.write(&[AMQP_HEADER, AMQP_HEADER].concat());
        wire.header();
        let error = wire.refusal();
        wire.expect_end();
        error
    });

    assert_eq!(condition(error.as_ref()), Some(names::FRAMING_ERROR));
}

#[test]
fn thousands_of_headers_of_other_protocols_are_each_answered_by_the_end() {
    let router = Setup::default().start();
    withstands(&router, 64, || {
        for batch in 0..30 {
            let mut wires: Vec<Wire> = (0..100).map(|_| Wire::connect(router.port)).collect();
            let header: &[u8] = [b"AMQP\x00\x00\x09\x01", b"AMQP\x09\x01\x00\x00", b"GET / HT"][batch % 3];
            for wire in &mut wires {
                wire.write(header);
            }
            for mut wire in wires {
                wire.expect_end();
            }
        }
    });
}
