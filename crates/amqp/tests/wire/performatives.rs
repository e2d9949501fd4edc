//! The performatives of part 2, section 2.7 on the wire.

use super::support::{list8, list32, named};
use amqp::performative::{
    Attach, Begin, Close, Detach, Disposition, End, Flow, Open, ReceiverSettleMode, Role, SenderSettleMode, Transfer,
};
use amqp::terminus::{ExpiryPolicy, Source, Target, TargetTerminus};
use amqp::{DecodeErrorKind as Kind, DeliveryState, ErrorCondition, Map, Performative, Value};

const NULL: &[u8] = b"\x40";

fn decode(body: &[u8]) -> Performative<'_> {
    let (performative, payload) = Performative::decode(body).expect("it is well formed");
    assert!(payload.is_empty());
    performative
}

fn error(body: &[u8]) -> Kind {
    Performative::decode(body).expect_err("it is malformed").kind().clone()
}

fn encode(performative: &Performative<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    performative.encode(&mut out);
    out
}

/// One of each, with all fields, as encoded by hand and as a value.
fn all() -> Vec<(Vec<u8>, Performative<'static>)> {
    let symbols = vec!["a".into(), "b".into()];
    let symbols_encoded: &[u8] = b"\xe0\x06\x02\xa3\x01a\x01b";
    let map: Map = [(Value::symbol("k"), 1)].into_iter().collect();
    let map_encoded: &[u8] = b"\xc1\x06\x02\xa3\x01k\x54\x01";
    let error = ErrorCondition { condition: "c".into(), description: Some("d".into()), info: Some(map.clone()) };
    let error_encoded = list8(0x1d, &[b"\xa3\x01c", b"\xa1\x01d", map_encoded]);
    vec![
        (
            list8(
                0x10,
                &[
                    b"\xa1\x01i",
                    b"\xa1\x01h",
                    b"\x70\0\0\x40\0",
                    b"\x60\x7f\xff",
                    b"\x70\0\0\x1f\x40",
                    symbols_encoded,
                    symbols_encoded,
                    symbols_encoded,
                    symbols_encoded,
                    map_encoded,
                ],
            ),
            Performative::Open(Box::new(Open {
                container_id: "i".into(),
                hostname: Some("h".into()),
                max_frame_size: 16384,
                channel_max: 32767,
                idle_time_out: Some(8000),
                outgoing_locales: symbols.clone(),
                incoming_locales: symbols.clone(),
                offered_capabilities: symbols.clone(),
                desired_capabilities: symbols.clone(),
                properties: Some(map.clone()),
            })),
        ),
        (
            list8(
                0x11,
                &[
                    b"\x60\0\x07",
                    b"\x43",
                    b"\x52\x02",
                    b"\x52\x03",
                    b"\x52\x04",
                    symbols_encoded,
                    symbols_encoded,
                    map_encoded,
                ],
            ),
            Performative::Begin(Begin {
                remote_channel: Some(7),
                next_outgoing_id: 0,
                incoming_window: 2,
                outgoing_window: 3,
                handle_max: 4,
                offered_capabilities: symbols.clone(),
                desired_capabilities: symbols.clone(),
                properties: Some(map.clone()),
            }),
        ),
        (
            list8(
                0x13,
                &[
                    b"\x52\x01",
                    b"\x52\x02",
                    b"\x52\x03",
                    b"\x52\x04",
                    b"\x52\x05",
                    b"\x52\x06",
                    b"\x52\x07",
                    b"\x52\x08",
                    b"\x41",
                    b"\x41",
                    map_encoded,
                ],
            ),
            Performative::Flow(Flow {
                next_incoming_id: Some(1),
                incoming_window: 2,
                next_outgoing_id: 3,
                outgoing_window: 4,
                handle: Some(5),
                delivery_count: Some(6),
                link_credit: Some(7),
                available: Some(8),
                drain: true,
                echo: true,
                properties: Some(Box::new(map.clone())),
            }),
        ),
        (
            list8(
                0x14,
                &[
                    b"\x43",
                    b"\x70\0\0\x01\0",
                    b"\xa0\x02\0\x01",
                    b"\x43",
                    b"\x42",
                    b"\x41",
                    b"\x50\x01",
                    b"\x00\x53\x24\x45",
                    b"\x41",
                    b"\x41",
                    b"\x41",
                ],
            ),
            Performative::Transfer(Transfer {
                handle: 0,
                delivery_id: Some(256),
                delivery_tag: Some(b"\0\x01"),
                message_format: Some(0),
                settled: Some(false),
                more: true,
                rcv_settle_mode: Some(ReceiverSettleMode::Second),
                state: Some(DeliveryState::Accepted),
                resume: true,
                aborted: true,
                batchable: true,
            }),
        ),
        (
            list8(0x15, &[b"\x41", b"\x52\x01", b"\x52\x02", b"\x41", b"\x00\x53\x26\x45", b"\x41"]),
            Performative::Disposition(Disposition {
                role: Role::Receiver,
                first: 1,
                last: Some(2),
                settled: true,
                state: Some(DeliveryState::Released),
                batchable: true,
            }),
        ),
        (
            list8(0x16, &[b"\x43", b"\x41", &error_encoded]),
            Performative::Detach(Detach { handle: 0, closed: true, error: Some(error.clone()) }),
        ),
        (list8(0x17, &[&error_encoded]), Performative::End(End { error: Some(error.clone()) })),
        (list8(0x18, &[&error_encoded]), Performative::Close(Close { error: Some(error) })),
        (attach_encoded(), Performative::Attach(Box::new(attach()))),
    ]
}

