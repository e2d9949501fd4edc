//! Telling router annotations from the user's, and writing them, as the old router does.

use amqp::Value;
use amqp::message::{
    AnnotationsError, MessageAnnotations, RouterAnnotations, UserAnnotations, write_message_annotations,
};

fn map(entries: &[(&str, Value)]) -> Vec<u8> {
    let mut out = Vec::new();
    let map: amqp::Map = entries.iter().map(|(key, value)| (Value::symbol(*key), value.clone())).collect();
    map.encode(&mut out);
    out
}

fn raw(entries: &[(&str, Value)]) -> Vec<u8> {
    map(entries)[3..].to_vec()
}

fn error(value: &[u8]) -> AnnotationsError {
    MessageAnnotations::decode(value).expect_err("they are malformed")
}

fn texts(texts: &[&str]) -> Value {
    Value::List(texts.iter().map(|text| Value::from(*text)).collect())
}

fn written(user: &UserAnnotations<'_>, router: &RouterAnnotations<'_>, add: Option<&str>) -> Vec<u8> {
    let mut out = Vec::new();
    write_message_annotations(&mut out, user, router, add);
    out
}

#[test]
fn the_users_annotations_are_kept_as_they_came() {
    let user = [("a", Value::Int(1)), ("b", Value::Null)];
    let encoded = map(&user);
    let found = MessageAnnotations::decode(&encoded).unwrap();
    assert_eq!(found.user, UserAnnotations { count: 2, raw: &raw(&user) });
    assert!(found.router.is_empty() && !found.router_part);
}

#[test]
fn router_annotations_are_read() {
    let encoded = map(&[
        ("a", Value::Int(1)),
        ("x-opt-qd.phase", Value::Int(22)),
        ("x-opt-qd.stream", Value::Int(1)),
        ("x-opt-qd.to", "q".into()),
        ("x-opt-qd.ingress", "0/A".into()),
        ("x-opt-qd.trace", texts(&["0/A", "0/B"])),
    ]);
    let found = MessageAnnotations::decode(&encoded).unwrap();
    assert_eq!(found.user, UserAnnotations { count: 1, raw: &raw(&[("a", Value::Int(1))]) });
    let router = found.router;
    assert_eq!((router.phase, router.stream, router.to, router.ingress), (22, true, Some("q"), Some("0/A")));
    assert_eq!(router.trace.iter().collect::<Vec<_>>(), ["0/A", "0/B"]);
    assert_eq!(router.trace.len(), 2);
}

#[test]
fn what_the_user_put_behind_router_annotations_is_lost() {
    let encoded = map(&[("x-opt-qd.to", "q".into()), ("a", Value::Int(1)), ("x-opt-qd.phase", 1.into())]);
    let found = MessageAnnotations::decode(&encoded).unwrap();
    assert_eq!(found.user, UserAnnotations::default());
    assert_eq!((found.router.to, found.router.phase), (Some("q"), 1));
}

#[test]
fn unknown_router_annotations_are_passed_by_but_noticed() {
    let encoded = map(&[("x-opt-qd.class", Value::Int(1)), ("x-opt-qd.", texts(&["x"]))]);
    let found = MessageAnnotations::decode(&encoded).unwrap();
    assert!(found.router.is_empty() && found.router_part && found.user.count == 0);
}

#[test]
fn keys_of_one_character_and_keys_that_are_not_text_are_the_users() {
    let encoded = b"\xc1\x0b\x04\xa3\x01x\x54\x01\x53\x07\xa1\x01y";
    let found = MessageAnnotations::decode(encoded).unwrap();
    assert_eq!(found.user, UserAnnotations { count: 2, raw: &encoded[3..] });
}

#[test]
fn a_key_may_be_a_string_in_any_width() {
    let encoded = b"\xc1\x14\x02\xb1\0\0\0\x0bx-opt-qd.to\xa1\x01q";
    assert_eq!(MessageAnnotations::decode(encoded).unwrap().router.to, Some("q"));
}

#[test]
fn a_phase_that_is_no_phase_counts_as_none() {
    for phase in [Value::Int(-1), Value::Int(256), "1".into(), Value::Null] {
        let encoded = map(&[("x-opt-qd.phase", phase)]);
        assert_eq!(MessageAnnotations::decode(&encoded).unwrap().router.phase, 0);
    }
}

#[test]
fn malformed_router_annotations_are_refused_with_the_old_routers_texts() {
    let cases = [
        (b"\x45".to_vec(), "Invalid message annotations section - missing map type"),
        (b"\xc1\x04\x03\x40\x40\x40".to_vec(), "Invalid MA map count (odd number of fields)"),
        (map(&[("x-opt-qd.to", Value::Int(1))]), "to-override not a valid string type"),
        (map(&[("x-opt-qd.ingress", Value::symbol("0/A"))]), "ingress router not a string type"),
        (map(&[("x-opt-qd.trace", "0/A".into())]), "trace annotation is not a list"),
        (map(&[("x-opt-qd.trace", vec![Value::Null].into())]), "trace list contains non-string entries"),
    ];
    for (encoded, text) in cases {
        assert_eq!(error(&encoded).to_string(), text);
    }
}

#[test]
fn a_map_that_is_cut_short_inside_is_a_decode_error() {
    let cases: [&[u8]; 4] = [
        b"\xc1\x04\x02\xa3\x05a",
        b"\xc1\x05\x02\xa3\x01a\xa1",
        b"\xc1\x06\x02\xa3\x01a\x40\x40",
        b"\xc1\x05\x02\xa3\x01\xff\x40",
    ];
    for encoded in cases {
        assert!(matches!(error(encoded), AnnotationsError::Malformed(_)), "{encoded:02x?}");
    }
}

#[test]
fn router_annotations_are_written_behind_the_users_in_the_old_routers_order() {
    let user = raw(&[("a", Value::Int(1))]);
    let user = UserAnnotations { count: 1, raw: &user };
    let trace = map(&[("x-opt-qd.trace", texts(&["0/A"]))]);
    let trace = MessageAnnotations::decode(&trace).unwrap().router.trace;
    let router = RouterAnnotations { phase: 22, stream: true, to: Some("q"), ingress: Some("0/A"), trace };
    let expected = map(&[
        ("a", Value::Int(1)),
        ("x-opt-qd.phase", Value::Int(22)),
        ("x-opt-qd.stream", Value::Int(1)),
        ("x-opt-qd.to", "q".into()),
        ("x-opt-qd.ingress", "0/A".into()),
        ("x-opt-qd.trace", texts(&["0/A", "0/B"])),
    ]);
    assert_eq!(written(&user, &router, Some("0/B")), [b"\x00\x53\x72", &expected[..]].concat());
}

#[test]
fn a_trace_may_begin_with_this_router() {
    let expected = map(&[("x-opt-qd.trace", texts(&["0/A"]))]);
    let section = written(&UserAnnotations::default(), &RouterAnnotations::default(), Some("0/A"));
    assert_eq!(section[3..], expected);
}

#[test]
fn without_annotations_there_is_no_section() {
    assert_eq!(written(&UserAnnotations::default(), &RouterAnnotations::default(), None), b"");
}

#[test]
fn what_is_written_is_read_back() {
    let router = RouterAnnotations { phase: 1, to: Some("q"), ingress: Some("0/A"), ..RouterAnnotations::default() };
    let section = written(&UserAnnotations::default(), &router, None);
    let found = MessageAnnotations::decode(&section[3..]).unwrap();
    assert_eq!((found.router, found.router_part), (router, true));
}
