//! What clients' frames come to, byte by byte and all at once.

use proptest::prelude::*;

use super::decoder::{Decoder, Ended};
use super::*;

const MASK: [u8; 4] = [0x11, 0x22, 0x33, 0x44];

/// A client's frame: first byte, payload.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        size @ 0..126 => bytes.push(0x80 | size as u8),
        size @ 126..0x1_0000 => {
            bytes.push(0x80 | 126);
            bytes.extend((size as u16).to_be_bytes());
        }
        size => {
            bytes.push(0x80 | 127);
            bytes.extend((size as u64).to_be_bytes());
        }
    }
    bytes.extend(MASK);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

fn close(payload: &[u8]) -> Vec<u8> {
    frame(0x88, payload)
}

/// What comes of bytes that arrive in pieces of this size: payload, the ping to be answered, the end.
fn decode(bytes: &[u8], piece: usize) -> (Vec<u8>, Vec<Vec<u8>>, Option<Ended>) {
    let mut decoder = Decoder::default();
    let mut payload = Vec::new();
    for piece in bytes.chunks(piece) {
        let mut piece = piece.to_vec();
        let (count, ended) = decoder.decode(&mut piece);
        payload.extend(&piece[..count]);
        if ended.is_some() {
            return (payload, decoder.pings.into(), ended);
        }
    }
    (payload, decoder.pings.into(), None)
}

fn end_of(bytes: &[u8]) -> Option<Ended> {
    let whole = decode(bytes, bytes.len()).2;
    assert_eq!(decode(bytes, 1).2, whole, "it must not matter how the bytes come");
    whole
}

fn refused_with(bytes: &[u8], code: CloseCode) -> bool {
    matches!(end_of(bytes), Some(Ended::Violation(found, _)) if found == code)
}

#[test]
fn payload_comes_out_whatever_frames_and_pieces_it_is_in() {
    let payload: Vec<u8> = (0..200_000u32).map(|number| number as u8).collect();
    let mut bytes = frame(0x02, &payload[..10]);
    bytes.extend(frame(0x89, b"ping"));
    bytes.extend(frame(0x00, &payload[10..400]));
    bytes.extend(frame(0x8a, b"unasked for"));
    bytes.extend(frame(0x00, &[]));
    bytes.extend(frame(0x80, &payload[400..100_000]));
    bytes.extend(frame(0x82, &[]));
    bytes.extend(frame(0x82, &payload[100_000..]));
    for piece in [1, 2, 3, 7, 1000, 1 << 20] {
        assert_eq!(decode(&bytes, piece), (payload.clone(), vec![b"ping".to_vec()], None), "in pieces of {piece}");
    }
}

#[test]
fn of_very_many_pings_the_last_are_answered() {
    let pings: Vec<Vec<u8>> = (0..100).map(|number| vec![number]).collect();
    let bytes: Vec<u8> = pings.iter().flat_map(|ping| frame(0x89, ping)).collect();
    assert_eq!(decode(&bytes, 1).1, pings[100 - decoder::PINGS..]);
}

#[test]
fn reserved_bits_are_refused() {
    for bit in [0x40, 0x20, 0x10] {
        assert!(refused_with(&frame(0x82 | bit, b"x"), CloseCode::Protocol));
    }
}

#[test]
fn unknown_kinds_of_frames_are_refused() {
    for code in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        assert!(refused_with(&frame(0x80 | code, b""), CloseCode::Protocol), "{code}");
    }
}

#[test]
fn frames_without_a_mask_are_refused() {
    assert!(refused_with(&[0x82, 1, b'x'], CloseCode::Protocol));
    assert!(refused_with(&[0x88, 0], CloseCode::Protocol));
}

#[test]
fn control_frames_in_parts_or_too_long_are_refused() {
    for code in [8, 9, 10] {
        assert!(refused_with(&frame(code, b""), CloseCode::Protocol), "{code}");
        assert!(refused_with(&frame(0x80 | code, &[b'x'; 126]), CloseCode::Protocol), "{code}");
        assert!(!refused_with(&frame(0x80 | 9, &[b'x'; 125]), CloseCode::Protocol));
    }
}

#[test]
fn continuations_and_beginnings_out_of_place_are_refused() {
    assert!(refused_with(&frame(0x80, b"x"), CloseCode::Protocol));
    assert!(refused_with(&[frame(0x82, b"x"), frame(0x80, b"x")].concat(), CloseCode::Protocol));
    assert!(refused_with(&[frame(0x02, b"x"), frame(0x82, b"x")].concat(), CloseCode::Protocol));
    assert!(refused_with(&[frame(0x02, b""), frame(0x02, b"")].concat(), CloseCode::Protocol));
}

#[test]
fn text_is_refused_as_not_supported() {
    assert!(refused_with(&frame(0x81, b"x"), CloseCode::Unsupported));
}

#[test]
fn lengths_have_to_be_as_short_as_they_can() {
    let header = |second: u8, length: &[u8]| [&[0x82, 0x80 | second], length, &MASK[..]].concat();
    assert!(refused_with(&header(126, &125u16.to_be_bytes()), CloseCode::Protocol));
    assert!(refused_with(&header(127, &0xffffu64.to_be_bytes()), CloseCode::Protocol));
    assert!(refused_with(&header(127, &(1u64 << 63).to_be_bytes()), CloseCode::Protocol));
    assert_eq!(end_of(&header(127, &(u64::MAX >> 1).to_be_bytes())), None);
}

