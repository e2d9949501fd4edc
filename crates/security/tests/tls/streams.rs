//! What goes over a session: in any pieces, to its end, and when the peer breaks the rules.

use std::io::ErrorKind;

use security::tls::{Session, TlsStream};

use super::authority::Authority;
use super::ends::{Ends, client, server, wires, with};

fn ends(protocol: &str) -> Ends {
    let authority = Authority::new("us");
    let own = authority.issue(&["localhost"], "router");
    let server = server(&with(&authority, Some(&own), &[("protocols", protocol)]));
    Ends::new(&client(&with(&authority, None, &[])), &server, "localhost")
}

fn established(protocol: &str) -> Ends {
    let mut ends = ends(protocol);
    ends.shake().unwrap();
    ends
}

/// Bytes that are not all the same.
fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|index| (index * 31 + index / 251) as u8).collect()
}

fn send(from: &mut TlsStream<super::ends::Wire>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let count = from.write(bytes).unwrap();
        bytes = &bytes[count..];
    }
}

#[test]
fn bytes_of_any_size_arrive_as_they_were_sent() {
    for protocol in ["TLSv1.2", "TLSv1.3"] {
        let mut ends = established(protocol);
        for count in [1, 100, 16 * 1024, 16 * 1024 + 1, 64 * 1024, 300_000] {
            let message = bytes(count);
            send(&mut ends.client, &message);
            assert_eq!(ends.taken_by_server().unwrap(), message, "{protocol}, {count} bytes to the server");
            send(&mut ends.server, &message);
            assert_eq!(ends.taken_by_client().unwrap(), message, "{protocol}, {count} bytes to the client");
        }
    }
}

#[test]
fn a_session_may_come_in_any_pieces() {
    for protocol in ["TLSv1.2", "TLSv1.3"] {
        for at_a_time in [1, 3, 1000] {
            let mut ends = ends(protocol);
            ends.client.beneath_mut().at_a_time = at_a_time;
            ends.server.beneath_mut().at_a_time = at_a_time;
            ends.shake().unwrap();
            let message = bytes(40_000);
            send(&mut ends.client, &message);
            assert_eq!(ends.taken_by_server().unwrap(), message);
        }
    }
}

#[test]
fn two_pieces_can_be_written_as_one() {
    let mut ends = established("TLSv1.3");
    let (first, second) = (bytes(10), bytes(40_000));
    let count = ends.client.write_both(&first, &second).unwrap();
    assert!(count > first.len());
    assert_eq!(ends.taken_by_server().unwrap(), [first, second].concat()[..count]);
}

#[test]
fn nothing_can_be_sent_before_the_handshake_is_done() {
    let mut ends = ends("TLSv1.3");
    assert!(ends.client.write(b"early").is_err());
}

#[test]
fn the_end_of_a_session_is_told_after_what_came_before_it() {
    let mut ends = established("TLSv1.3");
    send(&mut ends.client, b"last words");
    assert!(ends.client.close());
    let mut buffer = vec![0; Session::BUFFER];
    assert_eq!(ends.server.read(&mut buffer).unwrap(), 10);
    assert!(ends.server.has_more());
    assert_eq!(ends.server.read(&mut buffer).unwrap(), 0);
    // The other direction is still there.
    send(&mut ends.server, b"good bye");
    assert_eq!(ends.taken_by_client().unwrap(), b"good bye");
}

#[test]
fn bytes_that_were_cut_off_are_not_given_out() {
    let mut ends = established("TLSv1.3");
    send(&mut ends.client, b"whole");
    send(&mut ends.client, b"cut off");
    let mut wire = Vec::new();
    while let Ok(1) = std::io::Read::read(ends.server.beneath_mut(), {
        wire.push(0);
        wire.last_mut().map(std::slice::from_mut).unwrap()
    }) {}
    wire.pop();
    ends.server.beneath_mut().reads.push(&wire[..wire.len() - 1]);
    ends.server.beneath_mut().ended = true;
    assert_eq!(ends.taken_by_server().unwrap(), b"whole");
}

