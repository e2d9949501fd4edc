use amqp::codec::{MapEncoder, encode};
use amqp::descriptor;
use amqp::message::{Body, Header, Message, Properties};

use super::*;

const COMPLETE: Look = Look { message_format: 0, complete: true, depth: Depth::Properties, keep: true };
const COMING: Look = Look { complete: false, ..COMPLETE };
const THIS: RouterPart<'_> =
    RouterPart { phase: 0, stream: false, to_override: None, anew: false, this_router: Some("0/B") };

fn annotations(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    encode::descriptor(&mut out, descriptor::MESSAGE_ANNOTATIONS);
    let mut map = MapEncoder::new(&mut out);
    for (key, value) in entries {
        map.entry(|out| encode::symbol(out, key), |out| encode::string(out, value));
    }
    map.finish();
    out
}

fn header(priority: u8) -> Vec<u8> {
    let mut out = Vec::new();
    Header { priority, ..Header::default() }.encode(&mut out);
    out
}

fn body(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    encode::descriptor(&mut out, descriptor::AMQP_VALUE);
    encode::string(&mut out, text);
    out
}

fn message_to(to: &str) -> Vec<u8> {
    let properties = Properties { to: Some(to.to_owned()), ..Properties::default() };
    let message = Message { properties, body: Body::Value("hello".into()), ..Message::default() };
    let mut out = Vec::new();
    message.encode(&mut out);
    out
}

fn edited(message: &[u8], look: &Look, router: Option<RouterPart<'_>>) -> Vec<u8> {
    let layout = examine(message, look).expect("the message is well formed").layout;
    let edit = layout.edit(layout.annotations(message), router);
    layout.edited(message, &edit).concat()
}

#[test]
fn a_message_without_a_header_has_priority_four() {
    assert_eq!(examine(&body("x"), &COMPLETE).expect("it is well formed").priority, 4);
}

#[test]
fn priorities_above_nine_are_nine() {
    let message = [header(200), body("x")].concat();
    assert_eq!(examine(&message, &COMPLETE).expect("it is well formed").priority, 9);
}

#[test]
fn the_address_is_found_where_it_is_needed() {
    let message = message_to("there");
    assert_eq!(examine(&message, &COMPLETE).expect("it is well formed").to, Some("there"));
    let shallow = Look { depth: Depth::Annotations, ..COMPLETE };
    assert_eq!(examine(&message, &shallow).expect("it is well formed").to, None);
}

#[test]
fn a_message_that_is_cut_short_is_refused() {
    let message = message_to("there");
    assert_eq!(examine(&message[..message.len() - 1], &COMPLETE).unwrap_err(), Refusal::Format);
}

#[test]
fn no_bytes_at_all_are_no_message() {
    assert_eq!(examine(&[], &COMPLETE).err(), Some(Refusal::Format));
}

#[test]
fn bytes_that_are_no_section_are_refused() {
    assert_eq!(examine(b"no message", &COMPLETE).unwrap_err(), Refusal::Format);
    assert_eq!(examine(b"no message", &COMING).unwrap_err(), Refusal::Format);
}

#[test]
fn a_message_that_is_coming_is_known_once_its_properties_are_there() {
    let message = message_to("there");
    let sufficient = |count| examine(&message[..count], &COMING).expect("it may still be well formed").sufficient;
    let properties = message.len() - body("hello").len();
    assert!(!sufficient(0));
    assert!(!sufficient(properties - 1));
    assert!(sufficient(properties));
}

#[test]
fn a_message_without_properties_is_known_once_its_body_begins() {
    let message = body("a long text");
    assert!(examine(&message[..5], &COMING).expect("it may still be well formed").sufficient);
}

#[test]
fn router_annotations_are_used_only_where_they_are_kept() {
    let message = [annotations(&[("x-opt-qd.to", "there")]), body("x")].concat();
    assert_eq!(examine(&message, &COMPLETE).expect("it is well formed").router.to, Some("there"));
    let strip = Look { keep: false, ..COMPLETE };
    assert_eq!(examine(&message, &strip).expect("it is well formed").router.to, None);
}