fn attach() -> Attach {
    let map: Map = [(Value::symbol("k"), 1)].into_iter().collect();
    Attach {
        name: "n".into(),
        handle: 1,
        role: Role::Receiver,
        snd_settle_mode: SenderSettleMode::Settled,
        rcv_settle_mode: ReceiverSettleMode::Second,
        source: Some(Source {
            address: Some("s".into()),
            durable: 2,
            expiry_policy: ExpiryPolicy::Never,
            timeout: 5,
            dynamic: true,
            dynamic_node_properties: Some(map.clone()),
            distribution_mode: Some("copy".into()),
            filter: Some(map.clone()),
            default_outcome: Some(Value::described(0x26, Vec::<Value>::new())),
            outcomes: vec!["a".into()],
            capabilities: vec!["b".into()],
        }),
        target: Some(
            Target { address: Some("t".into()), dynamic_node_properties: Some(map.clone()), ..Target::default() }
                .into(),
        ),
        unsettled: Some(map.clone()),
        incomplete_unsettled: true,
        initial_delivery_count: Some(0),
        max_message_size: Some(256),
        offered_capabilities: vec!["o".into()],
        desired_capabilities: vec!["d".into()],
        properties: Some(map),
    }
}

fn attach_encoded() -> Vec<u8> {
    let map_encoded: &[u8] = b"\xc1\x06\x02\xa3\x01k\x54\x01";
    let source = list8(
        0x28,
        &[
            b"\xa1\x01s",
            b"\x52\x02",
            b"\xa3\x05never",
            b"\x52\x05",
            b"\x41",
            map_encoded,
            b"\xa3\x04copy",
            map_encoded,
            b"\x00\x53\x26\x45",
            b"\xe0\x04\x01\xa3\x01a",
            b"\xa3\x01b",
        ],
    );
    let target = list8(0x29, &[b"\xa1\x01t", b"\x43", b"\xa3\x0bsession-end", b"\x43", b"\x42", map_encoded]);
    list8(
        0x12,
        &[
            b"\xa1\x01n",
            b"\x52\x01",
            b"\x41",
            b"\x50\x01",
            b"\x50\x01",
            &source,
            &target,
            map_encoded,
            b"\x41",
            b"\x43",
            b"\x80\0\0\0\0\0\0\x01\0",
            b"\xe0\x04\x01\xa3\x01o",
            b"\xe0\x04\x01\xa3\x01d",
            map_encoded,
        ],
    )
}

#[test]
fn each_performative_is_read_with_all_its_fields() {
    for (bytes, performative) in all() {
        assert_eq!(decode(&bytes), performative);
    }
}

#[test]
fn each_performative_is_written_in_its_smallest_encoding() {
    for (bytes, performative) in all() {
        assert_eq!(encode(&performative), bytes, "{performative:?}");
    }
}

