//! Messages of any size.

use amqp::message::{Body, Message};
use amqp::{DeliveryState, Value};

use super::{Directory, Stored};
use crate::shard::tests::client::{encoded, message};

/// Larger than what is kept in memory.
const LARGE: usize = 5 * 1024 * 1024;

#[test]
fn a_large_message_has_a_file_of_its_own_comes_out_of_it_after_a_restart_and_leaves_nothing_behind() {
    let directory = Directory::new("huge");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    let mut client = stored.router.client();
    let link = client.sender(Some("orders"));
    let key = client.send(link, false, &message(LARGE));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    drop(stored);
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    client.receiver("orders", 1);
    let received = client.receive();
    assert!(received.bytes.ends_with(&message(LARGE)[LARGE / 2..]), "other bytes");
    client.settle(&received, DeliveryState::Accepted);
    let files = || walk(directory.path());
    stored.router.wait_until("its file is gone", |_| files() < LARGE as u64);
}

#[test]
fn large_messages_whose_files_are_gone_hold_up_no_other() {
    let directory = Directory::new("lost");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    let mut client = stored.router.client();
    let link = client.sender(Some("orders"));
    for size in [LARGE, 7] {
        let key = client.send(link, false, &message(size));
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    }
    drop(stored);
    for file in std::fs::read_dir(directory.path().join("large")).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    let stored = Stored::at(&directory);
    let mut client = stored.router.client();
    client.receiver("orders", 10);
    assert_eq!(client.receive().bytes, message(7));
}

#[test]
fn a_large_message_that_is_none_is_rejected_and_leaves_nothing_behind() {
    let directory = Directory::new("malformed");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    let mut client = stored.router.client();
    let link = client.sender(Some("orders"));
    let (whole, length) = (message(LARGE), LARGE.to_be_bytes());
    let data = [b"\x00\x53\x75\xb0".as_slice(), &length[length.len() - 4..]].concat();
    let cases = [
        ("zeros", vec![0; LARGE]),
        ("letters", vec![b'x'; LARGE]),
        ("cut short", whole[..whole.len() - 1].to_vec()),
        ("more behind it", [&whole[..], b"more"].concat()),
        ("its body is cut short", [&data[..], &[7; LARGE - 1]].concat()),
        ("its properties come last", [&data[..], &[7; LARGE], b"\x00\x53\x73\x45"].concat()),
    ];
    for (name, bytes) in &cases {
        let key = client.send(link, false, bytes);
        match client.outcome(key) {
            Some(DeliveryState::Rejected(Some(error))) => {
                assert_eq!(error.condition.as_str(), "amqp:decode-error", "{name}")
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    stored.router.wait_until("no file is left", |_| walk(directory.path()) == 0);
    let key = client.send(link, false, &whole);
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
}

/// Bytes of the files of large messages.
fn walk(path: &std::path::Path) -> u64 {
    let mut sum = 0;
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let Ok(data) = entry.metadata() else { continue };
        if data.is_dir() {
            sum += walk(&entry.path());
        } else if entry.path().components().any(|part| part.as_os_str().to_string_lossy().contains("large")) {
            sum += data.len();
        }
    }
    sum
}

#[test]
fn a_message_of_several_frames_that_is_not_large_is_put_together() {
    let directory = Directory::new("frames");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    let mut client = stored.router.client();
    let link = client.sender(Some("orders"));
    let key = client.send(link, false, &message(300_000));
    assert_eq!(client.outcome(key), Some(DeliveryState::Accepted));
    client.receiver("orders", 1);
    assert!(client.receive().bytes == message(300_000), "other bytes");
}

#[test]
fn messages_of_other_formats_come_out_as_they_went_in_even_after_a_restart() {
    const FORMAT: u32 = 0x8001_3700;
    let directory = Directory::new("formats");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    let mut client = stored.router.client();
    let link = client.sender(Some("orders"));
    client.message_format = FORMAT;
    // No sections; the last one is large.
    let messages = [b"\xffsmall".to_vec(), vec![7; 200_000], vec![8; LARGE]];
    for bytes in &messages {
        let key = client.send(link, false, bytes);
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted), "{} bytes", bytes.len());
    }
    let take_back = |stored: &Stored| {
        let mut client = stored.router.client();
        client.receiver("orders", 10);
        for bytes in &messages {
            let received = client.receive();
            assert_eq!((received.message_format, received.bytes.len()), (FORMAT, bytes.len()));
            assert!(received.bytes == *bytes, "other bytes");
        }
    };
    take_back(&stored);
    drop(stored);
    take_back(&Stored::at(&directory));
}

#[test]
fn what_routers_wrote_to_a_message_is_not_in_the_queue_whatever_its_size() {
    let directory = Directory::new("annotated");
    let stored = Stored::at(&directory);
    stored.queue("orders");
    let mut client = stored.router.client();
    let link = client.sender(None);
    for bytes in [10, 300_000, LARGE] {
        let mut message = Message { body: Body::Data(vec![vec![7; bytes]]), ..Message::default() };
        message.properties.to = Some("orders".to_owned());
        let annotations = [
            (Value::symbol("x-opt-mine"), Value::from("stays")),
            (Value::symbol("x-opt-qd.ingress"), Value::from("0/elsewhere")),
            (Value::symbol("x-opt-qd.trace"), Value::List(vec!["0/elsewhere".into()])),
        ];
        message.message_annotations = annotations.into_iter().collect();
        let key = client.send(link, false, &encoded(&message));
        assert_eq!(client.outcome(key), Some(DeliveryState::Accepted), "{bytes} bytes");
    }
    let mut other = stored.router.client();
    other.receiver("orders", 3);
    for bytes in [10, 300_000, LARGE] {
        let received = Message::decode(&other.receive().bytes).expect("a message");
        assert_eq!(received.body, Body::Data(vec![vec![7; bytes]]));
        let annotations: Vec<_> = received.message_annotations.iter().collect();
        assert_eq!(annotations, [(&Value::symbol("x-opt-mine"), &Value::from("stays"))], "{bytes} bytes");
    }
}
