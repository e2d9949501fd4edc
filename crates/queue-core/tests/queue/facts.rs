//! What is read of a message when it arrives.

use amqp::Value;
use amqp::message::{Body, Header, Message, Properties};
use queue_core::*;

const NOW: Millis = 1_000;

fn of(message: &Message, wanted: &Wanted) -> Facts {
    Facts::of(&message.to_bytes(), NOW, wanted).unwrap()
}

fn plain(message: &Message) -> Facts {
    of(message, &Wanted::nothing())
}

fn annotated(key: &str, value: impl Into<Value>) -> Message {
    let annotations = [(Value::symbol(key), value.into())].into_iter().collect();
    Message { message_annotations: annotations, body: Body::Value(1u32.into()), ..Message::default() }
}

fn with_id(id: Value) -> Message {
    Message { properties: Properties { message_id: Some(id), ..Properties::default() }, ..Message::default() }
}

#[test]
fn a_message_that_says_nothing_has_the_usual_priority_and_no_end() {
    let message = Message::new(Body::Data(vec![vec![0; 100]]));
    let size = message.to_bytes().len() as u64;
    assert_eq!(plain(&message), Facts::plain(size));
}

#[test]
fn the_earlier_of_ttl_and_absolute_expiry_counts() {
    let message = |ttl, expiry| Message {
        header: Header { ttl, ..Header::default() },
        properties: Properties { absolute_expiry_time: expiry, ..Properties::default() },
        ..Message::default()
    };
    let expiry = |ttl, expiry| plain(&message(ttl, expiry)).expires_at;
    assert_eq!(expiry(Some(50), None), Some(1_050));
    assert_eq!(expiry(None, Some(1_020)), Some(1_020));
    assert_eq!(expiry(Some(50), Some(1_020)), Some(1_020));
    assert_eq!(expiry(None, Some(-5)), Some(0));
}

#[test]
fn a_delivery_can_be_set_to_a_time_or_after_a_delay() {
    let due = |key, value: Value| plain(&annotated(key, value)).deliver_at;
    assert_eq!(due("x-opt-delivery-time", Value::Timestamp(5_000)), Some(5_000));
    assert_eq!(due("x-opt-delivery-time", Value::Long(5_000)), Some(5_000));
    assert_eq!(due("x-opt-delivery-delay", Value::Uint(300)), Some(1_300));
    assert_eq!(due("x-opt-delivery-delay", Value::Long(i64::MAX)), Some(1_000 + i64::MAX as u64));
    assert_eq!(due("x-opt-delivery-delay", Value::from("soon")), None);
}

#[test]
fn an_id_is_the_same_however_it_is_encoded_and_only_read_if_wanted() {
    let wanted = Wanted { duplicates: true, ..Wanted::default() };
    let id = |message: &Message| of(message, &wanted).duplicate_id;
    let small = id(&with_id(Value::Ulong(7)));
    assert!(small.is_some());
    assert_ne!(small, id(&with_id(Value::from("7"))));
    assert_eq!(plain(&with_id(Value::Ulong(7))).duplicate_id, None);
    // The annotation goes before the message-id.
    let mut both = annotated("x-opt-duplicate-id", Value::Uint(7));
    both.properties.message_id = Some(Value::Ulong(8));
    assert_eq!(id(&both), small);
    both.message_annotations = amqp::Map::default();
    both.application_properties.insert("_AMQ_DUPL_ID", Value::Ulong(7));
    assert_eq!(id(&both), small);
}

#[test]
fn an_id_that_is_too_long_to_be_kept_counts_as_none() {
    let wanted = Wanted { duplicates: true, ..Wanted::default() };
    assert_eq!(of(&with_id(Value::from("x".repeat(MAX_NAME + 1))), &wanted).duplicate_id, None);
}

#[test]
fn values_that_queues_go_by_are_read_from_properties_and_annotations() {
    let wanted = Wanted { keys: vec!["k".into(), "x-opt-k".into()], duplicates: false, ..Wanted::default() };
    let mut message = annotated("x-opt-k", "a");
    message.application_properties.insert("k", Value::Int(5));
    message.application_properties.insert("other", "b");
    let facts = of(&message, &wanted);
    let names: Vec<&str> = facts.keys.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["x-opt-k", "k"]);
}

#[test]
fn a_message_cut_off_in_its_body_is_read_and_one_cut_off_before_is_not() {
    let message = Message {
        properties: Properties { group_id: Some("g".into()), ..Properties::default() },
        body: Body::Data(vec![vec![0; 1000]]),
        ..Message::default()
    };
    let bytes = message.to_bytes();
    let facts = Facts::of(&bytes[..bytes.len() - 500], NOW, &Wanted::nothing()).unwrap();
    assert_eq!(facts.group.as_deref(), Some("g"));
    assert!(Facts::of(&bytes[..5], NOW, &Wanted::nothing()).is_err());
    assert!(Facts::of(b"no message", NOW, &Wanted::nothing()).is_err());
    assert_eq!(Facts::of_whole(&bytes, NOW, &Wanted::nothing()).map(|facts| facts.size), Ok(bytes.len() as u64));
    assert!(Facts::of_whole(&bytes[..bytes.len() - 1], NOW, &Wanted::nothing()).is_err());
    let behind = [&bytes[..], b"\x00\x53\x70\x45"].concat();
    assert!(Facts::of_whole(&behind, NOW, &Wanted::nothing()).is_err(), "a header behind the body");
}

#[test]
fn times_in_a_message_are_as_far_ahead_as_the_queues_time_and_what_counts_from_now_is_not() {
    let wanted = Wanted { ahead: 1000, ..Wanted::default() };
    let mut absolute = annotated("x-opt-delivery-time", Value::Timestamp(5000));
    absolute.properties.absolute_expiry_time = Some(7000);
    let facts = of(&absolute, &wanted);
    assert_eq!((facts.deliver_at, facts.expires_at), (Some(6000), Some(8000)));
    let mut relative = annotated("x-opt-delivery-delay", 50_u32);
    relative.header.ttl = Some(70);
    let facts = of(&relative, &wanted);
    assert_eq!((facts.deliver_at, facts.expires_at), (Some(NOW + 50), Some(NOW + 70)));
}