#[test]
fn a_message_without_router_annotations_goes_as_it_came_where_none_are_sent() {
    let message = [annotations(&[("mine", "1")]), body("x")].concat();
    let layout = examine(&message, &COMPLETE).expect("it is well formed").layout;
    assert!(!layout.needs_edit(false));
}

#[test]
fn router_annotations_are_taken_out_where_none_are_sent_and_the_users_stay() {
    let message = [header(5), annotations(&[("mine", "1"), ("x-opt-qd.to", "there")]), body("x")].concat();
    let expected = [header(5), annotations(&[("mine", "1")]), body("x")].concat();
    assert_eq!(edited(&message, &COMPLETE, None), expected);
}

#[test]
fn a_section_that_becomes_empty_is_left_out() {
    let message = [annotations(&[("x-opt-qd.unknown", "1")]), body("x")].concat();
    assert_eq!(edited(&message, &COMPLETE, None), body("x"));
}

#[test]
fn this_router_is_ingress_and_trace_of_a_message_that_had_neither() {
    let sent = edited(&[header(5), body("x")].concat(), &COMPLETE, Some(THIS));
    let found = examine(&sent, &COMPLETE).expect("it is well formed");
    assert_eq!(found.router.ingress, Some("0/B"));
    assert_eq!(found.router.trace.iter().collect::<Vec<_>>(), ["0/B"]);
}

#[test]
fn the_first_ingress_stays_and_the_trace_grows() {
    let other = RouterPart { this_router: Some("0/A"), ..THIS };
    let first = edited(&body("x"), &COMPLETE, Some(other));
    let second = edited(&first, &COMPLETE, Some(THIS));
    let found = examine(&second, &COMPLETE).expect("it is well formed");
    assert_eq!(found.router.ingress, Some("0/A"));
    assert_eq!(found.router.trace.iter().collect::<Vec<_>>(), ["0/A", "0/B"]);
}

#[test]
fn what_is_not_kept_is_forgotten() {
    let other = RouterPart { this_router: Some("0/A"), ..THIS };
    let first = edited(&body("x"), &COMPLETE, Some(other));
    let second = edited(&first, &Look { keep: false, ..COMPLETE }, Some(THIS));
    let found = examine(&second, &COMPLETE).expect("it is well formed");
    assert_eq!(found.router.ingress, Some("0/B"));
    assert_eq!(found.router.trace.iter().collect::<Vec<_>>(), ["0/B"]);
}

#[test]
fn router_annotations_of_the_wrong_type_are_refused_in_the_old_words() {
    let mut section = Vec::new();
    encode::descriptor(&mut section, descriptor::MESSAGE_ANNOTATIONS);
    let mut map = MapEncoder::new(&mut section);
    map.entry(|out| encode::symbol(out, "x-opt-qd.to"), |out| encode::uint(out, 7));
    map.finish();
    let refused = examine(&[section, body("x")].concat(), &COMPLETE).unwrap_err().condition();
    assert_eq!(refused, ErrorCondition::new("amqp:invalid-field", "to-override not a valid string type"));
}

#[test]
fn what_is_no_message_goes_through_while_it_comes_where_its_way_is_known() {
    let shallow = Look { depth: Depth::Annotations, ..COMING };
    let found = examine(b"0123456789", &shallow).expect("it is passed on unread");
    assert!(found.sufficient);
    let sent = edited(b"0123456789", &shallow, Some(RouterPart { to_override: Some("q"), ..THIS }));
    let further = examine(&sent, &COMING).expect("the next router passes it on, too");
    assert!(further.sufficient && further.router.to == Some("q"));
    assert!(sent.ends_with(b"0123456789"));
}

#[test]
fn what_is_no_message_is_refused_when_all_of_it_is_there_or_its_way_is_not_known() {
    let shallow = Look { depth: Depth::Annotations, ..COMPLETE };
    assert_eq!(examine(b"0123456789", &shallow).unwrap_err(), Refusal::Format);
    assert_eq!(examine(b"0123456789", &COMING).unwrap_err(), Refusal::Format);
}
