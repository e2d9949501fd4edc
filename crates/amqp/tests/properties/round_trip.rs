//! What is written is read back.

use amqp::frame::{Split, split, write_disposition, write_flow, write_performative, write_transfer};
use amqp::message::{Message, Scan, Scanner};
use amqp::performative::Transfer;
use amqp::sasl::SaslFrame;
use amqp::{Decoder, DeliveryState, Performative, Value};
use proptest::prelude::*;

use super::strategies;

/// Reads a frame that must be the only one.
fn read(frame: &[u8]) -> (u16, Performative<'_>, &[u8]) {
    let Ok(Split::Frame { frame: found, used }) = split(frame, u32::MAX) else { panic!("not a frame: {frame:02x?}") };
    assert_eq!(used, frame.len());
    let (performative, payload) = Performative::decode(found.body).expect("it was written by this crate");
    (found.channel, performative, payload)
}

fn any_but_transfer() -> impl Strategy<Value = Performative<'static>> {
    prop_oneof![
        strategies::open().prop_map(|open| Performative::Open(Box::new(open))).boxed(),
        strategies::begin().prop_map(Performative::Begin).boxed(),
        strategies::attach().prop_map(|attach| Performative::Attach(Box::new(attach))).boxed(),
        strategies::flow().prop_map(Performative::Flow).boxed(),
        strategies::disposition().prop_map(Performative::Disposition).boxed(),
        strategies::detach().prop_map(Performative::Detach).boxed(),
        strategies::end().prop_map(Performative::End).boxed(),
        strategies::close().prop_map(Performative::Close).boxed(),
    ]
}

proptest! {
    #[test]
    fn values(value in strategies::value()) {
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        prop_assert_eq!(Value::decode(&bytes), Ok(value));
    }

    #[test]
    fn skipping_a_value_comes_to_its_end(value in strategies::value()) {
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        let mut decoder = Decoder::new(&bytes);
        prop_assert_eq!(decoder.read_raw(), Ok(&bytes[..]));
        prop_assert!(decoder.is_empty());
    }

    #[test]
    fn performatives(performative in any_but_transfer(), channel in any::<u16>()) {
        let mut frame = Vec::new();
        write_performative(&mut frame, channel, &performative);
        prop_assert_eq!(read(&frame), (channel, performative, &b""[..]));
    }

    #[test]
    fn transfers((transfer, tag) in strategies::transfer(), payload in any::<Vec<u8>>()) {
        let transfer = Transfer { delivery_tag: tag.as_deref(), ..transfer };
        let mut frame = Vec::new();
        write_transfer(&mut frame, 1, &transfer, &[&payload]);
        prop_assert_eq!(read(&frame), (1, Performative::Transfer(transfer), &payload[..]));
    }

    #[test]
    fn flows(flow in strategies::flow()) {
        let mut frame = Vec::new();
        write_flow(&mut frame, 1, &flow);
        prop_assert_eq!(read(&frame), (1, Performative::Flow(flow), &b""[..]));
    }

    #[test]
    fn dispositions(disposition in strategies::disposition()) {
        let mut frame = Vec::new();
        write_disposition(&mut frame, 1, &disposition);
        prop_assert_eq!(read(&frame), (1, Performative::Disposition(disposition), &b""[..]));
    }

    #[test]
    fn states(state in strategies::state()) {
        let mut bytes = Vec::new();
        state.encode(&mut bytes);
        prop_assert_eq!(DeliveryState::decode(&mut Decoder::new(&bytes)), Ok(state));
    }

    #[test]
    fn sasl_frames(frame in strategies::sasl_frame()) {
        let mut body = Vec::new();
        frame.encode(&mut body);
        prop_assert_eq!(SaslFrame::decode(&body), Ok(frame));
    }

    #[test]
    fn messages(message in strategies::message()) {
        prop_assert_eq!(Message::decode(&message.to_bytes()), Ok(message));
    }

    #[test]
    fn a_part_of_a_message_has_the_first_sections_of_the_whole(message in strategies::message(), cut in any::<prop::sample::Index>()) {
        let bytes = message.to_bytes();
        let part = &bytes[..cut.index(bytes.len() + 1)];
        let (mut whole, mut partial) = (Scanner::new(&bytes, true), Scanner::new(part, false));
        while let Ok(Scan::Section(section)) = partial.next() {
            prop_assert_eq!(whole.next(), Ok(Scan::Section(section)));
        }
        let incomplete = matches!(partial.next(), Ok(Scan::Incomplete { .. }));
        prop_assert!(incomplete);
    }
}
