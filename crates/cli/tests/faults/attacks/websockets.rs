//! WebSockets whose clients say more than they listen, or begin what they do not end. (Frames of every bad kind are in the
//! server's tests of `websockets`.)

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::withstands;
use crate::ports::free_port;
use crate::support::router::{Router, Setup};

/// A router with a listener for HTTP beside the other; its port.
fn router() -> (Router, u16) {
    let port = free_port();
    let section = format!("listener {{\nhost: 127.0.0.1\nport: {port}\nhttp: yes\nsaslMechanisms: ANONYMOUS\n}}\n");
    (Setup { sections: &section, ..Setup::default() }.start(), port)
}

/// A WebSocket, after its handshake.
fn open(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the router listens");
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   Sec-WebSocket-Protocol: amqp\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("the router reads");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("the router answers");
        answer.extend(byte);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answer));
    stream
}

/// A frame with a mask of zeroes.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() < 126);
    [&[first, 0x80 | payload.len() as u8, 0, 0, 0, 0], payload].concat()
}

/// Writes as much as the router takes, up to so many bytes.
fn write_what_is_taken(stream: &mut TcpStream, bytes: &[u8], most: usize) {
    stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a time-out can be set");
    let mut written = 0;
    while written < most {
        match stream.write(bytes) {
            Ok(count) => written += count,
            // It takes no more, or has hung up.
            Err(_) => return,
        }
    }
}

#[test]
fn a_flood_of_pings_whose_answers_nobody_reads_costs_no_memory() {
    let (router, port) = router();
    withstands(&router, 32, || {
        let pings: Vec<u8> = (0..500).flat_map(|_| frame(0x89, &[b'x'; 125])).collect();
        let mut streams: Vec<TcpStream> = (0..8).map(|_| open(port)).collect();
        for stream in &mut streams {
            write_what_is_taken(stream, &pings, 16 * 1024 * 1024);
        }
    });
}

#[test]
fn a_message_of_empty_parts_without_end_costs_no_memory() {
    let (router, port) = router();
    withstands(&router, 32, || {
        let mut stream = open(port);
        stream.write_all(&frame(0x02, b"AMQP")).expect("the router reads");
        let parts: Vec<u8> = (0..5000).flat_map(|_| frame(0x00, b"")).collect();
        write_what_is_taken(&mut stream, &parts, 32 * 1024 * 1024);
    });
}

#[test]
fn hundreds_of_websockets_that_stop_within_a_frame_are_dropped() {
    let (router, port) = router();
    withstands(&router, 64, || {
        // As many as one host may have at their handshakes at once.
        let mut streams = Vec::new();
        for _ in 0..300 {
            let mut stream = open(port);
            stream.write_all(&[0x82, 0xff, 0, 0, 0]).expect("the router reads");
            streams.push(stream);
        }
        drop(streams);
    });
}