#[test]
fn bytes_that_were_changed_on_the_way_end_the_session() {
    let mut ends = established("TLSv1.3");
    send(&mut ends.client, b"message");
    let mut wire = [0; 4096];
    let count = std::io::Read::read(ends.server.beneath_mut(), &mut wire).unwrap();
    wire[count - 1] ^= 1;
    ends.server.beneath_mut().reads.push(&wire[..count]);
    let error = ends.taken_by_server().unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidData, "cannot decrypt peer's message"));
    // The peer is told.
    assert!(ends.taken_by_client().is_err());
}

#[test]
fn a_handshake_that_does_not_end_is_cut_off_before_it_takes_much_memory() {
    let authority = Authority::new("us");
    let server = server(&with(&authority, Some(&authority.issue(&["localhost"], "r")), &[]));
    let (_, wire) = wires();
    let mut end = TlsStream::accept(wire, &server, &[]).unwrap();
    // A ClientHello of 60,000 bytes, in records of 16,384.
    let mut hello = vec![1, 0, 0xea, 0x60];
    hello.resize(60_004, 0);
    for part in hello.chunks(16_384) {
        let size = (part.len() as u16).to_be_bytes();
        end.beneath_mut().reads.push(&[&[22, 3, 1, size[0], size[1]], part].concat());
    }
    let mut buffer = vec![0; Session::BUFFER];
    let error = loop {
        match end.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock && end.beneath().reads.len() > 0 => {}
            result => break result.unwrap_err(),
        }
    };
    assert_eq!(error.kind(), ErrorKind::InvalidData);
}

#[test]
fn anything_but_tls_is_refused() {
    let authority = Authority::new("us");
    let server = server(&with(&authority, Some(&authority.issue(&["localhost"], "r")), &[]));
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"AMQP\0\x01\0\0", &[22, 3, 1, 255, 255, 0], &[0; 100]] {
        let (_, wire) = wires();
        let mut end = TlsStream::accept(wire, &server, &[]).unwrap();
        end.beneath_mut().reads.push(garbage);
        let error = end.read(&mut vec![0; Session::BUFFER]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{}", garbage.escape_ascii());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// What a client says, with some of its bytes changed and cut into any pieces, never makes the server panic: it is taken,
    /// or refused.
    #[test]
    fn a_handshake_with_changed_bytes_is_refused_and_no_more(
        changes in proptest::collection::vec((0usize..2000, proptest::prelude::any::<u8>()), 0..6),
        at_a_time in 1usize..700,
        newest in proptest::prelude::any::<bool>(),
    ) {
        let mut ends = ends(if newest { "TLSv1.3" } else { "TLSv1.2" });
        ends.server.beneath_mut().at_a_time = at_a_time;
        ends.client.flush().unwrap();
        let mut buffer = vec![0; Session::BUFFER];
        for round in 0..3 {
            let mut said = Vec::new();
            let wire = ends.server.beneath_mut();
            let mut byte = [0];
            wire.at_a_time = 1;
            while matches!(std::io::Read::read(wire, &mut byte), Ok(1)) {
                said.push(byte[0]);
            }
            for &(place, value) in changes.iter().filter(|(place, _)| place % 3 == round) {
                if let Some(byte) = said.get_mut(place / 3) {
                    *byte = value;
                }
            }
            wire.at_a_time = at_a_time;
            wire.reads.push(&said);
            let _ = ends.taken_by_server();
            let _ = ends.server.flush();
            let _ = ends.client.read(&mut buffer);
            let _ = ends.client.flush();
        }
        let _ = ends.server.write(b"anything");
        ends.server.close();
    }

    /// Any bytes at all are taken or refused, and nothing of them is kept beyond its bound.
    #[test]
    fn any_bytes_are_refused_and_no_more(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..3000)) {
        let mut ends = ends("TLSv1.3");
        ends.server.beneath_mut().reads.push(&[&[22, 3, 1][..], &bytes].concat());
        let _ = ends.taken_by_server();
        ends.server.close();
    }
}