#[test]
fn a_body_cut_short_anywhere_is_refused() {
    for (bytes, _) in all() {
        for end in 0..bytes.len() {
            assert!(Performative::decode(&bytes[..end]).is_err(), "{bytes:02x?} up to {end}");
        }
    }
}

#[test]
fn a_descriptor_may_be_a_wide_number_or_a_name() {
    let fields: &[&[u8]] = &[b"\x52\x01", b"\x41"];
    let detach = Performative::Detach(Detach { handle: 1, closed: true, error: None });
    assert_eq!(decode(&list32(0x16, fields)), detach);
    assert_eq!(decode(&named("amqp:detach:list", fields)), detach);
}

#[test]
fn transfers_flows_and_dispositions_are_read_the_same_in_any_encoding() {
    let transfer: &[&[u8]] = &[b"\x52\x01", NULL, NULL, b"\x43", b"\x41"];
    let flow: &[&[u8]] = &[NULL, b"\x52\x02", b"\x43", b"\x52\x04", b"\x43", NULL, b"\x52\x07"];
    let disposition: &[&[u8]] = &[b"\x41", b"\x43", NULL, b"\x41", b"\x00\x53\x24\x45"];
    for (code, fields) in [(0x14, transfer), (0x13, flow), (0x15, disposition)] {
        assert_eq!(decode(&list8(code, fields)), decode(&list32(code, fields)));
    }
}

#[test]
fn what_follows_a_transfer_is_its_payload() {
    let body = [list8(0x14, &[b"\x43"]), b"payload".to_vec()].concat();
    let transfer = Performative::Transfer(Transfer::default());
    assert_eq!(Performative::decode(&body), Ok((transfer, b"payload".as_slice())));
}

#[test]
fn the_payload_may_be_behind_a_wide_list_too() {
    let body = [list32(0x14, &[b"\x43"]), b"payload".to_vec()].concat();
    let transfer = Performative::Transfer(Transfer::default());
    assert_eq!(Performative::decode(&body), Ok((transfer, b"payload".as_slice())));
}

#[test]
fn absent_and_null_fields_have_their_defaults() {
    let open = Open { container_id: "i".into(), ..Open::default() };
    let begin = Begin { incoming_window: 1, outgoing_window: 2, ..Begin::default() };
    let attach = Attach::new("n", 0, Role::Sender);
    let nulls = [&[b"\xa1\x01i".as_slice()], &[NULL; 9][..]].concat();
    assert_eq!(decode(&list8(0x10, &[b"\xa1\x01i"])), Performative::Open(Box::new(open.clone())));
    assert_eq!(decode(&list8(0x10, &nulls)), Performative::Open(Box::new(open)));
    assert_eq!(decode(&list8(0x11, &[NULL, b"\x43", b"\x52\x01", b"\x52\x02"])), Performative::Begin(begin));
    let fields: &[&[u8]] = &[b"\xa1\x01n", b"\x43", b"\x42", NULL, NULL, NULL, NULL, NULL, NULL, b"\x43"];
    assert_eq!(decode(&list8(0x12, fields)), Performative::Attach(Box::new(attach)));
}

#[test]
fn an_absent_limit_is_no_limit() {
    let Performative::Open(open) = decode(&list8(0x10, &[b"\xa1\x01i"])) else { panic!("not an open") };
    assert_eq!((open.max_frame_size, open.channel_max, open.idle_time_out), (u32::MAX, u16::MAX, None));
}

#[test]
fn mandatory_fields_must_be_there() {
    let cases: [(u8, &[&[u8]], &str); 11] = [
        (0x10, &[], "container-id"),
        (0x10, &[NULL, b"\xa1\x01h"], "container-id"),
        (0x11, &[NULL], "next-outgoing-id"),
        (0x11, &[NULL, b"\x43"], "incoming-window"),
        (0x11, &[NULL, b"\x43", b"\x43"], "outgoing-window"),
        (0x12, &[b"\xa1\x01n"], "handle"),
        (0x12, &[b"\xa1\x01n", b"\x43"], "role"),
        (0x13, &[NULL, b"\x43", b"\x43"], "outgoing-window"),
        (0x14, &[NULL, b"\x43"], "handle"),
        (0x15, &[b"\x41"], "first"),
        (0x16, &[], "handle"),
    ];
    for (code, fields, missing) in cases {
        let found = error(&list8(code, fields));
        assert!(matches!(found, Kind::MissingField { field, .. } if field == missing), "{found:?}");
    }
}

