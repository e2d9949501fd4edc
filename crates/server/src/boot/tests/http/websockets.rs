//! AMQP over WebSockets.

use super::*;

fn open(port: u16, protocol: &'static str) -> (WebSocket<TcpStream>, Response) {
    let mut request = format!("ws://127.0.0.1:{port}/").into_client_request().unwrap();
    request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static(protocol));
    tungstenite::client(request, socket(port)).unwrap()
}

fn client(port: u16) -> Client {
    client_over(open(port, "amqp").0)
}

/// The code of the closing frame that comes.
fn close_code(mut socket: WebSocket<TcpStream>) -> Option<u16> {
    loop {
        match socket.read() {
            Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
            Ok(_) => {}
            Err(error) => panic!("no closing frame: {error}"),
        }
    }
}

fn connections(entities: &mut Entities) -> usize {
    entities.list(type_of("connection")).len()
}

#[tokio::test]
async fn messages_of_all_sizes_pass_over_websockets() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let passed = router
        .meanwhile(move || {
            let (mut sender, mut receiver) = (client(port), client(port));
            receiver.receiver("a", 10);
            let link = sender.sender(Some("a"));
            let sizes = [0, 10, 20_000, 300_000, 100];
            let reader = std::thread::spawn(move || {
                sizes.map(|size| {
                    let received = receiver.receive();
                    receiver.settle(&received, DeliveryState::Accepted);
                    received.bytes == message(size)
                })
            });
            let outcomes = sizes.map(|size| {
                let key = sender.send(link, false, &message(size));
                sender.outcome(key)
            });
            (reader.join().unwrap(), outcomes)
        })
        .await;
    assert_eq!(passed, ([true; 5], [const { Some(DeliveryState::Accepted) }; 5]));
}

#[tokio::test]
async fn a_connection_over_a_websocket_is_like_any_other() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let client = router.meanwhile(move || client(port)).await;
    router.until(|entities| connections(entities) == 1).await;
    assert_eq!(router.only("connection", "container").as_deref(), Some("over-websocket"));
    assert_eq!(router.only("connection", "role").as_deref(), Some("normal"));
    assert!(router.only("connection", "host").unwrap().starts_with("127.0.0.1:"));
    drop(client);
    router.until(|entities| connections(entities) == 0).await;
}

#[tokio::test]
async fn the_sub_protocols_of_amqp_are_spoken_and_no_others() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let (chosen, refused) = router
        .meanwhile(move || {
            let chosen = ["amqp", "binary", "mqtt, AMQPWSB10, amqp"]
                .map(|offered| open(port, offered).1.headers()["Sec-WebSocket-Protocol"].to_str().unwrap().to_owned());
            let key = "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==";
            let refused = [
                format!("{key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt"),
                format!("{key}\r\nSec-WebSocket-Version: 13"),
                format!("{key}\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Protocol: amqp"),
                "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Protocol: amqp"
                    .to_owned(),
            ];
            let refused = refused.map(|headers| {
                let answer = exchange(port, format!("GET / HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n").as_bytes());
                answer.split(' ').nth(1).unwrap().to_owned()
            });
            (chosen, refused)
        })
        .await;
    assert_eq!(chosen, ["amqp", "binary", "AMQPWSB10"]);
    assert_eq!(refused, ["400", "400", "426", "400"]);
}

#[tokio::test]
async fn a_listener_without_websockets_refuses_them() {
    let (mut router, port) = router(" http: yes\n websockets: no\n", "").await;
    let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: amqp\r\n\
                   Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    let answer = router.meanwhile(move || exchange(port, request.as_bytes())).await;
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.ends_with("cannot-upgrade\n"), "{answer}");
}

#[tokio::test]
async fn bytes_that_come_along_with_the_handshake_are_not_lost() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let answer = router
        .meanwhile(move || {
            let mut bytes = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                              Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: amqp\r\n\
                              Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
                .to_vec();
            // An AMQP header that nobody speaks, which is answered with one that this router does.
            bytes.extend([0x82, 0x88, 0, 0, 0, 0]);
            bytes.extend(b"AMQP\x09\x01\x00\x00");
            exchange(port, &bytes)
        })
        .await;
    assert!(answer.contains("\u{2}\u{8}AMQP") || answer.contains("\u{8}AMQP"), "{answer:?}");
}

