//! The SASL frame bodies of part 5, section 5.3.3.

use super::support::{list8, named};
use amqp::DecodeErrorKind as Kind;
use amqp::sasl::{SaslCode, SaslFrame};

fn all() -> Vec<(Vec<u8>, SaslFrame)> {
    let mechanisms = vec!["PLAIN".into(), "ANONYMOUS".into()];
    let init = SaslFrame::Init {
        mechanism: "PLAIN".into(),
        initial_response: Some(b"\0u\0p".to_vec()),
        hostname: Some("h".into()),
    };
    let outcome = SaslFrame::Outcome { code: SaslCode::SysTemp, additional_data: Some(vec![7]) };
    vec![
        (list8(0x40, &[b"\xe0\x12\x02\xa3\x05PLAIN\x09ANONYMOUS"]), SaslFrame::Mechanisms(mechanisms)),
        (list8(0x41, &[b"\xa3\x05PLAIN", b"\xa0\x04\0u\0p", b"\xa1\x01h"]), init),
        (list8(0x42, &[b"\xa0\x01c"]), SaslFrame::Challenge(b"c".to_vec())),
        (list8(0x43, &[b"\xa0\x01r"]), SaslFrame::Response(b"r".to_vec())),
        (list8(0x44, &[b"\x50\x04", b"\xa0\x01\x07"]), outcome),
    ]
}

#[test]
fn each_body_is_read() {
    for (bytes, frame) in all() {
        assert_eq!(SaslFrame::decode(&bytes), Ok(frame));
    }
}

#[test]
fn each_body_is_written() {
    for (bytes, frame) in all() {
        let mut out = Vec::new();
        frame.encode(&mut out);
        assert_eq!(out, bytes);
    }
}

#[test]
fn a_body_cut_short_anywhere_is_refused() {
    for (bytes, _) in all() {
        for end in 0..bytes.len() {
            assert!(SaslFrame::decode(&bytes[..end]).is_err());
        }
    }
}

#[test]
fn a_single_mechanism_may_come_without_an_array() {
    let bytes = named("amqp:sasl-mechanisms:list", &[b"\xa3\x05PLAIN"]);
    assert_eq!(SaslFrame::decode(&bytes), Ok(SaslFrame::Mechanisms(vec!["PLAIN".into()])));
}

#[test]
fn an_unknown_outcome_is_refused() {
    let error = SaslFrame::decode(&list8(0x44, &[b"\x50\x05"])).unwrap_err();
    assert_eq!(*error.kind(), Kind::OutOfRange { composite: "sasl-outcome", field: "code" });
}

#[test]
fn an_init_without_a_mechanism_is_refused() {
    let error = SaslFrame::decode(&list8(0x41, &[])).unwrap_err();
    assert_eq!(*error.kind(), Kind::MissingField { composite: "sasl-init", field: "mechanism" });
}

#[test]
fn bytes_behind_the_body_are_refused() {
    let bytes = [list8(0x42, &[b"\xa0\x01c"]), vec![0]].concat();
    assert!(matches!(SaslFrame::decode(&bytes).unwrap_err().kind(), Kind::TrailingBytes { .. }));
}

#[test]
fn an_amqp_performative_is_refused() {
    assert!(matches!(SaslFrame::decode(&list8(0x18, &[])).unwrap_err().kind(), Kind::UnknownDescriptor { .. }));
}
