//! Whatever comes from the network, no reader panics, and what one reads it can also write.

use amqp::frame::split;
use amqp::message::{Message, MessageAnnotations, Pieces, PropertiesView, Scan, Scanner};
use amqp::sasl::SaslFrame;
use amqp::trace::{self, Direction};
use amqp::{Decoder, Performative, Value};
use proptest::prelude::*;

use super::strategies;

/// Bytes that look more like AMQP than any bytes do.
fn plausible_bytes() -> impl Strategy<Value = Vec<u8>> {
    let codes =
        prop::sample::select(b"\0\x40\x41\x43\x45\x50\x52\x53\x54\x56\xa0\xa1\xa3\xb1\xc0\xc1\xd0\xe0\xf0".to_vec());
    let descriptors = prop_oneof![0x10..=0x18_u8, 0x23..=0x29_u8, 0x40..=0x44_u8, 0x70..=0x78_u8];
    prop::collection::vec(prop_oneof![4 => codes, 2 => descriptors, 2 => 0..8_u8, 1 => any::<u8>()], 0..80)
}

/// A frame body that is well formed but for some bytes that were changed.
fn damaged_body() -> impl Strategy<Value = Vec<u8>> {
    let body = prop_oneof![
        strategies::attach().prop_map(|attach| Performative::Attach(Box::new(attach))),
        strategies::open().prop_map(|open| Performative::Open(Box::new(open))),
        strategies::flow().prop_map(Performative::Flow),
        strategies::disposition().prop_map(Performative::Disposition),
    ];
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4);
    (body, damage).prop_map(|(performative, damage)| {
        let mut bytes = Vec::new();
        performative.encode(&mut bytes);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

/// Reads the bytes as everything that they could be. Returns the value that they are, if they are one.
fn read_as_everything(bytes: &[u8]) -> Option<Value> {
    let _ = split(bytes, 512);
    let _ = Performative::decode(bytes);
    let _ = SaslFrame::decode(bytes);
    let _ = Message::decode(bytes);
    let _ = MessageAnnotations::decode(bytes);
    let _ = PropertiesView::decode(bytes);
    let mut scanner = Scanner::new(bytes, false);
    while let Ok(Scan::Section(_)) = scanner.next() {}
    let mut text = String::new();
    trace::frame(&mut text, Direction::Incoming, 0, bytes);
    trace::sasl_frame(&mut text, Direction::Incoming, bytes);
    Value::decode(bytes).ok()
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    value.encode(&mut out);
    out
}

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Some(value) = read_as_everything(bytes) {
        let encoded_once = encoded(&value);
        let read_back = Value::decode(&encoded_once);
        // Compared as bytes: a value may hold a NaN, which is not equal to itself.
        prop_assert_eq!(read_back.as_ref().map(encoded), Ok(encoded_once));
        prop_assert_eq!(Decoder::new(bytes).read_raw(), Ok(bytes));
    }
    Ok(())
}

/// Whether these bytes are sections, to who has them all at once.
fn are_sections(bytes: &[u8]) -> bool {
    let mut scanner = Scanner::new(bytes, true);
    loop {
        match scanner.next() {
            Ok(Scan::Section(_)) => {}
            Ok(_) => return true,
            Err(_) => return false,
        }
    }
}

/// The same to who gets them in pieces that end at these places.
fn are_sections_in_pieces(bytes: &[u8], mut ends: Vec<usize>) -> bool {
    ends.push(bytes.len());
    ends.sort_unstable();
    let (mut pieces, mut from) = (Pieces::new(), 0);
    for end in ends {
        if pieces.feed(&bytes[from..end]).is_err() {
            return false;
        }
        from = end;
    }
    pieces.finish().is_ok()
}

/// Sections in any order, now and then cut short.
fn sections() -> impl Strategy<Value = Vec<u8>> {
    let section = prop::sample::select(vec![
        b"\x00\x53\x70\xc0\x02\x01\x41".as_slice(),
        b"\x00\x53\x72\xc1\x05\x02\xa3\x01k\x40",
        b"\x00\x80\0\0\0\0\0\0\0\x73\xd0\0\0\0\x08\0\0\0\x01\xa1\x02ab",
        b"\x00\x53\x74\xd1\0\0\0\x04\0\0\0\0",
        b"\x00\x53\x75\xa0\x03abc",
        b"\x00\xa3\x10amqp:data:binary\xb0\0\0\0\x01x",
        b"\x00\x53\x76\x45",
        b"\x00\x53\x76\xc0\x02\x02\x41",
        b"\x00\x53\x77\x00\xa1\x01d\x00\x44\xb1\0\0\0\x02hi",
        b"\x00\x53\x77\xe0\x03\x01\x50\x07",
        b"\x00\x53\x78\xc1\x01\x00",
    ]);
    let cut = prop_oneof![4 => Just(0_usize), 1 => 1..9_usize];
    let sections = prop::collection::vec((section, cut), 0..6);
    sections.prop_map(|sections| {
        let whole = sections.into_iter().map(|(section, cut)| &section[..section.len().saturating_sub(cut)]);
        whole.collect::<Vec<_>>().concat()
    })
}

proptest! {
    #[test]
    fn a_message_in_pieces_is_one_if_it_is_one_in_one_piece(
        bytes in prop_oneof![sections(), plausible_bytes()],
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let ends = ends.iter().map(|end| end.index(bytes.len() + 1)).collect();
        prop_assert_eq!(are_sections_in_pieces(&bytes, ends), are_sections(&bytes));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>()) {
        check(&bytes)?;
    }

    #[test]
    fn plausible_bytes_are_read_or_refused(bytes in plausible_bytes()) {
        check(&bytes)?;
    }

    #[test]
    fn damaged_bodies_are_read_or_refused(bytes in damaged_body()) {
        check(&bytes)?;
    }

    #[test]
    fn damaged_bodies_that_are_read_are_written_and_read_back(bytes in damaged_body()) {
        if let Ok((performative, _)) = Performative::decode(&bytes) {
            let mut out = Vec::new();
            performative.encode(&mut out);
            let read_back = Performative::decode(&out).map(|(read_back, _)| {
                let mut again = Vec::new();
                read_back.encode(&mut again);
                again
            });
            prop_assert_eq!(read_back, Ok(out));
        }
    }
}