#[tokio::test]
async fn pings_are_answered_while_messages_pass() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let pong = router
        .meanwhile(move || {
            let (mut socket, _) = open(port, "amqp");
            socket.send(Message::Ping(b"are you there".as_slice().into())).unwrap();
            loop {
                if let Message::Pong(payload) = socket.read().unwrap() {
                    return payload.to_vec();
                }
            }
        })
        .await;
    assert_eq!(pong, b"are you there");
}

#[tokio::test]
async fn a_closing_frame_is_answered_and_ends_the_connection() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let code = router
        .meanwhile(move || {
            let (mut socket, _) = open(port, "amqp");
            socket.close(Some(tungstenite::protocol::CloseFrame { code: 4321.into(), reason: "bye".into() })).unwrap();
            close_code(socket)
        })
        .await;
    assert_eq!(code, Some(4321));
}

#[tokio::test]
async fn the_end_of_amqp_closes_the_websocket() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let code = router
        .meanwhile(move || {
            let (mut socket, _) = open(port, "amqp");
            // An AMQP frame that is too short: answered with a header and a close.
            socket.send(Message::Binary(b"AMQP\0\x01\0\0\0\0\0\x01\0\0\0\0".as_slice().into())).unwrap();
            close_code(socket)
        })
        .await;
    assert_eq!(code, Some(1000));
}

#[tokio::test]
async fn malformed_frames_are_answered_with_the_reason_and_disturb_no_other() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let mut other = router.meanwhile(move || client(port)).await;
    let cases: [(&str, &[u8], u16); 9] = [
        ("reserved bits", &[0xc2, 0x80, 0, 0, 0, 0], 1002),
        ("an unknown kind", &[0x83, 0x80, 0, 0, 0, 0], 1002),
        ("no mask", &[0x82, 0x01, 0], 1002),
        ("a control frame in parts", &[0x09, 0x80, 0, 0, 0, 0], 1002),
        ("a long control frame", &[0x89, 0xfe, 0, 126, 0, 0, 0, 0], 1002),
        ("a continuation of nothing", &[0x80, 0x80, 0, 0, 0, 0], 1002),
        ("a length that is no length", &[0x82, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1002),
        ("text", &[0x81, 0x80, 0, 0, 0, 0], 1003),
        ("half a closing code", &[0x88, 0x81, 0, 0, 0, 0, 3], 1002),
    ];
    for (what, bytes, expected) in cases {
        let code = router
            .meanwhile(move || {
                let (mut socket, _) = open(port, "amqp");
                socket.get_mut().write_all(bytes).unwrap();
                close_code(socket)
            })
            .await;
        assert_eq!(code, Some(expected), "{what}");
    }
    router
        .meanwhile(move || {
            other.receiver("a", 1);
            assert!(!other.happened.iter().any(|happened| matches!(happened, Happened::Failed(_))));
        })
        .await;
}

#[tokio::test]
async fn a_frame_that_never_ends_costs_nothing() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let mut socket = router.meanwhile(move || open(port, "amqp").0).await;
    // Half of the longest frame there can be is announced.
    socket.get_mut().write_all(&[0x82, 0xff, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]).unwrap();
    let answer = router
        .meanwhile(move || {
            socket.get_mut().write_all(b"AMQP\0\x01\0\0").unwrap();
            socket.read().unwrap().into_data().to_vec()
        })
        .await;
    assert_eq!(answer, b"AMQP\0\x01\0\0");
}

#[tokio::test]
async fn connections_over_websockets_outlive_their_listener() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let mut client = router.meanwhile(move || client(port)).await;
    router.delete_web();
    let _client = router
        .meanwhile(move || {
            client.receiver("a", 1);
            client
        })
        .await;
    assert_eq!(connections(&mut router.plane.entities), 1);
}
