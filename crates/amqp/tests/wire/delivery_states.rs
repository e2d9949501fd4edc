//! Delivery states (part 3, section 3.4) on the wire.

use super::support::{list8, list32, named};
use amqp::state::Modified;
use amqp::{DecodeError, DecodeErrorKind as Kind, Decoder, DeliveryState, ErrorCondition, Map, Value};

fn decode(bytes: &[u8]) -> Result<DeliveryState, DecodeError> {
    DeliveryState::decode(&mut Decoder::new(bytes))
}

fn encode(state: &DeliveryState) -> Vec<u8> {
    let mut out = Vec::new();
    state.encode(&mut out);
    out
}

fn all() -> Vec<(Vec<u8>, DeliveryState)> {
    let annotations: Map = [(Value::symbol("k"), 1)].into_iter().collect();
    let error = ErrorCondition { condition: "c".into(), description: Some("d".into()), info: None };
    let modified = Modified { delivery_failed: true, undeliverable_here: true, message_annotations: Some(annotations) };
    vec![
        (b"\x00\x53\x24\x45".to_vec(), DeliveryState::Accepted),
        (b"\x00\x53\x25\x45".to_vec(), DeliveryState::Rejected(None)),
        (b"\x00\x53\x26\x45".to_vec(), DeliveryState::Released),
        (b"\x00\x53\x27\x45".to_vec(), DeliveryState::Modified(Box::default())),
        (list8(0x23, &[b"\x52\x05", b"\x53\x06"]), DeliveryState::Received { section_number: 5, section_offset: 6 }),
        (list8(0x25, &[&list8(0x1d, &[b"\xa3\x01c", b"\xa1\x01d"])]), DeliveryState::Rejected(Some(Box::new(error)))),
        (
            list8(0x27, &[b"\x41", b"\x41", b"\xc1\x06\x02\xa3\x01k\x54\x01"]),
            DeliveryState::Modified(Box::new(modified)),
        ),
    ]
}

#[test]
fn each_state_is_read() {
    for (bytes, state) in all() {
        assert_eq!(decode(&bytes), Ok(state));
    }
}

#[test]
fn each_state_is_written_in_its_smallest_encoding() {
    for (bytes, state) in all() {
        assert_eq!(encode(&state), bytes);
    }
}

#[test]
fn an_outcome_without_fields_may_come_as_any_empty_list_and_by_name() {
    assert_eq!(decode(&list8(0x24, &[])), Ok(DeliveryState::Accepted));
    assert_eq!(decode(&list32(0x24, &[])), Ok(DeliveryState::Accepted));
    assert_eq!(decode(&named("amqp:released:list", &[])), Ok(DeliveryState::Released));
}

#[test]
fn a_transactional_state_is_kept_bit_for_bit() {
    let bytes = list32(0x34, &[b"\xb0\0\0\0\x01\x07", b"\x00\x53\x24\x45"]);
    let state = decode(&bytes).unwrap();
    assert_eq!(state, DeliveryState::Other(bytes.clone().into()));
    assert_eq!(encode(&state), bytes);
}

#[test]
fn a_custom_state_is_kept_bit_for_bit() {
    let bytes = b"\x00\xa3\x03x:y\xc1\x01\x00";
    assert_eq!(decode(bytes), Ok(DeliveryState::Other(bytes.as_slice().into())));
}

#[test]
fn a_rejection_without_a_condition_is_refused() {
    let bytes = list8(0x25, &[&list8(0x1d, &[])]);
    assert_eq!(*decode(&bytes).unwrap_err().kind(), Kind::MissingField { composite: "error", field: "condition" });
}

#[test]
fn a_received_state_without_its_fields_is_refused() {
    assert!(matches!(decode(&list8(0x23, &[b"\x43"])).unwrap_err().kind(), Kind::MissingField { .. }));
}

#[test]
fn a_state_that_is_not_described_is_refused() {
    assert!(matches!(decode(b"\xc1\x01\x00").unwrap_err().kind(), Kind::WrongType { .. }));
}

#[test]
fn outcomes_are_terminal_and_other_states_are_not() {
    let terminal: Vec<bool> = all().iter().map(|(_, state)| state.is_terminal()).collect();
    assert_eq!(terminal, [true, true, true, true, false, true, true]);
    assert!(!DeliveryState::Other([].into()).is_terminal());
}
