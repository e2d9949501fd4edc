use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[derive(Clone, Default)]
struct Resumed(Arc<AtomicUsize>);

impl Origin for Resumed {
    fn resume(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn begin(bytes: &[u8]) -> (Feed<u32>, Reader<u32>, Resumed) {
    let resumed = Resumed::default();
    let (feed, reader) = stream(Head::default(), bytes, Box::new(resumed.clone()));
    (feed, reader, resumed)
}

/// Reads all that is there, at most `step` bytes at a time.
fn read_all(reader: &mut Reader<u32>, step: usize) -> (Vec<u8>, ReaderState) {
    let mut all = Vec::new();
    loop {
        let state = reader.read(|parts, end| {
            let bytes = parts.concat();
            let count = bytes.len().min(step);
            all.extend_from_slice(&bytes[..count]);
            Taken { bytes: count, end: end && count == bytes.len() }
        });
        if state != ReaderState::More {
            return (all, state);
        }
    }
}

#[test]
fn a_reader_sees_what_was_begun_and_what_was_appended_in_order() {
    let (feed, mut reader, _) = begin(b"ab");
    feed.append(b"cd");
    feed.append(b"ef");
    feed.finish();
    assert_eq!(read_all(&mut reader, 3), (b"abcdef".to_vec(), ReaderState::Finished));
}

#[test]
fn a_reader_that_has_read_all_waits_until_more_comes() {
    let (feed, mut reader, _) = begin(b"ab");
    assert_eq!(read_all(&mut reader, 99), (b"ab".to_vec(), ReaderState::Waiting));
    feed.append(b"c");
    assert_eq!(read_all(&mut reader, 99), (b"c".to_vec(), ReaderState::Waiting));
}

#[test]
fn an_end_that_comes_after_all_bytes_were_read_is_offered_without_bytes() {
    let (feed, mut reader, _) = begin(b"ab");
    read_all(&mut reader, 99);
    feed.finish();
    assert_eq!(read_all(&mut reader, 99), (Vec::new(), ReaderState::Finished));
}

#[test]
fn an_end_that_is_not_taken_is_offered_again() {
    let (feed, mut reader, _) = begin(b"ab");
    feed.finish();
    let state = reader.read(|parts, _| Taken { bytes: parts.concat().len(), end: false });
    assert_eq!(state, ReaderState::More);
    assert_eq!(read_all(&mut reader, 99), (Vec::new(), ReaderState::Finished));
}

#[test]
fn two_readers_read_the_same_bytes_at_their_own_pace() {
    let (feed, mut fast, _) = begin(&[1; 1000]);
    let mut slow = fast.clone();
    for part in 2..=200 {
        feed.append(&[part; 1000]);
        read_all(&mut fast, 500);
    }
    feed.finish();
    let (bytes, state) = read_all(&mut slow, 777);
    assert_eq!(state, ReaderState::Finished);
    assert_eq!(bytes, (1..=200).flat_map(|part| [part; 1000]).collect::<Vec<u8>>());
}

#[test]
fn only_what_the_slowest_reader_lacks_is_held() {
    let (feed, mut reader, _) = begin(&[0; 1000]);
    for _ in 0..1000 {
        feed.append(&[0; 16 * 1024]);
        read_all(&mut reader, usize::MAX);
        assert!(feed.held() <= 64 * 1024, "{} bytes are held", feed.held());
    }
}

#[test]
fn nothing_is_held_when_all_readers_are_gone() {
    let (feed, reader, _) = begin(&[0; 1000]);
    feed.append(&[0; 500_000]);
    drop(reader);
    feed.append(&[0; 500_000]);
    assert_eq!(feed.held(), 0);
}

#[test]
fn a_waiting_feed_is_resumed_once_when_the_slowest_reader_has_caught_up() {
    let (feed, mut fast, resumed) = begin(&[0; 1000]);
    let mut slow = fast.clone();
    feed.append(&[0; 500_000]);
    assert!(feed.wait());
    read_all(&mut fast, usize::MAX);
    assert_eq!(resumed.0.load(Ordering::Relaxed), 0);
    read_all(&mut slow, usize::MAX);
    assert_eq!(resumed.0.load(Ordering::Relaxed), 1);
}

#[test]
fn a_waiting_feed_is_resumed_when_the_slowest_reader_goes() {
    let (feed, mut fast, resumed) = begin(&[0; 1000]);
    let slow = fast.clone();
    feed.append(&[0; 500_000]);
    read_all(&mut fast, usize::MAX);
    assert!(feed.wait());
    drop(slow);
    assert_eq!(resumed.0.load(Ordering::Relaxed), 1);
}

#[test]
fn readers_of_an_aborted_stream_are_told_so() {
    let (feed, mut reader, _) = begin(b"ab");
    feed.abort();
    assert_eq!(read_all(&mut reader, 99), (Vec::new(), ReaderState::Aborted));
}

#[test]
fn a_feed_that_is_dropped_unfinished_aborts() {
    let (feed, mut reader, _) = begin(b"ab");
    drop(feed);
    assert_eq!(read_all(&mut reader, 99).1, ReaderState::Aborted);
}

#[test]
fn a_sole_listener_is_idle_once_it_has_read_all() {
    let (feed, mut reader, _) = begin(b"ab");
    reader.listen(7);
    assert_eq!(feed.sole_idle_listener(), None);
    read_all(&mut reader, 99);
    assert_eq!(feed.sole_idle_listener(), Some(7));
}

#[test]
fn a_reader_that_is_gone_listens_no_longer() {
    let (feed, mut reader, _) = begin(b"ab");
    let mut other = reader.clone();
    reader.listen(7);
    other.listen(8);
    drop(reader);
    let mut listeners = Vec::new();
    feed.listeners_into(&mut listeners);
    assert_eq!(listeners, [8]);
}