#[test]
fn a_closing_frame_ends_it_with_its_code() {
    assert_eq!(end_of(&close(&[])), Some(Ended::Closed(CloseCode::Status)));
    assert_eq!(end_of(&close(&1000u16.to_be_bytes())), Some(Ended::Closed(CloseCode::Normal)));
    assert_eq!(end_of(&close(b"\x0f\xa0bye")), Some(Ended::Closed(CloseCode::Library(4000))));
}

#[test]
fn closing_frames_that_say_nonsense_are_refused() {
    assert!(refused_with(&close(&[3]), CloseCode::Protocol));
    for code in [0u16, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535] {
        // 1004 has no meaning yet, and is let pass by some.
        if code != 1004 {
            assert!(refused_with(&close(&code.to_be_bytes()), CloseCode::Protocol), "{code}");
        }
    }
    assert!(refused_with(&close(b"\x03\xe8\xff"), CloseCode::Invalid));
}

#[test]
fn every_code_that_is_for_use_ends_it() {
    let used = (1000..=1003).chain(1007..=1013).chain(3000..5000);
    for code in used {
        let ended = end_of(&close(&u16::to_be_bytes(code)));
        assert!(matches!(ended, Some(Ended::Closed(found)) if u16::from(found) == code), "{code}: {ended:?}");
    }
}

/// A closing frame with code 1000 and this reason.
fn close_for(reason: &[u8]) -> Vec<u8> {
    close(&[b"\x03\xe8", reason].concat())
}

#[test]
fn reasons_of_closing_frames_are_utf_8() {
    let longest = "ä".repeat(61);
    for reason in ["", "bye", "κόσμε", "\u{0}", "\u{7ff}\u{800}\u{ffff}", "\u{10000}\u{10ffff}", &longest] {
        assert_eq!(end_of(&close_for(reason.as_bytes())), Some(Ended::Closed(CloseCode::Normal)), "{reason}");
    }
    let broken: [&[u8]; 10] = [
        b"\x80",             // the middle of a character
        b"\xce",             // its beginning only
        b"\xe2\x82",         // the same
        b"a\xe2\x82b",       // the same, and something behind it
        b"\xc0\xaf",         // a slash, longer than it may be
        b"\xe0\x80\xaf",     // the same
        b"\xed\xa0\x80",     // half of a pair of UTF-16
        b"\xf4\x90\x80\x80", // beyond the last character
        b"\xf8\x88\x80\x80\x80",
        b"\xff\xfe",
    ];
    for reason in broken {
        assert!(refused_with(&close_for(reason), CloseCode::Invalid), "{reason:?}");
    }
    assert!(refused_with(&close_for(&[b'x'; 124]), CloseCode::Protocol), "longer than a control frame");
}

#[test]
fn reserved_bits_are_refused_in_frames_of_every_kind() {
    for bits in (1u8..8).map(|bits| bits << 4) {
        for code in [8, 9, 10] {
            assert!(refused_with(&frame(0x80 | bits | code, b""), CloseCode::Protocol));
        }
        let within = [frame(0x02, b"a"), frame(0x80 | bits, b"b")].concat();
        assert!(refused_with(&within, CloseCode::Protocol));
        assert_eq!(decode(&within, 1).0, b"a", "what was in order counts");
    }
}

#[test]
fn a_message_in_a_thousand_parts_with_pings_between_comes_out_whole() {
    let mut bytes = frame(0x02, b"");
    for number in 0..1000u16 {
        bytes.extend(frame(0x00, &number.to_be_bytes()));
        bytes.extend(frame(0x89, b""));
        bytes.extend(frame(0x8a, &[b'x'; 125]));
    }
    bytes.extend(frame(0x80, b""));
    let expected: Vec<u8> = (0..1000u16).flat_map(u16::to_be_bytes).collect();
    for piece in [1, 5, 1000] {
        let (payload, pings, ended) = decode(&bytes, piece);
        assert!((payload, pings.len(), ended) == (expected.clone(), decoder::PINGS, None), "in pieces of {piece}");
    }
}

#[test]
fn a_closing_frame_within_a_message_ends_both() {
    let bytes = [frame(0x02, b"begun"), close(&[]), frame(0x80, b"never")].concat();
    assert_eq!(decode(&bytes, 3), (b"begun".to_vec(), Vec::new(), Some(Ended::Closed(CloseCode::Status))));
}

#[test]
fn pings_are_kept_with_all_they_say_in_their_order() {
    let pings: [&[u8]; 4] = [b"", b"one", &[0xff; 125], b"last"];
    let bytes: Vec<u8> = pings.iter().flat_map(|ping| frame(0x89, ping)).collect();
    assert_eq!(decode(&bytes, 2).1, pings);
}

#[test]
fn what_comes_before_the_end_still_counts() {
    let bytes = [frame(0x82, b"last words"), close(&[]), frame(0x82, b"more")].concat();
    assert_eq!(decode(&bytes, bytes.len()).0, b"last words");
}

proptest! {
    #[test]
    fn any_bytes_come_to_the_same_however_they_are_cut(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        piece in 1usize..50,
    ) {
        prop_assert_eq!(decode(&bytes, piece), decode(&bytes, 200));
    }

    #[test]
    fn any_binary_messages_come_out_whole(messages in proptest::collection::vec(
        (proptest::collection::vec(any::<u8>(), 0..300), any::<bool>()), 1..10), piece in 1usize..100) {
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        let mut in_message = false;
        for (payload, last) in &messages {
            let code = if in_message { 0 } else { 2 };
            bytes.extend(frame(if *last { 0x80 | code } else { code }, payload));
            in_message = !last;
            expected.extend(payload);
        }
        prop_assert_eq!(decode(&bytes, piece), (expected, Vec::new(), None));
    }
}