#[test]
fn an_initial_delivery_count_need_not_be_given() {
    let attach = list8(0x12, &[b"\xa1\x01n", b"\x43", b"\x42"]);
    let expected = Attach { initial_delivery_count: None, ..Attach::new("n", 0, Role::Sender) };
    assert_eq!(decode(&attach), Performative::Attach(Box::new(expected)));
}

#[test]
fn more_fields_than_defined_are_refused() {
    let fields = [&[b"\x43".as_slice()], &[NULL; 11][..]].concat();
    let found = error(&list8(0x14, &fields));
    assert_eq!(found, Kind::TooManyFields { composite: "transfer", count: 12 });
}

#[test]
fn undefined_choices_are_refused() {
    let sender = list8(0x12, &[b"\xa1\x01n", b"\x43", b"\x41", b"\x50\x03"]);
    let receiver = list8(0x12, &[b"\xa1\x01n", b"\x43", b"\x41", NULL, b"\x50\x02"]);
    let transfer = list8(0x14, &[b"\x43", NULL, NULL, NULL, NULL, NULL, b"\x50\x02"]);
    assert_eq!(error(&sender), Kind::OutOfRange { composite: "attach", field: "snd-settle-mode" });
    assert_eq!(error(&receiver), Kind::OutOfRange { composite: "attach", field: "rcv-settle-mode" });
    assert_eq!(error(&transfer), Kind::OutOfRange { composite: "transfer", field: "rcv-settle-mode" });
}

#[test]
fn fields_of_another_type_are_refused() {
    let transfer = list8(0x14, &[b"\x53\x01"]);
    assert!(matches!(error(&transfer), Kind::WrongType { expected: "uint", code: 0x53, .. }));
}

#[test]
fn a_list_longer_than_its_fields_is_refused() {
    let mut transfer = list8(0x14, &[b"\x43", b"\x43"]);
    transfer[5] = 1;
    assert!(matches!(error(&transfer), Kind::TrailingBytes { count: 1, .. }));
}

#[test]
fn other_descriptors_are_refused() {
    assert_eq!(error(&list8(0x19, &[])), Kind::UnknownDescriptor { descriptor: "0x19".into() });
    assert_eq!(error(&named("x:y", &[])), Kind::UnknownDescriptor { descriptor: "x:y".into() });
}

#[test]
fn a_body_that_is_not_described_is_refused() {
    assert!(matches!(error(b"\x41hello"), Kind::WrongType { expected: "described value", .. }));
}

#[test]
fn several_symbols_may_come_as_a_single_one() {
    let Performative::Open(open) = decode(&list8(0x10, &[b"\xa1\x01i", NULL, NULL, NULL, NULL, b"\xa3\x02en"])) else {
        panic!("not an open")
    };
    assert_eq!(open.outgoing_locales, ["en"]);
}

#[test]
fn a_coordinator_is_a_target() {
    let coordinator = list8(0x30, &[b"\xa3\x17amqp:local-transactions"]);
    let fields: &[&[u8]] = &[b"\xa1\x01n", b"\x43", b"\x41", NULL, NULL, NULL, &coordinator];
    let Performative::Attach(attach) = decode(&list8(0x12, fields)) else { panic!("not an attach") };
    let capabilities = vec!["amqp:local-transactions".into()];
    assert_eq!(attach.target, Some(TargetTerminus::Coordinator { capabilities }));
}

#[test]
fn a_source_in_the_place_of_a_target_is_refused() {
    let source = list8(0x28, &[]);
    let fields: &[&[u8]] = &[b"\xa1\x01n", b"\x43", b"\x41", NULL, NULL, NULL, &source];
    assert!(matches!(error(&list8(0x12, fields)), Kind::UnknownDescriptor { .. }));
}

#[test]
fn an_unknown_expiry_policy_is_refused() {
    let source = list8(0x28, &[NULL, NULL, b"\xa3\x04soon"]);
    let fields: &[&[u8]] = &[b"\xa1\x01n", b"\x43", b"\x41", NULL, NULL, &source];
    assert_eq!(error(&list8(0x12, fields)), Kind::OutOfRange { composite: "source", field: "expiry-policy" });
}
