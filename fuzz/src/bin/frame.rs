//! The frame decoder: any bytes are frames, or an error; what was decoded says the same when it is encoded again; and
//! memory stays in proportion to the input.
#![no_main]

use amqp::Performative;
use amqp::frame::{Frame, FrameKind, Split, split};
use amqp::sasl::SaslFrame;
use amqp::trace::{self, Direction};
use libfuzzer_sys::fuzz_target;

/// Bytes of memory that an input byte may cost: the smallest value on the wire is one byte, in memory it is a `Value`
/// in a map in a list whose room has just been doubled.
const FACTOR: usize = 400;

fuzz_target!(|data: &[u8]| {
    let (_, peak) = fuzz::peak(|| read(data));
    assert!(peak < 256 * 1024 + FACTOR * data.len(), "{peak} bytes held for an input of {}", data.len());
});

fn read(mut data: &[u8]) {
    while let Ok(Split::Frame { frame, used }) = split(data, 16 * 1024) {
        assert!((8..=data.len()).contains(&used));
        check(&frame);
        data = &data[used..];
    }
}

fn check(frame: &Frame<'_>) {
    let mut text = String::new();
    match frame.kind {
        FrameKind::Amqp => {
            trace::frame(&mut text, Direction::Incoming, frame.channel, frame.body);
            if let Ok((performative, payload)) = Performative::decode(frame.body) {
                assert!(payload.len() <= frame.body.len());
                let mut once = Vec::new();
                performative.encode(&mut once);
                let (again, rest) = Performative::decode(&once).expect("what was encoded can be decoded");
                assert!(rest.is_empty());
                let mut twice = Vec::new();
                again.encode(&mut twice);
                assert_eq!(once, twice);
            }
        }
        FrameKind::Sasl => {
            trace::sasl_frame(&mut text, Direction::Incoming, frame.body);
            if let Ok(sasl) = SaslFrame::decode(frame.body) {
                let mut once = Vec::new();
                sasl.encode(&mut once);
                assert!(SaslFrame::decode(&once).is_ok());
            }
        }
    }
}
