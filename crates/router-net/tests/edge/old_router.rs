//! Messages that an edge router and its interior sent each other, both of the old kind.

use amqp::message::{Body, Message, Scan, Scanner, SectionKind};
use amqp::{Map, Value};
use router_net::edge::wire::{LookupReply, LookupRequest, LookupStatus, Tracking, encode_heartbeat};
use router_net::edge::{LinkRouteRequest, ManagementReply, answer_lookup, is_lookup};

const MESSAGES: &str = include_str!("golden/messages.txt");

/// The messages of a kind, without the annotations that the routing core adds.
fn messages(kind: &str) -> Vec<Vec<u8>> {
    let lines = MESSAGES.lines().filter_map(|line| line.split_once(' ')).filter(|(found, _)| *found == kind);
    let bytes =
        |hex: &str| (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    let found: Vec<Vec<u8>> = lines.map(|(_, hex)| without_annotations(bytes(hex))).collect();
    assert!(!found.is_empty(), "no {kind}");
    found
}

fn without_annotations(message: Vec<u8>) -> Vec<u8> {
    let mut scanner = Scanner::new(&message, true);
    let mut out = Vec::new();
    while let Scan::Section(section) = scanner.next().unwrap() {
        if section.kind != SectionKind::MessageAnnotations {
            out.extend_from_slice(section.raw);
        }
    }
    out
}

#[test]
fn tracking_messages_are_read_and_written_as_the_old_router_does() {
    let found: Vec<Tracking> = messages("tracking").iter().map(|bytes| Tracking::decode(bytes).unwrap()).collect();
    assert_eq!(found.iter().map(Tracking::encode).collect::<Vec<_>>(), messages("tracking"));
    assert_eq!(found, [true, false].map(|has_destinations| Tracking { key: "M0up".to_owned(), has_destinations }));
}

#[test]
fn heartbeats_are_written_as_the_old_router_does() {
    assert_eq!(messages("heartbeat"), [encode_heartbeat(0), encode_heartbeat(1)]);
}

#[test]
fn look_ups_are_read_and_written_as_the_old_router_does() {
    let found: Vec<LookupRequest> =
        messages("lookup").iter().map(|bytes| LookupRequest::decode(bytes).unwrap()).collect();
    assert_eq!(found.iter().map(LookupRequest::encode).collect::<Vec<_>>(), messages("lookup"));
    let asked: Vec<_> = found.iter().map(|request| (request.address.as_str(), request.client_sends)).collect();
    assert_eq!(asked, [("down", false), ("up", true), ("ilr.x", true)]);
}

#[test]
fn answers_to_look_ups_are_read_and_written_as_the_old_router_does() {
    let found: Vec<LookupReply> =
        messages("lookup-reply").iter().map(|bytes| LookupReply::decode(bytes).unwrap()).collect();
    assert_eq!(found.iter().map(LookupReply::encode).collect::<Vec<_>>(), messages("lookup-reply"));
    let said: Vec<_> = found.iter().map(|reply| (reply.status, reply.is_link_route, reply.has_destinations)).collect();
    let unknown = (LookupStatus::NotFound, false, false);
    assert_eq!(said, [unknown, unknown, (LookupStatus::Ok, true, false)]);
}

#[test]
fn a_look_up_is_answered_as_the_old_interior_answers_it() {
    for (request, reply) in messages("lookup").iter().zip(messages("lookup-reply")) {
        let (to, answer) = answer_lookup(request, |address, _| (address == "ilr.x").then_some((true, false))).unwrap();
        assert_eq!(Some(to), Message::decode(request).unwrap().properties.reply_to);
        assert_eq!(answer, reply);
    }
}

/// The first look-up, changed.
fn lookup(change: impl FnOnce(&mut Message)) -> Vec<u8> {
    let mut request = Message::decode(&messages("lookup")[0]).unwrap();
    change(&mut request);
    request.to_bytes()
}

fn with_property(name: &str, value: Value) -> Vec<u8> {
    lookup(|request| request.application_properties = Map(vec![(Value::from(name), value)]))
}

#[test]
fn what_is_no_proper_look_up_is_not_answered_but_refused() {
    assert!(is_lookup(&lookup(|_| ())));
    for request in [
        lookup(|request| request.body = Body::Value(Value::Null)),
        lookup(|request| request.body = Body::Value(Value::List(vec![Value::from("foo")]))),
        lookup(|request| request.properties.reply_to = None),
        lookup(|request| request.properties.correlation_id = None),
        with_property("version", Value::Uint(1)),
        with_property("opcode", Value::Uint(1)),
        Vec::new(),
    ] {
        assert!(!is_lookup(&request) && answer_lookup(&request, |_, _| None).is_none());
    }
}

#[test]
fn a_look_up_of_another_version_or_operation_is_refused() {
    let of = |version, opcode| {
        let known = |name: &str, value| (Value::from(name), Value::Uint(value));
        lookup(|request| request.application_properties = Map(vec![known("version", version), known("opcode", opcode)]))
    };
    assert_eq!([of(1, 1), of(2, 1), of(1, 2)].map(|request| is_lookup(&request)), [true, false, false]);
}

#[test]
fn requests_for_link_routes_are_written_as_the_old_router_does() {
    let encode = |bytes: &Vec<u8>, request: LinkRouteRequest| {
        let properties = Message::decode(bytes).unwrap().properties;
        request.encode(&properties.reply_to.unwrap(), properties.correlation_id.unwrap().as_str().unwrap())
    };
    let create = |name: &str, pattern: &str, direction| LinkRouteRequest::Create {
        name: name.to_owned(),
        pattern: pattern.to_owned(),
        direction,
    };
    let delete = |name: &str, identity: &str| LinkRouteRequest::Delete {
        name: name.to_owned(),
        identity: Some(identity.to_owned()),
    };
    let creates = messages("create");
    assert_eq!(encode(&creates[0], create("E/proxyLinkRoute/Clr", "lr/#", "in")), creates[0]);
    assert_eq!(encode(&creates[1], create("E/proxyLinkRoute/Fa.*.b", "a.*.b", "out")), creates[1]);
    let deletes = messages("delete");
    assert_eq!(encode(&deletes[0], delete("E/proxyLinkRoute/Clr", "10")), deletes[0]);
    assert_eq!(encode(&deletes[1], delete("E/proxyLinkRoute/Fa.*.b", "11")), deletes[1]);
}

#[test]
fn answers_to_requests_for_link_routes_are_read() {
    let replies: Vec<ManagementReply> =
        messages("management-reply").iter().map(|bytes| ManagementReply::decode(bytes).unwrap()).collect();
    let said: Vec<_> = replies.iter().map(|reply| (reply.status, reply.identity.as_deref())).collect();
    assert_eq!(said, [(201, Some("10")), (201, Some("11")), (204, None), (204, None)]);
}
