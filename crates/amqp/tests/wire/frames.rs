//! Frames (part 2, section 2.3): finding them in a stream, and writing them.

use super::support::list8;
use amqp::frame::{
    Frame, FrameError, FrameKind, Split, split, write_disposition, write_empty, write_flow, write_frame,
    write_performative, write_sasl, write_transfer,
};
use amqp::performative::{Close, Disposition, Flow, Role, Transfer};
use amqp::sasl::SaslFrame;
use amqp::{DeliveryState, Map, Performative};

const MAX: u32 = 512;

fn body_of(bytes: &[u8]) -> &[u8] {
    match split(bytes, u32::MAX) {
        Ok(Split::Frame { frame, used }) if used == bytes.len() => frame.body,
        other => panic!("not one whole frame: {other:?}"),
    }
}

#[test]
fn a_frame_is_found_at_the_head_of_a_stream() {
    let stream = b"\0\0\0\x0a\x02\x00\x01\x02\x41\x42\0\0\0\x08";
    let frame = Frame { kind: FrameKind::Amqp, channel: 258, body: b"\x41\x42" };
    assert_eq!(split(stream, MAX), Ok(Split::Frame { frame, used: 10 }));
}

#[test]
fn an_extended_header_is_passed_by() {
    let stream = b"\0\0\0\x0d\x03\x00\0\x05more\x41";
    let frame = Frame { kind: FrameKind::Amqp, channel: 5, body: b"\x41" };
    assert_eq!(split(stream, MAX), Ok(Split::Frame { frame, used: 13 }));
}

#[test]
fn a_sasl_frame_is_told_from_an_amqp_frame() {
    let stream = b"\0\0\0\x09\x02\x01\0\0\x41";
    let frame = Frame { kind: FrameKind::Sasl, channel: 0, body: b"\x41" };
    assert_eq!(split(stream, MAX), Ok(Split::Frame { frame, used: 9 }));
}

#[test]
fn a_part_of_a_frame_says_how_much_is_needed() {
    let stream = b"\0\0\0\x0a\x02\x00\0\0\x41\x42";
    for end in 0..4 {
        assert_eq!(split(&stream[..end], MAX), Ok(Split::NeedMore { total: None }));
    }
    for end in 4..10 {
        assert_eq!(split(&stream[..end], MAX), Ok(Split::NeedMore { total: Some(10) }));
    }
}

#[test]
fn a_frame_larger_than_the_maximum_is_refused_as_soon_as_its_size_is_there() {
    assert_eq!(split(b"\0\0\x02\x01", MAX), Err(FrameError::TooLarge { size: 513, max: 512 }));
    assert_eq!(split(b"\0\0\x02\x00", MAX), Ok(Split::NeedMore { total: Some(512) }));
}

#[test]
fn a_frame_smaller_than_its_header_is_refused() {
    assert_eq!(split(b"\0\0\0\x07", MAX), Err(FrameError::TooSmall { size: 7 }));
}

#[test]
fn a_body_within_the_header_or_beyond_the_frame_is_refused() {
    assert_eq!(split(b"\0\0\0\x10\x01\x00\0\0", MAX), Err(FrameError::BadDataOffset { doff: 1, size: 16 }));
    assert_eq!(split(b"\0\0\0\x10\x05\x00\0\0", MAX), Err(FrameError::BadDataOffset { doff: 5, size: 16 }));
}

#[test]
fn an_unknown_frame_type_is_refused() {
    assert_eq!(split(b"\0\0\0\x10\x02\x02\0\0", MAX), Err(FrameError::UnknownType(2)));
}

#[test]
fn a_heartbeat_is_a_frame_without_a_body() {
    let mut out = Vec::new();
    write_empty(&mut out);
    assert_eq!(out, b"\0\0\0\x08\x02\x00\0\0");
}

#[test]
fn a_frame_is_written_behind_what_is_there_with_its_own_size() {
    let mut out = b"before".to_vec();
    write_frame(&mut out, FrameKind::Sasl, 0, |out| out.extend_from_slice(b"body"));
    assert_eq!(out, b"before\0\0\0\x0c\x02\x01\0\0body");
}

#[test]
fn a_performative_is_written_as_a_frame_on_its_channel() {
    let mut out = Vec::new();
    write_performative(&mut out, 258, &Performative::Close(Close::default()));
    assert_eq!(out, b"\0\0\0\x0c\x02\x00\x01\x02\x00\x53\x18\x45");
}

#[test]
fn a_sasl_body_is_written_as_a_sasl_frame() {
    let mut out = Vec::new();
    write_sasl(&mut out, &SaslFrame::Challenge(vec![7]));
    assert_eq!(out, b"\0\0\0\x11\x02\x01\0\0\x00\x53\x42\xc0\x04\x01\xa0\x01\x07");
}

#[test]
fn a_transfer_is_written_with_its_payload_in_one_frame() {
    let transfer = Transfer {
        delivery_id: Some(300),
        delivery_tag: Some(b"12345678"),
        message_format: Some(0),
        settled: Some(false),
        ..Transfer::default()
    };
    let mut out = b"before".to_vec();
    write_transfer(&mut out, 7, &transfer, &[b"pay", b"", b"load"]);
    let performative = list8(0x14, &[b"\x43", b"\x70\0\0\x01\x2c", b"\xa0\x0812345678", b"\x43", b"\x42"]);
    assert_eq!(out, [b"before\0\0\0\x27\x02\x00\x00\x07", &performative[..], b"payload"].concat());
}

#[test]
fn frequent_transfers_are_written_as_others_are() {
    let long_tag = [7; 33];
    let tags: [Option<&[u8]>; 6] = [None, Some(b""), Some(b"t"), Some(b"12345678"), Some(&[7; 32]), Some(&long_tag)];
    let states =
        [None, Some(DeliveryState::Accepted), Some(DeliveryState::Released), Some(DeliveryState::Rejected(None))];
    for (delivery_tag, state) in tags.into_iter().flat_map(|tag| states.clone().map(|state| (tag, state))) {
        for (settled, more) in [(None, false), (Some(true), true), (Some(false), false)] {
            let delivery_id = Some(u32::MAX);
            let state = state.clone();
            let transfer =
                Transfer { handle: 200, delivery_id, delivery_tag, settled, more, state, ..Transfer::default() };
            let (mut frame, mut body) = (Vec::new(), Vec::new());
            write_transfer(&mut frame, 0, &transfer, &[b"payload"]);
            transfer.encode(&mut body);
            assert_eq!(body_of(&frame), [&body[..], b"payload"].concat());
        }
    }
}

#[test]
fn dispositions_are_written_in_a_frame_whatever_their_state() {
    for state in [None, Some(DeliveryState::Accepted), Some(DeliveryState::Modified(Box::default()))] {
        let disposition =
            Disposition { role: Role::Sender, first: 0, last: Some(70_000), settled: true, state, batchable: true };
        let (mut frame, mut body) = (Vec::new(), Vec::new());
        write_disposition(&mut frame, 3, &disposition);
        disposition.encode(&mut body);
        assert_eq!(body_of(&frame), body);
    }
}

#[test]
fn flows_are_written_in_a_frame_whatever_their_properties() {
    for properties in [None, Some(Box::new(Map::new()))] {
        let flow = Flow { handle: Some(0), link_credit: Some(1000), drain: true, properties, ..Flow::default() };
        let (mut frame, mut body) = (Vec::new(), Vec::new());
        write_flow(&mut frame, 3, &flow);
        flow.encode(&mut body);
        assert_eq!(body_of(&frame), body);
    }
}
