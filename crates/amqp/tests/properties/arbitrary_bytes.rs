//! Whatever comes from the network, no reader panics, and what one reads it can also write.

use amqp::frame::split;
use amqp::message::{Message, MessageAnnotations, PropertiesView, Scan, Scanner};
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

proptest! {
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
